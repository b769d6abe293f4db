/** Delta imports publish the same version as an import of the full file. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { staging } from '#modules/definitions/index.ts'
import { createMerkleBuilder, verifyProof } from '#registry/content/merkle.ts'
import { MIN_TREE_ENTRIES } from '#registry/content/stored-tree.ts'
import { DeltaLists, marker, ndjson, parties, party, toDelta } from '#test/support/delta-lists.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createRandom } from '#test/support/random.ts'
import type { TestApp } from '#test/support/test-app.ts'
import * as queries from './deltas/queries.ts'

let w: TestApp
let t: ExampleTenant
let lists: DeltaLists
beforeAll(async () => {
  lists = await DeltaLists.start()
  w = lists.app
  t = lists.tenant
})
afterAll(() => lists.close())

/** Everything that readers of a version see. */
async function readContent(list_key: string, version: number) {
  const path = `/reference-data/datasets/${list_key}/versions/${version}`
  const { content_hash, content_changed, entry_count, data_bytes, difference } = await t.make(`GET ${path}`)
  const lines = await w.call(`GET ${path}/export?format=ndjson`, { token: await t.token() })
  return { content_hash, content_changed, entry_count, data_bytes, difference, text: lines.text }
}

describe('a delta import', () => {
  // Below the length from which trees are stored, and crossing it.
  test.each([
    ['a short list', 60, 2, 12],
    ['a list that becomes too short for a stored tree', 2012, 3, 8],
  ])('of random changes gives %s the same version as the full file', async (_, size, rounds, changes) => {
    const random = createRandom(size)
    const [by_delta, by_file] = [await lists.newList(), await lists.newList()]
    const now = new Map(parties(size).map((one) => [one.id, one]))
    for (const list_key of [by_delta, by_file]) await lists.importInto(list_key, [...now.values()])
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
      const stated = { marker, ...(by_key.length > 0 && { keys: by_key }) }
      const done = await lists.importInto(by_delta, file, toDelta(round, stated))
      expect(done).toMatchObject({ state: 'published', version: round + 1, delta: { base_version: round } })
      await lists.importInto(by_file, [...now.values()])
      expect(await readContent(by_delta, round + 1)).toEqual(await readContent(by_file, round + 1))
    }
    expect(now.size).toBeLessThan(MIN_TREE_ENTRIES)
    const [changed, gone] = [[...now.keys()].at(-1) as string, party(1).id]
    const parts = [`diff?from=1&to=${rounds + 1}&limit=5`, 'versions/2/entries?q=party%2017&limit=5']
    for (const part of [...parts, ...[changed, gone].map((key) => `versions/${rounds + 1}/proof?key=${key}`)]) {
      const [mine, theirs] = await Promise.all(
        [by_delta, by_file].map(async (list_key) => {
          const {
            list_key: _,
            next_cursor: _cursor,
            index: _index,
            ...rest
          } = await t.make(`GET /reference-data/datasets/${list_key}/${part}`)
          return rest
        }),
      )
      expect(mine).toEqual(theirs)
      if (mine.proof) expect(verifyProof(mine.proof)).toBe(true)
    }
  })

  test('reports its base and its counts, in the import and in the version', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(50))
    const rows = [party(3, 77), party(4), party(60), { id: party(5).id, action: 'delisted' }]
    const done = await lists.importInto(list_key, rows, toDelta(1, { marker, keys: [party(6).id, party(5).id] }))
    const counts = { added: 1, changed: 1, removed: 2, untouched: 47, unchanged_rows: 1, unmatched_removals: 0 }
    expect(done).toMatchObject({
      state: 'published',
      counts: { rows: 4, accepted: 4, rejected: 0 },
      delta: { base_version: 1, ...counts },
      order: { delta: { base_version: 1, removed: { marker, keys: [party(6).id, party(5).id] } } },
    })
    expect(await lists.getVersion(list_key, 1)).toMatchObject({ delta_base_version: null })
    expect(await lists.getVersion(list_key, 2)).toMatchObject({
      delta_base_version: 1,
      entry_count: 49,
      difference: { added: 1, changed: 1, removed: 2 },
    })
    const { provenance } = await t.make(`GET /reference-data/datasets/${list_key}/versions/2/provenance`)
    expect(provenance.delta).toMatchObject({ base_version: 1, ...counts })
  })

  test('without changes has the same result as an unchanged full file', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const skipped = { ...toDelta(1), on_unchanged: 'skip' }
    expect(await lists.importInto(list_key, [party(3)], skipped)).toMatchObject({ state: 'unchanged', version: null })
    expect(await lists.importInto(list_key, '\n', skipped)).toMatchObject({ state: 'unchanged', counts: { rows: 0 } })
    expect(await lists.importInto(list_key, [party(3)], toDelta(1))).toMatchObject({ state: 'published', version: 2 })
    expect(await lists.getVersion(list_key, 2)).toMatchObject({ content_changed: false, difference: { changed: 0 } })
  })

  test('reads the marker from a column of a table that the type does not declare', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const csv = `id,name,action\n${party(2).id},New name,C\n${party(3).id},,D\n`
    const done = await lists.importInto(list_key, csv, { ...toDelta(1, { marker }), adapter_key: 'csv' })
    expect(done).toMatchObject({ state: 'published', delta: { changed: 1, removed: 1, untouched: 18 } })
    expect((await lists.getVersion(list_key, 2)).data[2]).toEqual({ id: party(2).id, name: 'New name' })
  })

  test('keeps the entry of the base when one of its rows is bad', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const columns = ['id', 'name'].map((column) => ({ column, pointer: `/${column}` }))
    const options = {
      columns: [
        ...columns,
        { column: 'score', pointer: '/score', kind: 'integer' },
        { column: 'aka', pointer: '/aliases/-' },
      ],
      group_rows: { by: ['/id'] },
    }
    const [bad, good] = [party(3).id, party(4).id]
    const csv = `id,name,score,aka\n${bad},New,1,A\n${bad},New,x,B\n${good},New,1,A\n${good},New,1,B\n`
    const more = { adapter_key: 'csv', options, strict: false }
    const done = await lists.importInto(list_key, csv, { ...toDelta(1), ...more })
    expect(done).toMatchObject({ state: 'published', counts: { rows: 2, accepted: 1, rejected: 1 } })
    const { data } = await lists.getVersion(list_key, 2)
    expect([data[3], data[4]]).toEqual([party(3), { id: good, name: 'New', score: 1, aliases: ['A', 'B'] }])
    // In a full file the entry is missing, so the guards on removed entries apply.
    const full = await lists.newList({ guards: { max_removed_entries: 0 } })
    await lists.importInto(full, [party(3), party(4)])
    const stopped = await lists.importInto(full, csv, more)
    expect(stopped).toMatchObject({ state: 'blocked', counts: { accepted: 1, rejected: 1 } })
  })

  test('normalises the keys of the request', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, [...parties(20), { id: 'k\u00e9', name: 'Composed' }])
    const keys = [`${party(1).id}\u200b`, ` ${party(2).id} `, 'ke\u0301', party(2).id]
    const { json } = await w.call('POST /reference-data/adapters/ndjson/preview', {
      token: await t.token(),
      body: { text: ndjson([party(3)]), delta: { list_key, base_version: 1, removed: { keys } } },
    })
    expect(json.delta).toMatchObject({ removed: 3, unmatched_removals: 0 })
    const done = await lists.importInto(list_key, [party(3)], {
      ...toDelta(1, { keys }),
      override_guards: { reason: 'Meant' },
    })
    expect(done).toMatchObject({ state: 'published', delta: { removed: 3, unmatched_removals: 0 } })
  })

  test('applies list rules to the result', async () => {
    const list_key = await lists.newList({ list_rules: { unique: [['/name']], min_items: 20 } })
    await lists.importInto(list_key, parties(20))
    const taken = await lists.importInto(list_key, [{ id: 'P-9', name: party(7).name }], toDelta(1))
    expect(taken).toMatchObject({ state: 'rejected', rejects: [{ code: 'not_unique', pointer: '/name', count: 1 }] })
    const few = await lists.importInto(list_key, '\n', toDelta(1, { keys: [party(1).id] }))
    expect(few).toMatchObject({ state: 'rejected', rejects: [{ code: 'too_few_entries', count: 1 }] })
    const swap = [
      { id: 'P-9', name: party(7).name },
      { id: party(7).id, action: 'D' },
    ]
    expect(await lists.importInto(list_key, swap, toDelta(1, { marker }))).toMatchObject({
      state: 'published',
      version: 2,
    })
  })

  test('returns the same import for the same idempotency key, and 409 when it is already applied', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const body = await lists.toRequest(list_key, [party(3, 77)], toDelta(1))
    const send = { token: await t.token(), body, headers: { 'idempotency-key': 'delta-once' } }
    const first = await w.call('POST /reference-data/imports', send)
    await t.runToEnd(first.json)
    const again = await w.call('POST /reference-data/imports', send)
    expect([again.status, again.json.resource]).toEqual([202, first.json.resource])
    const other = await w.call('POST /reference-data/imports', { token: await t.token(), body })
    expect([other.status, other.json.code, other.json.head_version]).toEqual([409, 'base_not_newest', 2])
  })

  test('restarts and publishes once when its connection breaks after writing', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(2100))
    const job = await t.make('POST /reference-data/imports', {
      body: await lists.toRequest(list_key, [party(3, 77), { id: party(4).id, action: 'D' }], toDelta(1, { marker })),
    })
    await lists.runAsOwner(`create sequence app.break_delta;
      create function app.break_delta() returns trigger language plpgsql security definer as $$
        begin if nextval('app.break_delta') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return null; end $$;
      create trigger break_delta after insert on app.dataset_tree for each statement execute function app.break_delta()`)
    expect(await t.runToEnd(job)).toMatchObject({ state: 'succeeded', attempts: 2 })
    await lists.runAsOwner('drop function app.break_delta() cascade')
    expect(await lists.getImport(job)).toMatchObject({
      state: 'published',
      version: 2,
      delta: { changed: 1, removed: 1 },
    })
  })

  test('stores nothing when it is cancelled', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const job = await t.make('POST /reference-data/imports', {
      body: await lists.toRequest(list_key, [party(3, 7)], toDelta(1)),
    })
    const path = (job.resource as string).replace('/api', '')
    expect(await t.make(`POST ${path}/cancel`)).toMatchObject({ state: 'cancelled', version: null, delta: null })
    expect((await t.make(`GET /reference-data/datasets/${list_key}`)).head_version).toBe(1)
  })
})

test('compares staged rows and stated keys without a nested loop, which would take quadratic time', async () => {
  const plans = await t.write(async (tx) => {
    await staging.createStage(tx)
    await tx.run(`insert into pg_temp.stage (key, op, hash, data, row)
      select 'K-' || n, case when n % 3 = 0 then 'remove' else 'put' end, '', repeat('x', 300), n from generate_series(1, 3000) n`)
    await tx.run(`create temporary table delta on commit drop as select key, 'changed' as what from pg_temp.stage`)
    const explain = (text: string, values: readonly unknown[] = []) => tx.query<object>(`explain ${text}`, values)
    const explaining = {
      ...tx,
      query: explain,
      run: explain,
      find: async (...all: Parameters<Tx['find']>) => {
        for (const row of await explain(...all)) found.push(row)
      },
    } as unknown as Tx
    const found: object[] = []
    const keys = Array.from({ length: 2000 }, (_, n) => `K-${n * 2}`)
    found.push(...((await queries.insertStatedRemovals(explaining, keys)) as unknown as object[]))
    await queries.insertStatedRemovals(tx, keys)
    found.push(...(await queries.listContradictions(explaining, 10)))
    await queries.countContradictions(explaining)
    await queries.countUnmatchedRemovals(explaining)
    await queries.findUnmatchedRemoval(explaining)
    await queries.removeUnapplied(explaining)
    return found.map((row) => Object.values(row).join())
  })
  expect(plans.length).toBeGreaterThan(20)
  expect(plans.filter((line) => line.includes('Nested Loop'))).toEqual([])
})

describe('the stored tree', () => {
  test('of a delta that changes much of a long list is stored as a new base, equal to that of the full file', async () => {
    const guards = { max_changed_bps: 10_000 }
    const [by_delta, by_file] = [await lists.newList({ guards }), await lists.newList({ guards })]
    const changed = parties(2100).map((one, n) => (n % 3 === 0 ? party(n, 50) : one))
    for (const list_key of [by_delta, by_file]) await lists.importInto(list_key, parties(2100))
    await lists.importInto(
      by_delta,
      changed.filter((_, n) => n % 3 === 0),
      toDelta(1),
    )
    await lists.importInto(by_file, changed)
    const listBlocks = (list_key: string) =>
      t.write((tx) =>
        tx.query(
          `select b.block, encode(sha256(b.pairs), 'hex') as pairs from app.dataset_tree_block b
             join app.dataset d using (tenant_id, dataset_id)
            where d.tenant_id = $1 and d.list_key = $2 and b.version = 2 order by b.block`,
          [t.tenant_id, list_key],
        ),
      )
    const blocks = await listBlocks(by_delta)
    expect(blocks.length).toBeGreaterThan(0)
    expect(blocks).toEqual(await listBlocks(by_file))
    const { proof } = await t.make(`GET /reference-data/datasets/${by_delta}/versions/2/proof?key=${party(3).id}`)
    expect(verifyProof(proof)).toBe(true)
  })
})

describe('a corrupt stored tree', () => {
  test.each([
    ['nodes', `update app.dataset_tree set nodes = set_byte(nodes, 5, 255 - get_byte(nodes, 5))`],
    ['pairs', `update app.dataset_tree_block set pairs = set_byte(pairs, 40, 255 - get_byte(pairs, 40))`],
  ])('(%s) is not used: the content hash is that of the entries', async (what, corruption) => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(2100))
    const table = what === 'nodes' ? 'app.dataset_tree' : 'app.dataset_tree_block'
    await lists.runAsOwner(`alter table ${table} disable trigger all;
      ${corruption} where dataset_id = (select dataset_id from app.dataset where list_key = '${list_key}');
      alter table ${table} enable trigger all`)
    await lists.importInto(list_key, [party(3, 77)], toDelta(1))
    const tree = createMerkleBuilder()
    for (const [n, one] of parties(2100).entries()) tree.add(one.id, canonicalJson(n === 3 ? party(3, 77) : one))
    expect((await lists.getVersion(list_key, 2)).content_hash).toBe(tree.finish().root)
  })
})
