/** What an erasure does to rows that are hidden because something that they name is. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import type { JobRunner } from '#kernel/job/runner.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'

let w: JobTestApp
let runner: JobRunner
type Someone = Awaited<ReturnType<JobTestApp['person']>>
let tenant_id: string
/** The first restricts, and with that is the only one with access. */
let owner: Someone
let officer: Someone
let second: Someone

beforeAll(async () => {
  w = await startJobTestApp()
  runner = w.startRunner(1)
})
beforeEach(async () => {
  tenant_id = await w.makeTenant()
  ;[owner, officer, second] = await Promise.all([
    w.person(tenant_id, ['compliance_officer', 'analyst']),
    w.person(tenant_id, ['compliance_officer', 'auditor']),
    w.person(tenant_id, ['compliance_officer']),
  ])
})
afterAll(async () => {
  await runner.stop(1000)
  await w.close()
})

const send = (who: Someone, line: string, body?: object) => w.call(line, { token: who.token, ...(body && { body }) })
/** Succeeds, and returns the answer. */
async function make(who: Someone, line: string, body?: object) {
  const { status, json } = await send(who, line, body)
  expect([line, status < 300, json?.detail]).toEqual([line, true, json?.detail])
  return json
}
const newSubject = async (name: string): Promise<string> =>
  (await make(owner, 'POST /subjects', { subject_type: 'person', name })).subject_id

let alerts = 0
/** Evidence on an alert that everybody sees; its document belongs to no subject. */
async function attachDocument(title: string, subject_id: string | null) {
  const reported = { source: 'desk', dedup_key: `key:${++alerts}`, title: 'Unusual payments', priority: 'low' }
  const { alert_id } = await make(owner, 'POST /alerts', { ...reported, ...(subject_id && { subject_id }) })
  const headers = { 'content-type': 'application/octet-stream' }
  const payload = Buffer.from('bytes')
  const uploaded = await w.call('POST /uploads?file_name=a.txt', { token: owner.token, payload, headers })
  const document = { upload_id: uploaded.json.upload_id, title: 'Statement' }
  const { document_id } = await make(owner, 'POST /documents', document)
  const item = { owner_kind: 'alert', owner_id: alert_id, kind: 'document', object_id: document_id, title }
  const { evidence_id } = await make(owner, 'POST /evidence', item)
  return { alert_id, document_id, evidence_id }
}
interface ClassCounts {
  readonly class: string
  readonly count: number
  readonly review: readonly string[]
}
const preview = async (who: Someone, subject_id: string, name: string): Promise<ClassCounts | undefined> =>
  (await make(who, `POST /subjects/${subject_id}/erasure-preview`)).classes.find(
    (one: ClassCounts) => one.class === name,
  )
const request = (who: Someone, subject_id: string, also: readonly object[] = []) =>
  send(who, `POST /subjects/${subject_id}/erase`, { reason: 'Request', also })
const confirm = (who: Someone, erasure_id: string) => send(who, `POST /erasures/${erasure_id}/confirm`)

test('evidence of a restricted document keeps the subject of its alert, until one of the two has access', async () => {
  const subject_id = await newSubject('Anna Nonym')
  const { document_id, evidence_id } = await attachDocument('Statement of Anna Nonym', subject_id)
  expect(await preview(officer, subject_id, 'documents')).toMatchObject({ count: 1 })
  await make(owner, `POST /documents/${document_id}/restrict`)
  expect(await preview(officer, subject_id, 'documents')).toMatchObject({ count: 0, review: [] })
  const read = (who: Someone) => send(who, `GET /evidence/${evidence_id}`)
  const { erasure_id } = (await request(officer, subject_id)).json
  const refused = await confirm(second, erasure_id)
  expect([refused.status, refused.json.code]).toEqual([409, 'legal_hold'])
  expect((await read(owner)).json).toMatchObject({ title: 'Statement of Anna Nonym', erased_at: null })

  const { job_id } = (await confirm(owner, erasure_id)).json
  expect(await w.ended(tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
  expect((await read(owner)).json).toMatchObject({ title: null, erased_at: expect.any(String) })
  for (const who of [officer, second]) {
    expect((await read(who)).status).toBe(404)
    expect((await make(who, `GET /evidence?object_id=${document_id}`)).items).toEqual([])
  }
  const countDocuments = async (who: Someone): Promise<unknown[]> =>
    (await make(who, `GET /erasures/${erasure_id}/certificate`)).annexes.flatMap(
      ({ restriction_id, also_restriction_ids, erased }: Record<string, unknown>) =>
        (erased as ClassCounts[])
          .filter((one) => one.class === 'documents')
          .map(({ count }) => ({ restriction_id, also_restriction_ids, count })),
    )
  const { restriction_id } = await make(owner, `GET /documents/${document_id}`)
  expect(await countDocuments(owner)).toEqual([
    { restriction_id: expect.any(String), also_restriction_ids: [restriction_id], count: 1 },
  ])
  expect(await countDocuments(officer)).toEqual([])
})

test('evidence of a restricted document is neither listed for review, nor named or shown with an erasure', async () => {
  const subject_id = await newSubject('Jonas Namesake')
  await newSubject('Jonas Namesake')
  const { document_id, evidence_id } = await attachDocument('About Jonas Namesake', null)
  expect(await preview(officer, subject_id, 'documents')).toMatchObject({ review: [evidence_id] })
  await make(owner, `POST /documents/${document_id}/restrict`)
  expect(await preview(officer, subject_id, 'documents')).toMatchObject({ review: [] })
  const also = [{ class: 'documents', id: evidence_id }]
  const named = await request(officer, subject_id, also)
  const random = await request(officer, subject_id, [{ class: 'documents', id: subject_id }])
  expect([named.status, named.json.code]).toEqual([409, 'conflict'])
  expect(named.json.detail).toBe(random.json.detail)
  const { erasure_id } = (await request(owner, subject_id, also)).json
  const { job_id } = (await confirm(second, erasure_id)).json
  expect(await w.ended(tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
  expect((await make(owner, `GET /evidence/${evidence_id}`)).erased_at).not.toBeNull()
  expect((await make(owner, `GET /erasures/${erasure_id}`)).also).toEqual(also)
  expect((await make(officer, `GET /erasures/${erasure_id}`)).also).toEqual([])
})

/** A finished call of which the outcome names an object. */
async function recordCall(given: object, object_id: string): Promise<string> {
  const approval_id = uuidv7()
  await w.runtime.database.write(fullScope(tenant_id, owner.principal), async (tx) => {
    await tx.run(
      `insert into app.mcp_approval (tenant_id, approval_id, tool, operation, arguments, arguments_hash, requested_by, requested_roles, expires_at,
         state, decided_at, decided_by)
       values ($1, $2, 'list_alerts', 'listAlerts', $3::jsonb, repeat('a', 32), $4, '{}', now() + interval '1 day', 'approved', now(), 'user:2')`,
      [tenant_id, approval_id, JSON.stringify(given), owner.principal],
    )
    await tx.run(`update app.mcp_approval set state = 'succeeded', outcome = $2::jsonb where approval_id = $1`, [
      approval_id,
      JSON.stringify({ items: [{ document_id: object_id }] }),
    ])
  })
  return approval_id
}
const readArguments = async (approval_id: string): Promise<unknown> =>
  (await make(owner, `GET /mcp/approvals/${approval_id}`)).arguments

test('a tool call about the subject that named something hidden keeps it; one that only mentions it is left as it is', async () => {
  const [subject_id, mentioned] = [await newSubject('Tom Tool'), await newSubject('Mia Mention')]
  const { document_id } = await attachDocument('Statement', null)
  const about = await recordCall({ subject_id }, document_id)
  const other = await recordCall({ object_id: mentioned }, document_id)
  for (const id of [subject_id, mentioned])
    expect(await preview(officer, id, 'tool-approvals')).toMatchObject({ count: 1 })
  await make(owner, `POST /documents/${document_id}/restrict`)
  for (const id of [subject_id, mentioned])
    expect(await preview(officer, id, 'tool-approvals')).toMatchObject({ count: 0 })
  for (const approval_id of [about, other])
    expect((await send(officer, `GET /mcp/approvals/${approval_id}`)).status).toBe(404)

  const { erasure_id } = (await request(officer, subject_id)).json
  const refused = await confirm(second, erasure_id)
  expect([refused.status, refused.json.code]).toEqual([409, 'legal_hold'])
  expect(await readArguments(about)).toEqual({ subject_id })
  const countCalls = async (who: Someone, erased: string): Promise<unknown[]> => {
    const certificate = await make(who, `GET /erasures/${erased}/certificate`)
    return [certificate, ...certificate.annexes].flatMap(({ erased: classes }) =>
      classes
        .filter((one: ClassCounts) => one.class === 'tool-approvals')
        .map(({ count, kept_by_hold }: Record<string, number>) => [count, kept_by_hold]),
    )
  }
  const { job_id } = (await confirm(owner, erasure_id)).json
  expect(await w.ended(tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
  expect(await readArguments(about)).toEqual({})
  expect(await countCalls(owner, erasure_id)).toEqual([
    [0, 0],
    [1, 0],
  ])
  expect(await countCalls(officer, erasure_id)).toEqual([[0, 0]])

  const kept = (await request(officer, mentioned)).json.erasure_id
  const ended = await w.ended(tenant_id, (await confirm(second, kept)).json.job_id)
  expect(ended).toMatchObject({ state: 'succeeded' })
  expect(await readArguments(other)).toEqual({ object_id: mentioned })
  expect(await countCalls(owner, kept)).toEqual([
    [0, 0],
    [0, 1],
  ])
  expect(await countCalls(officer, kept)).toEqual([[0, 0]])
})

test('a report that was made from something hidden is not counted', async () => {
  const subject_id = await newSubject('Rita Report')
  const { document_id } = await attachDocument('Statement', null)
  const item = { owner_kind: 'subject', owner_id: subject_id, kind: 'document', object_id: document_id, title: 'File' }
  await make(owner, 'POST /evidence', item)
  const body = { template: 'subject-dossier', parameters: { subject_id }, formats: ['json'] }
  const { job_id } = await make(owner, 'POST /reports', body)
  expect(await w.ended(tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
  expect(await preview(officer, subject_id, 'reports')).toMatchObject({ count: 1 })
  await make(owner, `POST /documents/${document_id}/restrict`)
  expect((await make(officer, 'GET /reports')).items).toEqual([])
  expect(await preview(officer, subject_id, 'reports')).toMatchObject({ count: 0 })
  expect(await preview(owner, subject_id, 'reports')).toMatchObject({ count: 1 })
})

test('the stored response to a request about evidence of a restricted document is counted for nobody', async () => {
  const subject_id = await newSubject('Ida Idempotent')
  const { alert_id, document_id, evidence_id } = await attachDocument('Statement', null)
  await make(owner, `POST /evidence/${evidence_id}/detach`, { reason: 'Another title' })
  const item = { owner_kind: 'alert', owner_id: alert_id, kind: 'document', object_id: document_id }
  const attach = () =>
    w.call('POST /evidence', {
      token: owner.token,
      body: { ...item, title: 'Seen by Ida Idempotent' },
      headers: { 'idempotency-key': 'evidence-1' },
    })
  expect((await attach()).status).toBe(201)
  expect(await preview(officer, subject_id, 'stored-responses')).toMatchObject({ count: 1 })
  await make(owner, `POST /documents/${document_id}/restrict`)
  for (const who of [officer, owner])
    expect(await preview(who, subject_id, 'stored-responses')).toMatchObject({ count: 0 })

  const { erasure_id } = (await request(officer, subject_id)).json
  const { job_id } = (await confirm(second, erasure_id)).json
  expect(await w.ended(tenant_id, job_id)).toMatchObject({ state: 'succeeded' })
  // Neither of the two could see it: what only mentions the subject stays.
  expect((await attach()).json).toMatchObject({ title: 'Seen by Ida Idempotent' })
  const { erased, annexes } = await make(officer, `GET /erasures/${erasure_id}/certificate`)
  const counted = [{ erased }, ...annexes].flatMap((part: { readonly erased: readonly ClassCounts[] }) => part.erased)
  expect(counted.filter((one) => one.class === 'stored-responses')).toMatchObject([{ count: 0, kept_by_hold: 0 }])
})
