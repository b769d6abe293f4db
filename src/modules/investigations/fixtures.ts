/** Test fixtures of the investigations router: one valid call per operation. */
import { roles as allRoles } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'
import { createStepFixtures } from './gathering/fixtures.ts'

const oncePerTenant = createOncePerTenant()
const DAY_MS = 86_400_000
/** With a fraction of a second: documented examples show such times relative to a fixed one. */
const inDays = (days: number): string =>
  new Date(Math.floor(Date.now() / 1000) * 1000 + days * DAY_MS + 1).toISOString()

const newSubject = async (t: ExampleTenant): Promise<string> =>
  (
    await t.make('POST /subjects', {
      body: { subject_type: 'person', name: 'Ada Lovelace', external_id: `investigated ${uuidv7()}` },
    })
  ).subject_id

/** A type alias: an interface has no index signature. */
type Case = { readonly investigation_id: string }
const newCase = async (t: ExampleTenant): Promise<Case> => {
  const body = { subject_id: await newSubject(t), playbook_key: 'edd-person' }
  return { investigation_id: (await t.make('POST /investigations', { body })).investigation_id }
}
const ensureCase = (t: ExampleTenant) => oncePerTenant(t, 'investigation', () => newCase(t))
const existing: Fixture = async (t) => ({ params: await ensureCase(t) })
const at = ({ investigation_id }: Case): string => `/investigations/${investigation_id}`

const NARRATIVE = {
  paragraphs: [{ kind: 'assessment', text: 'The payments fit the business of the customer.', cites: [] }],
}
/** As the job that gathers leaves it when everything was answered. */
export const settle = (t: ExampleTenant, { investigation_id }: Case) =>
  t.write(async (tx) => {
    const where = 'where tenant_id = $1 and investigation_id = $2'
    for (const set of [`state = 'running', started_at = now()`, `state = 'succeeded', ended_at = now()`])
      await tx.run(`update app.investigation_step set ${set}, revision = revision + 1 ${where}`, [
        tx.tenant_id,
        investigation_id,
      ])
    await tx.run(`update app.investigation set gathering = 'done' ${where}`, [tx.tenant_id, investigation_id])
  })
const newReadyCase = async (t: ExampleTenant): Promise<Case> => {
  const made = await newCase(t)
  await settle(t, made)
  await t.make(`PUT ${at(made)}/narrative`, { body: NARRATIVE })
  return made
}
const OUTCOME = { outcome: 'INV_NO_SUSPICION' }
/** By `author`, so that the caller may close it. */
const newProposal = async (t: ExampleTenant, token?: string): Promise<Case & { proposal_hash: string }> => {
  const made = await newReadyCase(t)
  const author = token ?? (await t.token(allRoles, t.author))
  const { proposal } = await t.make(`POST ${at(made)}/propose-outcome`, { token: author, body: OUTCOME })
  return { ...made, proposal_hash: proposal.proposal_hash }
}
const newClosedCase = async (t: ExampleTenant): Promise<Case> => {
  const { investigation_id, proposal_hash } = await newProposal(t)
  await t.make(`POST ${at({ investigation_id })}/close`, { body: { proposal_hash } })
  return { investigation_id }
}
const newTask = async (t: ExampleTenant) => {
  const made = await newCase(t)
  const body = { title: 'Ask the branch for the contract', checklist: ['Contract seen'] }
  return { ...made, task_id: (await t.make(`POST ${at(made)}/tasks`, { body })).task_id }
}
const QUESTION = { addressee: 'Branch Main Street', question: 'Which contract do the payments of March belong to?' }
const newRequest = async (t: ExampleTenant) => {
  const made = await newCase(t)
  return { ...made, request_id: (await t.make(`POST ${at(made)}/information-requests`, { body: QUESTION })).request_id }
}
const newAlert = async (t: ExampleTenant): Promise<string> =>
  (
    await t.make('POST /alerts', {
      body: {
        source: 'payment-monitor',
        dedup_key: `case ${uuidv7()}`,
        title: 'Name resembles a listed party',
        priority: 'medium',
      },
    })
  ).alert_id

export const fixtures: Fixtures = {
  listInvestigations: async (t) => {
    await ensureCase(t)
    return {}
  },
  createInvestigation: async (t) => ({
    body: {
      ...{ subject_id: await newSubject(t), playbook_key: 'edd-person', priority: 'high' },
      alert_ids: [await newAlert(t), await newAlert(t)],
    },
  }),
  getInvestigation: existing,
  listInvestigationSteps: existing,
  ...createStepFixtures(newCase),
  listInvestigationTimeline: existing,
  getInvestigationNarrative: existing,
  updateInvestigationNarrative: async (t) => ({ params: await newCase(t), body: NARRATIVE }),
  listInvestigationNarrativeVersions: async (t) => ({ params: await newReadyCase(t) }),
  updateInvestigation: async (t) => ({
    params: await newCase(t),
    body: { priority: 'critical', note: 'The amounts are large' },
  }),
  assignInvestigation: async (t) => ({ params: await newCase(t), body: { user_id: await t.newUser(['analyst']) } }),
  waitInvestigation: async (t) => ({
    params: await newCase(t),
    body: { waiting_for: 'information', until: inDays(3), note: 'The branch was asked for the contract' },
  }),
  resumeInvestigation: async (t) => {
    const params = await newCase(t)
    await t.make(`POST ${at(params)}/wait`, { body: { waiting_for: 'authority' } })
    return { params, body: { note: 'The authority has answered' } }
  },
  proposeInvestigationOutcome: async (t) => ({ params: await newReadyCase(t), body: OUTCOME }),
  withdrawInvestigationProposal: async (t) => {
    const { investigation_id } = await newProposal(t, await t.token())
    return { params: { investigation_id }, body: {} }
  },
  returnInvestigationProposal: async (t) => {
    const { investigation_id } = await newProposal(t)
    return { params: { investigation_id }, body: { note: 'The payments of March are missing' } }
  },
  closeInvestigation: async (t) => {
    const { investigation_id, proposal_hash } = await newProposal(t)
    return { params: { investigation_id }, body: { proposal_hash, note: 'Agreed' } }
  },
  reopenInvestigation: async (t) => ({ params: await newClosedCase(t), body: { note: 'New payments came in' } }),
  mergeInvestigation: async (t) => ({
    params: await newReadyCase(t),
    body: { into: (await newCase(t)).investigation_id, note: 'The same payments' },
  }),
  listInvestigationTasks: async (t) => {
    const { investigation_id } = await newTask(t)
    return { params: { investigation_id } }
  },
  createInvestigationTask: async (t) => ({
    params: await newCase(t),
    body: { title: 'Ask the branch for the contract', checklist: ['Contract seen'], is_required: true },
  }),
  updateInvestigationTask: async (t) => ({
    params: await newTask(t),
    body: { state: 'done', checklist: [true], result: 'The contract covers the payments' },
  }),
  listInformationRequests: async (t) => {
    const { investigation_id } = await newRequest(t)
    return { params: { investigation_id } }
  },
  createInformationRequest: async (t) => ({ params: await newCase(t), body: { ...QUESTION, due_at: inDays(5) } }),
  fulfilInformationRequest: async (t) => ({ params: await newRequest(t), body: { answer: 'To contract 17 of 2026' } }),
  listInvestigationSubjects: existing,
  createInvestigationSubject: async (t) => ({
    params: await newCase(t),
    body: { subject_id: await newSubject(t), part: 'counterparty' },
  }),
  listInvestigationNotes: async (t) => {
    const params = await newCase(t)
    await t.make(`POST ${at(params)}/notes`, { body: { text: 'The branch manager knows the customer' } })
    return { params }
  },
  createInvestigationNote: async (t) => ({
    params: await newCase(t),
    body: { text: 'The branch manager knows the customer' },
  }),
  linkInvestigationAlerts: async (t) => ({
    params: await newCase(t),
    body: { alert_ids: [await newAlert(t), await newAlert(t)] },
  }),
  getInvestigationAccess: existing,
  updateInvestigationAccess: async (t) => ({
    params: await newCase(t),
    body: {
      is_restricted: true,
      people: [await t.newUser(['analyst'])],
      reason: 'Suspicion that the customer must not learn of',
    },
  }),
  createInvestigationGrant: async (t) => {
    const params = await newCase(t)
    await t.make(`PUT ${at(params)}/access`, { body: { is_restricted: true, reason: 'Suspicion' } })
    return { params, body: { user_id: await t.newUser(['analyst']), reason: 'Writes the report' } }
  },
  listInvestigationAccessLog: existing,
  getPlaybookStatistics: async (t) => {
    await ensureCase(t)
    return { params: { playbook_key: 'edd-person' }, shared: true }
  },
  getInvestigationSeal: async (t) => ({ params: await newClosedCase(t) }),
  getInvestigationPack: async (t) => ({ params: await newClosedCase(t) }),
}
