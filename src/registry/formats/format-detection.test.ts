/** Files of another format are named; files of the right format are not. */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { collectBytes } from '#test/support/byte-sources.ts'
import { adapters } from '../adapters/index.ts'
import { detectFormat, findFormatMismatch } from './format-detection.ts'
import { writeXlsx } from './xlsx-writer.ts'

function zipOf(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
}

const utf16 = (text: string) => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])
const nameOf = (head: string | Buffer) => detectFormat(Buffer.from(head))?.name ?? null

describe('looks like', () => {
  test.each([
    ['an HTML page', '<!DOCTYPE html>\n<html><head>'],
    ['an HTML page', '\ufeff\n <!-- saved --> <HTML lang="en">'],
    ['an HTML page', '<?xml version="1.0"?><!DOCTYPE html PUBLIC "x">'],
    ['XML', '<?xml version="1.0"?><list/>'],
    ['XML', '<!-- c -->\n<list a="b">\n<item>'],
    ['JSON', '{ "a": 1 }'],
    ['JSON', '[\n  {\n "code": "NA"'],
    ['JSON', '{"a":1}\n{"a":2}\n'],
    ['JSON', '["a", "b"]'],
    ['JSON', '[1,2]'],
    ['JSON', utf16('{"a": "b"}')],
    ['YAML', '---\nlist: 1\n'],
    ['YAML', '- code: NA\n  name: Namibia\n- code: NO\n'],
    ['YAML', '# comment\nEU:\n  updated: 1\n  content:\n    - a\n'],
    ['a PDF document', '%PDF-1.7\n%âãÏÓ'],
    ['a PNG image', Buffer.from('89504e470d0a1a0a0000', 'hex')],
    ['a JPEG image', Buffer.from('ffd8ffe000104a46', 'hex')],
    ['an old Office document (.xls, .doc)', Buffer.from('d0cf11e0a1b11ae10000', 'hex')],
    ['an RTF document', '{\\rtf1\\ansi'],
    ['a 7-Zip archive', Buffer.from('377abcaf271c0004', 'hex')],
    ['an HTML page', gzipSync('<html><body>not found</body></html>')],
    ['a table with columns separated by commas', 'a,b\n1,2\n'],
    ['a table with columns separated by semicolons', 'a;b\n"1;2";2\n'],
    [null, 'just a line'],
    [null, 'a\nb\nc\n'],
    [null, '{a: 1, b: 2}\n{a: 2, b: 3}\n'],
    [null, '<<<'],
    [null, ''],
  ])('%s', (name, head) => {
    expect(nameOf(head)).toBe(name)
  })

  test('an Excel workbook, a Word document, or a zip by its content', async () => {
    expect(nameOf(await collectBytes(writeXlsx([['a']])))).toBe('an Excel workbook (.xlsx)')
    expect(nameOf(await zipOf({ '[Content_Types].xml': '<x/>', 'word/document.xml': '<x/>' }))).toBe(
      'a Word document (.docx)',
    )
    expect(detectFormat(await zipOf({ 'a.html': `<html>${'x'.repeat(9999)}` }))).toMatchObject({
      name: 'an HTML page',
      certain: false,
    })
  })
})

test.each([...adapters.values()].map((adapter) => [adapter.key, adapter] as const))(
  'accepts the sample of %s',
  (_, { sample, media_types }) => {
    expect(findFormatMismatch(Buffer.from(sample.text, sample.encoding), media_types)).toBeNull()
  },
)

test('only warns for what could start a table, and refuses what cannot start XML or JSON', () => {
  const yaml = Buffer.from('- code: NA\n  name: Namibia\n')
  expect(findFormatMismatch(yaml, ['text/csv'])).toEqual({
    sentence: 'The file looks like YAML; this adapter reads a table in text (CSV).',
    certain: false,
  })
  expect(findFormatMismatch(yaml, ['application/json'])?.certain).toBe(true)
  expect(findFormatMismatch(Buffer.from('a,b\n1,2\n'), ['application/xml'])).toMatchObject({ certain: true })
  expect(findFormatMismatch(Buffer.from('{"a":1}'), ['text/csv'])).toMatchObject({ certain: true })
})
