/** How calls are shown: states, attempts and the shape of the request, without values of the input or of the answer. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { type Capability, isUncharged } from './capability.ts'
import { loadCall } from './load-call.ts'
import { type AnswerRow, type AttemptRow, type CallRow, findRepeat, listAttempts, listResults } from './queries.ts'
import type { callStates } from './schema.ts'

type CallState = (typeof callStates)[number]
type LastAdmission = { readonly admission_id: string; readonly admitted: boolean } | undefined

/** A call that nothing continues is over: unknown where its request was sent, failed where it was not. */
export function getCallState(
  { is_abandoned }: Pick<CallRow, 'is_abandoned'>,
  attempts: readonly AttemptRow[],
  result: AnswerRow | undefined,
  admission: LastAdmission,
): CallState {
  if (result) return admission && !admission.admitted ? 'quarantined' : 'answered'
  const last = attempts.at(-1)
  if (last?.is_final) {
    if (last.outcome === 'unknown') return 'outcome_unknown'
    return last.outcome === 'refused' ? 'refused' : 'failed'
  }
  if (last && last.sent_at !== null && last.outcome === null) {
    return is_abandoned && last.is_overdue ? 'outcome_unknown' : 'sent'
  }
  return is_abandoned ? 'failed' : 'waiting'
}

/** Hundredths as people write them: 1240 is 12.40. */
export const formatMinor = (minor: number): string => {
  const digits = String(minor).padStart(3, '0')
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`
}
export const formatCost = (minor: number | null, currency: string | null): string | null =>
  minor === null || currency === null ? null : `${formatMinor(minor)} ${currency}`

export async function getCallItems(tx: Tx, calls: readonly CallRow[]) {
  if (calls.length === 0) return []
  const ids = calls.map(({ call_id }) => call_id)
  const attempts = await listAttempts(tx, ids)
  const results = new Map((await listResults(tx, ids)).map((row) => [row.call_id, row]))
  const admissions = new Map(
    (
      await payloadStore.findLastAdmissions(
        tx,
        [...results.values()].map(({ payload_id }) => payload_id),
      )
    ).map((row) => [row.payload_id, row]),
  )
  return calls.map((call) => {
    const own = attempts.filter(({ call_id }) => call_id === call.call_id)
    const result = results.get(call.call_id)
    return toItem(call, own, result, result && admissions.get(result.payload_id))
  })
}

function toItem(
  call: CallRow,
  attempts: readonly AttemptRow[],
  result: AnswerRow | undefined,
  admission: LastAdmission,
) {
  const { call_id, provider_key, provider_version, capability, contract_key, promise, mode, environment } = call
  const { subject_id, job_id, repeats_call_id, created_at, created_by } = call
  return {
    ...{ call_id, provider_key, provider_version, capability, contract_key },
    state: getCallState(call, attempts, result, admission),
    ...{ promise, mode, environment, subject_id, job_id, repeats_call_id },
    attempts: attempts.length,
    fault: result ? null : (attempts.findLast(({ fault }) => fault !== null)?.fault ?? null),
    answered_at: result?.answered_at ?? null,
    admission_id: admission?.admission_id ?? null,
    restriction_id: call.is_restricted ? call.restriction_id : null,
    ...{ created_at, created_by },
  }
}

export async function getCallView(kernel: Capabilities<'caches'>, tx: Tx, call_id: string) {
  const { call, attempts, result, capability } = await loadCall(kernel, tx, call_id)
  const [item] = await getCallItems(tx, [call])
  const [payload] = result ? await payloadStore.findStoredPayloads(tx, [result.payload_id]) : []
  return {
    ...(item as NonNullable<typeof item>),
    request: describeRequest(capability),
    attempts_made: attempts.map((attempt) => toAttemptView(capability, attempt)),
    answer:
      result && payload
        ? {
            source: result.source,
            result: result.result,
            http_status: result.http_status,
            payload_id: result.payload_id,
            media_type: payload.media_type,
            byte_size: payload.byte_size,
            answered_at: result.answered_at,
            answered_by: result.answered_by,
            reason: result.reason,
            made_by: result.made_by,
          }
        : null,
    repeated_by_call_id: (await findRepeat(tx, call_id))?.call_id ?? null,
  }
}

function toAttemptView(capability: Capability, attempt: AttemptRow) {
  // Time and cost are recorded before a request leaves: nothing did.
  const isUnsent = attempt.outcome === 'not_sent'
  const { attempt_no, page_no, token, intended_at, sent_at, deadline_at, outcome, fault, http_status, duration_ms } =
    attempt
  const { ended_at, credential_id, credential_version, cost_minor, currency } = attempt
  return {
    ...{
      attempt_no,
      page_no,
      token,
      intended_at,
      sent_at: isUnsent ? null : sent_at,
      deadline_at: isUnsent ? null : deadline_at,
      outcome,
      fault,
      http_status,
      duration_ms,
      ended_at,
    },
    cost: isUnsent ? null : formatCost(isUncharged(capability, outcome) ? 0 : cost_minor, currency),
    ...{ credential_id, credential_version },
  }
}

/** The template, and the names of its headers: neither values of the input nor credentials. */
function describeRequest(capability: Capability) {
  if (capability.kind === 'mcp') {
    const { manifest, declared } = capability
    return { method: 'tools/call', url: `mcp/${manifest.server_key}/${declared.tool}`, headers: [] }
  }
  if (capability.kind !== 'http') return null
  const { method, url, headers = {} } = capability.declared.request
  return { method, url, headers: Object.keys(headers).map((name) => name.toLowerCase()) }
}
