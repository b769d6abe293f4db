/** What a report from outside may not do: speak for the service itself, or be counted on an alert that was closed at a lower priority. */
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { createAlertTeam, toReport } from '#test/support/alert-team.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { type DecidedOutcome, raiseAlert, raiseDecisionAlerts } from './index.ts'
import { reservedSources } from './model.ts'

let w: TestApp

beforeAll(async () => {
  w = await startTestApp({ pool_size: 12 })
})
afterAll(() => w.close())

const createTeam = () => createAlertTeam(w)
const dismissal = { reason_code: 'ALR_FALSE_MATCH' }

describe('sources of the service itself', () => {
  test('are refused in a report from outside, with the place', async () => {
    const { report } = await createTeam()
    for (const source of reservedSources) {
      const { status, json } = await report('reserved', {}, { source })
      expect([status, json.code]).toEqual([422, 'validation_failed'])
      expect(json.errors).toMatchObject([{ in: 'body', pointer: '#/source', keyword: 'reserved' }])
    }
    expect((await report('reserved', {}, { source: 'rules' })).status).toBe(201)
  })

  test('report apart from outside under the same key, also where the alert is older than the reservation', async () => {
    const { t, analyst, report, send, read } = await createTeam()
    const { subject_id } = await t.make('POST /subjects', { body: { subject_type: 'person', name: 'Ada Lovelace' } })
    const dedup_key = `required_action:customer-risk-person:freeze-and-report:subject:${subject_id}`
    const facts = { outcome: 'prohibited', reason_codes: 'SAN_MATCH', required_actions: 'freeze-and-report' }
    const posted = (await report(dedup_key, facts, { subject_id, priority: 'low' })).json
    await send(analyst, `POST /alerts/${posted.alert_id}/dismiss`, dismissal)
    const owner = new pg.Client(w.clone.postgres)
    await owner.connect()
    await owner.query('set session_replication_role = replica')
    await owner.query(`update app.alert set source = 'matrix' where alert_id = $1`, [posted.alert_id])
    await owner.end()

    const outcome: DecidedOutcome = {
      family: 'matrix',
      band: 'prohibited',
      hit: null,
      required_actions: ['freeze-and-report'],
      reason_codes: ['SAN_MATCH'],
      subject_id,
      reference: 'evaluation:x',
    }
    await t.write((tx) => raiseDecisionAlerts(w.kernel, tx, { key: 'customer-risk-person', version: 1 }, [outcome]))
    const { items } = await t.make(`GET /alerts?subject_id=${subject_id}&state=open`)
    const raised = items.find((alert: { dedup_key: string }) => alert.dedup_key === dedup_key)
    expect(raised).toMatchObject({ source: 'matrix', priority: 'critical', previous_alert_id: null, occurrences: 1 })
    expect(await read(posted.alert_id)).toMatchObject({ state: 'dismissed', occurrences: 1 })

    // Nor does a report from outside meet the alert of the service.
    const again = await report(
      dedup_key,
      { outcome: 'none' },
      { subject_id, source: 'other-feed', title: 'Overwritten' },
    )
    expect([again.status, again.json.code]).toEqual([409, 'conflict'])
    const other_key = `${dedup_key}:other`
    await t.write((tx) => raiseAlert(w.kernel, tx, { ...toReport(other_key), source: 'matrix', rule_code: 'x' }))
    expect((await report(other_key, {}, { title: 'Overwritten' })).json).toMatchObject({
      outcome: 'opened',
      previous_alert_id: null,
    })
  })

  test('are kept apart by the database itself', async () => {
    const { t } = await createTeam()
    const raise = (source: string, rule_code: string | null, dedup_key: string = uuidv7()) =>
      t.write((tx) => raiseAlert(w.kernel, tx, { ...toReport(dedup_key), source, rule_code }))
    const refused = { code: 'PB002' }
    await expect(raise('contract', null)).rejects.toMatchObject(refused)
    await expect(raise('feed', 'contract-refusal')).rejects.toMatchObject(refused)
    const [own, outside] = [await raise('contract', 'contract-refusal'), await raise('feed', null)]
    const occur = (alert_id: string | null, is_external: boolean, priority = 'low', outcome = 'joined') =>
      t.write((tx) =>
        tx.run(
          `insert into app.alert_occurrence (tenant_id, occurrence_id, alert_id, outcome, fingerprint, is_external, priority, reported_by)
           values ($1, $2, $3, $4, repeat('0', 64), $5, $6, 'x')`,
          [tx.tenant_id, uuidv7(), alert_id, outcome, is_external, priority],
        ),
      )
    await expect(occur(own.alert_id, true)).rejects.toMatchObject(refused)
    await expect(occur(outside.alert_id, false)).rejects.toMatchObject(refused)
    expect(await occur(outside.alert_id, true)).toBe(1)
    await expect(occur(outside.alert_id, true, 'high', 'counted')).rejects.toMatchObject(refused)
    expect(await occur(outside.alert_id, true, 'medium', 'counted')).toBe(1)
    const change = t.write((tx) =>
      tx.run('update app.alert set rule_code = null where tenant_id = $1 and alert_id = $2', [
        tx.tenant_id,
        own.alert_id,
      ]),
    )
    await expect(change).rejects.toMatchObject(refused)
  })
})

describe('a report above the priority of a closed alert', () => {
  test('opens another alert that a second person has to close', async () => {
    const { report, send, analyst, read, history } = await createTeam()
    const first = (await report('esc:77', { entry: '7' }, { priority: 'low' })).json
    await send(analyst, `POST /alerts/${first.alert_id}/dismiss`, dismissal)
    expect((await report('esc:77', { entry: '7' }, { priority: 'low' })).json.outcome).toBe('counted')
    const higher = await report('esc:77', { entry: '7' }, { priority: 'critical' })
    expect([higher.status, higher.json.outcome]).toEqual([201, 'opened'])
    expect(higher.json).toMatchObject({ previous_alert_id: first.alert_id, changes: [] })
    const { alert_id } = higher.json
    expect(await read(alert_id)).toMatchObject({ state: 'new', priority: 'critical', queue_key: 'urgent' })
    expect(await history(alert_id)).toEqual(['opened'])
    const proposed = await send(analyst, `POST /alerts/${alert_id}/dismiss`, dismissal)
    expect(proposed.json).toMatchObject({ state: 'new', dismissal: { needs_second_person: true } })
    const { items } = (await send(analyst, `GET /alerts/${first.alert_id}/occurrences`)).json
    expect(items.map(({ outcome, priority }: { outcome: string; priority: string }) => [outcome, priority])).toEqual([
      ['counted', 'low'],
      ['opened', 'low'],
    ])
  })

  test('is compared with the highest that it ever had, and opens one also after an escalation', async () => {
    const { report, send, analyst, officer } = await createTeam()
    const first = (await report('highest', {}, { priority: 'high' })).json
    await send(analyst, `PATCH /alerts/${first.alert_id}`, { priority: 'low' })
    await send(analyst, `POST /alerts/${first.alert_id}/dismiss`, dismissal)
    await send(officer, `POST /alerts/${first.alert_id}/confirm-dismissal`, {})
    expect((await report('highest', {}, { priority: 'high' })).json.outcome).toBe('counted')
    expect((await report('highest', {}, { priority: 'critical' })).json.previous_alert_id).toBe(first.alert_id)
    const escalated = (await report('escalated', {}, { priority: 'medium' })).json
    await send(analyst, `POST /alerts/${escalated.alert_id}/escalate`, { note: 'Needs an investigation' })
    expect((await report('escalated', {}, { priority: 'medium' })).json.outcome).toBe('counted')
    expect((await report('escalated', {}, { priority: 'high' })).json).toMatchObject({
      outcome: 'opened',
      previous_alert_id: escalated.alert_id,
    })
  })

  test('of an open one returns a proposed dismissal', async () => {
    const { report, send, analyst, read, history } = await createTeam()
    const { alert_id } = (await report('proposed', {}, { priority: 'high' })).json
    await send(analyst, `POST /alerts/${alert_id}/dismiss`, dismissal)
    await report('proposed', {}, { priority: 'high' })
    expect((await read(alert_id)).dismissal).toMatchObject({ state: 'proposed' })
    await report('proposed', {}, { priority: 'critical' })
    expect(await read(alert_id)).toMatchObject({ priority: 'critical', dismissal: null })
    expect((await history(alert_id))[0]).toBe('dismissal_returned')
  })
})
