/**
 * Providers of the demo tenant: source contracts, a register that answers from recordings with its credential, a matrix that reads its
 * facts, calls with every outcome, decisions that cite them, and a provider without a credential.
 */
import type { DemoCaller, JobView } from './demo-caller.ts'
import { seedDefinition } from './demo-definitions.ts'
import type { DemoProvider, ProviderSubject, ProvidersFile } from './demo-files.ts'
import { forEachConcurrently } from './demo-ratings.ts'

const SEGMENT = 'integration'

export async function seedContractsAndProviders(caller: DemoCaller, file: ProvidersFile): Promise<void> {
  await forEachConcurrently(file.contracts, ({ contract_key, ...contract }) =>
    seedDefinition(caller, 'source-contracts', contract_key, contract),
  )
  await forEachConcurrently(file.providers, async (provider) => {
    const { provider_key, mode, credential, ...definition } = provider
    await seedDefinition(caller, 'providers', provider_key, definition)
    await seedMode(caller, provider)
    await seedCredential(caller, provider)
  })
}

async function seedMode(caller: DemoCaller, { provider_key, mode }: DemoProvider): Promise<void> {
  if (!mode) return
  const at = `/api/providers/${provider_key}/mode`
  const current = await caller.get<{ mode: string }>('tenant_admin', at)
  if (current.mode !== mode.mode) await caller.put('tenant_admin', at, mode)
}

interface Credential {
  readonly credential_id: string
  readonly active_version: number | null
  readonly staged_version: number | null
}

/** Staged first and activated then, as everybody does it. */
async function seedCredential(caller: DemoCaller, { provider_key, credential }: DemoProvider): Promise<void> {
  if (!credential) return
  const { label, members, reason } = credential
  const [earlier] = await caller.listAll<Credential>(
    'tenant_admin',
    `/api/provider-credentials?provider_key=${provider_key}`,
  )
  const { credential_id, active_version, staged_version } =
    earlier ?? (await caller.post<Credential>('tenant_admin', '/api/provider-credentials', { provider_key, label }))
  if (active_version !== null) return
  const at = `/api/provider-credentials/${credential_id}/versions`
  const version = staged_version ?? (await caller.post<{ version: number }>('tenant_admin', at, { members })).version
  await caller.post('tenant_admin', `${at}/${version}/activations`, { reason })
}

interface MatrixDefinition {
  readonly inputs: readonly { readonly name: string }[]
}

/** The shared matrix of companies with some inputs from the register, and a rule that reads the media search. */
export async function seedFactReaders(caller: DemoCaller, { matrix, rule }: ProvidersFile): Promise<void> {
  const { from, facts, matrix_key, note, reason, ...settings } = matrix
  const source = await caller.get<{ active: { version: number } }>('policy_editor', `/api/risk-matrices/${from}`)
  const at = `/api/risk-matrices/${from}/versions/${source.active.version}`
  const { definition } = await caller.get<{ definition: MatrixDefinition }>('policy_editor', at)
  const inputs = definition.inputs.map((input) => ({ ...input, ...(facts[input.name] && { from: facts[input.name] }) }))
  const verified = { ...definition, inputs }
  await seedDefinition(caller, 'risk-matrices', matrix_key, {
    ...settings,
    versions: [{ label: 'register-1', note, reason, definition: verified }],
  })
  const { rule_key, definition: ruleText, note: ruleNote, reason: ruleReason, ...ruleSettings } = rule
  const version = { label: 'media-1', note: ruleNote, reason: ruleReason, definition: ruleText }
  await seedDefinition(caller, 'rules', rule_key, { ...ruleSettings, versions: [version] })
}

interface ProviderCall {
  readonly call_id: string
  readonly job_id: string
  readonly state: string
}

/** One call for each subject that has one, and a decision on it where the answer is admitted. */
export async function seedProviderCalls(caller: DemoCaller, file: ProvidersFile): Promise<void> {
  const [{ provider_key }] = file.providers as [DemoProvider]
  await forEachConcurrently(file.subjects, async (subject) => {
    const subject_id = await seedSubject(caller, subject)
    if (subject.capability === undefined) return
    const call_id = await seedCall(caller, { provider_key, subject_id, subject })
    if (subject.decided) await seedDecision(caller, { matrix_key: file.matrix.matrix_key, subject_id, call_id })
  })
}

async function seedSubject(caller: DemoCaller, { external_id, name, attributes }: ProviderSubject): Promise<string> {
  const found = await caller.get<{ items: { subject_id: string }[] }>(
    'analyst',
    `/api/subjects?external_id=${external_id}`,
  )
  const body = { external_id, subject_type: 'company', name, segment: SEGMENT, attributes }
  const { subject_id } = found.items[0] ?? (await caller.post<{ subject_id: string }>('analyst', '/api/subjects', body))
  return subject_id
}

async function seedCall(
  caller: DemoCaller,
  {
    provider_key,
    subject_id,
    subject,
  }: { readonly provider_key: string; readonly subject_id: string; readonly subject: ProviderSubject },
): Promise<string> {
  const [earlier] = await caller.listAll<ProviderCall>(
    'compliance_officer',
    `/api/providers/calls?subject_id=${subject_id}`,
  )
  const input = { register_number: subject.attributes['register_number'] }
  const body = { capability: subject.capability, input, subject_id }
  const { job_id, resource } = earlier
    ? { job_id: earlier.job_id, resource: earlier.call_id }
    : await caller.post<JobView>('analyst', `/api/providers/${provider_key}/calls`, body)
  await caller.waitForJobEnd('analyst', job_id)
  return (resource as string).split('/').at(-1) as string
}

async function seedDecision(
  caller: DemoCaller,
  decision: { readonly matrix_key: string; readonly subject_id: string; readonly call_id: string },
): Promise<void> {
  const { matrix_key, subject_id, call_id } = decision
  const at = `/api/evaluations?subject_id=${subject_id}&matrix_key=${matrix_key}`
  const { items } = await caller.get<{ items: unknown[] }>('analyst', at)
  if (items.length > 0) return
  await caller.post('analyst', '/api/evaluations', { matrix_key, subject_id, call_ids: [call_id] })
}
