/**
 * F5, from the route table: every call to the database that an operation makes is made to fail once. The answer is a
 * documented problem without a word of the database's own, and nothing of a change stays behind unless all of it does.
 */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { problems } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { getExample, getRequestLine, routes } from '../isolation/support.ts'
import { ExampleTenant } from '../support/example-tenant.ts'
import { DATABASE_ERROR_TEXT, type Fault, type FaultyProcess, startFaultyProcess } from '../support/faulty-database.ts'
import { createMemoryLedger } from '../support/memory-ledger.ts'
import type { Example } from '../support/operation-fixture.ts'
import { announceSampling, sample } from '../support/sampling.ts'
import { createTenantDigest, type TenantDigest } from '../support/tenant-digest.ts'
import { type Reply, startTestApp, type TestApp } from '../support/test-app.ts'

let w: TestApp
let tenant: ExampleTenant
let faulty: FaultyProcess
let superuser: pg.Client
let digest: () => Promise<TenantDigest>

beforeAll(async () => {
  w = await startTestApp()
  tenant = await ExampleTenant.create(w)
  faulty = await startFaultyProcess(w, { erasureLedger: createMemoryLedger() })
  superuser = new pg.Client(w.clone.postgres)
  await superuser.connect()
  const digestOf = await createTenantDigest(superuser)
  digest = () => digestOf(tenant.tenant_id)
  await Promise.all([tenant.auditRun('export'), tenant.auditRun('verification')])
})
afterAll(async () => {
  await superuser.end()
  await faulty.close()
  await w.close()
})

announceSampling('operations whose database calls fail, and calls between the first and the last of an operation')

const SAMPLED_OPERATIONS = 20
const SAMPLED_CHANGES = 12
/** Of a sampled operation the first and the last call fail, and a sample of those in between. */
const SAMPLED = 2
/** A check of every table makes hundreds of calls, which are alike: of those every nth fails, also in a whole run. */
const MOST = 40
function pickCalls({ id }: Route, calls: number): number[] {
  const step = Math.ceil(calls / MOST)
  const between = Array.from({ length: Math.max(calls - 2, 0) }, (_, index) => index + 2).filter(
    (at) => at % step === 0,
  )
  return [...new Set([1, ...sample(between, SAMPLED, id), calls])].filter((at) => at <= calls)
}

/** Of a tenant's operation only its own calls fail: not those for which the process asks whether token and tenant are still good. */
async function send(route: Route, example: Example, fault?: Fault, at?: number, key?: string): Promise<Reply> {
  const token = await tenant.token(undefined, example.principal ?? tenant.caller)
  faulty.plan.arm(fault, at, route.access === 'tenant')
  const reply = await faulty.call(getRequestLine(route, example), {
    ...(route.access === 'tenant' && { token }),
    address: nextAddress(),
    ...(example.body !== undefined && { body: example.body }),
    ...(example.bytes !== undefined && { payload: example.bytes }),
    headers: {
      ...(example.bytes !== undefined && { 'content-type': 'application/octet-stream' }),
      ...(key !== undefined && { 'idempotency-key': key }),
    },
  })
  faulty.plan.disarm()
  return reply
}
let sent = 0
const nextAddress = (): string => `10.${(++sent >> 16) & 255}.${(sent >> 8) & 255}.${sent & 255}`

const countEvents = async (): Promise<number> => {
  const { rows } = await superuser.query('select count(*) from app.audit_event where tenant_id = $1', [
    tenant.tenant_id,
  ])
  return Number(rows[0].count)
}

/**
 * How often an operation calls the database when nothing fails, and how many events it leaves. The first time is not like
 * the others: a process caches some of what it has read.
 */
async function measureCalls(route: Route, key?: string): Promise<{ calls: number; events: number }> {
  const example = await getExample(route, tenant)
  await faulty.call('GET /limits', { token: await tenant.token(undefined, example.principal ?? tenant.caller) })
  const before = await countEvents()
  const reply = await send(route, example, undefined, 0, key)
  expect([reply.status, reply.text.slice(0, 300)]).toEqual([route.reply[0], expect.anything()])
  return { calls: faulty.plan.callCount, events: (await countEvents()) - before }
}

/** What only computes may make no call at all. */
const mayAnswerFromCache = ({ method, id, stores_nothing }: Route): boolean =>
  method === 'GET' || stores_nothing === true || id === 'createToken'

/** Operations whose ordinary answer tells of the failure. */
function reportsFailure(route: Route, reply: Reply): boolean {
  if (route.id === 'getReadiness') return reply.status === 503 && reply.json.status === 'not_ready'
  if (route.id === 'checkIsolation') return reply.status === 200 && reply.json.passed === false
  return false
}

/**
 * Carried out before the call that was to fail. A failure that happened and was swallowed is no such case, except in the look
 * for the job that was just given, which comes after everything else, and where a transaction is undone to be run again.
 */
const isCompleted = (route: Route, reply: Reply, was_last: boolean): boolean =>
  reply.status === route.reply[0] &&
  (!faulty.plan.hasFired || faulty.plan.isRollback || (was_last && route.starts !== undefined))

function expectDocumented(route: Route, reply: Reply, fault: Fault): void {
  expect(reply.text).not.toContain(DATABASE_ERROR_TEXT)
  expect(reply.text).not.toMatch(/\b(select|insert|update|delete)\b.+\bapp\.|\bat .+\.[tj]s:\d+/i)
  if (reportsFailure(route, reply)) return
  const code = fault === 'refused' ? 'internal' : 'dependency_unavailable'
  expect(reply.json).toMatchObject({ code, status: problems[code].status, title: problems[code].title })
  expect(reply.status).toBe(problems[code].status)
  expect(reply.headers['content-type']).toBe('application/problem+json')
  expect(reply.json.request_id).toBe(reply.headers['x-request-id'])
  if (code === 'dependency_unavailable') expect(reply.headers['retry-after']).toMatch(/^[1-9]\d*$/)
}

/** What was begun stays in the ledger of calls, whatever becomes of the request: tested in src/modules/providers. */
const callsProvider = ({ tx, needs }: Route): boolean => tx === 'self' && needs === 'provider'
/** An approval is recorded before the call it allows is run: its own test is below. */
const runsApprovedCall = ({ id }: Route): boolean => id === 'approveToolCall'
const covered = routes.filter((route) => !callsProvider(route) && !runsApprovedCall(route))

describe('a database call that fails', () => {
  test.for(sample(covered, SAMPLED_OPERATIONS, 'failing calls'))(
    '$id returns a documented problem and changes nothing',
    async (route) => {
      await measureCalls(route)
      const { calls } = await measureCalls(route)
      let example = await getExample(route, tenant)
      let before = await digest()
      let failed = 0
      const places = pickCalls(route, calls)
      for (const fault of ['refused', 'lost'] as const) {
        // Where a connection is lost makes no difference in between: nothing is committed until the last call.
        for (const at of places) {
          if (fault === 'lost' && route.tx !== 'self' && at > 1 && at < calls) continue
          const reply = await send(route, example, fault, at)
          // A process caches some of what it reads and proves, and looks for a job it has just been given: an operation may be
          // through before the call that was to fail. Then on with another example.
          if (isCompleted(route, reply, at >= calls)) {
            ;[example, before] = [await getExample(route, tenant), await digest()]
            continue
          }
          failed++
          expect([fault, at, faulty.plan.hasFired]).toEqual([fault, at, true])
          expectDocumented(route, reply, fault)
          // An answer that tells of the failure is an answer: its event is recorded.
          if (reportsFailure(route, reply)) before = await digest()
          if (route.method !== 'GET') expect([fault, at, await digest()]).toEqual([fault, at, before])
        }
      }
      if (!mayAnswerFromCache(route))
        expect(failed, 'places at which it failed').toBeGreaterThanOrEqual(places.length / 2)
      expect(await digest()).toEqual(before)
      // The same example, never used up by all these failures, and a process that is none the worse for them.
      expect((await send(route, example)).status).toBe(route.reply[0])
    },
  )
})

const SEARCHED = 4
/** Whether a dismissal is looked at again depends on the alert, and with it which call commits: it cannot be looked for in the next one. */
const variesByObject = ({ id }: Route): boolean => id === 'confirmAlertDismissal' || id === 'dismissAlert'

describe('a database call whose answer is lost', () => {
  const changing = sample(
    covered.filter((route) => route.access === 'tenant' && route.method !== 'GET' && !variesByObject(route)),
    SAMPLED_CHANGES,
    'lost answers',
  )

  /** How many changes were made though nobody heard of them: one or none, and a repetition settles it. */
  async function loseReply(
    route: Route,
    at: number,
    recorded: number,
    key: string | undefined,
  ): Promise<number | 'carried out'> {
    const example = await getExample(route, tenant)
    const [before, events] = [await digest(), await countEvents()]
    const reply = await send(route, example, 'unheard', at, key)
    if (!faulty.plan.hasFired || isCompleted(route, reply, true)) return 'carried out'
    expectDocumented(route, reply, 'unheard')
    const made = (await countEvents()) - events
    if (made === 0) expect([at, await digest()]).toEqual([at, before])
    else expect([at, made]).toEqual([at, recorded])
    if (key === undefined) return made
    const again = await send(route, example, undefined, 0, key)
    const happened = made > 0
    if (happened && route.secret) expect(again.json.code).toBe('idempotency_not_replayable')
    else expect([again.status, again.headers['idempotency-replayed'] === 'true']).toEqual([route.reply[0], happened])
    expect([at, (await countEvents()) - events]).toEqual([at, recorded])
    return made
  }

  test.for(changing)('$id makes the whole change with its events, or nothing', async (route) => {
    const newKey = () => (route.method === 'POST' ? uuidv7() : undefined)
    await measureCalls(route, newKey())
    const { calls, events: recorded } = await measureCalls(route, newKey())
    let changes = 0
    // Only what commits can have an effect nobody hears of: in a single transaction, its last call.
    const starts = route.tx === 'self' ? Array.from({ length: calls + 2 }, (_, index) => index + 1) : [calls]
    for (const start of starts) {
      // What a process caches makes it call once more or once less: the call that commits is then looked for.
      for (let at = start, tries = 0; tries < SEARCHED; tries++) {
        const made = await loseReply(route, at, recorded, newKey())
        if (typeof made === 'number') changes += made
        if (recorded === 0 || changes > 0 || route.tx === 'self') break
        at += made === 'carried out' ? -1 : 1
      }
    }
    // The call that commits the change was among them. Operations that only compute leave nothing.
    expect(changes > 0).toBe(recorded > 0)
  })
})

test('a tool call whose run fails stays approved, and approving it again runs it', async () => {
  const route = routes.find(runsApprovedCall) as Route
  const { calls } = await measureCalls(route)
  const states = new Set<string>()
  for (const fault of ['refused', 'lost', 'unheard'] as const) {
    for (let at = 1; at <= calls; at++) {
      const example = await getExample(route, tenant)
      const reply = await send(route, example, fault, at)
      const find = async () => {
        const { rows } = await superuser.query('select state, outcome from app.mcp_approval where approval_id = $1', [
          example.params?.['approval_id'],
        ])
        return rows[0]
      }
      if (reply.status !== 200) expectDocumented(route, reply, fault)
      const { state } = await find()
      states.add(state)
      expect([fault, at, reply.status !== 200, state]).toEqual([
        fault,
        at,
        state !== 'succeeded' || fault === 'unheard',
        state,
      ])
      if (state === 'succeeded') continue
      const again = await send(route, example)
      expect([fault, at, again.status, again.json.state]).toEqual([fault, at, 200, 'succeeded'])
      expect(await find()).toMatchObject({ state: 'succeeded', outcome: { items: expect.any(Array) } })
    }
  }
  expect([...states].sort()).toEqual(['approved', 'succeeded', 'waiting'])
})

test('the digest of a tenant changes with every insert, update and delete', async () => {
  const seen = new Set([JSON.stringify(await digest())])
  const user_id = uuidv7()
  for (const text of [
    `insert into app.user_account (tenant_id, user_id, issuer, subject, name, origin, state, created_by)
     values ('${tenant.tenant_id}', '${user_id}', 'test', '${user_id}', 'Ada', 'built_in', 'invited', 'user:test')`,
    `update app.user_account set name = 'Eve' where user_id = '${user_id}'`,
    `update app.user_account set name = 'Ida' where user_id = '${user_id}'`,
    `delete from app.user_account where user_id = '${user_id}'`,
  ]) {
    await superuser.query(
      `begin; set local app.actor = 'user:test'; set local app.tenant_id = '${tenant.tenant_id}'; ${text}; commit`,
    )
    seen.add(JSON.stringify(await digest()))
  }
  // All but the last: what was taken back completely is what was there before.
  expect(seen.size).toBe(4)
})

test('many operations call the database several times', async () => {
  for (const route of routes.filter(({ id }) =>
    ['createUser', 'updateUserRoles', 'approveChangeRequest'].includes(id),
  )) {
    expect((await measureCalls(route)).calls).toBeGreaterThan(1)
  }
})
