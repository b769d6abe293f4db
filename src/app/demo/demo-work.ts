/** Alerts, a held document with evidence, a restriction with named people, and a finished erasure of the demo tenant. */
import type { DemoCaller, JobView } from './demo-caller.ts'
import type { DemoAlert, DemoDocument, WorkFile } from './demo-files.ts'

const DAY_MS = 86_400_000

export const findSubjectId = async (caller: DemoCaller, external_id: string): Promise<string | null> => {
  const at = `/api/subjects?external_id=${encodeURIComponent(external_id)}`
  const { items } = await caller.get<{ items: { subject_id: string }[] }>('analyst', at)
  return items[0]?.subject_id ?? null
}

/** Reported by the officer, who may see the restriction that one of them has. `reported`: how often an interrupted run has done it. */
export async function reportAlert(
  caller: DemoCaller,
  alert: DemoAlert,
  more: Readonly<Record<string, unknown>> = {},
  reported = 0,
): Promise<string> {
  const { external_id, proposed: _, snoozed_days: __, repeated = 0, ...report } = alert
  const subject_id = external_id === undefined ? null : await findSubjectId(caller, external_id)
  const send = () =>
    caller.post<{ alert_id: string }>('compliance_officer', '/api/alerts', { ...report, ...more, subject_id })
  let { alert_id } = await send()
  for (let time = reported; time < repeated; time++) alert_id = (await send()).alert_id
  return alert_id
}

export async function seedAlerts(caller: DemoCaller, { alerts }: WorkFile): Promise<void> {
  const known = await caller.listAll<{ dedup_key: string; occurrences: number }>('analyst', '/api/alerts')
  for (const alert of alerts) {
    const reported = known.find(({ dedup_key }) => dedup_key === alert.dedup_key)?.occurrences ?? 0
    if (reported > (alert.repeated ?? 0)) continue
    const alert_id = await reportAlert(caller, alert, {}, reported)
    const { proposed, snoozed_days } = alert
    if (proposed) await caller.post('analyst', `/api/alerts/${alert_id}/dismiss`, proposed)
    if (snoozed_days === undefined) continue
    const until = new Date(Date.now() + snoozed_days * DAY_MS).toISOString()
    await caller.post('analyst', `/api/alerts/${alert_id}/snooze`, { until })
  }
}

/** Once: by its title. */
export async function storeDocument(
  caller: DemoCaller,
  { file_name, content, title, category }: DemoDocument,
  subject_id: string | null,
): Promise<string> {
  const stored = await caller.listAll<{ document_id: string; title: string | null }>('analyst', '/api/documents')
  const earlier = stored.find((one) => one.title === title)
  if (earlier) return earlier.document_id
  const at = `/api/uploads?file_name=${file_name}`
  const { upload_id } = await caller.upload<{ upload_id: string }>('analyst', at, content)
  const body = { upload_id, title, category, subject_id }
  return (await caller.post<{ document_id: string }>('analyst', '/api/documents', body)).document_id
}

export async function seedHeldDocument(caller: DemoCaller, { document }: WorkFile): Promise<void> {
  const subject_id = await findSubjectId(caller, document.external_id)
  const document_id = await storeDocument(caller, document, subject_id)
  const owner = { owner_kind: 'subject', owner_id: subject_id }
  const evidence = await caller.listAll<{ object_id: string | null }>(
    'analyst',
    `/api/evidence?owner_kind=subject&owner_id=${subject_id}`,
  )
  if (!evidence.some(({ object_id }) => object_id === document_id))
    await caller.post('analyst', '/api/evidence', {
      ...owner,
      kind: 'document',
      object_id: document_id,
      title: document.evidence_title,
    })
  const holds = await caller.listAll<{ object_id: string }>('compliance_officer', '/api/holds')
  if (!holds.some(({ object_id }) => object_id === document_id))
    await caller.post('compliance_officer', '/api/holds', {
      object_kind: 'document',
      object_id: document_id,
      reason: document.hold_reason,
      authority_reference: document.authority_reference,
    })
}

/** The officer and the analyst see it; the second officer, who has the same role, does not. */
export async function seedRestriction(caller: DemoCaller, { restriction }: WorkFile): Promise<void> {
  const { purpose, alert } = restriction
  const known = await caller.listAll<{ restriction_id: string; purpose: string }>(
    'compliance_officer',
    '/api/restrictions',
  )
  const { restriction_id } =
    known.find((one) => one.purpose === purpose) ??
    (await caller.post<{ restriction_id: string }>('compliance_officer', '/api/restrictions', { purpose }))
  const analyst = caller.tenant.users.find(({ roles }) => roles.includes('analyst'))
  if (analyst)
    await caller.put('compliance_officer', `/api/restrictions/${restriction_id}/access/${analyst.user_id}`, {
      effect: 'grant',
    })
  const alerts = await caller.listAll<{ dedup_key: string }>('compliance_officer', '/api/alerts')
  if (!alerts.some(({ dedup_key }) => dedup_key === alert.dedup_key))
    await reportAlert(caller, alert, { restriction_id })
}

interface ErasureView {
  readonly erasure_id: string
  readonly state: 'requested' | 'executing' | 'done' | 'withdrawn'
  readonly job_id: string | null
}

/** Requested by an officer and confirmed by the administrator. */
export async function seedErasure(caller: DemoCaller, { erasure }: WorkFile): Promise<void> {
  const [earlier] = await caller.listAll<ErasureView>('compliance_officer', '/api/erasures')
  const requested = earlier ?? (await request())
  async function request(): Promise<ErasureView> {
    const { reason, ...subject } = erasure
    const found = await findSubjectId(caller, subject.external_id)
    const subject_id =
      found ??
      (await caller.post<{ subject_id: string }>('analyst', '/api/subjects', { ...subject, attributes: {} })).subject_id
    return caller.post('compliance_officer', `/api/subjects/${subject_id}/erase`, { reason })
  }
  if (requested.state === 'done') return
  const at = `/api/erasures/${requested.erasure_id}/confirm`
  const { job_id } = requested.state === 'requested' ? await caller.act<JobView>('tenant_admin', at) : requested
  if (job_id !== null) await caller.waitForJob('compliance_officer', job_id)
}
