/** Replays the evidence of a decision: reads the stored answers of providers again and compares them with what the document pins. */
import { type DecisionContent, getEvidence, getSalt, hashPayload, type PinnedEvidence } from '#decision/document.ts'
import type { Scope } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { evidenceStore } from '#modules/source-contracts/index.ts'
import { isEqualJson } from '#registry/content/json-patch.ts'

type Verdict = 'identical' | 'different' | 'tampered'
type Reread = Awaited<ReturnType<typeof evidenceStore.rereadEvidence>>[number]
type PayloadState = 'verified' | 'removed' | 'altered'

interface Replayed {
  readonly evaluation_id: string
  readonly verdict: Verdict
  readonly faults: string[]
  /** Null where the document cannot be parsed. */
  readonly content: DecisionContent | null
}

/** The verdict with what the evidence adds to it. A document that is not intact says nothing about its evidence. */
export async function replayEvidence(
  kernel: Capabilities<'caches' | 'encryption' | 'threads' | 'transactions'>,
  scope: Scope,
  { evaluation_id, verdict, faults, content }: Replayed,
) {
  const pinned = content && verdict !== 'tampered' ? getEvidence(content) : []
  if (content === null || pinned.length === 0) return { evidence: [] }
  const consumer = { consumer_kind: 'evaluation', consumer_id: evaluation_id }
  const reread = await evidenceStore.rereadEvidence(kernel, scope, consumer).catch((error: unknown) => {
    if (error instanceof Problem && error.code === 'content_corrupt') return []
    throw error
  })
  const evidence = pinned.map((one) => ({
    contract_key: one.contract_key,
    contract_version: one.contract_version,
    payload: compareEvidence(
      content,
      one,
      reread.find(({ contract_key }) => contract_key === one.contract_key),
    ),
  }))
  const altered = evidence.filter(({ payload }) => payload === 'altered')
  if (altered.length === 0) return { evidence }
  const found = altered.map(
    ({ contract_key }) => `The answer that gave the facts of ${contract_key} is no longer what was pinned.`,
  )
  return { evidence, verdict: 'tampered' as const, faults: [...faults, ...found] }
}

function compareEvidence(content: DecisionContent, pinned: PinnedEvidence, found: Reread | undefined): PayloadState {
  if (!found) return 'altered'
  const isSameContract =
    found.contract_version === pinned.contract_version && found.contract_hash === pinned.contract_hash
  const facts = found.records[0]?.facts ?? {}
  const isSameFacts = pinned.inputs.every(({ input, fact }) => isEqualJson(content.inputs[input], facts[fact]))
  if (!isSameContract || !isSameFacts) return 'altered'
  if (found.bytes === null) return 'removed'
  return hashPayload(getSalt(content) ?? '', found.bytes) === pinned.payload_hash ? 'verified' : 'altered'
}
