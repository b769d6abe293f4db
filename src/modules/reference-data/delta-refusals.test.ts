/** Guards apply to delta imports as to full imports, and a delta is refused where it does not fit its base. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DeltaLists, marker, ndjson, parties, party, partyType, toDelta } from '#test/support/delta-lists.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import type { TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
let lists: DeltaLists
beforeAll(async () => {
  lists = await DeltaLists.start()
  w = lists.app
  t = lists.tenant
})
afterAll(() => lists.close())

describe('guards of a delta', () => {
  test('stop one that removes too many entries or values, like the full file', async () => {
    const [by_delta, by_file] = [await lists.newList(), await lists.newList()]
    for (const list_key of [by_delta, by_file]) await lists.importInto(list_key, parties(100))
    const keys = parties(11).map(({ id }) => id)
    const stripped = parties(70)
      .slice(11)
      .map(({ aliases: _, ...one }) => one)
    const stopped = await lists.importInto(by_delta, stripped, toDelta(1, { keys }))
    const full = await lists.importInto(by_file, [...stripped, ...parties(100).slice(70)])
    expect([stopped.state, stopped.version, stopped.gates.length]).toEqual(['blocked', null, 4])
    expect(stopped.gates).toEqual(full.gates)
    expect(stopped.delta).toMatchObject({ removed: 11, changed: 59, untouched: 30 })
    const override_guards = { reason: 'The publisher delisted them' }
    const taken = await lists.importInto(by_delta, stripped, { ...toDelta(1, { keys }), override_guards })
    expect(taken).toMatchObject({ state: 'published', version: 2 })
    const { provenance } = await t.make(`GET /reference-data/datasets/${by_delta}/versions/2/provenance`)
    expect(provenance.guards_overridden).toMatchObject({ reason: override_guards.reason, breaches: full.gates })
  })

  test('count filled members in the whole list', async () => {
    const list_key = await lists.newList({ guards: { min_filled_bps: { '/score': 9_000 } } })
    const unfilled = (n: number) => ({ id: party(n).id, name: 'No score' })
    await lists.importInto(list_key, [...parties(18), unfilled(18), unfilled(19)])
    const stopped = await lists.importInto(list_key, [unfilled(3)], toDelta(1))
    expect(stopped.gates).toMatchObject([{ facts: { pointer: '/score', filled: 17, entries: 20 } }])
    const filled = await lists.importInto(list_key, [party(18), unfilled(3)], toDelta(1))
    expect(filled).toMatchObject({ state: 'published', version: 2 })
  })

  test('stop a delta that does not match its base', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const rows = [party(3, 77), { id: 'P-none', action: 'D' }]
    const stopped = await lists.importInto(list_key, rows, toDelta(1, { marker, keys: ['P-neither'] }))
    expect(stopped).toMatchObject({ state: 'blocked', version: null, delta: { changed: 1, unmatched_removals: 2 } })
    expect(stopped.gates).toMatchObject([
      { gate: 'guard', overridable: true, facts: { code: 'removals_unmatched', rows: 2 } },
    ])
    expect(stopped.warnings[0]).toMatchObject({ code: 'removals_unmatched', count: 2, closes_guard: true })
    const unused = await lists.importInto(list_key, [party(3, 77)], toDelta(1, { marker }))
    expect(unused.gates).toMatchObject([{ facts: { code: 'removal_marker_unmet' } }])
    const override_guards = { reason: 'They were never on our list' }
    const taken = await lists.importInto(list_key, rows, {
      ...toDelta(1, { marker, keys: ['P-neither'] }),
      override_guards,
    })
    expect(taken).toMatchObject({ state: 'published', version: 2 })
  })
})

describe('a delta is refused', () => {
  test('with the newest version number when its base is not the newest', async () => {
    const list_key = await lists.newList()
    expect(await lists.requestImport(list_key, [party(1)], toDelta(1))).toMatchObject({
      code: 'base_not_newest',
      head_version: 0,
    })
    await lists.importInto(list_key, parties(20))
    const ahead = await lists.requestImport(list_key, [party(1)], toDelta(2))
    expect(ahead).toMatchObject({ status: 409, code: 'base_not_newest', head_version: 1, base_version: 2 })
    expect(ahead.detail).toBe(`The newest version of ${list_key} is 1; there is no version 2.`)
    // Both are accepted; the second is refused under the lock.
    const requests = [
      await lists.toRequest(list_key, [party(1, 7)], toDelta(1)),
      await lists.toRequest(list_key, [party(2, 7)], toDelta(1)),
    ]
    const [first, second] = [
      await t.make('POST /reference-data/imports', { body: requests[0] }),
      await t.make('POST /reference-data/imports', { body: requests[1] }),
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

  test('when its base is withdrawn', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const body = { state: 'withdrawn', reason: 'Wrong file' }
    await t.make(`PATCH /reference-data/datasets/${list_key}/versions/1`, { body })
    expect(await lists.requestImport(list_key, [party(1)], toDelta(1))).toMatchObject({
      status: 409,
      code: 'base_withdrawn',
      head_version: 1,
    })
  })

  test('when the list belongs to another owner', async () => {
    const shared = await lists.requestImport('countries', [party(1)], toDelta(1))
    expect([shared.status, shared.code]).toEqual([409, 'transition_not_allowed'])
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(2))
    const other = await ExampleTenant.create(w)
    const reply = await w.call('POST /reference-data/imports', {
      token: await other.token(),
      body: await lists.toRequest(list_key, [party(1)], toDelta(1)),
    })
    expect(reply.status).toBe(404)
  })

  test('when the entries of the base have another form', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const hashed = await lists.requestImport(list_key, [party(1)], { ...toDelta(1), hash: ['/name'] })
    expect([hashed.code, hashed.head_version]).toEqual(['base_incompatible', 1])
    expect(hashed.detail).toContain('Members hashed in version 1: none; in this import: /name.')
    const wider = {
      ...partyType,
      schema: { ...partyType.schema, properties: { ...partyType.schema.properties, id: { type: 'string' } } },
    }
    await t.make(`POST /reference-data/types/${list_key}/versions`, { body: wider })
    const compatible = await lists.importInto(list_key, [party(1, 7)], toDelta(1))
    expect(compatible).toMatchObject({ state: 'published', version: 2 })
    await t.make(`POST /reference-data/types/${list_key}/versions`, { body: { ...wider, fields: {} } })
    const other = await lists.requestImport(list_key, [party(1)], toDelta(2))
    expect([other.status, other.code, other.head_version]).toEqual([409, 'base_incompatible', 2])
  })

  test('when a key is changed and removed, or duplicate', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const rows = [party(3, 7), { id: party(3).id, action: 'D' }, party(4, 7), party(4, 8)]
    const done = await lists.importInto(list_key, rows, toDelta(1, { marker }))
    expect(done).toMatchObject({ state: 'rejected', version: null, counts: { accepted: 2, rejected: 2 } })
    expect(done.rejects.map(({ code, count }: { code: string; count: number }) => [code, count])).toEqual([
      ['duplicate_key', 1],
      ['changed_and_removed', 1],
    ])
    const stated = await lists.importInto(list_key, [party(3, 7)], toDelta(1, { keys: [party(3).id] }))
    expect(stated).toMatchObject({ state: 'rejected', rejects: [{ code: 'changed_and_removed', count: 1 }] })
    const { items } = await t.make(`GET /reference-data/imports/${stated.import_id}/rejects`)
    expect(items).toMatchObject([{ code: 'changed_and_removed', at: { row: 1 } }])
  })

  test('when rows of one entry keep and remove it, whether bad rows are omitted or not', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
    const csv = `id,name,action\n${party(3).id},New name,D\n${party(3).id},New name,C\n${party(4).id},New name,C\n`
    for (const strict of [true, false]) {
      const more = { adapter_key: 'csv', options: { group_rows: { by: ['/id'] } }, strict }
      const done = await lists.importInto(list_key, csv, { ...toDelta(1, { marker }), ...more })
      expect(done).toMatchObject({ state: 'rejected', rejects: [{ code: 'changed_and_removed', count: 1 }] })
    }
  })

  test('by the database when a delta version does not follow its base', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(2))
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

  test('counts what it would change, and stores nothing', async () => {
    const list_key = await lists.newList()
    await lists.importInto(list_key, parties(20))
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
