/** Delta imports: the same version as the full file gives, only onto the newest version, and under the same guards. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { staging } from '#modules/definitions/index.ts'
import { createMerkleBuilder, verifyProof } from '#registry/content/merkle.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import * as queries from './deltas/queries.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
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
  await t.runToEnd(job)
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

/** What nobody who serves requests can do. */
async function administer(sql: string): Promise<void> {
  const owner = new pg.Client(w.clone.postgres)
  await owner.connect()
  await owner.query(sql).finally(() => owner.end())
}

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
  // Below the length from which trees are stored, and across it.
  test.each([
    ['a short list', 60, 2, 12],
    ['a list that gets shorter than those whose tree is stored', 2012, 3, 8],
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

  test('leaves an entry as in the base where one of its rows is bad', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
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
    const done = await importInto(list_key, csv, { ...against(1), ...more })
    expect(done).toMatchObject({ state: 'published', counts: { rows: 2, accepted: 1, rejected: 1 } })
    const { data } = await versionOf(list_key, 2)
    expect([data[3], data[4]]).toEqual([party(3), { id: good, name: 'New', score: 1, aliases: ['A', 'B'] }])
    // In a full file the entry is missing, and the guards on lost entries decide.
    const full = await newList({ guards: { max_removed_entries: 0 } })
    await importInto(full, [party(3), party(4)])
    const held = await importInto(full, csv, more)
    expect(held).toMatchObject({ state: 'blocked', counts: { accepted: 1, rejected: 1 } })
  })

  test('finds stated keys in the form keys have', async () => {
    const list_key = await newList()
    await importInto(list_key, [...parties(20), { id: 'k\u00e9', name: 'Composed' }])
    const keys = [`${party(1).id}\u200b`, ` ${party(2).id} `, 'ke\u0301', party(2).id]
    const { json } = await w.call('POST /reference-data/adapters/ndjson/preview', {
      token: await t.token(),
      body: { text: ndjson([party(3)]), delta: { list_key, base_version: 1, removed: { keys } } },
    })
    expect(json.delta).toMatchObject({ removed: 3, unmatched_removals: 0 })
    const done = await importInto(list_key, [party(3)], {
      ...against(1, { keys }),
      override_guards: { reason: 'Meant' },
    })
    expect(done).toMatchObject({ state: 'published', delta: { removed: 3, unmatched_removals: 0 } })
  })

  test('checks rules over the whole list on the result', async () => {
    const list_key = await newList({ list_rules: { unique: [['/name']], min_items: 20 } })
    await importInto(list_key, parties(20))
    const taken = await importInto(list_key, [{ id: 'P-9', name: party(7).name }], against(1))
    expect(taken).toMatchObject({ state: 'rejected', rejects: [{ code: 'not_unique', pointer: '/name', count: 1 }] })
    const few = await importInto(list_key, '\n', against(1, { keys: [party(1).id] }))
    expect(few).toMatchObject({ state: 'rejected', rejects: [{ code: 'too_few_entries', count: 1 }] })
    const swap = [
      { id: 'P-9', name: party(7).name },
      { id: party(7).id, action: 'D' },
    ]
    expect(await importInto(list_key, swap, against(1, { marker }))).toMatchObject({ state: 'published', version: 2 })
  })

  test('is found already applied when it is sent again, and returns the same import with the same key', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const body = await order(list_key, [party(3, 77)], against(1))
    const send = { token: await t.token(), body, headers: { 'idempotency-key': 'delta-once' } }
    const first = await w.call('POST /reference-data/imports', send)
    await t.runToEnd(first.json)
    const again = await w.call('POST /reference-data/imports', send)
    expect([again.status, again.json.resource]).toEqual([202, first.json.resource])
    const other = await w.call('POST /reference-data/imports', { token: await t.token(), body })
    expect([other.status, other.json.code, other.json.head_version]).toEqual([409, 'base_not_newest', 2])
  })

  test('whose connection dies after its entries were written begins again and publishes once', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(2100))
    const job = await t.make('POST /reference-data/imports', {
      body: await order(list_key, [party(3, 77), { id: party(4).id, action: 'D' }], against(1, { marker })),
    })
    await administer(`create sequence app.break_delta;
      create function app.break_delta() returns trigger language plpgsql security definer as $$
        begin if nextval('app.break_delta') = 1 then perform pg_terminate_backend(pg_backend_pid()); end if; return null; end $$;
      create trigger break_delta after insert on app.dataset_tree for each statement execute function app.break_delta()`)
    expect(await t.runToEnd(job)).toMatchObject({ state: 'succeeded', attempts: 2 })
    await administer('drop function app.break_delta() cascade')
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

test('staged rows and stated keys are compared without a nested loop, whose time would be their product', async () => {
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
  test('of a delta that changes much of a long list is stored anew, as that of the full file', async () => {
    const guards = { max_changed_bps: 10_000 }
    const [by_delta, by_file] = [await newList({ guards }), await newList({ guards })]
    const changed = parties(2100).map((one, n) => (n % 3 === 0 ? party(n, 50) : one))
    for (const list_key of [by_delta, by_file]) await importInto(list_key, parties(2100))
    await importInto(
      by_delta,
      changed.filter((_, n) => n % 3 === 0),
      against(1),
    )
    await importInto(by_file, changed)
    const storedBlocks = (list_key: string) =>
      t.write((tx) =>
        tx.query(
          `select b.block, encode(sha256(b.pairs), 'hex') as pairs from app.dataset_tree_block b
             join app.dataset d using (tenant_id, dataset_id)
            where d.tenant_id = $1 and d.list_key = $2 and b.version = 2 order by b.block`,
          [t.tenant_id, list_key],
        ),
      )
    const blocks = await storedBlocks(by_delta)
    expect(blocks.length).toBeGreaterThan(0)
    expect(blocks).toEqual(await storedBlocks(by_file))
    const { proof } = await t.make(`GET /reference-data/datasets/${by_delta}/versions/2/proof?key=${party(3).id}`)
    expect(verifyProof(proof)).toBe(true)
  })
})

describe('a damaged stored tree', () => {
  test.each([
    ['nodes', `update app.dataset_tree set nodes = set_byte(nodes, 5, 255 - get_byte(nodes, 5))`],
    ['pairs', `update app.dataset_tree_block set pairs = set_byte(pairs, 40, 255 - get_byte(pairs, 40))`],
  ])('(%s) is not built upon: the content hash is that of the entries', async (what, damage) => {
    const list_key = await newList()
    await importInto(list_key, parties(2100))
    const table = what === 'nodes' ? 'app.dataset_tree' : 'app.dataset_tree_block'
    await administer(`alter table ${table} disable trigger all;
      ${damage} where dataset_id = (select dataset_id from app.dataset where list_key = '${list_key}');
      alter table ${table} enable trigger all`)
    await importInto(list_key, [party(3, 77)], against(1))
    const tree = createMerkleBuilder()
    for (const [n, one] of parties(2100).entries()) tree.add(one.id, canonicalJson(n === 3 ? party(3, 77) : one))
    expect((await versionOf(list_key, 2)).content_hash).toBe(tree.finish().root)
  })
})

describe('guards of a delta', () => {
  test('hold one that removes too much or takes too many values, as they hold the full file', async () => {
    const [by_delta, by_file] = [await newList(), await newList()]
    for (const list_key of [by_delta, by_file]) await importInto(list_key, parties(100))
    const keys = parties(11).map(({ id }) => id)
    const stripped = parties(70)
      .slice(11)
      .map(({ aliases: _, ...one }) => one)
    const held = await importInto(by_delta, stripped, against(1, { keys }))
    const full = await importInto(by_file, [...stripped, ...parties(100).slice(70)])
    expect([held.state, held.version, held.gates.length]).toEqual(['blocked', null, 4])
    expect(held.gates).toEqual(full.gates)
    expect(held.delta).toMatchObject({ removed: 11, changed: 59, untouched: 30 })
    const override_guards = { reason: 'The publisher delisted them' }
    const taken = await importInto(by_delta, stripped, { ...against(1, { keys }), override_guards })
    expect(taken).toMatchObject({ state: 'published', version: 2 })
    const { provenance } = await t.make(`GET /reference-data/datasets/${by_delta}/versions/2/provenance`)
    expect(provenance.guards_overridden).toMatchObject({ reason: override_guards.reason, breaches: full.gates })
  })

  test('count filled members in the whole list', async () => {
    const list_key = await newList({ guards: { min_filled_bps: { '/score': 9_000 } } })
    const unfilled = (n: number) => ({ id: party(n).id, name: 'No score' })
    await importInto(list_key, [...parties(18), unfilled(18), unfilled(19)])
    const held = await importInto(list_key, [unfilled(3)], against(1))
    expect(held.gates).toMatchObject([{ facts: { pointer: '/score', filled: 17, entries: 20 } }])
    const filled = await importInto(list_key, [party(18), unfilled(3)], against(1))
    expect(filled).toMatchObject({ state: 'published', version: 2 })
  })

  test('hold a delta that does not fit its base', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const rows = [party(3, 77), { id: 'P-none', action: 'D' }]
    const held = await importInto(list_key, rows, against(1, { marker, keys: ['P-neither'] }))
    expect(held).toMatchObject({ state: 'blocked', version: null, delta: { changed: 1, unmatched_removals: 2 } })
    expect(held.gates).toMatchObject([
      { gate: 'guard', overridable: true, facts: { code: 'removals_unmatched', rows: 2 } },
    ])
    expect(held.warnings[0]).toMatchObject({ code: 'removals_unmatched', count: 2, closes_guard: true })
    const unmet = await importInto(list_key, [party(3, 77)], against(1, { marker }))
    expect(unmet.gates).toMatchObject([{ facts: { code: 'removal_marker_unmet' } }])
    const override_guards = { reason: 'They were never on our list' }
    const taken = await importInto(list_key, rows, { ...against(1, { marker, keys: ['P-neither'] }), override_guards })
    expect(taken).toMatchObject({ state: 'published', version: 2 })
  })
})

describe('a delta is refused', () => {
  test('where its base is not the newest version, with the number of that one', async () => {
    const list_key = await newList()
    expect(await refusal(list_key, [party(1)], against(1))).toMatchObject({ code: 'base_not_newest', head_version: 0 })
    await importInto(list_key, parties(20))
    const ahead = await refusal(list_key, [party(1)], against(2))
    expect(ahead).toMatchObject({ status: 409, code: 'base_not_newest', head_version: 1, base_version: 2 })
    expect(ahead.detail).toBe(`The newest version of ${list_key} is 1; there is no version 2.`)
    // Both are accepted; the second is refused under the lock.
    const orders = [await order(list_key, [party(1, 7)], against(1)), await order(list_key, [party(2, 7)], against(1))]
    const [first, second] = [
      await t.make('POST /reference-data/imports', { body: orders[0] }),
      await t.make('POST /reference-data/imports', { body: orders[1] }),
    ]
    const ends = [await t.runToEnd(first), await t.runToEnd(second)].map(({ state, problem }) => [
      state,
      (problem as { code: string; head_version: number } | null)?.code,
      (problem as { head_version: number } | null)?.head_version,
    ])
    expect(ends.toSorted()).toEqual([
      ['failed', 'base_not_newest', 2],
      ['succeeded', undefined, undefined],
    ])
    expect((await t.make(`GET /reference-data/datasets/${list_key}`)).head_version).toBe(2)
  })

  test('where its base is withdrawn', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const body = { state: 'withdrawn', reason: 'Wrong file' }
    await t.make(`PATCH /reference-data/datasets/${list_key}/versions/1`, { body })
    expect(await refusal(list_key, [party(1)], against(1))).toMatchObject({
      status: 409,
      code: 'base_withdrawn',
      head_version: 1,
    })
  })

  test('where the list is of another owner', async () => {
    const shared = await refusal('countries', [party(1)], against(1))
    expect([shared.status, shared.code]).toEqual([409, 'transition_not_allowed'])
    const list_key = await newList()
    await importInto(list_key, parties(2))
    const other = await ExampleTenant.create(w)
    const reply = await w.call('POST /reference-data/imports', {
      token: await other.token(),
      body: await order(list_key, [party(1)], against(1)),
    })
    expect(reply.status).toBe(404)
  })

  test('where entries of the base have another form than its own', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const hashed = await refusal(list_key, [party(1)], { ...against(1), hash: ['/name'] })
    expect([hashed.code, hashed.head_version]).toEqual(['base_incompatible', 1])
    expect(hashed.detail).toContain('Members hashed in version 1: none; in this import: /name.')
    const wider = {
      ...type,
      schema: { ...type.schema, properties: { ...type.schema.properties, id: { type: 'string' } } },
    }
    await t.make(`POST /reference-data/types/${list_key}/versions`, { body: wider })
    const fitting = await importInto(list_key, [party(1, 7)], against(1))
    expect(fitting).toMatchObject({ state: 'published', version: 2 })
    await t.make(`POST /reference-data/types/${list_key}/versions`, { body: { ...wider, fields: {} } })
    const other = await refusal(list_key, [party(1)], against(2))
    expect([other.status, other.code, other.head_version]).toEqual([409, 'base_incompatible', 2])
  })

  test('where a key is changed and removed, or there twice', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const rows = [party(3, 7), { id: party(3).id, action: 'D' }, party(4, 7), party(4, 8)]
    const done = await importInto(list_key, rows, against(1, { marker }))
    expect(done).toMatchObject({ state: 'rejected', version: null, counts: { accepted: 2, rejected: 2 } })
    expect(done.rejects.map(({ code, count }: { code: string; count: number }) => [code, count])).toEqual([
      ['duplicate_key', 1],
      ['changed_and_removed', 1],
    ])
    const stated = await importInto(list_key, [party(3, 7)], against(1, { keys: [party(3).id] }))
    expect(stated).toMatchObject({ state: 'rejected', rejects: [{ code: 'changed_and_removed', count: 1 }] })
    const { items } = await t.make(`GET /reference-data/imports/${stated.import_id}/rejects`)
    expect(items).toMatchObject([{ code: 'changed_and_removed', at: { row: 1 } }])
  })

  test('where rows of one entry keep and remove it, whether bad rows are left out or not', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const csv = `id,name,action\n${party(3).id},New name,D\n${party(3).id},New name,C\n${party(4).id},New name,C\n`
    for (const strict of [true, false]) {
      const more = { adapter_key: 'csv', options: { group_rows: { by: ['/id'] } }, strict }
      const done = await importInto(list_key, csv, { ...against(1, { marker }), ...more })
      expect(done).toMatchObject({ state: 'rejected', rejects: [{ code: 'changed_and_removed', count: 1 }] })
    }
  })

  test('by the database where a version says it is a delta and does not follow its base', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(2))
    const insert = (base_version: number) =>
      t.write((tx) =>
        tx.run(
          `insert into app.dataset_version select (jsonb_populate_record(v, jsonb_build_object('version', 2, 'provenance',
             jsonb_build_object('delta', jsonb_build_object('base_version', $3::bigint))))).* from app.dataset_version v
            where v.tenant_id = $1 and v.dataset_id = (select dataset_id from app.dataset where tenant_id = $1 and list_key = $2)`,
          [t.tenant_id, list_key, base_version],
        ),
      )
    await expect(insert(3)).rejects.toThrow(/dataset_version_delta_ck/)
  })
})

describe('a preview of a delta', () => {
  const preview = async (delta: object, rows: readonly object[]) =>
    w.call('POST /reference-data/adapters/ndjson/preview', {
      token: await t.token(),
      body: { text: ndjson(rows), delta },
    })

  test('counts what it would change, and keeps nothing', async () => {
    const list_key = await newList()
    await importInto(list_key, parties(20))
    const rows = [party(3, 77), party(4), party(30), { id: party(5).id, action: 'D' }, { id: 'P-none', action: 'D' }]
    const removed = { marker, keys: [party(6).id, party(5).id] }
    const { json } = await preview({ list_key, base_version: 1, removed }, rows)
    expect(json).toMatchObject({ rows: 5, accepted: 5, rejected: 0, truncated: null })
    expect(json.entries).toHaveLength(3)
    expect(json.delta).toEqual({
      base_version: 1,
      added: 1,
      changed: 1,
      removed: 2,
      untouched: 17,
      unchanged_rows: 1,
      unmatched_removals: 1,
    })
    const moved = await preview({ list_key, base_version: 2 }, rows)
    expect([moved.status, moved.json.code, moved.json.head_version]).toEqual([409, 'base_not_newest', 1])
    expect((await t.make(`GET /reference-data/datasets/${list_key}`)).head_version).toBe(1)
  })
})
