/** Reads results of a batch: all items as a file, or one item with its recomputed explanation. */
import { NeedsPrecompute } from '#kernel/database/precompute.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { OwnerKeyDestroyed } from '#kernel/encryption/failures.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail, Problem } from '#kernel/problem.ts'
import type { resolver } from '#modules/definitions/index.ts'
import { buildDocument, decisionRecords, toOutcomeView } from '#modules/evaluations/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'

import { writeEntries } from '#registry/export.ts'
import { loadPlan } from '../create-batch.ts'
import type { ItemRow } from '../decide/item-results.ts'
import { findBatch, findItem, listItems } from '../queries.ts'
import { BatchItem } from '../schema.ts'
import type { RunInTx } from '../source/read-items.ts'
import { openItems } from '../stored-items.ts'
import { toItemView } from './batch-views.ts'

/** Decides the item again on the pinned versions and fails unless the document is identical. */
export async function explainItem(
  kernel: binding.DecideCapabilities & Capabilities<'encryption'>,
  tx: Tx,
  batch_id: string,
  seq: number,
) {
  const batch = assertFound(await findBatch(tx, batch_id))
  const [item] = (await openItems(kernel, tx, batch_id, [assertFound(await findItem(tx, batch_id, seq))])) as [ItemRow]
  const { subject_id, inputs, document_hash, document_salt, is_erased } = item
  if (is_erased) throw new OwnerKeyDestroyed({ batch_id, seq, document_hash })
  if (inputs === null || document_hash === null)
    return fail('transition_not_allowed', `Item ${seq} failed: nothing was decided that could be explained.`)
  const { resolution, asked_at } = await loadPlan(kernel, tx, batch, 'pinned')
  const decision = await binding.decideWith(kernel, tx, resolution, inputs)
  if (!decision.ok) return fail('content_corrupt')
  const made = buildDocument(resolution, { inputs, valid_at: asked_at }, decision, document_salt)
  if (made.document_hash !== document_hash || !matchesOutcome(item, made.content.outcome))
    return fail('content_corrupt')
  return {
    ...{ batch_id, seq, subject_id, document_hash },
    // The receipt is intact: loading the plan has checked it.
    ...decisionRecords.toPinnedVersions(made.content, JSON.parse(batch.manifest) as resolver.PinnedVersion[]),
    outcome: toOutcomeView(decision.outcome),
    explanation: decision.explanation,
  }
}

/** How a batch decided about a subject; null where it did not, where nothing can be explained, or where a plugin would have to run. */
export async function explainSubject(
  kernel: binding.DecideCapabilities & Capabilities<'encryption'>,
  tx: Tx,
  batch_id: string,
  subject_id: string,
) {
  const [item] = await listItems(tx, batch_id, { subject_id, state: 'done' }, { after_seq: 0, count: 1 })
  if (!item) return null
  try {
    return await explainItem(kernel, tx, batch_id, item.seq)
  } catch (error) {
    if (error instanceof Problem || error instanceof NeedsPrecompute) return null
    throw error
  }
}

/** The columns of the item must agree with the document. */
function matchesOutcome(item: ItemRow, outcome: Parameters<typeof toOutcomeView>[0]): boolean {
  const { band, score_bps, hit } = toOutcomeView(outcome)
  return item.band === band && item.score_bps === score_bps && item.hit === hit
}

const PAGE_ITEMS = 1000

/** Reads page by page, so that memory stays bounded. */
export function exportItems(
  kernel: Capabilities<'encryption'>,
  read: RunInTx,
  batch_id: string,
  { format, formula_guard }: { readonly format: 'csv' | 'ndjson'; readonly formula_guard: boolean },
): AsyncIterable<Buffer> {
  const texts = async function* () {
    let after_seq = 0
    for (;;) {
      const items = await read(async (tx) =>
        openItems(kernel, tx, batch_id, await listItems(tx, batch_id, {}, { after_seq, count: PAGE_ITEMS })),
      )
      if (items.length > 0) yield items.map((item) => JSON.stringify(toItemView(item))).join('\n')
      if (items.length < PAGE_ITEMS) return
      after_seq = (items.at(-1) as ItemRow).seq
    }
  }
  return writeEntries(texts(), { schema: BatchItem as unknown as Record<string, unknown> }, format, formula_guard)
}
