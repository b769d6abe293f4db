/** After an erasure nothing is stored about the subject: a text could never be removed, since a subject is erased once. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { JobRunner } from '#kernel/job/runner.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'
import { createMemoryLedger } from '#test/support/memory-ledger.ts'

type Someone = Awaited<ReturnType<JobTestApp['person']>>

const SUPPRESSED = { reason_code: 'ALR_FALSE_MATCH', up_to_priority: 'medium', source: 'desk' }
const NAME = 'Zyxwvut Qponmlk'
let w: JobTestApp
let runner: JobRunner
let tenant_id: string
let analyst: Someone
let officer: Someone
let second: Someone
/** Of the erased subject. */
const ids = { subject: '', alert: '', other_alert: '', document: '', suppression: '' }

const call = (who: Someone, line: string, body?: object) => w.call(line, { token: who.token, ...(body && { body }) })
async function make(who: Someone, line: string, body?: object) {
  const { status, json } = await call(who, line, body)
  expect([line, status < 300, json?.detail]).toEqual([line, true, json?.detail])
  return json
}

const newAlert = async (subject_id: string): Promise<string> => {
  const body = { source: 'desk', dedup_key: uuidv7(), title: `About ${NAME}`, priority: 'high', subject_id, facts: [] }
  return (await make(analyst, 'POST /alerts', body)).alert_id
}

beforeAll(async () => {
  w = await startJobTestApp({ erasureLedger: createMemoryLedger([]) })
  runner = w.startRunner(1)
  tenant_id = await w.makeTenant()
  ;[analyst, officer, second] = await Promise.all([
    w.person(tenant_id, ['analyst']),
    w.person(tenant_id, ['compliance_officer']),
    w.person(tenant_id, ['compliance_officer']),
  ])
  ids.subject = (await make(analyst, 'POST /subjects', { subject_type: 'person', name: NAME })).subject_id
  ids.alert = await newAlert(ids.subject)
  ids.other_alert = await newAlert(ids.subject)
  const headers = { 'content-type': 'application/octet-stream' }
  const upload = { token: analyst.token, payload: Buffer.from('bytes'), headers }
  const { upload_id } = (await w.call('POST /uploads?file_name=a.txt', upload)).json
  const document = { upload_id, title: `Of ${NAME}`, subject_id: ids.subject }
  ids.document = (await make(analyst, 'POST /documents', document)).document_id
  const expires_at = new Date(Date.now() + 86_400_000).toISOString()
  const suppression = { ...SUPPRESSED, subject_id: ids.subject, reason: 'Known', expires_at }
  ids.suppression = (await make(officer, 'POST /alerts/suppressions', suppression)).suppression_id
  const { erasure_id } = await make(officer, `POST /subjects/${ids.subject}/erase`, { reason: 'Request' })
  const { job_id } = await make(second, `POST /erasures/${erasure_id}/confirm`)
  expect(await w.ended(tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
})
afterAll(async () => {
  await runner.stop(1000)
  await w.close()
})

const link = { kind: 'external_reference', title: NAME, reference: `https://example.com/${NAME}`, source: 'Press' }
const obtained_at = '2026-01-01T00:00:00Z'

test.each<[string, () => Promise<{ status: number; json: { code: string } }>]>([
  ['a hold on the subject', () => placeHold('subject', ids.subject)],
  ['a hold on a document', () => placeHold('document', ids.document)],
  ['evidence of the subject', () => attach('subject', ids.subject)],
  ['evidence of an alert', () => attach('alert', ids.alert)],
  ['a comment', () => call(analyst, `POST /alerts/${ids.alert}/comments`, { text: `${NAME} called` })],
  [
    'a note to a dismissal',
    () => call(analyst, `POST /alerts/${ids.alert}/dismiss`, { reason_code: 'ALR_FALSE_MATCH', note: NAME }),
  ],
  [
    'a suppression',
    () =>
      call(officer, 'POST /alerts/suppressions', {
        ...{ ...SUPPRESSED, subject_id: ids.subject },
        ...{ reason: `${NAME} is known`, expires_at: new Date(Date.now() + 86_400_000).toISOString() },
      }),
  ],
])('refuses %s of an erased subject', async (_, attempt) => {
  const { status, json } = await attempt()
  expect([status, json.code]).toEqual([410, 'erased'])
})

const placeHold = (object_kind: string, object_id: string) =>
  call(officer, 'POST /holds', { object_kind, object_id, reason: `Order about ${NAME}` })
const attach = (owner_kind: string, owner_id: string) =>
  call(analyst, 'POST /evidence', { ...link, owner_kind, owner_id, obtained_at })

const read = (text: string, id: string) =>
  w.runtime.database.write(fullScope(tenant_id, 'user:a'), (tx) => tx.find(text, [id]))

test('ends a suppression that is left without its reason', async () => {
  const ended = await make(officer, `POST /alerts/suppressions/${ids.suppression}/end`, { reason: `For ${NAME}` })
  expect(ended).toMatchObject({ state: 'ended', end_reason: 'erased' })
})

test('refuses a tool call that would wait with the subject among its arguments', async () => {
  const insert = `insert into app.mcp_approval (tenant_id, approval_id, tool, operation, arguments, arguments_hash, client, requested_by, requested_roles, expires_at)
    values ($1, $2, 'open_investigation', 'createInvestigation', $3::jsonb, repeat('a', 32), 'test', 'user:a', '{analyst}', now() + interval '1 hour')`
  const wait = (values: object) =>
    w.runtime.database.write(fullScope(tenant_id, 'user:a'), (tx) =>
      tx.run(insert, [tenant_id, uuidv7(), JSON.stringify(values)]),
    )
  for (const values of [
    { subject_id: ids.subject, title: NAME },
    { alert_id: ids.alert, note: NAME },
  ])
    await expect(wait(values)).rejects.toMatchObject({ code: 'erased' })
  await wait({ subject_id: uuidv7() })
})

test('refuses such texts in the database, whoever writes them', async () => {
  const write = (text: string, values: readonly unknown[]) =>
    w.runtime.database.write(fullScope(tenant_id, 'user:a'), (tx) => tx.run(text, values))
  const comment = `insert into app.alert_comment (tenant_id, comment_id, alert_id, text, created_by) values ($1, $2, $3, 'x', 'user:a')`
  await expect(write(comment, [tenant_id, uuidv7(), ids.alert])).rejects.toMatchObject({ code: 'erased' })
  const suppression = `insert into app.alert_suppression (tenant_id, suppression_id, source, subject_id, up_to_priority, reason_code, reason, expires_at,
    proposed_by) values ($1, $2, 'desk', $3, 'low', 'X', 'x', now() + interval '1 day', 'user:a')`
  await expect(write(suppression, [tenant_id, uuidv7(), ids.subject])).rejects.toMatchObject({ code: 'erased' })
})

test('gives the alerts that are left away and ends them, without a word about the subject', async () => {
  const reason = `For ${NAME}`
  const moved = { items: [{ object_kind: 'alert', object_id: ids.other_alert }], user_id: analyst.user_id, reason }
  await make(officer, 'POST /work/reassign', moved)
  const history = await make(officer, `GET /alerts/${ids.other_alert}/history`)
  expect(JSON.stringify(history)).not.toContain(NAME)
  const item = 'select assignee, assign_reason from app.work_item where object_id = $1'
  expect(await read(item, ids.other_alert)).toMatchObject({ assignee: analyst.principal, assign_reason: null })
  const dismissed = await make(analyst, `POST /alerts/${ids.other_alert}/dismiss`, { reason_code: 'ALR_FALSE_MATCH' })
  expect(dismissed.is_erased).toBe(true)
})
