import { describe, expect, test } from 'vitest'
import { collectItems } from '#test/support/byte-sources.ts'
import { type CsvOptions, readCsv } from './csv.ts'

/** The text as a whole and in chunks of one character must give the same records. */
async function read(text: string, options: CsvOptions = {}) {
  const whole = await collectItems(readCsv(pieces([text]), options))
  const cut = await collectItems(readCsv(pieces([...text]), options))
  expect(cut).toEqual(whole)
  return whole
}

async function* pieces(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts
}

const fields = async (text: string, options?: CsvOptions) => (await read(text, options)).map((record) => record.fields)

describe('records', () => {
  test('are read with any line end and delimiter', async () => {
    const rows = [
      ['a', 'b'],
      ['1', ''],
    ]
    expect(await fields('a,b\n1,\n')).toEqual(rows)
    expect(await fields('a,b\r\n1,')).toEqual(rows)
    expect(await fields('a,b\r\r\n"1",\r\r\n')).toEqual(rows)
    for (const delimiter of [';', '\t', '|', '@']) {
      expect(await fields(`a${delimiter}b\n1${delimiter}\n`, { delimiter })).toEqual(rows)
    }
  })

  test('keep delimiters, line ends and quotes in quoted values', async () => {
    expect(await fields('"a,""x""","b\r\nc" ,d\r\n"",e,"f"')).toEqual([
      ['a,"x"', 'b\r\nc', 'd'],
      ['', 'e', 'f'],
    ])
    expect(await fields("'a,b',c\n", { quote: "'" })).toEqual([['a,b', 'c']])
    expect(await fields('"a,b"\n', { quote: null })).toEqual([['"a', 'b"']])
  })

  test('keep a quote inside an unquoted value; text after a closing quote is a fault of the record', async () => {
    expect(await fields('5" pipe,x\n')).toEqual([['5" pipe', 'x']])
    expect(await read('a,"b"c,d\ne,f,g\n')).toEqual([
      { fields: ['a', 'bc', 'd'], line: 1, misquoted: 1 },
      { fields: ['e', 'f', 'g'], line: 2 },
    ])
    expect(await read('""x,y\n')).toMatchObject([{ misquoted: 0 }])
  })

  test('count lines through quotes, blank lines and skipped lines', async () => {
    const text = 'title\n\na,b\n"x\ny",1\n\n2,3\n'
    const lines = (await read(text, { skip_lines: 2 })).map(({ line }) => line)
    expect(lines).toEqual([3, 4, 7])
  })

  test('are empty when more lines are skipped than the source has', async () => {
    expect(await read('a\nb', { skip_lines: 5 })).toEqual([])
  })
})

describe('ends', () => {
  test('ignore a single 0x1A at the end only', async () => {
    expect(await fields('a,b\r\n\x1a')).toEqual([['a', 'b']])
    expect(await fields('\x1a\na,b')).toEqual([['\x1a'], ['a', 'b']])
  })

  test('mark a record without line end', async () => {
    expect(await read('a,b\nc')).toEqual([
      { fields: ['a', 'b'], line: 1 },
      { fields: ['c'], line: 2, last: true },
    ])
  })

  test('refuse an unclosed quote as truncated', async () => {
    await expect(read('a,b\nc,"d\ne')).rejects.toMatchObject({ code: 'truncated', at: { line: 2 } })
  })

  test('refuse single carriage returns as line ends', async () => {
    await expect(read('a,b\rc,d\r')).rejects.toMatchObject({ code: 'layout_unknown' })
  })

  test('refuse a record beyond the maximum length, quoted or not', async () => {
    const long = Array.from({ length: 17 }, () => 'x'.repeat(65_536))
    for (const start of ['', '"']) {
      await expect(collectItems(readCsv(pieces(['a,b\n', start, ...long])))).rejects.toMatchObject({
        code: 'record_too_long',
        at: { line: 2 },
      })
    }
  })
})
