/** Queues: routing, turns, claims, absence, deactivation, and work that is restricted. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Role } from '#kernel/auth/roles.ts'
import { fullScope, requestScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { modules } from '../../app/modules.ts'
import { workItems } from './index.ts'

/** A module whose objects are worked on; no module above this one has any. */
const exampleModule: Module = {
  name: 'example-work',
  segments: [],
  tier: 'views',
  summary: 'Work of a test.',
  routes: [],
  jobs: [],
  work: [
    {
      kind: 'example',
      title: 'Examples',
      operation: null,
      roles: ['analyst', 'compliance_officer'],
      describe: async (_tx, ids) => new Map(ids.map((id) => [id, `Example ${id.slice(-4)}`])),
    },
  ],
  canary: async () => {},
}

let w: TestApp
beforeAll(async () => {
  w = await startTestApp({ modules: [...modules, exampleModule] })
})
afterAll(() => w.close())

type Someone = Awaited<ReturnType<TestApp['person']>>
type Queue = Record<string, unknown>

const queue = (change: Queue): Queue => ({
  queue: 'all',
  title: 'All',
  position: 10,
  team_roles: ['analyst'],
  assignment: 'manual',
  rationale: 'A test',
  ...change,
})

/** A tenant with queues of its own, which go before the shared ones. */
async function makeTenant(queues: readonly Queue[] = [queue({})]): Promise<ExampleTenant> {
  const t = await ExampleTenant.create(w)
  await t.make('POST /reference-data/datasets', {
    body: { list_key: 'work-queues', type_key: 'work-queue', title: 'Our queues' },
  })
  const path = '/reference-data/datasets/work-queues'
  const { version } = await t.make(`POST ${path}/versions`, { body: { data: queues } })
  await t.make(`POST ${path}/activations`, { body: { version, reason: 'our teams' } })
  return t
}

const newObject = (change: object = {}) => ({
  object_kind: 'example',
  object_id: uuidv7(),
  priority: 'medium' as const,
  source: null,
  restriction_id: null,
  ...change,
})
const open = (t: ExampleTenant, change: object = {}) =>
  t.write((tx) => workItems.openWork(w.kernel, tx, newObject(change)))
const people = (t: ExampleTenant, count: number): Promise<Someone[]> =>
  Promise.all(Array.from({ length: count }, () => w.person(t.tenant_id, ['analyst'])))
const as = <T>(t: ExampleTenant, { principal }: Someone, body: (tx: Tx) => Promise<T>): Promise<T> =>
  w.runtime.database.write(requestScope({ tenant_id: t.tenant_id, principal }), body)
const claim = (t: ExampleTenant, who: Someone, filter = {}) =>
  as(t, who, (tx) => workItems.claimWork(w.kernel, tx, { principal: who.principal, roles: ['analyst'] }, filter))
const setAway = (t: ExampleTenant, { user_id }: Someone, from_h: number, until_h: number) => {
  const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
  return t.make(`PUT /users/${user_id}/availability`, {
    body: { away_from: at(from_h), away_until: at(until_h), away_reason: 'leave' },
  })
}
const tally = (values: readonly (string | null)[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const value of values) counts[String(value)] = (counts[String(value)] ?? 0) + 1
  return counts
}

describe('new work', () => {
  test('goes to the first queue that takes it, and to none where none does', async () => {
    const t = await makeTenant([
      queue({ queue: 'last', position: 90, kinds: ['example'] }),
      queue({ queue: 'urgent', position: 10, priorities: ['critical'] }),
      queue({ queue: 'press', position: 20, sources: ['media'] }),
    ])
    const keys = []
    for (const facts of [
      { priority: 'critical', source: 'media' },
      { source: 'media' },
      {},
      { object_kind: 'investigation' },
    ])
      keys.push((await open(t, facts)).queue_key)
    expect(keys).toEqual(['urgent', 'press', 'last', 'unrouted'])
    const { items } = await t.make('GET /work/queues')
    expect(items.map(({ queue_key, unassigned }: Queue) => [queue_key, unassigned])).toEqual([
      ['urgent', 1],
      ['press', 1],
      ['last', 1],
      ['unrouted', 1],
    ])
  })

  test('starts the clock of the shared queue that takes it, and another one when it is opened again', async () => {
    const t = await ExampleTenant.create(w)
    const object = newObject({ priority: 'critical' })
    const item = await t.write((tx) => workItems.openWork(w.kernel, tx, object))
    expect(item).toMatchObject({ queue_key: 'urgent', assignee: null, state: 'open' })
    await expect(t.write((tx) => workItems.openWork(w.kernel, tx, object))).rejects.toMatchObject({ code: 'conflict' })
    await t.write((tx) => workItems.completeWork(tx, object))
    await t.write((tx) => workItems.openWork(w.kernel, tx, object))
    const { items } = await t.make('GET /work/clocks')
    expect(items.map(({ clock_key, state }: Queue) => [clock_key, state])).toEqual([
      ['target', 'met'],
      ['target-2', 'running'],
    ])
    expect(items[0].receipt).toMatchObject({
      duration: { hours: 8 },
      calendar: 'weekdays',
      list: { list_key: 'business-calendars' },
    })
  })

  test('is assigned in turn by 40 transactions at once, to nobody twice in a round', async () => {
    const t = await makeTenant([queue({ assignment: 'round_robin' })])
    const team = await people(t, 4)
    const items = await Promise.all(Array.from({ length: 40 }, () => open(t)))
    expect(tally(items.map(({ assignee }) => assignee))).toEqual(
      Object.fromEntries(team.map(({ principal }) => [principal, 10])),
    )
  })

  test('is assigned by load, within the limit of a person, and to nobody who is away', async () => {
    const t = await makeTenant([queue({ assignment: 'least_loaded', most_open: 2 })])
    const [one, two, away] = (await people(t, 3)) as [Someone, Someone, Someone]
    await setAway(t, away, -1, 1)
    const first = await open(t)
    await t.write((tx) => workItems.completeWork(tx, first))
    const items = []
    for (let n = 0; n < 5; n++) items.push(await open(t))
    expect(tally(items.map(({ assignee }) => assignee))).toEqual({ [one.principal]: 2, [two.principal]: 2, null: 1 })
    await setAway(t, away, 1, 2)
    const last = await open(t)
    expect(last.assignee).toBe(away.principal)
    // What was returned waits until somebody claims it: a queue that gave it out again could give it to the same person for ever.
    await t.write((tx) => workItems.releaseWork(tx, last))
    await t.write((tx) =>
      workItems.rerouteWork(w.kernel, tx, { ...newObject(), object_id: last.object_id, priority: 'high' }),
    )
    await t.make(`POST /users/${one.user_id}/deactivate`)
    await open(t)
    const find = (item: typeof last) => t.write((tx) => workItems.findWork(tx, item))
    expect(await find(last)).toMatchObject({ assignee: null, priority: 'high' })
    for (const item of items.filter(({ assignee }) => assignee === one.principal))
      expect(await find(item)).toMatchObject({ assignee: null, state: 'open' })
    expect(await claim(t, two, { queue_key: 'all' })).toBeUndefined()
    expect(await claim(t, away)).toMatchObject({ object_id: last.object_id })
  })

  test('goes to the people whom the queue names, whatever their roles', async () => {
    const t = await ExampleTenant.create(w)
    const officer = await w.person(t.tenant_id, ['compliance_officer'])
    await people(t, 2)
    const named = queue({ queue: 'named', position: 1, assignment: 'round_robin', team_users: [officer.user_id] })
    await t.make('PUT /reference-data/datasets/work-queues/overlay', {
      body: { entries: [{ key: 'named', op: 'put', value: named }], reason: 'one person' },
    })
    const items = [await open(t), await open(t)]
    expect(items.map(({ queue_key, assignee }) => [queue_key, assignee])).toEqual(
      items.map(() => ['named', officer.principal]),
    )
  })
})

describe('claiming', () => {
  test('100 times at once gives each of 60 items to one person, and nobody more than the limit', async () => {
    const t = await makeTenant([queue({ most_open: 7 })])
    const team = await people(t, 10)
    for (let n = 0; n < 60; n++) await open(t)
    const claims = await Promise.all(Array.from({ length: 100 }, (_, n) => claim(t, team[n % 10] as Someone)))
    const taken = claims.filter((item) => item !== undefined)
    expect(taken).toHaveLength(60)
    expect(new Set(taken.map(({ object_id }) => object_id)).size).toBe(60)
    expect(Math.max(...Object.values(tally(taken.map(({ assignee }) => assignee))))).toBeLessThanOrEqual(7)
    const stored = await t.write((tx) =>
      tx.query<{ object_id: string; assignee: string }>(
        'select object_id, assignee from app.work_item where tenant_id = $1',
        [tx.tenant_id],
      ),
    )
    const assignees = new Map(stored.map(({ object_id, assignee }) => [object_id, assignee]))
    for (const { object_id, assignee } of taken) expect(assignees.get(object_id)).toBe(assignee)
  })

  test('takes the most urgent item first, then the oldest, and none that is postponed', async () => {
    const t = await makeTenant()
    const [who] = (await people(t, 1)) as [Someone]
    const [low, high, later, older] = [
      await open(t, { priority: 'low' }),
      await open(t, { priority: 'high' }),
      await open(t, { priority: 'critical' }),
      await open(t, { priority: 'high' }),
    ]
    await t.write((tx) => workItems.postponeWork(tx, later, '2100-01-01T00:00:00Z'))
    const ids = []
    for (let n = 0; n < 4; n++) ids.push((await claim(t, who))?.object_id)
    expect(ids).toEqual([high.object_id, older.object_id, low.object_id, undefined])
    const { items } = await t.make('GET /work/mine?limit=2', { token: who.token })
    expect(items.map(({ object_id }: Queue) => object_id)).toEqual([high.object_id, older.object_id])
    expect(items[0].title).toBe(`Example ${high.object_id.slice(-4)}`)
  })

  test('is refused to people who are away and to keys, and gives nothing to people outside the team', async () => {
    const t = await makeTenant([queue({ team_roles: ['compliance_officer'] })])
    const [who] = (await people(t, 1)) as [Someone]
    await open(t)
    expect(await claim(t, who)).toBeUndefined()
    await setAway(t, who, -1, 1)
    await expect(claim(t, who)).rejects.toMatchObject({ code: 'transition_not_allowed' })
    const key = { principal: `key:${uuidv7()}`, roles: ['analyst' as const] }
    await expect(t.write((tx) => workItems.claimWork(w.kernel, tx, key))).rejects.toMatchObject({
      code: 'person_required',
    })
  })
})

describe('a person who is deactivated', () => {
  test('keeps no open work, restricted work included, also when the administrator may not see it', async () => {
    const t = await makeTenant()
    const [who] = (await people(t, 1)) as [Someone]
    const officer = await w.person(t.tenant_id, ['compliance_officer'])
    const admin = await w.person(t.tenant_id, ['tenant_admin'])
    const made = await w.call('POST /restrictions', { token: officer.token, body: { purpose: 'Case 20' } })
    const { restriction_id } = made.json
    const done = await open(t)
    const items = [await open(t), await open(t, { restriction_id })]
    for (const item of [done, ...items])
      await t.write((tx) =>
        tx.run(
          `update app.work_item set assignee = $3, assigned_at = now(), assigned_by = $3 where tenant_id = $1 and object_id = $2`,
          [tx.tenant_id, item.object_id, who.principal],
        ),
      )
    await t.write((tx) => workItems.completeWork(tx, done))
    const reply = await w.call(`POST /users/${who.user_id}/deactivate`, { token: admin.token })
    expect(reply.status).toBe(200)
    const find = (item: { object_kind: string; object_id: string }) => t.write((tx) => workItems.findWork(tx, item))
    for (const item of items) expect(await find(item)).toMatchObject({ assignee: null, state: 'open' })
    expect(await find(done)).toMatchObject({ assignee: who.principal, state: 'done' })
    // The wider sight ended with the statement.
    const seen = await as(t, admin, async (tx) => {
      await tx.run(`update app.user_account set state = 'inactive' where tenant_id = $1 and user_id = $2`, [
        tx.tenant_id,
        officer.user_id,
      ])
      return tx.query('select 1 from app.work_item where tenant_id = $1 and restriction_id is not null', [tx.tenant_id])
    })
    expect(seen).toEqual([])
  })
})

describe('a person who loses access to a restriction', () => {
  test('keeps no open work of it, and keeps other work', async () => {
    const t = await makeTenant()
    const [owner, who, chief] = await Promise.all([
      w.person(t.tenant_id, ['compliance_officer']),
      w.person(t.tenant_id, ['analyst']),
      w.person(t.tenant_id, ['compliance_officer']),
    ])
    const call = async (by: Someone, line: string, body?: object) => {
      const { status, json } = await w.call(line, { token: by.token, ...(body && { body }) })
      expect(status, line).toBeLessThan(300)
      return json
    }
    const { restriction_id } = await call(owner, 'POST /restrictions', { purpose: 'Case 23' })
    const { restriction_id: other } = await call(owner, 'POST /restrictions', { purpose: 'Case 24' })
    const [at, access] = [`/restrictions/${restriction_id}`, `/restrictions/${restriction_id}/access/${who.user_id}`]
    await call(owner, `PUT /restrictions/${other}/access/${who.user_id}`, { effect: 'grant' })
    const kept = [await open(t), await open(t, { restriction_id: other }), await open(t, { restriction_id })]
    const item = await open(t, { restriction_id })
    const find = async (one: { object_kind: string; object_id: string }) =>
      (await t.write((tx) => workItems.findWork(tx, one)))?.assignee
    const assign = (one: { object_id: string }, { principal }: Someone) =>
      t.write((tx) =>
        tx.run(
          `update app.work_item set assignee = $3, assigned_at = now(), assigned_by = $3 where tenant_id = $1 and object_id = $2`,
          [tx.tenant_id, one.object_id, principal],
        ),
      )
    for (const [index, one] of kept.entries()) await assign(one, index === 2 ? owner : who)
    const expectReturned = async (end: () => Promise<unknown>, from = who) => {
      await assign(item, from)
      await end()
      expect(await find(item)).toBeNull()
      expect(await Promise.all(kept.map(find))).toEqual([who.principal, who.principal, owner.principal])
    }
    const grant = () => call(owner, `PUT ${access}`, { effect: 'grant' })
    await grant()
    await expectReturned(() => call(owner, `DELETE ${access}`))
    await grant()
    await expectReturned(() => call(owner, `PUT ${access}`, { effect: 'exclude' }))
    // Access that is replaced by access keeps the work, until it is hidden from the person.
    await call(owner, `DELETE ${access}`)
    await grant()
    await assign(item, who)
    await call(owner, `PUT ${access}`, { effect: 'grant', until: new Date(Date.now() + 600_000).toISOString() })
    expect(await find(item)).toBe(who.principal)
    await call(owner, `POST ${at}/lift`, { reason: 'No suspicion' })
    await call(owner, `DELETE ${access}`)
    expect(await find(item)).toBe(who.principal)
    await expectReturned(() => call(owner, `POST ${at}/impose`))
    // The MLRO has access without a grant.
    for (const [effect, person] of [
      ['designate', chief],
      ['designate', who],
      ['end', chief],
    ] as const) {
      const proposal = { user_id: person.user_id, effect, reason: 'Decision of the board' }
      const { designation_id } = await call(person === chief ? owner : chief, 'POST /mlro-designations', proposal)
      const second = await w.person(t.tenant_id, ['tenant_admin'])
      const confirm = () => call(second, `POST /mlro-designations/${designation_id}/confirm`)
      if (effect === 'end') await expectReturned(confirm, chief)
      else await confirm()
    }
  })

  test('keeps none when the access ends by itself', async () => {
    const t = await makeTenant()
    const [owner, who] = await Promise.all([
      w.person(t.tenant_id, ['compliance_officer']),
      w.person(t.tenant_id, ['analyst']),
    ])
    const call = (line: string, body: object) => w.call(line, { token: owner.token, body })
    const imposed = async () => (await call('POST /restrictions', { purpose: 'Case 25' })).json.restriction_id as string
    const [ending, lasting] = [await imposed(), await imposed()]
    await call(`PUT /restrictions/${lasting}/access/${who.user_id}`, { effect: 'grant' })
    const until = new Date(Date.now() + 3000).toISOString()
    await call(`PUT /restrictions/${ending}/access/${who.user_id}`, { effect: 'grant', until })
    const items = await Promise.all([
      open(t, { restriction_id: ending }),
      open(t, { restriction_id: lasting }),
      open(t),
    ])
    const list = () =>
      t.write((tx) => Promise.all(items.map(async (one) => (await workItems.findWork(tx, one))?.assignee)))
    const scan = async () => {
      for (const scanner of w.runtime.createScanners()) await scanner.runOnce()
    }
    for (const { object_id } of items)
      await t.write((tx) =>
        tx.run(
          `update app.work_item set assignee = $3, assigned_at = now(), assigned_by = $3 where tenant_id = $1 and object_id = $2`,
          [tx.tenant_id, object_id, who.principal],
        ),
      )
    if (Date.now() < Date.parse(until)) {
      await scan()
      if (Date.now() < Date.parse(until)) expect(await list()).toEqual(items.map(() => who.principal))
    }
    await vi.waitUntil(() => Date.now() > Date.parse(until) + 100, { timeout: 10_000 })
    await scan()
    expect(await list()).toEqual([null, who.principal, who.principal])
  })
})

describe('restricted work', () => {
  async function makeCase() {
    const t = await makeTenant([queue({ assignment: 'round_robin' })])
    const [analyst] = (await people(t, 1)) as [Someone]
    const officer = await w.person(t.tenant_id, ['compliance_officer'])
    const made = await w.call('POST /restrictions', { token: officer.token, body: { purpose: 'Case 21' } })
    return { t, analyst, officer, restriction_id: made.json.restriction_id as string }
  }

  test('is not assigned by itself, takes no turn, and is claimed only by people with access', async () => {
    const { t, analyst, officer, restriction_id } = await makeCase()
    const item = await open(t, { restriction_id })
    expect(item.assignee).toBeNull()
    const turns = await t.write((tx) =>
      tx.query('select 1 from app.work_queue_turn where tenant_id = $1', [tx.tenant_id]),
    )
    expect(turns).toEqual([])
    expect(await claim(t, analyst)).toBeUndefined()
    await w.call(`PUT /restrictions/${restriction_id}/access/${analyst.user_id}`, {
      token: officer.token,
      body: { effect: 'grant' },
    })
    expect((await claim(t, analyst))?.object_id).toBe(item.object_id)
    const read = async (path: string) => (await w.call(path, { token: analyst.token })).json.items
    expect(await read('GET /work/mine')).toMatchObject([{ object_id: item.object_id, restriction_id }])
  })

  test('is reassigned by people with access to people with access, and recorded with the restriction', async () => {
    const { t, analyst, officer, restriction_id } = await makeCase()
    const item = await open(t, { restriction_id })
    const other = await open(t)
    const outsider = await w.person(t.tenant_id, ['compliance_officer'])
    const reassign = (who: Someone, items: { object_kind: string; object_id: string }[], user_id: string | null) =>
      w.call('POST /work/reassign', {
        token: who.token,
        body: {
          items: items.map(({ object_kind, object_id }) => ({ object_kind, object_id })),
          user_id,
          reason: 'Handed over',
        },
      })
    const hidden = await reassign(outsider, [item], outsider.user_id)
    const random = await reassign(outsider, [newObject()], outsider.user_id)
    expect([hidden.status, hidden.json.detail]).toEqual([404, random.json.detail])
    expect((await reassign(officer, [item], analyst.user_id)).status).toBe(409)
    expect((await reassign(officer, [item, other], null)).json.code).toBe('conflict')
    expect((await reassign(officer, [item], officer.user_id)).status).toBe(200)
    const events = await t.write((tx) =>
      tx.query<{ restriction_id: string }>(
        `select restriction_id from app.audit_event where tenant_id = $1 and operation = 'reassignWork'`,
        [tx.tenant_id],
      ),
    )
    expect(events).toEqual([{ restriction_id }])
    expect((await reassign(outsider, [other], null)).json.items).toMatchObject([{ assignee: null, queue_key: 'all' }])
  })
})

describe('what people learn of work', () => {
  const readAs = async (t: ExampleTenant, roles: readonly Role[]) => {
    const { token } = await w.person(t.tenant_id, roles)
    const call = async (path: string) => (await w.call(path, { token })).json.items
    const open = (await call('GET /work/queues')).flatMap(({ queue_key, open }: Queue) => (open ? [queue_key] : []))
    const clocks = await call('GET /work/clocks?object_kind=second_look')
    return { open, clocks: clocks.length, all: (await call('GET /work/clocks')).length }
  }

  test('is of the kinds whose objects they may open, and second looks of urgent alerts have a queue of their own', async () => {
    const t = await ExampleTenant.create(w)
    const alert = { object_kind: 'alert', priority: 'critical' }
    for (const facts of [alert, { ...alert, object_kind: 'second_look' }, { object_kind: 'undeclared' }])
      await open(t, facts)
    const officer = { open: ['second-looks', 'urgent'], clocks: 1, all: 2 }
    expect(await readAs(t, ['compliance_officer'])).toEqual(officer)
    expect(await readAs(t, ['auditor'])).toEqual(officer)
    expect(await readAs(t, ['analyst'])).toEqual({ open: ['urgent'], clocks: 0, all: 1 })
  })

  test('is opened by an operation that there is', () => {
    const operations = modules.flatMap(({ routes }) => routes).map(({ id }) => id)
    for (const { operation } of modules.flatMap(({ work = [] }) => work)) expect(operations).toContain(operation)
  })
})

test('a work item stays with its object and its restriction', async () => {
  const t = await makeTenant()
  const item = await open(t)
  const made = await t.make('POST /restrictions', { body: { purpose: 'Case 22' } })
  for (const change of [`object_kind = 'other'`, `restriction_id = '${made.restriction_id}'`])
    await expect(
      w.runtime.database.write(fullScope(t.tenant_id, 'operator:test'), (tx) =>
        tx.run(`update app.work_item set ${change} where tenant_id = $1 and object_id = $2`, [
          t.tenant_id,
          item.object_id,
        ]),
      ),
    ).rejects.toMatchObject({ code: 'PB002' })
})
