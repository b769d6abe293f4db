/** What concerns more than one alert: second looks, suppressions and bulk acts. */
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { createAlertTeam, inDays, type Person, toReport } from '#test/support/alert-team.ts'
import { projectRoot } from '#test/support/database.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { raiseAlert } from './index.ts'

let w: TestApp

beforeAll(async () => {
  w = await startTestApp({ pool_size: 12 })
})
afterAll(() => w.close())

const createTeam = () => createAlertTeam(w)

function readSample(of: string): { rate_bps: number; seed: string } {
  const [version] = JSON.parse(fs.readFileSync(`${projectRoot}/db/seed/lists/quality-samples.json`, 'utf8')).versions
  return version.entries.find(({ priority }: { priority: string }) => priority === of)
}
const computeBucket = (seed: string, alert_id: string): number =>
  createHash('sha256').update(`${seed}:${alert_id}`).digest().readUInt32BE(0) % 10_000

describe('second looks', () => {
  test('are chosen by a hash that anybody can compute again', async () => {
    const { raiseMany, send, analyst, officer } = await createTeam()
    const alert_ids = await raiseMany('sample', 60)
    const done = await send(analyst, 'POST /alerts/bulk', { alert_ids, action: 'dismiss', reason_code: 'ALR_TEST' })
    expect(done.json.done).toBe(60)
    const { items } = (await send(officer, 'GET /alerts/second-looks?limit=200')).json
    const { rate_bps, seed } = readSample('*')
    const expected = alert_ids.filter((alert_id) => computeBucket(seed, alert_id) < rate_bps)
    expect(items.map(({ alert_id }: { alert_id: string }) => alert_id).toSorted()).toEqual(expected.toSorted())
    for (const { sample } of items) expect(sample).toMatchObject({ version: 1, seed, rate_bps })
  })

  test('are chosen by the highest priority that an alert ever had', async () => {
    const { t, send, analyst, officer } = await createTeam()
    const alert_ids = await t.write(async (tx) => {
      const made: string[] = []
      for (let index = 0; index < 40; index++) {
        const report = { ...toReport(`lowered ${index}`), priority: 'critical' } as const
        made.push((await raiseAlert(w.kernel, tx, report)).alert_id as string)
      }
      return made
    })
    const act = async (who: Person, body: object) =>
      (await send(who, 'POST /alerts/bulk', { alert_ids, ...body })).json.done
    expect(await act(analyst, { action: 'prioritise', priority: 'low' })).toBe(40)
    expect(await act(analyst, { action: 'dismiss', reason_code: 'ALR_TEST' })).toBe(40)
    expect(await act(officer, { action: 'confirm_dismissal' })).toBe(40)
    const { items } = (await send(officer, 'GET /alerts/second-looks?limit=200')).json
    const { rate_bps, seed } = readSample('critical')
    const expected = alert_ids.filter((alert_id) => computeBucket(seed, alert_id) < rate_bps)
    expect(items.map(({ alert_id }: { alert_id: string }) => alert_id).toSorted()).toEqual(expected.toSorted())
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
    // Opened again, the alert no longer says why it was dismissed; the look does.
    expect((await decide(second, wrong.look_id, false)).json).toMatchObject({
      state: 'disagreed',
      reason_code: 'ALR_FALSE_MATCH',
    })
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

  /** An alert about a new person; ids are in order of time. */
  async function reportPerson({ t, report }: Awaited<ReturnType<typeof createTeam>>, key: string) {
    const body = { subject_type: 'person', name: 'Ada Lovelace' }
    const subject_id: string = (await t.make('POST /subjects', { body })).subject_id
    const alert_id: string = (await report(key, {}, { subject_id })).json.alert_id
    return { alert_id, subject_id }
  }

  test('has changed nothing of an alert whose case cannot be opened', async () => {
    const team = await createTeam()
    const { t, analyst, officer, send, read, history } = team
    const [first, last] = [await reportPerson(team, 'person 1'), await reportPerson(team, 'person 2')]
    await t.write((tx) =>
      tx.run(`update app.tenant_limit set burst = 1 where tenant_id = $1 and bucket = 'heavy'`, [tx.tenant_id]),
    )
    const before = await read(last.alert_id)
    const count = () =>
      t.write((tx) =>
        tx.find(
          `select (select count(*) from app.investigation where tenant_id = $1) as cases,
                  (select count(*) from app.job where tenant_id = $1 and kind = 'investigation.gather') as jobs,
                  (select count(*) from app.event where tenant_id = $1 and event_type = 'alert.escalated') as events`,
          [tx.tenant_id],
        ),
      )
    const body = { alert_ids: [first.alert_id, last.alert_id], action: 'escalate', note: 'Same payer' }
    const refused = { alert_id: last.alert_id, done: false, state: 'new', code: 'concurrency_limited' }
    const tried = (await send(analyst, 'POST /alerts/bulk', { ...body, dry_run: true })).json
    expect([tried.done, tried.items[1]]).toMatchObject([1, refused])
    expect([await count(), await history(first.alert_id)]).toEqual([{ cases: 0, jobs: 0, events: 0 }, ['opened']])
    const { json } = await send(analyst, 'POST /alerts/bulk', body)
    expect([json.done, json.items[1]]).toMatchObject([1, refused])
    expect(await count()).toEqual({ cases: 1, jobs: 1, events: 1 })
    expect([await read(last.alert_id), await history(last.alert_id)]).toEqual([before, ['opened']])
    const recorded = (await send(officer, 'GET /audit/events?operation=escalateAlert')).json.items
    expect(recorded.map(({ object_id }: { object_id: string }) => object_id)).toEqual([first.alert_id])
  })

  /** As an erasure leaves it, which guards keep others from doing. */
  async function markErased(subject_id: string): Promise<void> {
    const owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    try {
      await owner.query('set session_replication_role = replica')
      await owner.query(
        `update app.subject set state = 'offboarded', offboarded_at = now(), erased_at = now() where subject_id = $1`,
        [subject_id],
      )
    } finally {
      await owner.end()
    }
  }

  test('refuses only the alert whose subject was erased, and says so before', async () => {
    const team = await createTeam()
    const { analyst, send } = team
    const [before, erased] = [await reportPerson(team, 'person 1'), await reportPerson(team, 'person 2')]
    const after = await reportPerson(team, 'person 3')
    const { alert_id, subject_id } = erased
    await markErased(subject_id)
    const body = {
      alert_ids: [before, erased, after].map((one) => one.alert_id),
      action: 'escalate',
      note: 'Same payer',
    }
    for (const dry_run of [true, false]) {
      const { status, json } = await send(analyst, 'POST /alerts/bulk', { ...body, dry_run })
      expect([status, json.done, json.refused]).toEqual([200, 2, 1])
      expect(json.items.find(({ done }: { done: boolean }) => !done)).toMatchObject({ alert_id, code: 'erased' })
    }
    const alone = await send(analyst, `POST /alerts/${alert_id}/escalate`, { note: 'Same payer' })
    expect([alone.status, alone.json.code]).toEqual([410, 'erased'])
    const dismissed = await send(analyst, `POST /alerts/${alert_id}/dismiss`, { reason_code: 'ALR_TEST' })
    expect(dismissed.json.state).toBe('dismissed')
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
    // By position: an id would name an alert that is restricted later to all readers of the job.
    const { items } = ended.result as { items: readonly { position: number }[] }
    expect(items.map(({ position }) => position)).toEqual(Array.from({ length: 200 }, (_, index) => index + 2))
    expect(alert_ids.filter((id) => JSON.stringify(ended).includes(id))).toEqual([])
    expect(await read(alert_id)).toMatchObject({ state: 'escalated', escalated_by: analyst.principal })
  })

  test('by a job is refused for a person who was deactivated or lost the role since', async () => {
    const { t, report, send, analyst, other, officer } = await createTeam()
    const admin = await w.person(t.tenant_id, ['tenant_admin'])
    const { alert_id } = (await report('bulk job, deactivated')).json
    const { alert_id: taken } = (await report('bulk job, taken')).json
    const ask = async (who: Person, action: object, first = alert_id): Promise<string> => {
      const alert_ids = [first, ...Array.from({ length: 200 }, () => uuidv7())]
      const { status, json } = await send(who, 'POST /alerts/bulk', { alert_ids, ...action })
      expect(status).toBe(202)
      return json.job_id
    }
    const dismiss = { action: 'dismiss', reason_code: 'ALR_FALSE_MATCH' }
    expect((await send(other, `POST /alerts/${taken}/assign`, { user_id: other.user_id })).status).toBe(200)
    const queued = [
      await ask(analyst, dismiss),
      await ask(other, dismiss),
      await ask(officer, { action: 'release' }, taken),
    ]
    const setRoles = async ({ user_id }: Person, roles: readonly string[]) => {
      const changed = await send(admin, `PUT /users/${user_id}/roles`, { roles })
      expect(changed.status).toBe(200)
    }
    expect((await send(admin, `POST /users/${analyst.user_id}/deactivate`)).status).toBe(200)
    await setRoles(other, ['viewer'])
    await setRoles(officer, ['analyst'])
    const ended = []
    for (const job_id of queued) ended.push(await t.runToEnd({ job_id, state: 'queued' }))
    for (const { result } of ended.slice(0, 2)) {
      const { items, ...counts } = result as { items: readonly object[] }
      expect(counts).toEqual({ done: 0, refused: 201 })
      expect(new Set(items.map((item) => (item as { code: string }).code))).toEqual(new Set(['author_not_permitted']))
    }
    // What the role allows is asked as it is now.
    const first = expect.objectContaining({ position: 1, code: expect.not.stringMatching('not_found') })
    expect(ended[2]).toMatchObject({ result: { done: 0, items: expect.arrayContaining([first]) } })
    const after = await w.person(t.tenant_id, ['compliance_officer'])
    expect((await send(after, `GET /alerts/${alert_id}`)).json).toMatchObject({ state: 'new', dismissal: null })
    expect((await send(after, `GET /alerts/${taken}`)).json.state).toBe('claimed')
  })

  test('by a job says of a restricted alert what it says of none, whoever asks', async () => {
    const { t, report, send, officer, analyst, read } = await createTeam()
    const { alert_id } = (await report('bulk job, restricted')).json
    const { restriction_id } = await read(alert_id)
    await send(officer, `POST /restrictions/${restriction_id}/impose`)
    const missing = Array.from({ length: 200 }, () => uuidv7())
    const { json } = await send(officer, 'POST /alerts/bulk', {
      alert_ids: [alert_id, ...missing],
      action: 'prioritise',
      priority: 'low',
    })
    expect((await t.runToEnd({ job_id: json.job_id, state: 'queued' })).state).toBe('succeeded')
    const { result } = (await send(analyst, `GET /jobs/${json.job_id}`)).json
    const [hidden, ...others] = result.items.map(({ position: _, ...said }: { position: number }) => said)
    expect(others).toEqual(missing.map(() => hidden))
    expect(hidden).toMatchObject({ code: 'not_found' })
  })
})
