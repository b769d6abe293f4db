/** Alerts: each match once, who claims and closes them, snoozing, comments and restrictions. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fullScope, requestScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { createAlertTeam, inDays, type Person, toReport } from '#test/support/alert-team.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { raiseAlert } from './index.ts'

let w: TestApp

beforeAll(async () => {
  w = await startTestApp({ pool_size: 12 })
})
afterAll(() => w.close())

const createTeam = () => createAlertTeam(w)

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
    // Back to the facts that were dismissed: one more occurrence, and the alert still says why it was opened.
    expect((await report('match 2', { entry: '7', band: 'high' })).json.outcome).toBe('joined')
    const kept = await read(changed.json.alert_id)
    expect([kept.occurrences, kept.changes]).toEqual([2, changed.json.changes])
    await report('match 2', { entry: '9', band: 'high' })
    expect((await read(changed.json.alert_id)).changes).toEqual([{ name: 'entry', before: '7', after: '9' }])
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
    expect(await history(alert_id)).toEqual(['released', 'claimed', 'released', 'claimed', 'opened'])
  })
})

describe('reassigned work', () => {
  test('is recorded in the history of its alert', async () => {
    const { analyst, officer, report, send, read, history, other } = await createTeam()
    const { alert_id } = (await report('handed over')).json
    expect((await send(analyst, 'POST /alerts/claim', {})).json.alert).toMatchObject({ alert_id })
    const items = [{ object_kind: 'alert', object_id: alert_id }]
    const body = { items, user_id: other.user_id, reason: 'Handed over' }
    expect((await send(officer, 'POST /work/reassign', body)).status).toBe(200)
    expect(await read(alert_id)).toMatchObject({ state: 'claimed', assignee: other.principal })
    expect(await history(alert_id)).toEqual(['assigned', 'claimed', 'opened'])
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
    // What was only prepared is for those who may impose it.
    const prepared = [`GET /alerts/${first.alert_id}`, 'GET /alerts'].map((path) => send(analyst, path))
    for (const { text } of await Promise.all(prepared))
      expect([text.includes(first.alert_id), text.includes(restriction_id)]).toEqual([true, false])
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

describe('a dismissal that waits for a second person', () => {
  const body = { reason_code: 'ALR_FALSE_MATCH' }

  test('is never offered to whoever proposed it, and is found by a filter', async () => {
    const { report, send, analyst, other, read, history } = await createTeam()
    const { alert_id } = (await report('proposal 1', {}, { priority: 'critical' })).json
    const claim = async (who: Person) => (await send(who, 'POST /alerts/claim', {})).json.alert?.alert_id ?? null
    expect(await claim(analyst)).toBe(alert_id)
    await send(analyst, `POST /alerts/${alert_id}/snooze`, { until: inDays(0.5) })
    await send(analyst, `POST /alerts/${alert_id}/dismiss`, body)
    expect((await history(alert_id))[0]).toBe('dismissal_proposed')
    const lists = (who: Person, dismissal: string) =>
      send(who, `GET /alerts?dismissal=${dismissal}`).then(({ json }) => json.items.length)
    expect([await lists(analyst, 'proposed'), await lists(analyst, 'waiting_for_me')]).toEqual([1, 0])
    expect(await lists(other, 'waiting_for_me')).toBe(1)
    expect(await claim(analyst)).toBeNull()
    const own = await send(other, `POST /alerts/${alert_id}/assign`, { user_id: analyst.user_id })
    expect(own.json.code).toBe('transition_not_allowed')
    expect(await claim(other)).toBe(alert_id)
    expect((await read(alert_id)).dismissal.state).toBe('proposed')
  })

  test('is needed for the highest priority that an alert ever had', async () => {
    const { report, send, analyst, read } = await createTeam()
    const { alert_id } = (await report('proposal 2', {}, { priority: 'critical' })).json
    expect((await send(analyst, `PATCH /alerts/${alert_id}`, { priority: 'low' })).status).toBe(200)
    expect((await send(analyst, `POST /alerts/${alert_id}/dismiss`, body)).json.dismissal.state).toBe('proposed')
    expect(await read(alert_id)).toMatchObject({ priority: 'low', highest_priority: 'critical', state: 'new' })
  })
})

describe('a report with the key of an open alert', () => {
  test('raises its priority, with the queue and the clock of that', async () => {
    const { report, read, send, analyst } = await createTeam()
    const { alert_id } = (await report('priority 1', { entry: '7' }, { priority: 'low' })).json
    const before = await read(alert_id)
    await send(analyst, `POST /alerts/${alert_id}/snooze`, { until: inDays(1) })
    await report('priority 1', { entry: '7' }, { priority: 'critical' })
    const after = await read(alert_id)
    expect(after).toMatchObject({ priority: 'critical', queue_key: 'urgent', state: 'new', occurrences: 2 })
    expect(Date.parse(after.clock.due_at)).toBeLessThan(Date.parse(before.clock.due_at))
    await send(analyst, 'POST /alerts/claim', {})
    // That of the queue is left.
    expect(Date.parse((await read(alert_id)).clock.due_at)).toBeGreaterThan(Date.parse(after.clock.due_at))
  })

  test('is refused from another source, and does not tell a service what people wrote', async () => {
    const { t, report } = await createTeam()
    await report('source 1', { opinion: 'what an analyst thinks' })
    const service = await w.token({ tenant_id: t.tenant_id, roles: ['service'] })
    const send = (source: string) =>
      w.call('POST /alerts', {
        token: service,
        body: {
          source,
          dedup_key: 'source 1',
          title: 'Again',
          priority: 'low',
          facts: [{ name: 'opinion', value: 'x' }],
        },
      })
    expect((await send('other-feed')).json.code).toBe('conflict')
    const joined = await send('feed')
    expect([joined.json.outcome, joined.json.changes]).toEqual(['joined', null])
  })
})

test('a snooze is as short as the highest priority that an alert ever had asks for', async () => {
  const { report, send, analyst, read, history } = await createTeam()
  const { alert_id } = (await report('long snooze 1', {}, { priority: 'critical' })).json
  await send(analyst, `PATCH /alerts/${alert_id}`, { priority: 'low' })
  const snoozed = await send(analyst, `POST /alerts/${alert_id}/snooze`, { until: inDays(29) })
  expect([snoozed.json.code, snoozed.json.detail]).toEqual(['conflict', expect.stringContaining('at most 1 day')])
  expect((await send(analyst, `POST /alerts/${alert_id}/snooze`, { until: inDays(0.5) })).json.state).toBe('snoozed')
  // Nor is it put off first and made urgent then.
  const later = (await report('long snooze 2', {}, { priority: 'low' })).json.alert_id
  await send(analyst, `POST /alerts/${later}/snooze`, { until: inDays(29) })
  await send(analyst, `PATCH /alerts/${later}`, { priority: 'critical' })
  expect(await read(later)).toMatchObject({ state: 'new', priority: 'critical', snoozed_until: null })
  expect((await history(later))[0]).toBe('woken')
})

test('a snooze is ended before its time', async () => {
  const { report, send, analyst, history } = await createTeam()
  const { alert_id } = (await report('wake 1')).json
  expect((await send(analyst, `POST /alerts/${alert_id}/wake`, {})).json.code).toBe('transition_not_allowed')
  await send(analyst, `POST /alerts/${alert_id}/snooze`, { until: inDays(1) })
  const woken = await send(analyst, `POST /alerts/${alert_id}/wake`, {})
  expect([woken.json.state, woken.json.snoozed_until]).toEqual(['new', null])
  expect((await history(alert_id))[0]).toBe('woken')
})

test('many alerts are reassigned at once, with the reason in the history of each', async () => {
  const { t, raiseMany, send, analyst, officer, other, read } = await createTeam()
  const alert_ids = await raiseMany('handed over', 3)
  const items = alert_ids.map((object_id) => ({ object_kind: 'alert', object_id }))
  const people = (await send(other, 'GET /work/people')).json.items
  expect(people).toContainEqual({ user_id: other.user_id, name: expect.any(String), is_away: false })
  const auditor = await w.person(t.tenant_id, ['auditor'])
  const taken = await send(other, `POST /alerts/${alert_ids[0]}/assign`, { user_id: other.user_id })
  expect(taken.status).toBe(200)
  const robbed = await send(analyst, `POST /alerts/${alert_ids[0]}/assign`, { user_id: analyst.user_id })
  expect(robbed.json.code).toBe('transition_not_allowed')
  const refused = await send(officer, 'POST /work/reassign', { items, user_id: auditor.user_id, reason: 'Ill' })
  expect(refused.json.detail).toBe('The person has none of the roles analyst, compliance_officer.')
  const reply = await send(officer, 'POST /work/reassign', {
    items,
    user_id: other.user_id,
    reason: 'Ms Sample is ill',
  })
  expect(reply.status).toBe(200)
  for (const alert_id of alert_ids) {
    expect((await read(alert_id)).assignee).toBe(`user:${other.user_id}`)
    const { json } = await send(officer, `GET /alerts/${alert_id}/history`)
    expect(json.items[0]).toMatchObject({ event: 'assigned', note: 'Ms Sample is ill' })
  }
  const recorded = await t.write((tx) =>
    tx.query<{ detail: string; restriction_id: string | null }>(
      `select detail::text, restriction_id from app.audit_event where tenant_id = $1 and operation = 'reassignWork'`,
      [tx.tenant_id],
    ),
  )
  expect(recorded.filter(({ detail }) => detail.includes('Sample'))).toEqual([])
  expect(new Set(recorded.map(({ restriction_id }) => restriction_id)).size).toBe(4)
})
