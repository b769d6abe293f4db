/** Searching the record: every combination of filters finds what a plain reading of all events finds, page by page, exact in time. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { recordEvent } from '#kernel/audit/record.ts'
import { getFirstIdAfter, getFirstIdFrom } from '#modules/audit/event-ids.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { startTestApp, type TestApp } from '../support/test-app.ts'

interface Event {
  readonly event_id: string
  readonly recorded_at: string
  readonly actor: string
  readonly operation: string
  readonly object_type: string
  readonly object_id: string
}
type Filter = Partial<Record<'actor' | 'operation' | 'object_type' | 'object_id' | 'from_at' | 'until_at', string>>

/** Long before the tenant was made, so that its own events are not among them. */
const START_MS = Date.parse('2020-03-01T12:00:00Z')
const END = '2021-01-01T00:00:00Z'
const STEP_MS = 90_000
const HOUR_MS = 3_600_000
const at = (time_ms: number): string => `${new Date(time_ms).toISOString().slice(0, -1)}000Z`
const idAt = (time_ms: number, n: number): string => {
  const hex = time_ms.toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-${String(n).padStart(12, '0')}`
}

const made: Event[] = Array.from({ length: 60 }, (_, n) => {
  // Every fourth shares its millisecond with the one before.
  const time_ms = START_MS + (n % 4 === 3 ? n - 1 : n) * STEP_MS
  return {
    event_id: idAt(time_ms, n),
    recorded_at: at(time_ms),
    actor: `user:${n % 3}`,
    operation: n % 2 === 0 ? 'openCase' : 'closeCase',
    object_type: n % 5 === 0 ? 'cases' : 'people',
    object_id: `object-${n % 7}`,
  }
})
/** The clock was set back by half an hour: ids go on, times do not. */
const setBack: Event = {
  ...(made[0] as Event),
  event_id: idAt(START_MS + 30 * 60_000, 999),
  recorded_at: at(START_MS - 1000),
}

let w: TestApp
let t: ExampleTenant
let token: string
beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  token = await t.token(['auditor'])
  await t.write(async (tx) => {
    for (const event of [...made, setBack]) {
      await tx.run(
        `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, detail, mac)
         values ($1, $2, $3, $4, $5, $6, $7, '{}', 'unused')`,
        [t.tenant_id, ...Object.values(event)],
      )
    }
  })
})
afterAll(() => w.close())

async function search(filter: Filter, limit = 200, by = token): Promise<string[]> {
  const found: string[] = []
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams({ ...filter, limit: String(limit), ...(cursor !== null && { cursor }) })
    const reply = await w.call(`GET /audit/events?${query}`, { token: by })
    expect(reply.status, reply.text).toBe(200)
    const items = reply.json.items as Event[]
    found.push(...items.filter((event) => event.recorded_at < END).map(({ event_id }) => event_id))
    cursor = reply.json.next_cursor
    if (cursor === null) return found
  }
}

const fits = (event: Event, { from_at, until_at, ...exact }: Filter): boolean =>
  Object.entries(exact).every(([name, value]) => event[name as keyof Event] === value) &&
  (from_at === undefined || event.recorded_at >= from_at) &&
  (until_at === undefined || event.recorded_at < until_at)
const expected = (filter: Filter): string[] =>
  made
    .filter((event) => fits(event, filter))
    .map(({ event_id }) => event_id)
    .reverse()

const choices: Filter = {
  actor: 'user:1',
  operation: 'openCase',
  object_type: 'people',
  object_id: 'object-4',
  from_at: at(START_MS + 8 * STEP_MS),
  until_at: at(START_MS + 50 * STEP_MS),
}
const combinations: Filter[] = [{}]
for (const [name, value] of Object.entries(choices)) {
  combinations.push(...combinations.map((filter) => ({ ...filter, [name]: value })))
}

describe('search', () => {
  test('returns the newest first for every combination of filters', async () => {
    expect(combinations).toHaveLength(64)
    for (const filter of combinations) {
      const found = (await search(filter)).filter((id) => id !== setBack.event_id)
      expect(found, JSON.stringify(filter)).toEqual(expected(filter))
    }
    expect(expected(choices).length).toBeGreaterThan(0)
  })

  test.each([{}, { actor: 'user:1' }, { object_type: 'people', object_id: 'object-4' }, { operation: 'openCase' }])(
    'page by page, each once: %j',
    async (filter: Filter) => {
      const within = { ...filter, from_at: at(START_MS) }
      expect(await search(within, 3)).toEqual(expected(within))
    },
  )

  test('includes `from` and excludes `until`', async () => {
    const [from_at, until_at] = [at(START_MS), at(START_MS + STEP_MS)]
    expect(await search({ from_at, until_at })).toEqual([made[0]?.event_id])
    expect(await search({ from_at: from_at.replace('000Z', '001Z'), until_at })).toEqual([])
  })

  test('finds an event recorded while the clock was set back by its time', async () => {
    const second = { from_at: setBack.recorded_at, until_at: at(START_MS) }
    expect(await search(second)).toEqual([setBack.event_id])
    expect(await search({ ...second, actor: setBack.actor })).toEqual([setBack.event_id])
  })

  test('an event has the time of its id when the clock is set back', async () => {
    const noon_ms = Date.parse('2020-06-01T12:00:00Z')
    const facts = {
      operation: 'openCase',
      object_type: 'cases',
      object_id: 'back',
      request_id: null,
      restriction_id: null,
      detail: {},
    }
    const times = [0, -3 * HOUR_MS, -26 * HOUR_MS, -3 * HOUR_MS].map((offset) => noon_ms + offset)
    const other = await ExampleTenant.create(w)
    await other.write(async (tx) => {
      for (const time of times) {
        vi.useFakeTimers({ toFake: ['Date'], now: time })
        recordEvent(tx, w.kernel.auditKeys, facts)
        vi.useRealTimers()
      }
    })
    const by = await other.token(['auditor'])
    const found = async (time: number) => (await search({ from_at: at(time), until_at: at(time + 1) }, 200, by)).length
    expect(await found(noon_ms)).toBe(1)
    expect(await found(noon_ms - 3 * HOUR_MS)).toBe(2)
    expect(await found(noon_ms - 26 * HOUR_MS)).toBe(1)
  })

  test('accepts every timestamp the schema allows', async () => {
    for (const instant of ['1000-01-01T00:00:00Z', '9999-12-31T23:59:59.999999Z', '2016-12-31T23:59:60Z']) {
      for (const name of ['from_at', 'until_at']) {
        const { status } = await w.call(`GET /audit/events?${name}=${instant}&limit=1`, { token })
        expect([instant, name, status]).toEqual([instant, name, 200])
      }
      expect(getFirstIdFrom(instant) < getFirstIdAfter(instant)).toBe(instant !== '1000-01-01T00:00:00Z')
    }
  })
})

test('names the actors, object types and operations that can be searched for', async () => {
  const user_id = await t.user()
  const { json } = await w.call('GET /audit/filters', { token })
  expect(json.actors).toContainEqual({ actor: `user:${user_id}`, name: expect.any(String) })
  expect(json.object_types).toEqual(expect.arrayContaining(['cases', 'people']))
  const operations = new Map(
    json.operations.map((one: { operation: string; summary: string }) => [one.operation, one.summary]),
  )
  expect(operations.get('updateUserRoles')).toBe('Set the roles of a user')
  expect(operations.has('job:impact-run')).toBe(true)
  expect(operations.has('listUsers')).toBe(false)
})
