/** A call as the ledger has it, with the version of the provider that it was made for. */
import type { Scope, Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { documentStore } from '#modules/definitions/index.ts'
import { type Capability, findCapability } from './capability.ts'
import { providerKind } from './provider-kind.ts'
import { type AnswerRow, type AttemptRow, type CallRow, findCallWithAttempts } from './queries.ts'

export type CallCapability =
  | 'caches'
  | 'encryption'
  | 'egress'
  | 'forced_provider_mode'
  | 'log'
  | 'metrics'
  | 'plugin_policy'
  | 'threads'
  | 'transactions'
export type CallKernel = Capabilities<CallCapability>

/** A call as the ledger has it. */
export interface LoadedCall {
  readonly call: CallRow
  readonly attempts: readonly AttemptRow[]
  readonly result: AnswerRow | undefined
  readonly manifest: documentStore.DefinitionText
  readonly capability: Capability
}

export interface CallRun {
  readonly kernel: CallKernel
  readonly scope: Scope
  readonly signal: AbortSignal
  /** Made for a test, which reports what happened: there is no later attempt. */
  readonly is_test?: true
  /** A version that is not active yet, for verifying it. */
  readonly credential?: { readonly credential_id: string; readonly version: number }
}

/** The manifest of the version that calls were made for. */
export async function loadManifest(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  {
    provider_key,
    provider_version,
    provider_origin,
  }: Pick<CallRow, 'provider_key' | 'provider_version' | 'provider_origin'>,
): Promise<documentStore.DefinitionText> {
  const params = { [providerKind.param]: provider_key, version: String(provider_version), origin: provider_origin }
  return (await documentStore.getVersionOrDraft(kernel, tx, providerKind, params)).text
}

export async function loadCall(kernel: Capabilities<'caches'>, tx: Tx, call_id: string): Promise<LoadedCall> {
  const { call: found, attempts, result } = await findCallWithAttempts(tx, call_id)
  const call = assertFound(found)
  const manifest = await loadManifest(kernel, tx, call)
  const capability = findCapability(manifest, call.capability) ?? fail('content_corrupt')
  return { call, attempts, result, manifest, capability }
}
