/**
 * The line of a fault is exact in every format: faults are inserted at random offsets of generated files, which are read in small
 * chunks, plain, gzipped and zipped, and the reported line is compared with the line counted in the text.
 */
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { readWithAdapter } from '#test/support/adapter-reading.ts'
import { collectBytes, toSource } from '#test/support/byte-sources.ts'
import { faultyDocuments } from '#test/support/faulty-xml.ts'
import { firstJsonFault, randomJson } from '#test/support/json-faults.ts'
import { createRandom } from '#test/support/random.ts'
import { SourceFault } from '../adapter.ts'
import { readXml } from './xml.ts'

type Random = (below: number) => number

const lineAt = (text: string, offset: number): number => text.slice(0, offset).split('\n').length
const columnAt = (text: string, offset: number): number => offset - text.lastIndexOf('\n', offset - 1)

function zipOf(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
}

/** The content plain, gzipped or zipped, in chunks of up to 40 bytes. */
async function wrapped(content: string | Buffer, random: Random): Promise<AsyncGenerator<Uint8Array>> {
  const bytes = Buffer.from(content)
  const wrapping = random(4)
  const outer = wrapping === 0 ? gzipSync(bytes) : wrapping === 1 ? await zipOf({ file: bytes }) : bytes
  return toSource(outer, 1 + random(40))
}

async function faultOf(reading: Promise<unknown>): Promise<SourceFault> {
  const fault = await reading.then(
    () => new Error('the file was accepted'),
    (error: unknown) => error,
  )
  if (fault instanceof SourceFault) return fault
  throw fault
}

const readAllXml = async (source: AsyncIterable<Uint8Array>): Promise<void> => {
  for await (const _ of readXml(source, ['list/item']));
}

describe('XML', () => {
  test.each(faultyDocuments)('$name', async ({ name, make }) => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = createRandom(seed * 1000 + name.length)
      const { text, offset, code } = make(random)
      const fault = await faultOf(readAllXml(await wrapped(text, random)))
      const found = { seed, code: fault.code, line: fault.at?.line }
      expect(found, fault.message).toEqual({ seed, code, line: lineAt(text, offset) })
      const [, line, column] = /line (\d+)(?:, column (\d+))?/.exec(fault.message) ?? []
      expect([seed, Number(line)], fault.message).toEqual([seed, lineAt(text, offset)])
      if (column) expect([seed, Number(column)], fault.message).toEqual([seed, columnAt(text, offset)])
    }
  })

  test('locates a record at the start of its tag', async () => {
    const text = '<list>\n<item\n  id="1"\n>\n</item><item\n/>\n\n<item a="\n\n"></item></list>'
    for (const bytes of [1, 5, 1000]) {
      const lines: number[] = []
      const pad = `<?xml version="1.0"?><!--${' '.repeat(300)}-->`
      for await (const records of readXml(toSource(pad + text, bytes), ['list/item'])) {
        lines.push(...records.map(({ line }) => line))
      }
      expect(lines).toEqual([2, 5, 8])
    }
  })
})

describe('bytes that are not in the encoding', () => {
  test.each(['csv', 'json', 'ndjson', 'un-consolidated-xml'])('%s', async (adapter_key) => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = createRandom(seed)
      const lines = Array.from({ length: 30 }, () => 'é,ü'.repeat(random(12)))
      const text = lines.join(random(2) ? '\n' : '\r\n')
      const at = random(text.length)
      const bytes = Buffer.concat([Buffer.from(text.slice(0, at)), Buffer.from([0xe9]), Buffer.from(text.slice(at))])
      // The byte must not form a character with the next one.
      const fault = await faultOf(readWithAdapter(adapter_key, await wrapped(bytes, random)))
      if (fault.code !== 'encoding_invalid') continue
      expect([seed, fault.at?.line], fault.message).toEqual([seed, lineAt(text, at)])
      expect(fault.message).toContain(`at byte ${Buffer.byteLength(text.slice(0, at)) + 1}, line`)
    }
  })
})

describe('JSON', () => {
  test.each(['', '/data/items'])('records at "%s"', async (pointer) => {
    let faults = 0
    for (let seed = 1; seed <= 300; seed++) {
      const random = createRandom(seed)
      const text = randomJson(random, pointer !== '')
      const at = random(text.length)
      const kind = random(3)
      const put = '{}[],:"@\n1t-\\'[random(13)] as string
      const broken =
        kind === 0
          ? text.slice(0, at)
          : text.slice(0, at) + (kind === 1 ? put : '') + text.slice(at + (kind === 1 ? 0 : 1))
      const offset = firstJsonFault(broken)
      if (offset === null || broken.trim() === '') continue
      const fault = await faultOf(readWithAdapter('json', await wrapped(broken, random), { pointer }))
      // A document that no longer looks like JSON is refused before its end.
      if (fault.code === 'layout_unknown' || fault.code === 'empty_source') continue
      faults++
      const code = offset === broken.length ? 'truncated' : 'not_well_formed'
      const found = { seed, code: fault.code, line: fault.at?.line }
      expect(found, `${fault.message}\n${broken}`).toEqual({ seed, code, line: lineAt(broken, offset) })
      expect(fault.message).toContain(`line ${lineAt(broken, offset)}`)
    }
    expect(faults).toBeGreaterThan(150)
  })
})

describe('NDJSON', () => {
  test('lines that are not JSON objects', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = createRandom(seed)
      const end = random(2) ? '\n' : '\r\n'
      const lines = Array.from({ length: 40 }, (_, id) =>
        random(5) ? `{"id": ${id}, "name": "${'xé'.repeat(random(9))}"}` : '',
      )
      for (let each = 0; each < 4; each++) {
        const index = random(lines.length)
        const line = lines[index] as string
        const at = random(line.length + 1)
        lines[index] = `${line.slice(0, at)}${'@{]"'[random(4)]}${line.slice(at)}`
      }
      const isBad = (line: string) => {
        try {
          return typeof JSON.parse(line) !== 'object'
        } catch {
          return line.trim() !== ''
        }
      }
      const bad = lines.flatMap((line, index) => (isBad(line) ? [index + 1] : []))
      const { rejects } = await readWithAdapter('ndjson', await wrapped(lines.join(end) + end, random))
      expect(
        rejects.map(({ at }) => at.line),
        JSON.stringify(rejects),
      ).toEqual(bad)
      for (const { at, code, message } of rejects) {
        if (code === 'not_well_formed') expect(message).toContain(`line ${at.line}`)
      }
      const cut = `${lines.join(end)}${end}{"id": `
      const fault = await faultOf(readWithAdapter('ndjson', await wrapped(cut, random)))
      expect([fault.code, fault.at?.line]).toEqual(['truncated', lines.length + 1])
    }
  })
})

/** One row of four columns, quoted at random, over several lines at times. */
function randomRow(random: Random, separator: string, end: string): string[] {
  return Array.from({ length: 4 }, () => {
    const value = ['a', '', 'ü b', `x${end}y${end}z`, `say ""so""`, `1${separator}2`][random(6)] as string
    return /["\r\n]/.test(value) || value.includes(separator) || random(3) === 0 ? `"${value}"` : value
  })
}

describe.each([
  ['csv', ','],
  ['tsv', '\t'],
])('%s', (adapter_key, separator) => {
  const breakRow: Record<string, (row: string[]) => string[]> = {
    column_lacking: (row) => row.slice(0, 3),
    column_extra: (row) => [...row, 'more'],
    quote_misplaced: (row) => row.with(2, '"a"b'),
  }

  test('rows with wrong columns after quoted line ends, blank and skipped lines', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = createRandom(seed)
      const end = random(2) ? '\n' : '\r\n'
      let text = `title${end}${end}a${separator}b${separator}c${separator}d${end}`
      const expected: [number, string][] = []
      for (let index = 0; index < 30; index++) {
        const code = random(6) === 0 ? (Object.keys(breakRow)[random(3)] as string) : null
        const row = randomRow(random, separator, end)
        if (code) expected.push([lineAt(text, text.length), code])
        text += (code ? breakRow[code]?.(row) : row)?.join(separator) + end
        if (random(5) === 0) text += end
      }
      const { rejects } = await readWithAdapter(adapter_key, await wrapped(text, random), { skip_lines: 2 })
      expect(rejects.map(({ at, code }) => [at.line, code])).toEqual(expected)
    }
  })

  test('a truncated file', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = createRandom(seed)
      const end = random(2) ? '\n' : '\r\n'
      let text = `a${separator}b${separator}c${separator}d${end}`
      for (let index = 0; index < 20; index++) text += randomRow(random, separator, end).join(separator) + end
      const isQuoted = random(2) === 0
      const open = `x${separator}"y${end}z"${separator}`
      const quote = text.length + open.length
      text += open + (isQuoted ? `"never${end}closed` : '')
      const fault = await faultOf(readWithAdapter(adapter_key, await wrapped(text, random)))
      const line = lineAt(text, isQuoted ? quote : text.length)
      expect([fault.code, fault.at?.line], fault.message).toEqual(['truncated', line])
      expect(fault.message).toContain(`line ${line}`)
    }
  })
})

describe('XLSX', () => {
  const bookOf = (sheet: string): Promise<Buffer> =>
    zipOf({
      'xl/workbook.xml': '<workbook xmlns:r="urn:r"><sheets><sheet name="One" r:id="r1"/></sheets></workbook>',
      'xl/_rels/workbook.xml.rels':
        '<Relationships><Relationship Id="r1" Target="worksheets/one.xml"/></Relationships>',
      'xl/worksheets/one.xml': `<worksheet>\n<sheetData>\n${sheet}</sheetData>\n</worksheet>`,
    })
  const cell = (text: string, column: string) => `<c r="${column}" t="inlineStr">\n<is><t>${text}</t></is></c>`

  test('numbers rows as spreadsheets show them, also when rows are omitted', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const random = createRandom(seed)
      let number = 1 + random(3)
      let sheet = `<row r="${number}">${cell('code', `A${number}`)}</row>`
      const expected: number[] = []
      for (let index = 0; index < 40; index++) {
        const isNumbered = random(3) > 0
        number += isNumbered ? 1 + random(4) : 1
        const isBroken = random(5) === 0
        if (isBroken) expected.push(number)
        const content = isBroken ? `<c t="e"><v>#N/A</v></c>` : random(4) === 0 ? '' : cell('x', `A${number}`)
        sheet += `${isNumbered ? `<row r="${number}">` : '<row>'}${content}</row>${'\n'.repeat(random(3))}`
      }
      const { rejects } = await readWithAdapter('xlsx', toSource(await bookOf(sheet), 1 + random(200)))
      expect(rejects.map(({ at }) => at.line)).toEqual(expected)
    }
  })

  test('reports the line of a malformed sheet', async () => {
    const sheet = `<row r="1">\n${cell('a', 'A1')}\n</row>\n<row r="2">\n${cell('A & B', 'A2')}\n</row>\n<row/>`
    const fault = await faultOf(readWithAdapter('xlsx', toSource(await bookOf(sheet))))
    expect([fault.code, fault.message]).toEqual([
      'archive_damaged',
      '"xl/worksheets/one.xml" in the workbook is not well-formed at line 9, column 10: a bare ampersand.',
    ])
  })
})
