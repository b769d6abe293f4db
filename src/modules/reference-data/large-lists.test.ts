/** Lists long enough for a stored tree: proofs, differences, exports and searches use what is stored with the version. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { datasetStore, staging, treeStore, typeStore, versionStore } from '#modules/definitions/index.ts'
import { entryHash, keyHash } from '#registry/content/hashes.ts'
import { verifyProof } from '#registry/content/merkle.ts'
import { matchesWords, parseQueryWords } from '#registry/search/search-words.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

import { buildSearchIndex } from './search/build-index.ts'

const LIST = 'long-list'
const AT = `/reference-data/datasets/${LIST}`
const SIZE = 3000

interface Party {
  readonly id: string
  readonly name: string
  readonly score: number
}
const party = (n: number, score = n % 10): Party => ({
  id: `P-${String(n).padStart(5, '0')}`,
  name: `Party number ${n}`,
  score,
})

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  await t.make('POST /reference-data/types', {
    body: {
      type_key: LIST,
      title: 'Party',
      description: 'A party.',
      schema: {
        type: 'object',
        properties: { id: { type: 'string' }, name: { type: 'string' }, score: { type: 'integer' } },
        required: ['id', 'name'],
        additionalProperties: false,
      },
      key_pointers: ['/id'],
      examples: [party(1)],
    },
  })
  await t.make('POST /reference-data/datasets', {
    body: { list_key: LIST, type_key: LIST, title: 'Parties', guards: { max_changed_bps: 10_000 } },
  })
  await importVersion(Array.from({ length: SIZE }, (_, n) => party(n)))
  // 60 changed, 20 removed, 10 added.
  const second = Array.from({ length: SIZE + 10 }, (_, n) => party(n, n < 60 ? 77 : n % 10))
  await importVersion(second.filter((_, n) => n < 100 || n >= 120))
})
afterAll(() => w.close())

async function importVersion(entries: readonly Party[]) {
  const headers = { 'content-type': 'application/octet-stream' }
  const payload = entries.map((entry) => JSON.stringify(entry)).join('\n')
  const { upload_id } = await t.make('POST /uploads?file_name=list', { payload, headers })
  const body = { list_key: LIST, upload_id, adapter_key: 'ndjson' }
  const job = await t.make('POST /reference-data/imports', { body })
  await t.runToEnd(job)
}

const getProof = (version: number, key: string) => t.make(`GET ${AT}/versions/${version}/proof?key=${key}`)

describe('a proof from the stored tree', () => {
  const cases = [
    [1, 'P-00005', party(5)],
    [2, 'P-00005', party(5, 77)],
    [1, 'P-00110', party(110)],
    [2, 'P-00110', null],
    [1, 'P-03005', null],
    [2, 'P-03005', party(3005)],
    [2, 'nobody', null],
  ] as const
  test.each(cases)('of version %i shows whether %s is in it, and verifies', async (version, key, entry) => {
    const { content_hash } = await t.make(`GET ${AT}/versions/${version}`)
    const answer = await getProof(version, key)
    expect(answer).toMatchObject({ key, present: entry !== null, entry })
    expect(answer.proof).toMatchObject({ root: content_hash, key_hash: keyHash(key) })
    if (entry) expect(answer.proof.entry_hash).toBe(entryHash(JSON.stringify(entry)))
    expect(verifyProof(answer.proof)).toBe(true)
  })

  test('the first version stores all pairs and the second only those that changed', async () => {
    const rows = await t.write((tx) =>
      tx.query<{ version: number; base_version: number; pairs: number }>(
        `select t.version, t.base_version, sum(length(b.pairs) / 64)::bigint as pairs from app.dataset_tree t
           join app.dataset_tree_block b using (tenant_id, dataset_id, version)
          where t.tenant_id = $1 group by 1, 2 order by 1`,
        [t.tenant_id],
      ),
    )
    expect(rows.map(({ version, base_version, pairs }) => [version, base_version, pairs])).toEqual([
      [1, 1, SIZE],
      [2, 1, 90],
    ])
  })
})

describe('a proof where the stored tree cannot be used', () => {
  test('is built from the entries and is equal', async () => {
    const [version] = await t.write((tx) =>
      tx.query<versionStore.VersionRow>('select * from app.dataset_version where tenant_id = $1 and version = 2', [
        t.tenant_id,
      ]),
    )
    const scope = fullScope(t.tenant_id, 'operator:test')
    let reads = 0
    const read = <T>(body: (tx: Tx) => Promise<T>) => {
      reads++
      return w.runtime.database.read(scope, body)
    }
    const stored = await treeStore.createProver(read, version as versionStore.VersionRow)('P-00005')
    expect(reads).toBe(1)
    const owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    // The application's role cannot do this.
    await owner.query('alter table app.dataset_tree disable trigger all')
    await owner.query(
      `update app.dataset_tree set nodes = set_byte(nodes, 5, 255 - get_byte(nodes, 5)) where version = 2`,
    )
    await owner.query('alter table app.dataset_tree enable trigger all')
    await owner.end()
    const answers = await Promise.all(
      Array.from({ length: 40 }, (_, n) =>
        treeStore.createProver(read, version as versionStore.VersionRow)(`P-000${String(n).padStart(2, '0')}`),
      ),
    )
    expect(reads).toBeGreaterThan(41)
    expect(answers[5]).toEqual(stored)
    expect(answers.every(verifyProof)).toBe(true)
  })
})

const difference = (query: string) => t.make(`GET ${AT}/diff?${query}`)

describe('a difference of few keys', () => {
  test('includes its summary, and the opposite one in the other direction', async () => {
    const page = await difference('from=1&to=2&limit=5')
    expect(page.summary).toEqual({
      added: 10,
      removed: 20,
      changed: 60,
      fields: [{ pointer: '/score', changed: 60 }],
      exact: true,
    })
    expect([page.summary_state, page.items.length, page.items[0].key]).toEqual(['complete', 5, 'P-00000'])
    expect((await difference('from=2&to=1')).summary).toMatchObject({ added: 20, removed: 10, changed: 60 })
  })
})

describe('a search in a long list', () => {
  const search = (query: string, version = 2) =>
    t.make(`GET ${AT}/versions/${version}/entries?${query}`) as Promise<{
      items: { key: string }[]
      next_cursor: string | null
      index: string
    }>
  const toKeys = ({ items }: { items: { key: string }[] }) => items.map(({ key }) => key)

  test('scans all entries while the index is built, and returns no empty page before the end', async () => {
    await removeIndex()
    const found = await search('q=number%202999', 1)
    expect([found.index, toKeys(found), found.next_cursor]).toEqual(['building', ['P-02999'], null])
  })

  test('uses the index once it is built, and returns the same entries', async () => {
    await buildIndex()
    for (const [query, version] of [
      ['q=number%202999', 1],
      ['q=NUMBER%20PARTY%2029', 1],
      ['q=77', 2],
      ['q=77', 1],
      ['q=110', 1],
      ['q=110', 2],
      ['q=3005', 2],
      ['q=p%2000005', 2],
      ['q=nothing', 2],
      ['q=zzz%20party', 2],
      ['q=part&key_prefix=P-0299', 2],
    ] as const) {
      const found = await search(`${query}&limit=200`, version)
      expect(found.index).toBe('ready')
      expect([query, version, toKeys(found)]).toEqual([query, version, await scanEntries(query, version)])
    }
  })

  test('finds nothing for a query without a word', async () => {
    expect(await search('q=--')).toMatchObject({ items: [], next_cursor: null })
  })

  test('returns every entry once, in key order, page by page', async () => {
    const keys: string[] = []
    let cursor = ''
    do {
      const page = await search(`q=party%201&limit=37${cursor && `&cursor=${cursor}`}`)
      expect(page.items.length > 0 || page.next_cursor === null).toBe(true)
      keys.push(...toKeys(page))
      cursor = page.next_cursor ?? ''
    } while (cursor)
    expect(keys).toEqual(await scanEntries('q=party%201', 2))
    expect(keys.length).toBeGreaterThan(1000)
  })

  test('is indexed in parts, which a second run does not write again', async () => {
    const count = () =>
      t.write((tx) =>
        tx.query<{ version: number; parts: number; entries: number }>(
          `select version, count(*)::bigint as parts, sum(entry_count)::bigint as entries from app.dataset_segment
            where tenant_id = $1 group by version order by version`,
          [t.tenant_id],
        ),
      )
    const before = await count()
    expect(before.slice(0, 2)).toEqual([
      { version: 1, parts: 4, entries: SIZE },
      { version: 2, parts: 1, entries: 70 },
    ])
    await buildIndex()
    expect(await count()).toEqual(before)
  })

  /** The job that follows an import may have built it already. */
  const removeIndex = () =>
    t.write((tx) => tx.run('delete from app.dataset_segment where tenant_id = $1', [t.tenant_id]))

  /** In small parts, so that a search has to merge several. */
  async function buildIndex() {
    const scope = fullScope(t.tenant_id, 'operator:test')
    const read = <T>(body: (tx: Tx) => Promise<T>) => w.runtime.database.read(scope, body)
    const write = <T>(body: (tx: Tx) => Promise<T>) => w.runtime.database.write(scope, body)
    const { dataset_id } = (await read((tx) => datasetStore.findDataset(tx, LIST))) as datasetStore.DatasetRow
    await buildSearchIndex({ read, write, entries_per_part: 900 }, { tenant_id: t.tenant_id, dataset_id }, 2)
  }

  async function scanEntries(query: string, version: number): Promise<string[]> {
    const { q, key_prefix = '' } = Object.fromEntries(new URLSearchParams(query)) as { q: string; key_prefix?: string }
    const { text } = await w.call(`GET ${AT}/versions/${version}/export?format=ndjson`, { token: await t.token() })
    const entries = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Party)
    return entries
      .filter((entry) => matchesWords(entry, parseQueryWords(q)) && entry.id.startsWith(key_prefix))
      .map(({ id }) => id)
  }
})

describe('a difference of many keys', () => {
  test('returns its first page immediately, and its fields once they are counted', async () => {
    const third = Array.from({ length: SIZE }, (_, n) => party(n, n % 10 === 7 ? 7 : 50))
    await importVersion(third)
    // The job that follows the import counts from 2 to 3; the other direction has not been requested.
    const partial = await difference('from=3&to=2&limit=3')
    expect(partial).toMatchObject({
      summary_state: 'partial',
      summary: { added: 10, removed: 20, fields: [], exact: false },
    })
    expect(partial.items.length).toBe(3)
    const pending = await difference('from=1&to=3&limit=3')
    expect([pending.summary_state, pending.summary, pending.items.length]).toEqual(['pending', null, 3])
    for (const body of [
      { from: '1', to: '3' },
      { from: '3', to: '2' },
    ]) {
      await t.runToEnd(await t.make(`POST ${AT}/diff-summaries`, { body }))
    }
    const counted = await difference('from=3&to=2')
    expect(counted.summary).toEqual({
      ...partial.summary,
      fields: [{ pointer: '/score', changed: partial.summary.changed }],
      exact: true,
    })
    const both = await difference('from=1&to=3')
    expect([both.summary_state, both.summary.added, both.summary.removed]).toEqual(['complete', 0, 0])
    expect(both.summary.changed).toBe(SIZE - third.filter((one, n) => one.score === n % 10).length)
    const unknown = await w.call(`POST ${AT}/diff-summaries`, { token: await t.token(), body: { from: '1', to: '99' } })
    expect([unknown.status, unknown.json.code]).toEqual([404, 'not_found'])
  })

  test('lists every key once, in order, whatever the page size', async () => {
    const keys: string[] = []
    let cursor = ''
    do {
      const page = await difference(`from=1&to=3&limit=200${cursor && `&cursor=${cursor}`}`)
      keys.push(...page.items.map(({ key }: { key: string }) => key))
      cursor = page.next_cursor ?? ''
    } while (cursor)
    expect(new Set(keys).size).toBe(keys.length)
    expect(keys).toEqual([...keys].sort())
    expect(keys.length).toBe((await difference('from=1&to=3')).summary.changed)
  })
})

describe('publishing', () => {
  test('reports the start of comparing, writing and storing the tree', async () => {
    const phases: string[] = []
    const rows = Array.from({ length: 2000 }, (_, n) => {
      const text = JSON.stringify(party(n, 5))
      return { key: party(n).id, text, hash: entryHash(text), row: n + 1 }
    })
    await t.write(async (tx) => {
      const [dataset, type] = [await datasetStore.findDataset(tx, LIST), await typeStore.findType(tx, LIST)]
      await versionStore.publishStaged(tx, {
        dataset: dataset as datasetStore.DatasetRow,
        type: type as typeStore.TypeRow,
        content: await staging.stageRows(tx, rows),
        origin: 'inline',
        provenance: {},
        guards: null,
        onPhase: async (phase) => {
          phases.push(phase)
        },
      })
    })
    expect(phases).toEqual(['compare', 'write', 'tree'])
  })
})

describe('an export', () => {
  test('of more entries than one batch returns them all, in key order', async () => {
    const { text } = await w.call(`GET ${AT}/versions/1/export?format=ndjson`, { token: await t.token() })
    const entries = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries).toEqual(Array.from({ length: SIZE }, (_, n) => party(n)))
    const json = await w.call(`GET ${AT}/versions/1/export`, { token: await t.token() })
    expect(json.bytes.toString()).toBe(`[\n${text.trimEnd().split('\n').join(',\n')}\n]\n`)
  })
})
