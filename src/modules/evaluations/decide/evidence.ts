/**
 * Answers of providers as evidence of a decision. Facts of admitted payloads become the inputs that name them; the document pins the
 * version of the contract and a salted hash of the payload.
 */
import { hashPayload, type PinnedEvidence } from '#decision/document.ts'
import type { Input } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, type ProblemError } from '#kernel/problem.ts'
import { findCallResults } from '#modules/providers/index.ts'
import { evidenceStore } from '#modules/source-contracts/index.ts'
import { isEqualJson } from '#registry/content/json-patch.ts'

/** One cited call with what it says. */
export interface CitedCall {
  readonly admission_id: string
  readonly contract_key: string
  readonly contract_version: number
  readonly contract_hash: string
  readonly mode: PinnedEvidence['mode']
  readonly bytes: Uint8Array
  readonly facts: Readonly<Record<string, unknown>>
}

interface EvidenceRequest {
  readonly call_ids: readonly string[]
  readonly subject_id?: string | undefined
}

/** 404 for an unknown call; 409 for one without an answer, or whose answer is in quarantine, incomplete, stale or about another subject. */
export async function openCitedCalls(
  kernel: Capabilities<'caches' | 'encryption'>,
  tx: Tx,
  { call_ids, subject_id }: EvidenceRequest,
): Promise<CitedCall[]> {
  const now = Date.now()
  const cited: CitedCall[] = []
  for (const [index, call] of (await findCallResults(tx, call_ids)).entries()) {
    const refuse = (keyword: string, detail: string): never =>
      failEvidence([{ in: 'body', pointer: `#/call_ids/${index}`, detail, keyword }])
    if (call.subject_id !== null && call.subject_id !== (subject_id ?? null))
      refuse('evidence_of_another_subject', 'The call is about another subject than the one to be rated.')
    const { facts, bytes, fresh_until } = await evidenceStore.openEvidence(kernel, tx, call.admission_id)
    if (fresh_until !== null && Date.parse(fresh_until) < now)
      refuse('evidence_stale', `Its contract calls the answer fresh until ${fresh_until}.`)
    // The record that is missing may be the one that the decision is about.
    if (facts.incomplete)
      refuse('evidence_incomplete', 'Its contract refused some records of the answer; a decision needs all of them.')
    if (facts.records.length > 1)
      refuse('evidence_ambiguous', `The answer has ${facts.records.length} records; a decision reads one.`)
    const { contract_key, contract_version, contract_hash, admission_id } = facts
    if (cited.some((other) => other.contract_key === contract_key))
      refuse('evidence_repeated', `Another cited call has given the facts of ${contract_key} already.`)
    cited.push({
      ...{ admission_id, contract_key, contract_version, contract_hash, bytes },
      mode: call.mode === 'live' && call.environment === 'test' ? 'test' : call.mode,
      facts: facts.records[0]?.facts ?? {},
    })
  }
  return cited
}

function failEvidence(errors: readonly ProblemError[]): never {
  return fail('inputs_refused', { detail: `Nothing was decided. ${errors[0]?.detail ?? ''}`, errors: [...errors] })
}

export interface AppliedEvidence {
  readonly inputs: Readonly<Record<string, unknown>>
  readonly sources: readonly (CitedCall & { readonly reads: PinnedEvidence['inputs'] })[]
}

/** Facts for the inputs that name them. What the request states must not contradict them, and every cited call gives one. */
export function applyEvidence(
  declared: readonly Input[],
  given: Readonly<Record<string, unknown>>,
  cited: readonly CitedCall[],
): AppliedEvidence {
  const inputs: Record<string, unknown> = {}
  const errors: ProblemError[] = []
  const sources = cited.map((call, index) => {
    const reads = declared.flatMap(({ name, from }) =>
      from?.contract_key === call.contract_key && Object.hasOwn(call.facts, from.fact)
        ? [{ input: name, fact: from.fact }]
        : [],
    )
    for (const { input, fact } of reads) {
      inputs[input] = call.facts[fact]
      if (!Object.hasOwn(given, input) || isEqualJson(given[input], call.facts[fact])) continue
      const detail = `The input ${input} differs from the fact ${fact} of ${call.contract_key}.`
      errors.push({ in: 'body', pointer: `#/inputs/${input}`, detail, keyword: 'evidence_contradicted' })
    }
    if (!declared.some(({ from }) => from?.contract_key === call.contract_key)) {
      const detail = `No input comes from the source contract ${call.contract_key}.`
      errors.push({ in: 'body', pointer: `#/call_ids/${index}`, detail, keyword: 'evidence_unused' })
    }
    return { ...call, reads }
  })
  if (errors.length > 0) failEvidence(errors)
  return { inputs, sources }
}

export const toPinnedEvidence = ({ sources }: AppliedEvidence, salt: string): PinnedEvidence[] =>
  sources.map(({ contract_key, contract_version, contract_hash, bytes, mode, reads }) => ({
    contract_key,
    contract_version,
    contract_hash,
    payload_hash: hashPayload(salt, bytes),
    mode,
    inputs: reads,
  }))
