/** Alerts: each match once, who closes them and how, second looks, suppressions, snoozing and bulk acts. */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope, requestScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { projectRoot } from '#test/support/database.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { type AlertReport, raiseAlert } from './index.ts'

let w: TestApp
type Person = Awaited<ReturnType<TestApp['person']>>

beforeAll(async () => {
  w = await startTestApp({ pool_size: 12 })
})
afterAll(() => w.close())

const DAY_MS = 86_400_000
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()

async function createTeam() {
  const t = await ExampleTenant.create(w)
  const [analyst, other, officer, second] = (await Promise.all([
    w.person(t.tenant_id, ['analyst']),
    w.person(t.tenant_id, ['analyst']),
    w.person(t.tenant_id, ['compliance_officer', 'auditor']),
    w.person(t.tenant_id, ['compliance_officer']),
  ])) as [Person, Person, Person, Person]
  const send = (who: Person, at: string, body?: unknown) =>
    w.call(at, { token: who.token, ...(body === undefined ? {} : { body }) })
  const report = (dedup_key: string, facts: Record<string, string> = {}, more: object = {}) =>
    send(analyst, 'POST /alerts', {
      source: 'feed',
      dedup_key,
      title: 'A listed name',
      priority: 'medium',
      facts: Object.entries(facts).map(([name, value]) => ({ name, value })),
      ...more,
    })
  const read = async (alert_id: string) => (await send(officer, `GET /alerts/${alert_id}`)).json
  const history = async (alert_id: string): Promise<string[]> =>
    (await send(officer, `GET /alerts/${alert_id}/history`)).json.items.map(({ event }: { event: string }) => event)
  /** In one transaction. */
  const raiseMany = (name: string, count: number) =>
    t.write(async (tx) => {
      const alert_ids: string[] = []
      for (let index = 0; index < count; index++)
        alert_ids.push((await raiseAlert(w.kernel, tx, toReport(`${name} ${index}`))).alert_id as string)
      return alert_ids
    })
  return { t, analyst, other, officer, second, send, report, read, history, raiseMany }
}

const toReport = (dedup_key: string, facts: AlertReport['facts'] = {}): AlertReport => ({
  source: 'feed',
  dedup_key,
  title: 'A listed name',
  facts,
  explanation: { sentence: 'A listed name', fields: [], references: [] },
  priority: 'medium',
})

describe('reports', () => {
  test('forty of one match from four processes are one alert with forty occurrences', async () => {
    const { t } = await createTeam()
    const options = { connection: w.clone.app, max: 5, prepared: true, statement_timeout_ms: 60_000, wait_ms: 60_000 }
    const processes = [1, 2, 3, 4].map(() => new Database(options))
    const scope = fullScope(t.tenant_id, 'operator:test')
    const raised = await Promise.all(
      processes.flatMap((database) =>
        Array.from({ length: 10 }, () =>
          database.write(scope, (tx) => raiseAlert(w.kernel, tx, toReport('match 1', { entry: '7' }))),
        ),
      ),
    )
    await Promise.all(processes.map((database) => database.end()))
    expect(raised.filter(({ outcome }) => outcome === 'opened')).toHaveLength(1)
    expect(new Set(raised.map(({ alert_id }) => alert_id)).size).toBe(1)
    const rows = await t.write((tx) =>
      tx.query(
        `select a.occurrences, (select count(*) from app.alert_occurrence o where o.tenant_id = a.tenant_id and o.alert_id = a.alert_id) as stored,
                (select count(*) from app.restriction r where r.tenant_id = a.tenant_id) as restrictions
           from app.alert a where a.tenant_id = $1`,
        [tx.tenant_id],
      ),
    )
    expect(rows).toEqual([{ occurrences: 40, stored: 40, restrictions: 1 }])
  })

  test('after a dismissal, count the same facts and open an alert for others, saying what changed', async () => {
    const { report, send, analyst, read } = await createTeam()
    const first = await report('match 2', { entry: '7', band: 'high' })
    expect([first.status, first.json.outcome]).toEqual([201, 'opened'])
    expect(first.headers['location']).toBe(`/api/alerts/${first.json.alert_id}`)
    const joined = await report('match 2', { entry: '7', band: 'high' })
    expect([joined.status, joined.json.outcome, joined.json.occurrences]).toEqual([200, 'joined', 2])
    const body = { reason_code: 'ALR_FALSE_MATCH' }
    expect((await send(analyst, `POST /alerts/${first.json.alert_id}/dismiss`, body)).json.state).toBe('dismissed')
    const counted = await report('match 2', { band: 'high', entry: '7' })
    expect([counted.status, counted.json.outcome, counted.json.occurrences]).toEqual([200, 'counted', 3])
    const changed = await report('match 2', { entry: '8', band: 'high', country: 'XX' })
    expect([changed.status, changed.json.outcome]).toEqual([201, 'opened'])
    expect(changed.json.changes).toEqual([
      { name: 'country', before: null, after: 'XX' },
      { name: 'entry', before: '7', after: '8' },
    ])
    expect(await read(changed.json.alert_id)).toMatchObject({
      previous_alert_id: first.json.alert_id,
      changes: changed.json.changes,
      occurrences: 1,
    })
    // Back to the first facts: they differ from the open alert, which takes them.
    expect((await report('match 2', { entry: '7', band: 'high' })).json.outcome).toBe('joined')
  })

  test('with other facts wake a snoozed alert, raise its priority and return a proposed dismissal', async () => {
    const { report, send, analyst, read, history } = await createTeam()
    const { alert_id } = (await report('match 3', { entry: '7' })).json
    await send(analyst, `POST /alerts/${alert_id}/snooze`, { until: inDays(3) })
    expect((await read(alert_id)).state).toBe('snoozed')
    await report('match 3', { entry: '7' })
    expect((await read(alert_id)).state).toBe('snoozed')
    await report('match 3', { entry: '9' }, { priority: 'critical' })
    expect(await read(alert_id)).toMatchObject({
      state: 'new',
      priority: 'critical',
      occurrences: 3,
      queue_key: 'urgent',
    })
    await send(analyst, `POST /alerts/${alert_id}/dismiss`, { reason_code: 'ALR_FALSE_MATCH' })
    expect((await read(alert_id)).dismissal).toMatchObject({ state: 'proposed' })
    await report('match 3', { entry: '10' })
    expect((await read(alert_id)).dismissal).toBeNull()
    expect(await history(alert_id)).toEqual([
      'facts_changed',
      'dismissal_proposed',
      'facts_changed',
      'snoozed',
      'opened',
    ])
  })

  test('that meet a dismissal in progress wait for it and are counted', async () => {
    const { t, report } = await createTeam()
    const { alert_id } = (await report('match 4', { entry: '7' })).json
    const scope = fullScope(t.tenant_id, 'user:somebody')
    let raised: Promise<{ outcome: string }> | undefined
    await w.runtime.database.write(scope, async (tx) => {
      await tx.run(
        `update app.alert set state = 'dismissed', reason_code = 'X', dismissed_by = 'user:x', dismissed_at = now(), revision = revision + 1
          where tenant_id = $1 and alert_id = $2`,
        [tx.tenant_id, alert_id],
      )
      raised = w.runtime.database.write(scope, (other) =>
        raiseAlert(w.kernel, other, toReport('match 4', { entry: '7' })),
      )
      // It waits for this transaction, which PostgreSQL says before it ends.
      await expect
        .poll(() =>
          tx.query(`select 1 from pg_locks where not granted and locktype in ('tuple', 'transactionid') limit 1`),
        )
        .toHaveLength(1)
    })
    expect((await raised)?.outcome).toBe('counted')
  })

  test('refuse a fact that is named twice and a subject that does not exist', async () => {
    const { report } = await createTeam()
    const facts = [
      { name: 'entry', value: '1' },
      { name: 'entry', value: '2' },
    ]
    expect((await report('x', {}, { facts })).json.code).toBe('conflict')
    expect((await report('x', {}, { subject_id: uuidv7() })).json.code).toBe('conflict')
  })
})

describe('claiming', () => {
  test('a hundred at once gives each alert to one person', async () => {
    const { t, raiseMany } = await createTeam()
    await raiseMany('claim', 30)
    const people = await Promise.all(Array.from({ length: 20 }, () => w.person(t.tenant_id, ['analyst'])))
    const claims = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        w.call('POST /alerts/claim', { token: (people[index % 20] as Person).token, body: {} }),
      ),
    )
    expect(claims.map(({ status }) => status).filter((status) => status !== 200)).toEqual([])
    const taken = claims.flatMap(({ json }) => (json.alert ? [json.alert.alert_id as string] : []))
    expect(taken).toHaveLength(30)
    expect(new Set(taken).size).toBe(30)
    expect(claims.find(({ json }) => json.alert)?.json.alert).toMatchObject({ state: 'claimed', queue_key: 'alerts' })
  })

  test('ends the clock until the first action; deactivating the person returns the alert', async () => {
    const { t, analyst, report, send, read, history, other } = await createTeam()
    const { alert_id } = (await report('claimed')).json
    const claimed = (await send(analyst, 'POST /alerts/claim', {})).json.alert
    expect(claimed).toMatchObject({ alert_id, assignee: analyst.principal, state: 'claimed' })
    const clocks = (await send(analyst, 'GET /work/clocks')).json.items
    const states = Object.fromEntries(
      clocks.map((clock: { clock_key: string; state: string }) => [clock.clock_key, clock.state]),
    )
    expect(states).toEqual({ 'first-action': 'met', target: 'running' })
    expect((await send(other, `POST /alerts/${alert_id}/release`, {})).json.code).toBe('transition_not_allowed')
    await t.write((tx) =>
      tx.run(`update app.user_account set state = 'inactive' where tenant_id = $1 and user_id = $2`, [
        tx.tenant_id,
        analyst.user_id,
      ]),
    )
    expect(await read(alert_id)).toMatchObject({ state: 'new', assignee: null })
    const again = (await send(other, 'POST /alerts/claim', {})).json.alert
    expect(again).toMatchObject({ alert_id, assignee: other.principal })
    expect((await send(other, `POST /alerts/${alert_id}/release`, { note: 'Wrong team' })).json.state).toBe('new')
    expect(await history(alert_id)).toEqual(['released', 'claimed', 'claimed', 'opened'])
  })
})

describe('dismissing', () => {
  test('needs a known reason, and from a priority on a second person', async () => {
    const { report, send, analyst, officer, read } = await createTeam()
    const { alert_id } = (await report('dismiss 1', {}, { priority: 'high' })).json
    const dismiss = (reason_code: string) => send(analyst, `POST /alerts/${alert_id}/dismiss`, { reason_code })
    expect((await dismiss('RAT_PEP')).json.code).toBe('conflict')
    expect((await dismiss('ALR_UNHEARD_OF')).json.code).toBe('conflict')
    const proposed = (await dismiss('ALR_FALSE_MATCH')).json
    expect(proposed).toMatchObject({ state: 'new', dismissal: { state: 'proposed', needs_second_person: true } })
    expect((await dismiss('ALR_FALSE_MATCH')).json.code).toBe('transition_not_allowed')
    const confirm = (who: Person) => send(who, `POST /alerts/${alert_id}/confirm-dismissal`, {})
    expect((await confirm(analyst)).json.code).toBe('approval_own_request')
    expect((await confirm(officer)).json).toMatchObject({
      state: 'dismissed',
      dismissal: { state: 'done', proposed_by: analyst.principal, dismissed_by: officer.principal },
    })
    expect((await read(alert_id)).state).toBe('dismissed')
  })

  test('by one person twice is refused by the database itself', async () => {
    const { t, report, send, analyst } = await createTeam()
    const { alert_id } = (await report('dismiss 2', {}, { priority: 'high' })).json
    await send(analyst, `POST /alerts/${alert_id}/dismiss`, { reason_code: 'ALR_FALSE_MATCH' })
    const closeBy = (person: string) =>
      t.write((tx) =>
        tx.run(
          `update app.alert set state = 'dismissed', dismissed_by = $3, dismissed_at = now(), revision = revision + 1
            where tenant_id = $1 and alert_id = $2`,
          [tx.tenant_id, alert_id, person],
        ),
      )
    await expect(closeBy(analyst.principal)).rejects.toMatchObject({ code: 'approval_own_request' })
    expect(await closeBy('user:another')).toBe(1)
  })
})

test('the database refuses what breaks the life of an alert', async () => {
  const { t, report, send, analyst } = await createTeam()
  const { alert_id } = (await report('states')).json
  await send(analyst, `POST /alerts/${alert_id}/escalate`, { note: 'Payments to the listed party' })
  const change = (set: string) =>
    t.write((tx) =>
      tx.run(`update app.alert set ${set} where tenant_id = $1 and alert_id = $2`, [tx.tenant_id, alert_id]),
    )
  const refused = { code: expect.stringMatching(/PB002|internal/) }
  await expect(
    change(`state = 'new', escalated_at = null, escalated_by = null, revision = revision + 1`),
  ).rejects.toMatchObject(refused)
  await expect(change(`occurrences = 0`)).rejects.toThrow()
  await expect(change(`dedup_key = 'other'`)).rejects.toMatchObject(refused)
  await expect(change(`dedup_scope = restriction_id, source = 'x'`)).rejects.toMatchObject(refused)
  await expect(change(`priority = 'low', revision = revision + 1`)).rejects.toMatchObject(refused)
  await expect(
    t.write((tx) => tx.run('delete from app.alert_history where tenant_id = $1', [tx.tenant_id])),
  ).rejects.toThrow()
  await expect(t.write((tx) => tx.run('delete from app.alert where tenant_id = $1', [tx.tenant_id]))).rejects.toThrow()
})

describe('second looks', () => {
  test('are chosen by a hash that anybody can compute again', async () => {
    const { raiseMany, send, analyst, officer } = await createTeam()
    const alert_ids = await raiseMany('sample', 60)
    const done = await send(analyst, 'POST /alerts/bulk', { alert_ids, action: 'dismiss', reason_code: 'ALR_TEST' })
    expect(done.json.done).toBe(60)
    const { items } = (await send(officer, 'GET /alerts/second-looks?limit=200')).json
    const [version] = JSON.parse(fs.readFileSync(`${projectRoot}/db/seed/lists/quality-samples.json`, 'utf8')).versions
    const { rate_bps, seed } = version.entries.find(({ priority }: { priority: string }) => priority === '*')
    const expected = alert_ids.filter(
      (alert_id) => createHash('sha256').update(`${seed}:${alert_id}`).digest().readUInt32BE(0) % 10_000 < rate_bps,
    )
    expect(items.map(({ alert_id }: { alert_id: string }) => alert_id).toSorted()).toEqual(expected.toSorted())
    for (const { sample } of items) expect(sample).toMatchObject({ version: 1, seed, rate_bps })
  })

  test('are decided by somebody else, give the rate of agreement, and open a wrongly dismissed alert', async () => {
    const { report, send, officer, second, analyst, read, history } = await createTeam()
    const looks: { look_id: string; alert_id: string }[] = []
    // Enough of the critical ones, of which every second is chosen.
    for (let index = 0; looks.length < 2; index++) {
      const { alert_id } = (await report(`look ${index}`, {}, { priority: 'critical' })).json
      await send(analyst, `POST /alerts/${alert_id}/dismiss`, { reason_code: 'ALR_FALSE_MATCH' })
      await send(officer, `POST /alerts/${alert_id}/confirm-dismissal`, {})
      const { items } = (await send(officer, 'GET /alerts/second-looks')).json
      looks.splice(0, looks.length, ...items)
    }
    const [wrong, right] = looks as [(typeof looks)[0], (typeof looks)[0]]
    const decide = (who: Person, look_id: string, agrees: boolean) =>
      send(who, `POST /alerts/second-looks/${look_id}/decide`, { agrees, note: 'Looked again' })
    expect((await decide(officer, wrong.look_id, false)).json.code).toBe('approval_own_request')
    expect((await decide(second, wrong.look_id, false)).json.state).toBe('disagreed')
    expect((await decide(second, right.look_id, true)).json.state).toBe('agreed')
    expect((await decide(second, right.look_id, true)).json.code).toBe('transition_not_allowed')
    expect(await read(wrong.alert_id)).toMatchObject({ state: 'new', dismissal: null })
    expect((await history(wrong.alert_id))[0]).toBe('reopened')
    expect((await send(officer, 'GET /alerts/second-looks/agreement')).json).toMatchObject({
      agreed: 1,
      disagreed: 1,
      agreement_bps: 5000,
    })
    expect((await report('look', {})).status).toBe(201)
  })
})

describe('suppressions', () => {
  test('count reports on themselves from their confirmation to their end, up to a priority', async () => {
    const { report, send, officer, second } = await createTeam()
    const body = {
      source: 'feed',
      dedup_key: 'noise',
      up_to_priority: 'medium',
      reason_code: 'ALR_DATA_FAULT',
      reason: 'The feed repeats old payments',
      expires_at: inDays(20),
    }
    expect((await send(officer, 'POST /alerts/suppressions', { ...body, expires_at: inDays(200) })).json.code).toBe(
      'conflict',
    )
    const { suppression_id } = (await send(officer, 'POST /alerts/suppressions', body)).json
    const confirm = (who: Person) => send(who, `POST /alerts/suppressions/${suppression_id}/confirm`)
    expect((await confirm(officer)).json.code).toBe('approval_own_request')
    expect((await confirm(second)).json.state).toBe('active')
    const suppressed = await report('noise')
    expect([suppressed.status, suppressed.json.outcome, suppressed.json.suppression_id]).toEqual([
      200,
      'suppressed',
      suppression_id,
    ])
    expect((await report('noise')).json.occurrences).toBe(2)
    expect((await report('other noise')).json.outcome).toBe('opened')
    expect((await report('noise', {}, { priority: 'high' })).json.outcome).toBe('opened')
    await send(officer, `POST /alerts/suppressions/${suppression_id}/end`, { reason: 'Repaired' })
    expect((await report('noise')).json.outcome).toBe('joined')
    const [shown] = (await send(officer, 'GET /alerts/suppressions')).json.items
    expect(shown).toMatchObject({ state: 'ended', occurrences: 2 })
  })

  test('by one person are refused by the database itself', async () => {
    const { t } = await createTeam()
    const insert = t.write((tx) =>
      tx.run(
        `insert into app.alert_suppression (tenant_id, suppression_id, source, dedup_key, up_to_priority, reason_code, reason, state, expires_at,
           proposed_by, confirmed_by, confirmed_at)
         values ($1, $2, 'feed', 'x', 'low', 'X', 'x', 'active', now() + interval '1 day', 'user:a', 'user:a', now())`,
        [tx.tenant_id, uuidv7()],
      ),
    )
    await expect(insert).rejects.toMatchObject({ code: 'approval_own_request' })
  })
})

test('a snoozed alert wakes when its time has come, and its clocks stand still until then', async () => {
  const { t, report, send, analyst, read, history } = await createTeam()
  const { alert_id } = (await report('snooze', {}, { priority: 'critical' })).json
  expect((await send(analyst, `POST /alerts/${alert_id}/snooze`, { until: inDays(2) })).json.code).toBe('conflict')
  expect((await send(analyst, `POST /alerts/${alert_id}/snooze`, { until: inDays(0.5) })).json.state).toBe('snoozed')
  const clocks = async () =>
    new Set((await send(analyst, 'GET /work/clocks')).json.items.map(({ state }: { state: string }) => state))
  expect(await clocks()).toEqual(new Set(['paused']))
  const wake = () => Promise.all(w.runtime.createScanners().map((scanner) => scanner.runOnce()))
  await wake()
  expect((await read(alert_id)).state).toBe('snoozed')
  await t.write((tx) =>
    tx.run(
      `update app.alert set snoozed_until = now() - interval '1 second', revision = revision + 1 where tenant_id = $1 and alert_id = $2`,
      [tx.tenant_id, alert_id],
    ),
  )
  await wake()
  expect(await read(alert_id)).toMatchObject({ state: 'new', snoozed_until: null })
  expect(await clocks()).toEqual(new Set(['running']))
  expect((await history(alert_id))[0]).toBe('woken')
})

describe('bulk', () => {
  test('does or refuses each alert for itself and says which rule is broken', async () => {
    const { report, send, analyst, other, read } = await createTeam()
    const [low, high, done] = await Promise.all([
      report('bulk 1', {}, { priority: 'low' }),
      report('bulk 2', {}, { priority: 'high' }),
      report('bulk 3'),
    ])
    await send(analyst, `POST /alerts/${done.json.alert_id}/escalate`, { note: 'Needs an investigation' })
    const missing = uuidv7()
    const alert_ids = [low.json.alert_id, high.json.alert_id, done.json.alert_id, missing]
    const body = { alert_ids, action: 'dismiss', reason_code: 'ALR_TEST' }
    const tried = (await send(other, 'POST /alerts/bulk', { ...body, dry_run: true })).json
    expect([tried.done, tried.refused]).toEqual([2, 2])
    expect((await read(low.json.alert_id)).state).toBe('new')
    const { json, status } = await send(other, 'POST /alerts/bulk', body)
    expect([status, json.done, json.refused]).toEqual([200, 2, 2])
    const of = (alert_id: string) => json.items.find((item: { alert_id: string }) => item.alert_id === alert_id)
    expect(of(low.json.alert_id)).toMatchObject({ done: true, state: 'dismissed' })
    // Proposed: a second person confirms it.
    expect(of(high.json.alert_id)).toMatchObject({ done: true, state: 'new' })
    expect(of(done.json.alert_id)).toMatchObject({ code: 'transition_not_allowed', detail: 'The alert is escalated.' })
    expect(of(missing)).toMatchObject({ code: 'not_found' })
    expect((await send(other, 'POST /alerts/bulk', { alert_ids, action: 'snooze' })).json.code).toBe('conflict')
  })

  test('above 200 is done by a job, which lists what was refused', async () => {
    const { t, report, send, analyst, read } = await createTeam()
    const { alert_id } = (await report('bulk job')).json
    const alert_ids = [alert_id, ...Array.from({ length: 200 }, () => uuidv7())]
    const { status, json, headers } = await send(analyst, 'POST /alerts/bulk', {
      alert_ids,
      action: 'escalate',
      note: 'Same payer in all of them',
    })
    expect([status, headers['location']]).toEqual([202, `/api/jobs/${json.job_id}`])
    const ended = await t.runToEnd({ job_id: json.job_id, state: 'queued' })
    expect(ended).toMatchObject({ state: 'succeeded', result: { done: 1, refused: 200 } })
    expect(await read(alert_id)).toMatchObject({ state: 'escalated', escalated_by: analyst.principal })
  })
})

test('comments and notes are in the history, and no key works on alerts', async () => {
  const { t, report, send, analyst, officer } = await createTeam()
  const { alert_id } = (await report('comments')).json
  await send(analyst, `POST /alerts/${alert_id}/comments`, { text: 'Asked the branch' })
  await send(analyst, `PATCH /alerts/${alert_id}`, { priority: 'high', note: 'Large amount', expected_revision: 1 })
  const stale = await send(analyst, `PATCH /alerts/${alert_id}`, { priority: 'low', expected_revision: 1 })
  expect(stale.json.code).toBe('revision_stale')
  const { items } = (await send(officer, `GET /alerts/${alert_id}/history`)).json
  expect(items.map(({ event, note }: { event: string; note: string | null }) => [event, note])).toEqual([
    ['priority_changed', 'Large amount'],
    ['commented', 'Asked the branch'],
    ['opened', null],
  ])
  const token = await w.token({ tenant_id: t.tenant_id, roles: ['analyst'], principal: `key:${uuidv7()}` })
  const keyed = await w.call(`POST /alerts/${alert_id}/dismiss`, { token, body: { reason_code: 'ALR_TEST' } })
  expect(keyed.json.code).toBe('person_required')
})

describe('a restricted alert', () => {
  test('is not met by reports of people without access, before or after it was restricted', async () => {
    const { t, report, send, officer, analyst, read } = await createTeam()
    const first = (await report('secret', { entry: '7' })).json
    const { restriction_id } = await read(first.alert_id)
    expect((await send(officer, `POST /restrictions/${restriction_id}/impose`)).status).toBe(200)
    expect((await send(analyst, `GET /alerts/${first.alert_id}`)).status).toBe(404)
    const again = await report('secret', { entry: '7' })
    expect([again.status, again.json.outcome, again.json.occurrences]).toEqual([201, 'opened', 1])
    expect(again.json).toMatchObject({ previous_alert_id: null, changes: null })
    // Nor does it show through a closed one: facts other than those of the hidden alert.
    await send(analyst, `POST /alerts/${again.json.alert_id}/dismiss`, { reason_code: 'ALR_TEST' })
    expect((await report('secret', { entry: '7' })).json.outcome).toBe('counted')
    const scope = requestScope({ tenant_id: t.tenant_id, principal: analyst.principal })
    const raised = await w.runtime.database.write(scope, (tx) =>
      raiseAlert(w.kernel, tx, toReport('secret', { entry: '8' })),
    )
    expect(raised).toMatchObject({ outcome: 'opened', previous_alert_id: again.json.alert_id })
    // Who has access reports into the restriction, and joins.
    const joined = await send(officer, 'GET /alerts?state=open')
    expect(joined.json.items.map(({ alert_id }: { alert_id: string }) => alert_id)).toContain(first.alert_id)
    const lifted = await send(officer, `POST /restrictions/${restriction_id}/lift`, { reason: 'Not confirmed' })
    expect(lifted.status).toBe(200)
    expect((await report('secret', { entry: '8' })).json.alert_id).toBe(raised.alert_id)
  })

  test('leaves no trace in an alert that followed it', async () => {
    const { report, send, officer, analyst, read } = await createTeam()
    const first = (await report('followed', { entry: '7' })).json
    await send(analyst, `POST /alerts/${first.alert_id}/dismiss`, { reason_code: 'ALR_TEST' })
    const second = (await report('followed', { entry: '8' })).json
    expect(second.previous_alert_id).toBe(first.alert_id)
    const { restriction_id } = await read(first.alert_id)
    await send(officer, `POST /restrictions/${restriction_id}/impose`)
    const seen = (await send(analyst, `GET /alerts/${second.alert_id}`)).json
    expect([seen.previous_alert_id, seen.changes]).toEqual([null, null])
    expect(await read(second.alert_id)).toMatchObject({ previous_alert_id: first.alert_id })
  })

  test('is not assigned to somebody without access, nor changed in bulk', async () => {
    const { report, send, officer, analyst, read } = await createTeam()
    const { alert_id } = (await report('alone')).json
    const { restriction_id } = await read(alert_id)
    await send(officer, `POST /restrictions/${restriction_id}/impose`)
    const assigned = await send(officer, `POST /alerts/${alert_id}/assign`, { user_id: analyst.user_id })
    expect(assigned.json.code).toBe('transition_not_allowed')
    const { json } = await send(officer, 'POST /alerts/bulk', {
      alert_ids: [alert_id],
      action: 'prioritise',
      priority: 'low',
    })
    expect(json.items[0]).toMatchObject({ done: false, code: 'conflict' })
    const hidden = await send(analyst, 'POST /alerts/bulk', {
      alert_ids: [alert_id],
      action: 'prioritise',
      priority: 'low',
    })
    expect(hidden.json.items[0]).toMatchObject({ done: false, code: 'not_found' })
    expect((await send(analyst, 'POST /alerts/claim', {})).json.alert).toBeNull()
  })
})
