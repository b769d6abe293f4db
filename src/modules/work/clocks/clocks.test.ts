/** Clocks in the database: what may change, pauses, and how those that ran out are marked. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { workClocks, workItems } from '../index.ts'

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

const service = { clock_key: 'target', kind: 'service', duration: { days: 5, day_kind: 'business' } } as const
const statutory = { clock_key: 'filing', kind: 'statutory', duration: { days: 30, day_kind: 'calendar' } } as const
const newRef = () => ({ object_kind: 'investigation', object_id: uuidv7() })
type Ref = ReturnType<typeof newRef>
type Clock = Omit<workClocks.NewClock, keyof Ref | 'restriction_id'>

const start = (object: Ref, clock: Clock, restriction_id: string | null = null, on = t) =>
  on.write((tx) => workClocks.startClock(w.kernel, tx, { ...object, ...clock, restriction_id }))
const list = (object: Ref, on = t) => on.write((tx) => workClocks.listClocksByObject(tx, object))
const change = (object: Ref, set: string, on = t) =>
  on.write((tx) =>
    tx.run(`update app.work_clock set ${set} where tenant_id = $1 and object_id = $2`, [
      tx.tenant_id,
      object.object_id,
    ]),
  )
const scan = async () => {
  for (const scanner of w.runtime.createScanners()) await scanner.runOnce()
}
const long_ago = '2026-01-05T09:00:00Z'

describe('a clock', () => {
  test('is due by the calendar of the tenant, with its version in the receipt', async () => {
    const other = await ExampleTenant.create(w)
    const first = newRef()
    await start(first, { ...service, started_at: '2026-12-23T12:00:00Z' }, null, other)
    expect((await other.make('PUT /work/settings', { body: { calendar: 'eu-target' } })).calendar).toBe('eu-target')
    const second = newRef()
    await start(second, { ...service, started_at: '2026-12-23T12:00:00Z' }, null, other)
    const { items } = await other.make('GET /work/clocks')
    expect(items.map(({ due_at }: { due_at: string }) => due_at)).toEqual([
      '2026-12-30T23:59:59.000000Z',
      '2026-12-31T22:59:59.000000Z',
    ])
    expect(items[1].receipt).toMatchObject({ calendar: 'eu-target', time_zone: 'Europe/Berlin', is_covered: true })
    expect(items[1].receipt.list).toMatchObject({ list_key: 'business-calendars', version: 1 })
    const unknown = await w.call('PUT /work/settings', { token: await other.token(), body: { calendar: 'moon' } })
    expect(unknown.status).toBe(409)
  })

  test('of a calendar in an unknown time zone starts too, and the calendar cannot be chosen', async () => {
    const other = await ExampleTenant.create(w)
    const value = {
      title: 'Mars',
      source: 'A test',
      source_on: '2026-01-01',
      checked: false,
      time_zone: 'Mars/Olympus',
      weekend_days: [6, 7],
      holidays: [],
      covers_until: '2030-12-31',
    }
    await other.make('PUT /reference-data/datasets/business-calendars/overlay', {
      body: { entries: [{ key: 'mars', op: 'put', value: { calendar: 'mars', ...value } }], reason: 'A test' },
    })
    const body = { calendar: 'mars' }
    expect((await w.call('PUT /work/settings', { token: await other.token(), body })).status).toBe(409)
    const { receipt } = await start(
      newRef(),
      { ...service, calendar: 'mars', started_at: '2026-12-23T12:00:00Z' },
      null,
      other,
    )
    expect(receipt).toMatchObject({ calendar: 'mars', list: null, is_covered: false })
  })

  test('without its calendar is counted without holidays, and says so', async () => {
    const object = newRef()
    const { receipt } = await start(object, { ...service, calendar: 'gone', started_at: '2026-12-23T12:00:00Z' })
    expect(receipt).toMatchObject({ calendar: 'gone', list: null, is_covered: false })
  })

  test('by law is never paused, by name or by hand', async () => {
    const object = newRef()
    await start(object, statutory)
    expect(await t.write((tx) => workClocks.pauseClocks(tx, object))).toBe(0)
    const pause = t.write((tx) => workClocks.pauseClocks(tx, object, ['filing']))
    await expect(pause).rejects.toMatchObject({ code: 'conflict', cause: { constraint: 'work_clock_statutory_ck' } })
    await expect(change(object, `paused_s = 60`)).rejects.toMatchObject({ code: 'PB002' })
    await expect(change(object, `due_at = due_at + interval '1 day'`)).rejects.toMatchObject({ code: 'PB002' })
    await expect(change(object, `kind = 'service'`)).rejects.toMatchObject({ code: 'PB002' })
    expect(await list(object)).toMatchObject([{ state: 'running', paused_s: 0 }])
  })

  test('of a service moves by its pause, and its due time by nothing else', async () => {
    const object = newRef()
    const { due_at } = await start(object, { ...service, duration: { hours: 10 } })
    await expect(change(object, `due_at = due_at + interval '1 day'`)).rejects.toMatchObject({ code: 'PB002' })
    expect(await t.write((tx) => workClocks.pauseClocks(tx, object))).toBe(1)
    // Two hours ago, as if time had passed.
    await change(object, `paused_at = now() - interval '2 hours'`)
    expect(await t.write((tx) => workClocks.resumeClocks(w.kernel, tx, object))).toBe(1)
    const [clock] = await list(object)
    expect(clock).toMatchObject({ state: 'running', paused_at: null, paused_s: 7200 })
    expect(Math.round((Date.parse(clock?.due_at ?? '') - Date.parse(due_at)) / 1000)).toBe(7200)
  })

  test('is met in time or missed, and stays so', async () => {
    const [early, late] = [newRef(), newRef()]
    await start(early, service)
    await start(late, { ...service, started_at: long_ago })
    for (const object of [early, late]) await t.write((tx) => workClocks.stopClocks(tx, object))
    expect([await list(early), await list(late)]).toMatchObject([
      [{ state: 'met', missed_at: null }],
      [{ state: 'missed', ended_at: expect.any(String) }],
    ])
    await expect(change(late, `state = 'met', missed_at = null`)).rejects.toMatchObject({ code: 'PB002' })
    await expect(change(late, `ended_at = now() - interval '1 day'`)).rejects.toMatchObject({ code: 'PB002' })
  })
})

describe('clocks that ran out', () => {
  test('are marked, recorded and counted once, whoever looks; met, paused and later ones are not', async () => {
    const [late, law, paused, later] = [newRef(), newRef(), newRef(), newRef()]
    await start(late, { ...service, started_at: long_ago })
    await start(law, { ...statutory, started_at: long_ago })
    await start(paused, service)
    await t.write((tx) => workClocks.pauseClocks(tx, paused))
    await start(later, service)
    await Promise.all([scan(), scan()])
    const states = []
    for (const object of [late, law, paused, later]) states.push((await list(object))[0]?.state)
    expect(states).toEqual(['missed', 'missed', 'paused', 'running'])
    const written = await t.write((tx) =>
      tx.query<{ object_id: string; data: object }>(
        `select object_id, data from app.event where tenant_id = $1 and event_type = 'work.clock_missed' order by data ->> 'kind'`,
        [tx.tenant_id],
      ),
    )
    expect(written).toEqual([
      { object_id: late.object_id, data: { object_kind: 'investigation', clock_key: 'target', kind: 'service' } },
      { object_id: law.object_id, data: { object_kind: 'investigation', clock_key: 'filing', kind: 'statutory' } },
    ])
    const text = await w.runtime.metrics.registry.metrics()
    expect(text).toContain('probity_work_clocks_missed_total{kind="statutory"} 1')
    expect(text).toContain('probity_work_overdue_clocks{kind="statutory"} 1')
    expect(text).toContain('probity_work_unmarked_seconds 0')
    const recorded = await t.make(`GET /audit/objects/work/${law.object_id}`)
    expect(recorded.items).toMatchObject([{ operation: 'missWorkClock', actor: 'job:work-clocks' }])
  })

  test('of restricted objects are marked too, and leave nothing that others can see', async () => {
    const { restriction_id } = await t.make('POST /restrictions', { body: { purpose: 'Case 30' } })
    const outsider = await w.person(t.tenant_id, ['compliance_officer', 'auditor', 'service'])
    const read = async () => {
      const answers = []
      for (const path of [
        '/work/clocks?state=missed',
        '/work/queues',
        '/events',
        '/audit/events?operation=missWorkClock',
      ])
        answers.push((await w.call(`GET ${path}`, { token: outsider.token })).json.items.length)
      return answers
    }
    const before = await read()
    const object = newRef()
    await t.write((tx) =>
      workItems.openWork(w.kernel, tx, { ...object, priority: 'low', source: null, restriction_id }),
    )
    await start(object, { ...statutory, started_at: long_ago }, restriction_id)
    await scan()
    expect((await list(object)).map(({ state }) => state)).toContain('missed')
    expect(await read()).toEqual(before)
    const rows = await t.write((tx) =>
      tx.query(`select 1 from app.event where tenant_id = $1 and object_id = $2`, [tx.tenant_id, object.object_id]),
    )
    expect(rows).toEqual([])
  })

  test('wait while the tenant is suspended', async () => {
    const other = await ExampleTenant.create(w)
    const object = newRef()
    await start(object, { ...service, started_at: long_ago }, null, other)
    await w.seedContext.steward.write(fullScope(other.tenant_id, 'operator:test'), (tx) =>
      tx.run(`update app.tenant set state = 'suspended' where tenant_id = $1`, [tx.tenant_id]),
    )
    await scan()
    expect(await list(object, other)).toMatchObject([{ state: 'running' }])
  })
})
