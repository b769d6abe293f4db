/**
 * Replays a decision on the versions it pinned and reports identical bytes, differences or altered data. It trusts no column and
 * no cache, and stores nothing.
 */
import { type DecisionContent, findFormatFault, getSalt } from '#decision/document.ts'
import { engines } from '#decision/engines.ts'
import { withoutCaches } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, Problem } from '#kernel/problem.ts'
import { resolver, treeStore, versionStore } from '#modules/definitions/index.ts'

import { binding } from '#modules/risk-matrices/index.ts'

import { type FieldChange, listFieldChanges } from '#registry/content/json-patch.ts'
import { buildDocument } from './decide/decide.ts'
import { readEvaluation } from './records/read-record.ts'

const isCorrupt = (error: unknown): boolean => error instanceof Problem && error.code === 'content_corrupt'

export async function replay(
  kernel: binding.DecideCapabilities & Capabilities<'encryption' | 'integrity'>,
  tx: Tx,
  evaluation_id: string,
  runs: binding.PluginRuns,
) {
  const { row, content, manifest, faults } = await readEvaluation(kernel, tx, evaluation_id)
  const { engine, document_hash } = row
  const toResult = (verdict: 'identical' | 'different' | 'tampered', more: Partial<Details> = {}) => ({
    evaluation_id,
    verdict,
    engine,
    document_hash,
    ...NO_DETAILS,
    ...more,
    content,
  })
  if (content === null || faults.length > 0) return toResult('tampered', { faults: [...faults] })
  if (!engines.has(engine)) return toResult('different', { faults: [`This release has no engine ${engine}.`] })
  const unknown = findFormatFault(content)
  if (unknown !== null) return toResult('different', { faults: [unknown] })
  const fresh = withoutCaches(kernel)
  const again = await recompute(fresh, tx, { manifest, content, runs })
  if (typeof again === 'object' && 'document' in again && again.document === row.document) {
    return toResult('identical', { recomputed_hash: again.document_hash })
  }
  const damage = await findCorruptPins(fresh, tx, manifest)
  if (again === 'corrupt' || damage.length > 0)
    return toResult('tampered', { faults: damage.length > 0 ? damage : [PINNED_CONTENT_CHANGED] })
  if ('findings' in again) return toResult('different', { faults: again.findings.map(({ message }) => message) })
  const differences = listFieldChanges(content, again.content).map((change) => ({ ...change }))
  return toResult('different', { differences, recomputed_hash: again.document_hash })
}

interface Details {
  readonly faults: string[]
  readonly differences: FieldChange[]
  readonly recomputed_hash: string | null
}
const NO_DETAILS: Details = { faults: [], differences: [], recomputed_hash: null }
const PINNED_CONTENT_CHANGED = 'What the decision was made on is no longer what was pinned.'

/** The recomputed document, or the findings that prevent one, or that pinned data cannot be read. */
async function recompute(
  kernel: binding.DecideCapabilities,
  tx: Tx,
  {
    manifest,
    content,
    runs,
  }: {
    readonly manifest: readonly resolver.PinnedVersion[]
    readonly content: DecisionContent
    readonly runs: binding.PluginRuns
  },
) {
  try {
    const restored = { engine: content.engine, plugins: 'pinned' as const }
    const resolution = await binding.restoreResolution(kernel, tx, manifest, restored)
    const [decision] = (await binding.decideAll(kernel, tx, { ...resolution, runs }, [content.inputs])) as [
      binding.PinnedDecision,
    ]
    if (!decision.ok) return decision
    return buildDocument(resolution, content, decision, getSalt(content))
  } catch (error) {
    if (isCorrupt(error)) return 'corrupt'
    throw error
  }
}

/** The pinned versions whose content changed; a large list is compared by its hashes. */
async function findCorruptPins(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  manifest: readonly resolver.PinnedVersion[],
): Promise<string[]> {
  const faults: string[] = []
  for (const pin of manifest) {
    try {
      const [pointer] = await resolver.resolvePins(tx, [pin])
      const whole = pointer && (await resolver.loadList(kernel, tx, pointer))
      if (!whole)
        await treeStore.buildTree(
          (body) => body(tx),
          assertFound(await versionStore.findVersion(tx, toDatasetId(pin), pin.version)),
        )
    } catch (error) {
      if (!isCorrupt(error)) throw error
      faults.push(`Version ${pin.version} of ${pin.family ?? 'list'} ${pin.list_key} is no longer what was pinned.`)
    }
  }
  return faults
}

const toDatasetId = ({ dataset_tenant_id, dataset_id }: resolver.PinnedVersion) => ({
  tenant_id: dataset_tenant_id,
  dataset_id,
})
