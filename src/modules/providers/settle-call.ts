/** What a person does with a call whose outcome is unknown: make it again, or enter what the provider answered. */
import type { Violation } from '#contract/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { documentStore, resolver } from '#modules/definitions/index.ts'
import {
  expectReady,
  PROVIDER_FAMILY,
  type ProviderReadiness,
  type ReadyProvider,
} from '#modules/provider-credentials/index.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { storeAnswer } from './answers.ts'
import { getCallState } from './call-view.ts'
import { type CallRequest, expectRenderable, openInput } from './create-call.ts'
import { type ExecuteCapability, expectExecutable } from './expect-executable.ts'
import { type LoadedCall, loadCall } from './load-call.ts'
import { type AnswerRow, findRepeat, lockCall } from './queries.ts'

/**
 * The provider by key: 404 where there is none or nothing of it is in force, then what `check` refuses, then 424 where its
 * credential is missing.
 */
export async function getReadyProvider(
  kernel: Capabilities<'caches' | 'forced_provider_mode'>,
  tx: Tx,
  provider_key: string,
  check: (provider: ProviderReadiness['provider']) => void,
): Promise<ReadyProvider> {
  assertFound(await documentStore.findDefinition(tx, PROVIDER_FAMILY, provider_key))
  await resolver.resolveVersions(tx, [provider_key], {}, PROVIDER_FAMILY)
  return assertFound((await expectReady(kernel, tx, [provider_key], check)).get(provider_key))
}

/** 409 unless the call waits for a person. Nobody else can settle or send it until the transaction ends. */
export async function expectUnknownOutcome(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  call_id: string,
): Promise<LoadedCall> {
  await lockCall(tx, call_id)
  const loaded = await loadCall(kernel, tx, call_id)
  const state = getCallState(loaded.call, loaded.attempts, loaded.result, undefined)
  if (state !== 'outcome_unknown') fail('transition_not_allowed', `The call is ${state.replace('_', ' ')}.`)
  if (await findRepeat(tx, call_id)) fail('transition_not_allowed', 'The call was repeated already.')
  return loaded
}

/** The call as it is made again, and the provider that is asked now. */
export async function prepareRepeat(
  kernel: Capabilities<'encryption' | 'forced_provider_mode' | ExecuteCapability>,
  tx: Tx,
  { call }: Pick<LoadedCall, 'call'>,
): Promise<{ readonly provider: ReadyProvider; readonly request: CallRequest }> {
  const { capability, subject_id, restriction_id, call_id } = call
  const input = await openInput(kernel, tx, call)
  const request = { capability, input, subject_id, restriction_id, repeats_call_id: call_id }
  const provider = await getReadyProvider(kernel, tx, call.provider_key, (found) => expectRenderable(found, request))
  await expectExecutable(kernel, tx, provider, request)
  return { provider, request }
}

export interface EnteredAnswer {
  readonly result: AnswerRow['result']
  readonly media_type: string
  readonly content: string
  readonly reason: string
  /** Where the request has it. */
  readonly pointer: string
  /** The provider answered so, and the contract refuses it: it is kept in quarantine. */
  readonly is_unusable?: boolean
}

/** It says who entered it and why. 422 with every place that the contract refuses, so that whoever mistyped corrects it. */
export async function storeEnteredAnswer(
  kernel: Capabilities<'caches' | 'encryption' | 'threads'>,
  tx: Tx,
  { call, attempts, capability }: LoadedCall,
  entered: EnteredAnswer,
): Promise<void> {
  await assertAsStated(kernel, tx, call.contract_key, entered)
  const { result, media_type, content, reason } = entered
  const attempt = assertFound(attempts.at(-1))
  const answer = { source: 'person', result, http_status: null, headers: {}, media_type, duration_ms: null } as const
  await storeAnswer(kernel, tx, { call, attempt, capability }, { ...answer, bytes: Buffer.from(content), reason })
}

const MAX_ERRORS = 100

async function assertAsStated(
  kernel: Capabilities<'caches' | 'threads'>,
  tx: Tx,
  contract_key: string | null,
  { result, media_type, content, pointer, is_unusable = false }: EnteredAnswer,
): Promise<void> {
  const isJudged = contract_key !== null && result === 'found'
  const payload = { bytes: Buffer.from(content), media_type }
  const violations = isJudged ? await payloadStore.judgeEnteredPayload(kernel, tx, contract_key, payload) : []
  if (is_unusable && violations?.length === 0)
    fail('conflict', 'No source contract refuses this answer: enter it without is_unusable.')
  if (is_unusable || !violations || violations.length === 0) return
  fail('validation_failed', {
    detail:
      `The source contract ${contract_key} refuses this answer, and nothing was stored. Correct it; if the provider really ` +
      'answered so, enter it with is_unusable.',
    errors: violations.slice(0, MAX_ERRORS).map((violation) => ({
      in: 'body' as const,
      // Of a record only the place in the record is known.
      pointer: `${pointer}/content${violation.record_index === null ? violation.pointer : ''}`,
      detail: describeViolation(violation),
      keyword: violation.code,
    })),
  })
}

function describeViolation({ pointer, record_index, expected }: Violation): string {
  const record = record_index === null ? '' : ` of record ${record_index + 1}`
  return `${pointer === '' ? 'The answer' : pointer}${record}: expected ${expected}.`
}
