/**
 * Replaying a decision on what it pinned: the same bytes, or what differs, or what was altered. It believes no column and no
 * cache, and stores nothing.
 */
import { type DecisionContent, findFormatFault, saltOf } from '../../../decision/document.ts'
import { engines } from '../../../decision/engines.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { found, Problem } from '../../../kernel/problem.ts'
import { type Change, changesOf } from '../../../registry/content/patch.ts'
import { buildTree, findVersion, type Pinned, repin, wholeList } from '../../reference-data/index.ts'
import { decideWith, resolutionOf } from '../../risk-matrices/index.ts'
import { documentOf } from '../decide/actions.ts'
import { readStored } from '../records/actions.ts'

const isCorrupt = (error: unknown): boolean => error instanceof Problem && error.code === 'content_corrupt'

/** A kernel with nothing remembered: what is examined is what is stored, not what a process still has in mind. */
const forgetful = (kernel: Kernel): Kernel => Object.create(kernel) as Kernel

export async function replay(kernel: Kernel, tx: Tx, evaluation_id: string) {
  const { row, content, manifest, faults } = await readStored(kernel, tx, evaluation_id)
  const { engine, document_hash } = row
  const told = (verdict: 'identical' | 'different' | 'tampered', more: Partial<Details> = {}) => ({
    evaluation_id,
    verdict,
    engine,
    document_hash,
    ...NOTHING,
    ...more,
  })
  if (content === null || faults.length > 0) return told('tampered', { faults: [...faults] })
  if (!engines.has(engine)) return told('different', { faults: [`This release has no engine ${engine}.`] })
  const unknown = findFormatFault(content)
  if (unknown !== null) return told('different', { faults: [unknown] })
  const fresh = forgetful(kernel)
  const again = await recompute(fresh, tx, manifest, content)
  if (typeof again === 'object' && 'document' in again && again.document === row.document) {
    return told('identical', { recomputed_hash: again.document_hash })
  }
  const damage = await damaged(fresh, tx, manifest)
  if (again === 'corrupt' || damage.length > 0) return told('tampered', { faults: damage.length > 0 ? damage : [LOST] })
  if ('findings' in again) return told('different', { faults: again.findings.map(({ message }) => message) })
  const differences = changesOf(content, again.content).map((change) => ({ ...change }))
  return told('different', { differences, recomputed_hash: again.document_hash })
}

interface Details {
  readonly faults: string[]
  readonly differences: Change[]
  readonly recomputed_hash: string | null
}
const NOTHING: Details = { faults: [], differences: [], recomputed_hash: null }
const LOST = 'What the decision was made on is no longer what was pinned.'

/** The document again, or why nothing is decided now, or that what was pinned cannot be read. */
async function recompute(kernel: Kernel, tx: Tx, manifest: readonly Pinned[], content: DecisionContent) {
  try {
    const resolution = await resolutionOf(kernel, tx, manifest, content.engine)
    const decision = await decideWith(kernel, tx, resolution, content.inputs)
    if (!decision.ok) return decision
    return documentOf(resolution, content.inputs, content.valid_at, decision, saltOf(content))
  } catch (error) {
    if (isCorrupt(error)) return 'corrupt'
    throw error
  }
}

/** Which of the pinned things are no longer what they were; a list that is too large to be held is told by its hashes. */
async function damaged(kernel: Kernel, tx: Tx, manifest: readonly Pinned[]): Promise<string[]> {
  const faults: string[] = []
  for (const pin of manifest) {
    try {
      const [pointer] = await repin(tx, [pin])
      const whole = pointer && (await wholeList(kernel, tx, pointer))
      if (!whole) await buildTree((body) => body(tx), found(await findVersion(tx, datasetOf(pin), pin.version)))
    } catch (error) {
      if (!isCorrupt(error)) throw error
      faults.push(`Version ${pin.version} of ${pin.family ?? 'list'} ${pin.list_key} is no longer what was pinned.`)
    }
  }
  return faults
}

const datasetOf = ({ dataset_tenant_id, dataset_id }: Pinned) => ({ tenant_id: dataset_tenant_id, dataset_id })
