/** Versioned definitions of the demo tenant that come into force by an approved change request: contracts, providers, plugins, matrices, rules. */
import type { DemoCaller, JobView } from './demo-caller.ts'
import type { DemoDefinition } from './demo-files.ts'
import { ignoreDuplicate } from './demo-lists.ts'

export type DefinitionSegment = 'source-contracts' | 'providers' | 'plugins' | 'risk-matrices' | 'rules'

const params: Readonly<Record<DefinitionSegment, string>> = {
  'source-contracts': 'contract_key',
  providers: 'provider_key',
  plugins: 'plugin_key',
  'risk-matrices': 'matrix_key',
  rules: 'rule_key',
}

interface DefinitionState {
  readonly versions_total: number
  readonly draft: unknown
}

interface ChangeRequest {
  readonly cr_id: string
  readonly params: Readonly<Record<string, string>>
  readonly state: string
  readonly require_impact: boolean
  readonly impact_run_id: string | null
}

/** Continues where an earlier run stopped: versions and activations are counted, an open change request is approved. */
export async function seedDefinition(
  caller: DemoCaller,
  segment: DefinitionSegment,
  key: string,
  { versions, ...settings }: DemoDefinition,
): Promise<void> {
  const at = `/api/${segment}/${key}`
  const [first] = versions
  const created = { [params[segment]]: key, ...settings, definition: first?.definition }
  await ignoreDuplicate(() => caller.post('policy_editor', `/api/${segment}`, created))
  for (const [index, { label, note, reason, definition }] of versions.entries()) {
    const { versions_total, draft } = await caller.get<DefinitionState>('policy_editor', at)
    if (versions_total <= index) {
      if (draft === null) await caller.post('policy_editor', `${at}/versions`, { definition })
      await caller.post('policy_editor', `${at}/versions/draft/publish`, { label, note })
    }
    await putInForce(caller, segment, key, { version: index + 1, reason })
  }
}

/** Proposed by the policy editor and approved by the officer, with its impact where the approval policy asks for it. */
export async function putInForce(
  caller: DemoCaller,
  segment: DefinitionSegment,
  key: string,
  { version, reason }: { readonly version: number; readonly reason: string },
): Promise<void> {
  const at = `/api/${segment}/${key}`
  const { items } = await caller.get<{ items: unknown[] }>('compliance_officer', `${at}/activations`)
  if (items.length >= version) return
  const open = await caller.listAll<ChangeRequest>('policy_editor', '/api/change-requests?state=open')
  const request =
    open.find((change) => change.params[params[segment]] === key) ??
    (await caller.propose<ChangeRequest>('policy_editor', `${at}/versions/${version}/submit`, { reason }))
  if (request.require_impact) await measureImpact(caller, request)
  const note = 'Reviewed with the policy team.'
  await caller.propose('compliance_officer', `/api/change-requests/${request.cr_id}/approve`, { note })
}

export async function measureImpact(
  caller: DemoCaller,
  { cr_id, impact_run_id }: Pick<ChangeRequest, 'cr_id' | 'impact_run_id'>,
): Promise<void> {
  const at = `/api/change-requests/${cr_id}/impact`
  const { job_id } =
    impact_run_id === null
      ? await caller.post<JobView>('policy_editor', at, {})
      : await caller.get<{ readonly job_id: string }>('policy_editor', at)
  await caller.waitForJob('policy_editor', job_id)
}
