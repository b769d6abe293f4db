/** Investigations of the demo tenant: one that waits for information, and one that is closed, with the report of it. */
import type { DemoCaller, JobView } from './demo-caller.ts'
import type { DemoCase } from './demo-files.ts'
import { findSubjectId, reportAlert, storeDocument } from './demo-work.ts'
import { awaitAll } from './dependent-steps.ts'

const DAY_MS = 86_400_000
const REPORT = 'investigation-pack'

interface CaseView {
  readonly investigation_id: string
  readonly title: string
  readonly state: 'open' | 'proposed' | 'closed' | 'merged'
  readonly gathering: string
  readonly gathering_job_id: string | null
  readonly assignee: string | null
  readonly proposal: { readonly proposal_hash: string } | null
  readonly steps: readonly { readonly step_key: string }[]
}

interface TaskView {
  readonly task_id: string
  readonly step_key: string | null
  readonly state: string
  readonly checklist: readonly unknown[]
}

type Ids = { readonly subject_id: string; readonly at: string; readonly investigation_id: string }

/** Side by side: neither waits for the jobs of the other. */
export async function seedCases(caller: DemoCaller, cases: readonly DemoCase[]): Promise<void> {
  await awaitAll(cases.map((planned) => seedCase(caller, planned)))
}

/** Of cases that are closed. */
export async function seedReports(caller: DemoCaller, cases: readonly DemoCase[]): Promise<void> {
  await awaitAll(cases.map(async (planned) => seedReport(caller, await openCase(caller, planned))))
}

async function seedCase(caller: DemoCaller, planned: DemoCase): Promise<void> {
  const ids = await openCase(caller, planned)
  if ((await readCase(caller, ids)).state === 'open') {
    await awaitAll([
      gather(caller, planned, ids),
      seedEvidence(caller, planned, ids),
      seedQuestions(caller, planned, ids),
    ])
    await seedNarrative(caller, planned, ids)
  }
  if (planned.outcome) await closeCase(caller, planned.outcome, ids)
}

/** By escalating its alert, as an analyst does. */
async function openCase(caller: DemoCaller, planned: DemoCase): Promise<Ids> {
  const { external_id, playbook_key, alert, attributes } = planned
  const subject_id = (await findSubjectId(caller, external_id)) as string
  const listed = `/api/investigations?subject_id=${subject_id}&playbook_key=${playbook_key}`
  const toIds = ({ investigation_id }: CaseView) => {
    return { subject_id, investigation_id, at: `/api/investigations/${investigation_id}` }
  }
  const [earlier] = await caller.listAll<CaseView>('analyst', listed)
  if (earlier) return toIds(earlier)
  if (attributes) {
    const subject = await caller.get<{ attributes: object }>('analyst', `/api/subjects/${subject_id}`)
    const merged = { ...subject.attributes, ...attributes }
    await caller.patch('analyst', `/api/subjects/${subject_id}`, { attributes: merged })
  }
  const known = await caller.listAll<{ alert_id: string; dedup_key: string }>('analyst', '/api/alerts')
  const alert_id =
    known.find(({ dedup_key }) => dedup_key === alert.dedup_key)?.alert_id ??
    (await reportAlert(caller, { ...alert, external_id }))
  const escalation = { playbook_key, note: planned.escalation_note }
  await caller.post('analyst', `/api/alerts/${alert_id}/escalate`, escalation)
  const [opened] = await caller.listAll<CaseView>('analyst', listed)
  return toIds(opened as CaseView)
}

const readCase = (caller: DemoCaller, { at }: Ids) => caller.get<CaseView>('analyst', at)

/** Ends the planned tasks as they come up: those that need others appear when a job of the case has run. */
async function gather(caller: DemoCaller, { title, step, tasks }: DemoCase, ids: Ids): Promise<void> {
  const { at } = ids
  const found = await readCase(caller, ids)
  if (found.title !== title) await caller.patch('analyst', at, { title })
  const analyst = caller.tenant.users.find(({ roles }) => roles.includes('analyst'))
  if (found.assignee === null && analyst)
    await caller.post('analyst', `${at}/assign`, { user_id: analyst.user_id, note: null })
  for (;;) {
    const { gathering_job_id, steps } = await readCase(caller, ids)
    if (gathering_job_id !== null) await caller.waitForJobEnd('analyst', gathering_job_id)
    if (step && !steps.some(({ step_key }) => step_key === step.step_key)) {
      await caller.post('analyst', `${at}/steps`, step)
      continue
    }
    const { items } = await caller.get<{ items: TaskView[] }>('analyst', `${at}/tasks`)
    const due = items.filter(({ state, step_key }) => state === 'open' && step_key !== null && tasks[step_key])
    for (const { task_id, step_key, checklist } of due)
      await caller.patch('analyst', `${at}/tasks/${task_id}`, {
        state: 'done',
        checklist: checklist.map(() => true),
        result: tasks[step_key as string],
      })
    if (due.length === 0 && (await readCase(caller, ids)).gathering !== 'running') return
  }
}

interface EvidenceView {
  readonly evidence_id: string
  readonly title: string | null
}

const listEvidence = (caller: DemoCaller, { investigation_id }: Ids) =>
  caller.listAll<EvidenceView>('analyst', `/api/evidence?owner_kind=investigation&owner_id=${investigation_id}`)

async function seedEvidence(caller: DemoCaller, { documents, references }: DemoCase, ids: Ids): Promise<void> {
  const { subject_id, investigation_id } = ids
  const known = await listEvidence(caller, ids)
  const isMissing = ({ title }: { readonly title: string }) => !known.some((one) => one.title === title)
  const owner = { owner_kind: 'investigation', owner_id: investigation_id }
  for (const document of documents.filter(isMissing)) {
    const object_id = await storeDocument(caller, document, subject_id)
    const { title } = document
    await caller.post('analyst', '/api/evidence', { ...owner, kind: 'document', object_id, title })
  }
  for (const { obtained_days_ago, ...reference } of references.filter(isMissing)) {
    const obtained_at = new Date(Date.now() - obtained_days_ago * DAY_MS).toISOString()
    await caller.post('analyst', '/api/evidence', { ...owner, ...reference, kind: 'external_reference', obtained_at })
  }
}

async function seedQuestions(caller: DemoCaller, { request, notes = [] }: DemoCase, { at }: Ids): Promise<void> {
  if (request) {
    const { due_in_days, ...question } = request
    const asked = await caller.get<{ items: unknown[] }>('analyst', `${at}/information-requests`)
    const due_at = new Date(Date.now() + due_in_days * DAY_MS).toISOString()
    if (asked.items.length === 0) await caller.post('analyst', `${at}/information-requests`, { ...question, due_at })
  }
  const written = await caller.listAll<{ text: string | null }>('analyst', `${at}/notes`)
  for (const text of notes)
    if (!written.some((note) => note.text === text)) await caller.post('analyst', `${at}/notes`, { text })
}

/** Evidence is cited by its title. */
async function seedNarrative(caller: DemoCaller, { narrative }: DemoCase, ids: Ids): Promise<void> {
  if (!narrative) return
  const { version } = await caller.get<{ version: number }>('analyst', `${ids.at}/narrative`)
  if (version > 0) return
  const evidence = await listEvidence(caller, ids)
  const findEvidence = (title: string): string => {
    const found = evidence.find((one) => one.title === title)
    if (!found) throw new Error(`The case has no evidence with the title ${title}.`)
    return found.evidence_id
  }
  const paragraphs = narrative.map(({ kind, text, cites }) => ({ kind, text, cites: cites.map(findEvidence) }))
  await caller.put('analyst', `${ids.at}/narrative`, { paragraphs, expected_version: version })
}

/** Proposed by the analyst and closed by an officer. */
async function closeCase(
  caller: DemoCaller,
  { code, proposal_note, closing_note }: NonNullable<DemoCase['outcome']>,
  ids: Ids,
): Promise<void> {
  const { state } = await readCase(caller, ids)
  if (state === 'open')
    await caller.post('analyst', `${ids.at}/propose-outcome`, { outcome: code, note: proposal_note })
  const { proposal, state: now } = await readCase(caller, ids)
  if (now !== 'proposed') return
  const proposal_hash = proposal?.proposal_hash
  await caller.post('compliance_officer', `${ids.at}/close`, { proposal_hash, note: closing_note })
}

/** In all formats of the installation. */
async function seedReport(caller: DemoCaller, { subject_id, investigation_id }: Ids): Promise<void> {
  const listed = `/api/reports?template_key=${REPORT}&subject_id=${subject_id}`
  const [earlier] = await caller.listAll<{ job_id: string }>('compliance_officer', listed)
  const body = { template: REPORT, parameters: { investigation_id } }
  const { job_id } = earlier ?? (await caller.post<JobView>('compliance_officer', '/api/reports', body))
  await caller.waitForJobEnd('compliance_officer', job_id)
}
