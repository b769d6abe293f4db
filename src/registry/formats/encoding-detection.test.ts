/** Detects the encoding of a text: the same result for any chunks, and a refusal when a guess would be unsafe. */
import { describe, expect, test } from 'vitest'
import { collectText, toSource } from '#test/support/byte-sources.ts'
import { type DetectedEncoding, readText } from './decode.ts'
import { guessEncoding } from './encoding-detection.ts'

async function read(bytes: Uint8Array, piece_bytes: number, encoding: 'detect' | 'iso-8859-1' = 'detect') {
  const found: DetectedEncoding[] = []
  const text = await collectText(
    readText(toSource(bytes, piece_bytes), { encoding, onEncoding: (one) => found.push(one) }),
  )
  return { text, found }
}

const ascii = 'plain,line\n'.repeat(20)
const long = 'x'.repeat(70_000)
const cases: [string, string, Uint8Array, string][] = [
  ['ASCII', ascii, Buffer.from(ascii), 'utf-8'],
  ['UTF-8', `${ascii}José, 漢, Владимир\n`, Buffer.from(`${ascii}José, 漢, Владимир\n`), 'utf-8'],
  ['windows-1252', `${ascii}José – “Müller”, 5 €\n`, windows1252(`${ascii}José – “Müller”, 5 €\n`), 'windows-1252'],
  ['windows-1252 whose last byte decides', `${ascii}Jos\u00e9`, windows1252(`${ascii}Jos\u00e9`), 'windows-1252'],
  ['UTF-8 beyond the window', `é${long}漢${long}`, Buffer.from(`é${long}漢${long}`), 'utf-8'],
  ['windows-1252 beyond the window', `é${long}ü${long}`, windows1252(`é${long}ü${long}`), 'windows-1252'],
]

function windows1252(text: string): Buffer {
  const special: Record<string, number> = { '€': 0x80, '–': 0x96, '“': 0x93, '”': 0x94 }
  return Buffer.from([...text].map((char) => special[char] ?? char.charCodeAt(0)))
}

describe.each(cases)('%s', (_, text, bytes, encoding) => {
  test.each([1, 3, 65_536, 1_000_000])('is detected in chunks of %i bytes', async (piece_bytes) => {
    if (bytes.length > 10_000 && piece_bytes < 10) return
    expect(await read(bytes, piece_bytes)).toEqual({ text, found: [{ encoding, encoding_from: 'content' }] })
  })
})

test('prefers a byte order mark over the content, and a declared encoding over detection', async () => {
  expect(await read(Buffer.from('\ufeffé'), 1)).toEqual({
    text: 'é',
    found: [{ encoding: 'utf-8', encoding_from: 'byte-order-mark' }],
  })
  expect(await read(Buffer.from('é'), 1, 'iso-8859-1')).toEqual({
    text: 'Ã©',
    found: [{ encoding: 'iso-8859-1', encoding_from: 'option' }],
  })
})

test('does not read a UTF-8 file with a damaged character as another encoding', async () => {
  const bytes = Buffer.concat([Buffer.from('line one é è à\nline two '), Buffer.from([0xff]), Buffer.from(' ü\n')])
  await expect(read(bytes, 5)).rejects.toMatchObject({ code: 'encoding_invalid', at: { line: 2 } })
  const late = Buffer.concat([Buffer.from(`é\n${long}\n`), Buffer.from([0xe9, 0x20])])
  await expect(read(late, 65_536)).rejects.toMatchObject({ code: 'encoding_invalid', at: { line: 3 } })
})

/** "Владимир Владимирович" and "Καλημέρα κόσμε" in one-byte encodings of their own. */
const cyrillic = Buffer.from('c2ebe0e4e8ece8f020c2ebe0e4e8ece8f0eee2e8f7', 'hex')
const greek = Buffer.from('cae1ebe7ecddf1e120eafcf3ece5', 'hex')
test.each([
  ['Cyrillic', cyrillic],
  ['Greek', greek],
  ['a byte windows-1252 does not have', Buffer.from('41e94281', 'hex')],
])('refuses %s with its line', async (_, bytes) => {
  expect(guessEncoding(bytes, true)).toBeNull()
  const source = Buffer.concat([Buffer.from('id,name\n1,'), bytes, Buffer.from('\n')])
  await expect(read(source, 4)).rejects.toMatchObject({ code: 'encoding_unknown', at: { row: 0, line: 2 } })
})
