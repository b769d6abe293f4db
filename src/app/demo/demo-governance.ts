/** Overlay, approval policy, an approved and a pending change with measured impact, drafts, and a verification of the audit record. */
import { ApprovalRequired, type DemoCaller, type JobView } from './demo-caller.ts'
import { measureImpact } from './demo-definitions.ts'
import type { DemoList, PolicyFile } from './demo-files.ts'
import { ignoreDuplicate } from './demo-lists.ts'

interface ChangeRequest {
  readonly cr_id: string
  readonly operation: string
  readonly params: Readonly<Record<string, string>>
  readonly state: 'open' | 'approved' | 'rejected' | 'withdrawn'
  readonly impact_run_id: string | null
}

interface ApprovalRule {
  readonly action?: unknown
  readonly approvers?: unknown
  readonly role?: unknown
  readonly require_impact?: unknown
}
const toKey = ({ action, approvers, role, require_impact = false }: ApprovalRule): string =>
  JSON.stringify([action, approvers, role, require_impact])

/** The policy has no rules yet, or those of the demo data. With others the data would wait for approval, or mean something else. */
export async function hasOwnPolicy(
  caller: DemoCaller,
  { approval_rules }: Pick<PolicyFile, 'approval_rules'>,
): Promise<boolean> {
  const { rules } = await caller.get<{ rules: ApprovalRule[] }>('tenant_admin', '/api/tenant/approval-policy')
  const own = approval_rules.map(toKey).toSorted()
  return rules.length === 0 || rules.map(toKey).toSorted().join() === own.join()
}

export async function assertOwnPolicy(caller: DemoCaller, policy: Pick<PolicyFile, 'approval_rules'>): Promise<void> {
  if (!(await hasOwnPolicy(caller, policy))) throw new ApprovalRequired(caller.tenant)
}

/** The overlay comes first, because it then needs no approval. */
export async function seedApprovalPolicy(
  caller: DemoCaller,
  { overlay, approval_rules }: Pick<PolicyFile, 'overlay' | 'approval_rules'>,
): Promise<void> {
  const { list_key, ...change } = overlay
  const at = `/api/reference-data/datasets/${list_key}/overlay`
  const { overlay: current } = await caller.get<{ overlay: unknown }>('policy_editor', at)
  if (current === null) await caller.put('policy_editor', at, change)
  const policy = await caller.get<{ rules: unknown[] }>('tenant_admin', '/api/tenant/approval-policy')
  if (policy.rules.length === 0) {
    await caller.put('tenant_admin', '/api/tenant/approval-policy', { rules: approval_rules })
  }
}

/** Versions that an officer approves, and versions that wait for approval, each with its impact measured. */
export async function seedProposals(caller: DemoCaller, lists: readonly DemoList[]): Promise<void> {
  const made = await caller.listAll<ChangeRequest>('policy_editor', '/api/change-requests')
  for (const list of lists) {
    const index = list.versions.findIndex(({ proposed, approved }) => proposed || approved !== undefined)
    const version = list.versions[index]
    if (!version) continue
    const earlier = made.find(({ params }) => params['list_key'] === list.list_key)
    const proposal = earlier ?? (await submitVersion(caller, list.list_key, index + 1, version.reason))
    if (proposal.state !== 'open') continue
    await measureImpact(caller, proposal)
    if (version.approved === undefined) continue
    const body = { note: version.approved }
    await caller.propose('compliance_officer', `/api/change-requests/${proposal.cr_id}/approve`, body)
  }
}

/** Measured again where something came into force since: an approver is shown what holds now. */
export async function renewImpact(caller: DemoCaller, lists: readonly DemoList[]): Promise<void> {
  const open = await caller.listAll<ChangeRequest>('policy_editor', '/api/change-requests?state=open')
  for (const { list_key } of lists) {
    const request = open.find(({ params }) => params['list_key'] === list_key)
    if (!request || request.impact_run_id === null) continue
    const { stale } = await caller.get<{ stale: boolean }>(
      'policy_editor',
      `/api/change-requests/${request.cr_id}/impact`,
    )
    if (stale) await measureImpact(caller, { ...request, impact_run_id: null })
  }
}

function submitVersion(caller: DemoCaller, list_key: string, version: number, reason: string): Promise<ChangeRequest> {
  const at = `/api/reference-data/datasets/${list_key}/versions/${version}/submit`
  return caller.propose<ChangeRequest>('policy_editor', at, { reason })
}

/** A draft of the policy editor for each kind, made from the shared definition. */
export async function seedDrafts(caller: DemoCaller, { matrix, rule }: PolicyFile['drafts']): Promise<void> {
  const { from: fromMatrix, ...matrixSettings } = matrix
  const { from: fromRule, ...ruleSettings } = rule
  await seedDraft(caller, '/api/risk-matrices', fromMatrix, matrixSettings)
  await seedDraft(caller, '/api/rules', fromRule, ruleSettings)
}

async function seedDraft(
  caller: DemoCaller,
  at: string,
  from: string,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const source = await caller.get<{ active: { version: number } }>('policy_editor', `${at}/${from}`)
  const version = await caller.get<{ definition: unknown }>(
    'policy_editor',
    `${at}/${from}/versions/${source.active.version}`,
  )
  await ignoreDuplicate(() => caller.post('policy_editor', at, { ...settings, definition: version.definition }))
}

export const seedSchedule = (caller: DemoCaller, schedule: PolicyFile['schedule']): Promise<void> =>
  ignoreDuplicate(() => caller.post('compliance_officer', '/api/batch-evaluations/schedules', schedule))

export async function seedAuditVerification(caller: DemoCaller): Promise<void> {
  // Every tenant is also verified once a day without a request.
  const runs = await caller.listAll<{ job_id: string; created_by: string }>('auditor', '/api/audit/verifications')
  const earlier = runs.find(({ created_by }) => created_by.startsWith('user:'))
  const { job_id } = earlier ?? (await caller.post<JobView>('auditor', '/api/audit/verify', {}))
  await caller.waitForJob('auditor', job_id)
}
