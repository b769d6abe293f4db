/**
 * Which providers cannot be called for want of a credential. One function answers 424 before work begins and lists the gaps, so
 * that both always agree.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { ProviderDependent } from '#kernel/module.ts'
import { fail, Problem } from '#kernel/problem.ts'
import { listCredentialMembers } from '#provider/credential-members.ts'
import { getCredentialStatus, selectCredential } from './credential-status.ts'
import { findProvidersInForce, type ProviderInForce } from './provider-manifest.ts'
import {
  type CredentialRow,
  type CredentialVersionRow,
  listCredentialVersions,
  listProviderSettings,
  listProvidersInForce,
  listUsableCredentials,
  type ProviderMode,
} from './queries.ts'
import type { Environment, GapReason } from './schema.ts'
import { listToolServerAuth } from './tool-servers/queries.ts'
import { toCredentialKey } from './tool-servers/server-auth.ts'

type GapKernel = Capabilities<'caches' | 'forced_provider_mode'>

export interface CredentialGap {
  readonly provider_key: string
  readonly credential_key: string
  readonly environment: Environment
  readonly reason: GapReason
  readonly credential_id: string | null
  readonly label: string | null
  readonly members: readonly string[]
  readonly capabilities: readonly string[]
  readonly blocked_since: string
}

/** A provider that can be called, and how. */
export interface ReadyProvider extends ProviderInForce {
  readonly mode: ProviderMode
  readonly environment: Environment
  /** Null where no credential is needed. */
  readonly credential: { readonly credential_id: string; readonly version: number } | null
}

export interface ProviderReadiness {
  /** As it is in force, and how the tenant uses it. */
  readonly provider: Omit<ReadyProvider, 'credential'>
  readonly ready: ReadyProvider | null
  readonly gap: CredentialGap | null
}

const MAX_PROVIDERS = 1000

/** How each of these providers can be called now. One that has no version in force is absent. */
export async function findReadiness(
  kernel: GapKernel,
  tx: Tx,
  provider_keys: readonly string[],
): Promise<ReadonlyMap<string, ProviderReadiness>> {
  const providers = await findProvidersInForce(kernel, tx, provider_keys)
  const keys = [...providers.keys()]
  const settings = new Map((await listProviderSettings(tx, keys)).map((row) => [row.provider_key, row]))
  const credential_keys = [...providers.values()].map(({ credential_key }) => credential_key)
  const credentials = await listUsableCredentials(tx, [...new Set(credential_keys)])
  const versions = await listCredentialVersions(
    tx,
    credentials.map(({ credential_id }) => credential_id),
  )
  const readiness = new Map<string, ProviderReadiness>()
  for (const provider of providers.values()) {
    const { mode = 'live', environment = 'live' } = settings.get(provider.provider_key) ?? {}
    const effective = { ...provider, mode: kernel.forced_provider_mode ?? mode, environment }
    const stored = credentials.filter((row) => row.provider_key === provider.credential_key)
    readiness.set(provider.provider_key, judgeProvider(effective, stored, versions))
  }
  return readiness
}

function judgeProvider(
  provider: Omit<ReadyProvider, 'credential'>,
  credentials: readonly CredentialRow[],
  versions: readonly CredentialVersionRow[],
): ProviderReadiness {
  const members = listCredentialMembers(provider.manifest).map(({ name }) => name)
  if (provider.mode !== 'live' || members.length === 0)
    return { provider, ready: { ...provider, credential: null }, gap: null }
  const { provider_key, credential_key, environment } = provider
  const credential = selectCredential(credentials.filter((row) => row.environment === environment))
  const own = versions.filter(({ credential_id }) => credential_id === credential?.credential_id)
  const status = credential
    ? getCredentialStatus(credential, own, members)
    : ({ gap: 'absent', version: null } as const)
  if (credential && status.gap === null) {
    const { credential_id } = credential
    return { provider, ready: { ...provider, credential: { credential_id, version: status.version } }, gap: null }
  }
  const gap: CredentialGap = {
    provider_key,
    credential_key,
    environment,
    reason: status.gap ?? 'absent',
    credential_id: credential?.credential_id ?? null,
    label: credential?.label ?? null,
    members,
    capabilities: Object.keys((provider.manifest['capabilities'] ?? {}) as object),
    blocked_since: getBlockedSince(provider, status.gap ?? 'absent', credential, own),
  }
  return { provider, ready: null, gap }
}

/** What the record tells: nothing is written when an operation answers 424, so the first one is not known. */
function getBlockedSince(
  { in_force_since }: ProviderInForce,
  reason: GapReason,
  credential: CredentialRow | undefined,
  versions: readonly CredentialVersionRow[],
): string {
  const active = versions.find(({ state }) => state === 'active')
  const known: Partial<Record<GapReason, string | null | undefined>> = {
    disabled: credential?.updated_at,
    expired: active?.expires_at,
    rejected: active?.rejected_at,
  }
  return known[reason] ?? in_force_since
}

/** The same for every provider in force. */
export async function listReadiness(kernel: GapKernel, tx: Tx): Promise<ReadonlyMap<string, ProviderReadiness>> {
  const keys = (await listProvidersInForce(tx, MAX_PROVIDERS)).map(({ provider_key }) => provider_key)
  return findReadiness(kernel, tx, keys)
}

/** Keys of the providers that can be called now. One whose manifest is damaged cannot, and keeps no other from being named. */
export async function listReadyProviders(kernel: GapKernel, tx: Tx): Promise<string[]> {
  const ready: string[] = []
  for (const { provider_key } of await listProvidersInForce(tx, MAX_PROVIDERS)) {
    const readiness = await findReadiness(kernel, tx, [provider_key]).catch((error: unknown) => {
      if (error instanceof Problem && error.code === 'content_corrupt') return new Map<string, ProviderReadiness>()
      throw error
    })
    if (readiness.get(provider_key)?.ready) ready.push(provider_key)
  }
  return ready
}

/** All gaps of the tenant's providers and tool servers. */
export async function listGaps(kernel: GapKernel, tx: Tx): Promise<CredentialGap[]> {
  const servers = (await listToolServerAuth(tx, null)).map(({ server_key }) => toCredentialKey(server_key))
  const readiness = new Map([...(await listReadiness(kernel, tx)), ...(await findReadiness(kernel, tx, servers))])
  return [...readiness.values()].flatMap(({ gap }) => (gap ? [gap] : []))
}

/** The gaps with what of other modules needs their providers. */
export async function listBlocked(
  kernel: GapKernel & Capabilities<'modules'>,
  tx: Tx,
  gaps: readonly CredentialGap[],
): Promise<(CredentialGap & { readonly blocks: readonly Omit<ProviderDependent, 'provider_key'>[] })[]> {
  const keys = gaps.map(({ provider_key }) => provider_key)
  const found: ProviderDependent[] = []
  if (keys.length > 0)
    for (const { provider_dependents } of kernel.modules)
      found.push(...((await provider_dependents?.(kernel, tx, keys)) ?? []))
  return gaps.map((gap) => ({
    ...gap,
    blocks: found
      .filter(({ provider_key }) => provider_key === gap.provider_key)
      .map(({ provider_key: _, ...dependent }) => dependent),
  }))
}

/**
 * The providers by key, ready to be called, or 424 with every gap at once. Handlers call it after their look-ups and before they
 * write a row or start a job; what `check` refuses of a provider is answered before 424. A provider without a version in force is
 * left out: the handler answers for it before.
 */
export async function expectReady(
  kernel: GapKernel,
  tx: Tx,
  provider_keys: readonly string[],
  check: (provider: ProviderReadiness['provider']) => void = () => {},
): Promise<ReadonlyMap<string, ReadyProvider>> {
  const readiness = await findReadiness(kernel, tx, [...new Set(provider_keys)])
  for (const { provider } of readiness.values()) check(provider)
  const missing = [...readiness.values()].flatMap(({ gap }) => (gap ? [gap] : []))
  if (missing.length > 0) {
    fail('provider_credential_missing', {
      detail: missing.map(({ provider_key, reason }) => `Provider ${provider_key}: ${gapTexts[reason]}`).join(' '),
      members: { missing },
    })
  }
  return new Map([...readiness].flatMap(([key, { ready }]) => (ready ? [[key, ready]] : [])))
}

const gapTexts: Readonly<Record<GapReason, string>> = {
  absent: 'no credential is stored.',
  disabled: 'its credential is disabled.',
  staged_only: 'its credential has no active version yet.',
  incomplete: 'its credential lacks a member that the provider declares now.',
  expired: 'its credential has expired.',
  rejected: 'the provider rejected its credential.',
}
