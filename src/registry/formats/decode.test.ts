import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import yazl from 'yazl'
import { collectBytes, collectText, EndlessSource, toSource } from '#test/support/byte-sources.ts'
import { readText } from './decode.ts'

const read = (bytes: Uint8Array | string, options = {}) => collectText(readText(toSource(bytes, 3), options))

function zipOf(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new yazl.ZipFile()
  for (const [name, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), name)
  zip.end()
  return collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
}

/** Of this file alone: other processes use the same folder. */
const own_folder = mkdtempSync(join(tmpdir(), 'probity-decode-'))
const { TMPDIR } = process.env
beforeAll(() => {
  process.env['TMPDIR'] = own_folder
})
afterAll(() => {
  if (TMPDIR === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = TMPDIR
  rmSync(own_folder, { recursive: true })
})
const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('probity-zip-'))

describe('encodings', () => {
  const text = 'Größe €\nnaïve 名 😀\n'

  test.each([
    ['utf-8', Buffer.from(text)],
    ['utf-8 with its mark', Buffer.from(`\ufeff${text}`)],
    ['utf-16le with its mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['utf-16be with its mark', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('%s', async (_, bytes) => {
    expect(await read(bytes)).toBe(text)
  })

  test('prefers a byte order mark over the option', async () => {
    expect(await read(Buffer.from(`\ufeff${text}`), { encoding: 'windows-1252' })).toBe(text)
  })

  test('decodes one-byte encodings', async () => {
    const bytes = Buffer.from([0x80, 0x9f, 0xe9, 0x0a])
    expect(await read(bytes, { encoding: 'windows-1252' })).toBe('€Ÿé\n')
    expect(await read(bytes, { encoding: 'iso-8859-1' })).toBe('\x80\x9fé\n')
  })

  test.each([
    ['windows-1250', [0xa3, 0x75, 0x6b, 0x61, 0x73, 0x7a, 0x20, 0xaf, 0xf3, 0xb3, 0xe6], 'Łukasz Żółć'],
    ['windows-1251', [0xc8, 0xe2, 0xe0, 0xed], 'Иван'],
    ['windows-1254', [0xdd, 0x73, 0x74, 0x20, 0xde, 0x69, 0x72], 'İst Şir'],
    ['koi8-r', [0xe9, 0xd7, 0xc1, 0xce], 'Иван'],
    ['macintosh', [0x4d, 0x9f, 0x6c, 0x6c, 0x65, 0x72], 'Müller'],
  ])('reads %s when it is declared', async (encoding, bytes, expected) => {
    expect(await read(Uint8Array.from(bytes), { encoding })).toBe(expected)
  })

  test('names the offset of a byte that the declared encoding does not define', async () => {
    await expect(read(Uint8Array.from([0x41, 0x0a, 0xd2]), { encoding: 'windows-1253' })).rejects.toMatchObject({
      code: 'encoding_invalid',
      message: expect.stringContaining('at byte 3, line 2'),
    })
  })

  test('uses the declaration of XML and refuses an unknown encoding', async () => {
    const declared = (name: string) => `<?xml version="1.0" encoding="${name}"?><a>é</a>`
    expect(await read(Buffer.from(declared('ISO-8859-1'), 'latin1'), { encoding: 'xml' })).toBe(declared('ISO-8859-1'))
    await expect(read(declared('EBCDIC'), { encoding: 'xml' })).rejects.toMatchObject({ code: 'encoding_unknown' })
  })

  test('names the offset of an invalid byte, also after a real replacement character', async () => {
    const bytes = Buffer.concat([Buffer.from('first\nsecond \ufffd\n'), Buffer.from([0x41, 0xe9, 0x0a])])
    await expect(read(bytes)).rejects.toMatchObject({
      code: 'encoding_invalid',
      message: expect.stringContaining('at byte 19, line 3'),
      at: { line: 3 },
    })
  })

  test.each([
    ['a character cut off', Buffer.from('né').subarray(0, 2), {}],
    ['half a surrogate pair', Buffer.from('\ufeffa\ud83db', 'utf16le'), {}],
    ['an odd last byte', Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x42]), {}],
    ['UTF-16 without a mark', Buffer.from('abc', 'utf16le'), {}],
  ])('refuses %s', async (_, bytes, options) => {
    await expect(read(bytes, options)).rejects.toMatchObject({ code: 'encoding_invalid' })
  })

  test('refuses an empty source', async () => {
    await expect(read('')).rejects.toMatchObject({ code: 'empty_source' })
    await expect(read(gzipSync(''))).rejects.toMatchObject({ code: 'empty_source' })
  })
})

describe('gzip', () => {
  test('is decompressed', async () => {
    expect(await read(gzipSync('a,b\n'))).toBe('a,b\n')
  })

  test('cut off, damaged, or larger than allowed, it is refused', async () => {
    const packed = gzipSync('0123456789'.repeat(1000))
    await expect(read(packed.subarray(0, packed.length - 9))).rejects.toMatchObject({ code: 'truncated' })
    const damaged = Buffer.from(packed)
    damaged.writeUInt32LE(1, damaged.length - 8)
    await expect(read(damaged)).rejects.toMatchObject({ code: 'archive_damaged' })
    await expect(read(packed, { max_expanded_bytes: 9_999 })).rejects.toMatchObject({ code: 'expansion_limit' })
    expect(await read(packed, { max_expanded_bytes: 10_000 })).toHaveLength(10_000)
  })

  test('closes the source when the consumer stops', async () => {
    const source = new EndlessSource(gzipSync('a'.repeat(100_000)), gzipSync('b'.repeat(100_000)))
    for await (const _ of readText(source)) break
    await expect.poll(() => source.closed).toBe(true)
  })
})

describe('zip', () => {
  test('of one file is decompressed; shadow files are ignored', async () => {
    expect(await read(await zipOf({ 'list.csv': 'a,b\n', '__MACOSX/._list.csv': 'x' }))).toBe('a,b\n')
  })

  test('of an empty file is refused with its name', async () => {
    await expect(read(await zipOf({ 'list.csv': '' }))).rejects.toMatchObject({
      code: 'empty_source',
      message: '"list.csv" in the archive is empty: it has no byte at all. Download it again.',
      at: { file: 'list.csv' },
    })
  })

  test('of several or no files is refused', async () => {
    await expect(read(await zipOf({ 'a.csv': 'a', 'b.csv': 'b' }))).rejects.toMatchObject({
      code: 'archive_members',
      message: expect.stringContaining('a.csv, b.csv'),
    })
    await expect(read(await zipOf({}))).rejects.toMatchObject({ code: 'empty_source' })
  })

  test('cut off, damaged, or larger than allowed, it is refused', async () => {
    const packed = await zipOf({ 'list.csv': Buffer.from('0123456789'.repeat(1000)) })
    await expect(read(packed.subarray(0, packed.length - 30))).rejects.toMatchObject({ code: 'truncated' })
    await expect(read(packed, { max_expanded_bytes: 9_999 })).rejects.toMatchObject({ code: 'expansion_limit' })
    const stored = new yazl.ZipFile()
    stored.addBuffer(Buffer.from('honest content'), 'list.csv', { compress: false })
    stored.end()
    const bytes = await collectBytes(stored.outputStream as unknown as AsyncIterable<Buffer>)
    bytes[bytes.indexOf('honest')] = 0x48
    await expect(read(bytes)).rejects.toMatchObject({
      code: 'archive_damaged',
      message: expect.stringContaining('checksum'),
    })
  })

  test('beyond 64 MiB it is buffered in a temporary file, which is removed', async () => {
    const before = leftovers()
    const content = Buffer.alloc(65 * 1024 * 1024, 'x')
    const zip = new yazl.ZipFile()
    zip.addBuffer(content, 'large.txt', { compress: false })
    zip.end()
    const packed = await collectBytes(zip.outputStream as unknown as AsyncIterable<Buffer>)
    let chars = 0
    let kept = 0
    for await (const piece of readText(toSource(packed, 1024 * 1024))) {
      chars += piece.length
      kept = leftovers().length - before.length
    }
    expect(chars).toBe(content.length)
    expect(kept).toBe(1)
    expect(leftovers()).toEqual(before)
  })
})
