/** Exported tables: which cells the formula guard covers, and that a table without it is imported unchanged. */
import { expect, test } from 'vitest'
import type { Entry } from './adapter.ts'
import { adapters } from './adapters/index.ts'
import { buildColumnMapping, type ExportFormat, writeEntries } from './export.ts'

const type = (...members: string[]) => ({
  schema: {
    type: 'object',
    properties: Object.fromEntries(['key', ...members].map((name) => [name, { type: 'string' }])),
  },
  key_pointers: ['/key'],
})

async function write(entries: readonly Entry[], format: ExportFormat, guard: boolean, of = type('text')) {
  const texts = (async function* () {
    if (entries.length > 0) yield entries.map((entry) => JSON.stringify(entry)).join('\n')
  })()
  const pieces: Buffer[] = []
  for await (const piece of writeEntries(texts, of, format, guard)) pieces.push(piece)
  return Buffer.concat(pieces)
}

async function read(bytes: Buffer, format: 'csv' | 'xlsx', of = type('text')): Promise<Entry[]> {
  const source = (async function* () {
    yield bytes
  })()
  const entries: Entry[] = []
  const adapter = adapters.get(format)
  for await (const batch of adapter?.read(source, { columns: buildColumnMapping(of as never) }) ?? []) {
    expect(batch.rejects).toEqual([])
    entries.push(...batch.entries.map(({ entry }) => entry))
  }
  return entries
}

const signs = ['=', '+', '-', '@', '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−']
const before = ['', ' ', '\u00a0', '\u3000', '  ', '\u200b', '\ufeff']
const formulas = [
  ...signs.flatMap((sign) => before.map((lead) => `${lead}${sign}1+1`)),
  '\t=1',
  '\r=1',
  '\n=1',
  '\tplain',
  '\rplain',
]
const plain = ['a=1', 'x@example.com', '1-1', '“=1', "'=1", ' plain', 'Ａ＝']

test.each(['csv', 'xlsx'] as const)(
  'the formula guard of %s covers every form of a formula and nothing else',
  async (format) => {
    const of = type('text')
    const entries = [...formulas, ...plain].map((text, index) => ({ key: String(index), text }))
    const cells = await read(await write(entries, format, true), format, of)
    const guarded = cells.map(({ text }, index) => text === `'${entries[index]?.text}`.trim())
    expect(guarded).toEqual([...formulas.map(() => true), ...plain.map(() => false)])
  },
)

test.each(['csv', 'xlsx'] as const)('%s without the guard is imported to the same entries', async (format) => {
  // Table adapters trim cells, so texts that begin or end with white space are tested with the types.
  const texts = [...formulas, ...plain, 'a;=1', 'a\t=1'].filter((text) => text === text.trim())
  const entries = texts.map((text, index) => ({ key: String(index), text }))
  expect(await read(await write(entries, format, false), format)).toEqual(entries)
})

test('guards headers like cells, since tenants name the members of their types', async () => {
  const of = type('=1+1', '＝2')
  const [header] = (await write([{ key: 'a' }], 'csv', true, of)).toString().split('\r\n')
  expect(header).toBe("key,'=1+1,'＝2,_other")
  expect((await write([{ key: 'a' }], 'csv', false, of)).toString()).toMatch(/^key,=1\+1,＝2,_other/)
})

test('quotes a text with a semicolon or a tab', async () => {
  const csv = (
    await write(
      [
        { key: 'a', text: 'x;=1+1' },
        { key: 'b', text: 'x\t=1+1' },
      ],
      'csv',
      true,
    )
  ).toString()
  expect(csv).toContain('"x;=1+1"')
  expect(csv).toContain('"x\t=1+1"')
})
