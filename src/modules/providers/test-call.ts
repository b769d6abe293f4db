/** One call, made and answered within a request: for testing a provider or verifying a credential. */
import { requestScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import type { Actor } from '#kernel/route.ts'
import type { Static } from '#kernel/schema.ts'
import type { ReadyProvider } from '#modules/provider-credentials/index.ts'
import { type CallRequest, createCall, expectRenderable, hashInput } from './create-call.ts'
import type { CallCapability, CallRun } from './load-call.ts'
import { findCallByKey } from './queries.ts'
import { advanceCall } from './run-call.ts'
import type { TestReply } from './schema.ts'

export interface TestContext {
  readonly kernel: Capabilities<CallCapability>
  readonly actor: Actor
  readonly signal: AbortSignal
  /** Of the request and its retries: they make one call. */
  readonly request_key: string | null
}

/** There is nothing to report about the provider: nothing was sent, or what executes the call failed. */
const REFUSALS = [
  'budget_reached',
  'provider_limit_reached',
  'provider_credential_missing',
  'plugin_invalid',
  'plugin_failed',
]

interface DeclaredTest {
  readonly capability?: string
  readonly input?: Record<string, unknown>
}

export type TestResult = Static<typeof TestReply>

/** What the test of a provider calls: 409 where neither the request nor the manifest says it, 422 where the input does not fit. */
export function getTestRequest(
  provider: Pick<ReadyProvider, 'provider_key' | 'manifest'>,
  given: DeclaredTest,
): Pick<CallRequest, 'capability' | 'input'> {
  const declared = (provider.manifest['test'] ?? {}) as DeclaredTest
  const capability = given.capability ?? declared.capability
  if (capability === undefined) {
    fail('conflict', `The manifest of ${provider.provider_key} declares no test; name a capability and its input.`)
  }
  const input = given.input ?? (capability === declared.capability ? declared.input : undefined) ?? {}
  const request = { capability, input }
  expectRenderable(provider, request)
  return request
}

/** The call of an earlier request with the same key, where there is one. */
async function ensureCall(
  { kernel, request_key }: TestContext,
  tx: Tx,
  provider: ReadyProvider,
  request: Pick<CallRequest, 'capability' | 'input'>,
): Promise<string> {
  const { capability, input } = request
  if (request_key === null) {
    return (await createCall(kernel, tx, provider, { capability, input, subject_id: null })).call_id
  }
  const call_key = `test/${request_key}`
  const earlier = await findCallByKey(tx, call_key)
  if (!earlier) return (await createCall(kernel, tx, provider, { ...request, subject_id: null, call_key })).call_id
  const { provider_key } = provider
  const isSame = earlier.input_hash === (await hashInput(kernel, tx, { provider_key, capability }, input))
  if (!isSame) fail('idempotency_key_reused')
  return earlier.call_id
}

export async function runTestCall(
  context: TestContext,
  provider: ReadyProvider,
  given: DeclaredTest,
  credential?: CallRun['credential'],
): Promise<TestResult> {
  const { kernel, actor, signal } = context
  const request = getTestRequest(provider, given)
  const scope = requestScope(actor)
  const call_id = await kernel.transactions.write(scope, (tx) => ensureCall(context, tx, provider, request))
  const started = performance.now()
  const run: CallRun = { kernel, scope, signal, is_test: true, ...(credential && { credential }) }
  let step = await advanceCall(run, call_id)
  // A token that was revoked early is replaced once.
  if (step.kind === 'wait' && step.fault === 'token_refused') step = await advanceCall(run, call_id)
  const duration_ms = Math.round(performance.now() - started)
  const nothing = { result: null, admission_id: null }
  if (step.kind === 'ended') {
    const { outcome, result, admission_id } = step.end
    return { outcome, fault: null, call_id, result, admission_id, duration_ms }
  }
  if (step.fault === 'in_flight' || step.fault === 'busy') fail('idempotency_in_progress', { retry_after_s: 1 })
  const { code } = step.problem
  if (REFUSALS.includes(code)) throw step.problem
  const outcome = code === 'provider_refused' ? ('refused' as const) : ('failed' as const)
  return { outcome, fault: step.fault, call_id, ...nothing, duration_ms }
}
