/** Delta imports: the same version as the full file gives, only onto the newest version, and under the same guards. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ExampleTenant } from '../../../test/support/example-tenant.ts'
import { type World, world } from '../../../test/support/world.ts'
import { verifyProof } from '../../registry/content/merkle.ts'

let w: World
let t: ExampleTenant
beforeAll(async () => {
  w = await world()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

interface Party {
  readonly id: string
  readonly name: string
  readonly score?: number
  readonly aliases?: readonly string[]
}
const party = (n: number, score = n % 10): Party => ({
  id: `P-${String(n).padStart(5, '0')}`,
  name: `Party number ${n}`,
  score,
  aliases: [`Alias ${n}`, `Other ${n}`],
})
const parties = (count: number) => Array.from({ length: count }, (_, n) => party(n))

const type = {
  title: 'Party',
  description: 'A party.',
  schema: {
    type: 'object',
    properties: {
      id: { type: 'string', maxLength: 20 },
      name: { type: 'string' },
      score: { type: 'integer' },
      aliases: { type: 'array', items: { type: 'string' } },
    },
    required: ['id', 'name'],
    additionalProperties: false,
  },
  key_pointers: ['/id'],
  fields: { '/aliases': { title: 'Aliases', set: true } },
  examples: [party(1)],
}

let lists = 0
async function newList({ guards = {}, ...more }: { guards?: object; list_rules?: object } = {}): Promise<string> {
  const list_key = `delta-${++lists}`
  await t.make('POST /reference-data/types', { body: { type_key: list_key, ...type, ...more } })
  await t.make('POST /reference-data/datasets', { body: { list_key, type_key: list_key, title: 'List', guards } })
  return list_key
}
const ndjson = (rows: readonly object[]) => rows.map((row) => JSON.stringify(row)).join('\n')
async function upload(payload: string, file_name = 'list'): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  return (await t.make(`POST /uploads?file_name=${file_name}`, { payload, headers })).upload_id
}
async function order(list_key: string, rows: readonly object[] | string, more: object = {}) {
  const text = typeof rows === 'string' ? rows : ndjson(rows)
  return { list_key, upload_id: await upload(text), adapter_key: 'ndjson', ...more }
}
const importAt = (job: { resource: string }) => t.make(`GET ${job.resource.replace('/api', '')}`)
async function importInto(list_key: string, rows: readonly object[] | string, more: object = {}) {
  const job = await t.make('POST /reference-data/imports', { body: await order(list_key, rows, more) })
  await t.ran(job)
  return importAt(job)
}
async function refusal(list_key: string, rows: readonly object[], more: object) {
  const reply = await w.call('POST /reference-data/imports', {
    token: await t.token(),
    body: await order(list_key, rows, more),
  })
  return { status: reply.status, ...reply.json }
}
const versionOf = (list_key: string, version: number) =>
  t.make(`GET /reference-data/datasets/${list_key}/versions/${version}`)
const against = (base_version: number, removed?: object) => ({ delta: { base_version, ...(removed && { removed }) } })
const marker = { pointer: '/action', values: ['D', 'delisted'] }

/** Deterministic, so that a failure can be repeated. */
function createRandom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return Math.floor((state / 2 ** 31) * below)
  }
}

/** Everything a reader sees of a version. */
async function contentOf(list_key: string, version: number) {
  const path = `/reference-data/datasets/${list_key}/versions/${version}`
  const { content_hash, content_changed, entry_count, data_bytes, difference } = await t.make(`GET ${path}`)
  const lines = await w.call(`GET ${path}/export?format=ndjson`, { token: await t.token() })
  return { content_hash, content_changed, entry_count, data_bytes, difference, text: lines.text }
}

describe('a delta import', () => {
  // Below and above the length from which trees are stored; the last one crosses the number where buckets are split.
  test.each([
    ['a short list', 60, 4, 12],
    ['a list with a stored tree', 2100, 4, 40],
    ['a list that grows and shrinks past the length from which trees are stored', 2003, 3, 8],
    ['a list whose number of buckets changes', 16_380, 2, 20],
  ])('of random changes gives %s the version of the full file', async (_, size, rounds, changes) => {
    const random = createRandom(size)
    const [by_delta, by_file] = [await newList(), await newList()]
    const now = new Map(parties(size).map((one) => [one.id, one]))
    for (const list_key of [by_delta, by_file]) await importInto(list_key, [...now.values()])
    for (let round = 1; round <= rounds; round++) {
      const removed = new Set(Array.from({ length: random(5) + 4 }, () => party(random(size)).id))
      const rows = new Map<string, object>()
      for (const id of removed) if (!now.delete(id)) removed.delete(id)
      for (let n = 0; n < changes; n++) {
        const one = party(random(size + 200), 100 + round)
        if (removed.has(one.id)) continue
        now.set(one.id, one)
        rows.set(one.id, random(2) ? one : { ...one, aliases: one.aliases?.toReversed() })
      }
      const [by_row, by_key] = [[...removed].slice(1), [...removed].slice(0, 1)]
      const file = [...rows.values(), ...by_row.map((id) => ({ id, action: 'D' }))]
      const told = { marker, ...(by_key.length > 0 && { keys: by_key }) }
      const done = await importInto(by_delta, file, against(round, told))
      expect(done).toMatchObject({ state: 'published', version: round + 1, delta: { base_version: round } })
      await importInto(by_file, [...now.values()])
      expect(await contentOf(by_delta, round + 1)).toEqual(await contentOf(by_file, round + 1))
    }
    const [changed, gone] = [[...now.keys()].at(-1) as string, party(1).id]
    const parts = [`diff?from=1&to=${rounds + 1}&limit=5`, 'versions/2/entries?q=party%2017&limit=5']
    for (const part of [...parts, ...[changed, gone].map((key) => `versions/${rounds + 1}/proof?key=${key}`)]) {
      const [mine, theirs] = await Promise.all(
        [by_delta, by_file].map(async (list_key) => {
          const { list_key: _key, ...rest } = await t.make(`GET /reference-data/datasets/${list_key}/${part}`)
          return rest
        }),
      )
      expect(mine).toEqual(theirs)
      if (mine.proof) expect(verifyProof(mine.proof)).toBe(true)
    }
  })

  test('reports its base and its counts, in the import and in the version', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(50))
    const rows = [party(3, 77), party(4), party(60), { id: party(5).id, action: 'delisted' }]
    const done = await importInto(list_key, rows, against(1, { marker, keys: [party(6).id, party(5).id] }))
    const counts = { added: 1, changed: 1, removed: 2, untouched: 47, unchanged_rows: 1, unmatched_removals: 0 }
    expect(done).toMatchObject({
      state: 'published',
      counts: { rows: 4, accepted: 4, rejected: 0 },
      delta: { base_version: 1, ...counts },
      order: { delta: { base_version: 1, removed: { marker, keys: [party(6).id, party(5).id] } } },
    })
    expect(await versionOf(list_key, 1)).toMatchObject({ delta_base_version: null })
    expect(await versionOf(list_key, 2)).toMatchObject({
      delta_base_version: 1,
      entry_count: 49,
      difference: { added: 1, changed: 1, removed: 2 },
    })
    const { provenance } = await t.make(`GET /reference-data/datasets/${list_key}/versions/2/provenance`)
    expect(provenance.delta).toMatchObject({ base_version: 1, ...counts })
  })

  test('without any change is like a full file without any change', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const skipped = { ...against(1), on_unchanged: 'skip' }
    expect(await importInto(list_key, [party(3)], skipped)).toMatchObject({ state: 'unchanged', version: null })
    expect(await importInto(list_key, '\n', skipped)).toMatchObject({ state: 'unchanged', counts: { rows: 0 } })
    expect(await importInto(list_key, [party(3)], against(1))).toMatchObject({ state: 'published', version: 2 })
    expect(await versionOf(list_key, 2)).toMatchObject({ content_changed: false, difference: { changed: 0 } })
  })

  test('reads the marker from a column of a table that the type does not declare', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const csv = `id,name,action\n${party(2).id},New name,C\n${party(3).id},,D\n`
    const done = await importInto(list_key, csv, { ...against(1, { marker }), adapter_key: 'csv' })
    expect(done).toMatchObject({ state: 'published', delta: { changed: 1, removed: 1, untouched: 18 } })
    expect((await versionOf(list_key, 2)).data[2]).toEqual({ id: party(2).id, name: 'New name' })
  })

  test('checks rules over the whole list on the result', async () => {
    const list_key = await newList({ list_rules: { unique: [['/name']], min_items: 20 } })
    await importInto(list_key, parties(20))
    const taken = await importInto(list_key, [{ id: 'P-9', name: party(7).name }], against(1))
    expect(taken).toMatchObject({ state: 'rejected', rejects: [{ code: 'not_unique', pointer: '/name', count: 1 }] })
    const few = await importInto(list_key, '\n', against(1, { keys: [party(1).id] }))
    expect(few).toMatchObject({ state: 'rejected', rejects: [{ code: 'too_few_entries', count: 1 }] })
    const swap = [{ id: 'P-9', name: party(7).name }, { id: party(7).id, action: 'D' }]
    expect(await importInto(list_key, swap, against(1, { marker }))).toMatchObject({ state: 'published', version: 2 })
  })

  test('is found already applied when it is sent again, and returns the same import with the same key', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const body = await order(list_key, [party(3, 77)], against(1))
    const send = { token: await t.token(), body, headers: { 'idempotency-key': 'delta-once' } }
    const first = await w.call('POST /reference-data/imports', send)
    await t.ran(first.json)
    const again = await w.call('POST /reference-data/imports', send)
    expect([again.status, again.json.resource]).toEqual([202, first.json.resource])
    const other = await w.call('POST /reference-data/imports', { token: await t.token(), body })
    expect([other.status, other.json.code, other.json.head_version]).toEqual([409, 'base_not_newest', 2])
  })

  test('that was killed after every phase begins again and publishes once', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(2100))
    const job = await t.make('POST /reference-data/imports', {
      body: await order(list_key, [party(3, 77), { id: party(4).id, action: 'D' }], against(1, { marker })),
    })
    for (const trigger of ['dataset_version', 'dataset_entry', 'dataset_tree']) {
      await w.sql(`create function app.break_delta() returns trigger language plpgsql as
        $$ begin perform pg_terminate_backend(pg_backend_pid()); return null; end $$;
        create trigger break_delta after insert on app.${trigger} for each statement execute function app.break_delta()`)
      await t.ran(job).catch(() => undefined)
      await w.sql(`drop trigger break_delta on app.${trigger}; drop function app.break_delta()`)
    }
    await t.ran(job)
    expect(await importAt(job)).toMatchObject({ state: 'published', version: 2, delta: { changed: 1, removed: 1 } })
  })

  test('that is cancelled leaves nothing', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const job = await t.make('POST /reference-data/imports', { body: await order(list_key, [party(3, 7)], against(1)) })
    const path = (job.resource as string).replace('/api', '')
    expect(await t.make(`POST ${path}/cancel`)).toMatchObject({ state: 'cancelled', version: null, delta: null })
    expect((await t.make(`GET /reference-data/datasets/${list_key}`)).head_version).toBe(1)
  })
})
