/** Keeping a decision and reading it back: nothing that was altered behind the service's back is given out as a decision. */
import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto'
import type { DecisionContent } from '../../../decision/document.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { fail, found } from '../../../kernel/problem.ts'
import type { Pinned } from '../../reference-data/index.ts'
import { deferEvaluation, findEvaluation, type WholeRow } from '../queries.ts'
import { contradictions, type EvaluationRow, recordText } from './rules.ts'

/** Of each kernel, the current one first, prepared once. */
const keys = new WeakMap<Kernel, readonly KeyObject[]>()
function keysOf(kernel: Kernel): readonly KeyObject[] {
  let derived = keys.get(kernel)
  if (!derived) {
    derived = kernel.integrity.all('evaluation-record').map((bytes) => createSecretKey(bytes))
    keys.set(kernel, derived)
  }
  return derived
}
const macWith = (key: KeyObject, text: string): string => createHmac('sha256', key).update(text).digest('hex')

export function keepEvaluation(
  kernel: Kernel,
  tx: Tx,
  row: Omit<EvaluationRow, 'mac'> & { readonly document: string },
): void {
  const mac = macWith(keysOf(kernel)[0] as KeyObject, recordText(tx.tenant_id, row))
  deferEvaluation(tx, { mac, ...row })
}

/** Tells whether a row is as this service wrote it, with whichever of its keys. */
export function createRecordCheck(kernel: Kernel, tenant_id: string): (row: EvaluationRow) => boolean {
  return (row) => {
    const text = recordText(tenant_id, row)
    return keysOf(kernel).some((key) => macWith(key, text) === row.mac)
  }
}

/** A decision as it is stored, and every way in which it is no longer what was decided. */
export interface Stored {
  readonly row: WholeRow
  /** Null where the document cannot be read at all. */
  readonly content: DecisionContent | null
  readonly manifest: readonly Pinned[]
  readonly faults: readonly string[]
}

export async function readStored(kernel: Kernel, tx: Tx, evaluation_id: string): Promise<Stored> {
  const row = found(await findEvaluation(tx, evaluation_id))
  const faults: string[] = []
  const content = parsed<DecisionContent>(row.document)
  if (hash('sha256', row.document, 'hex') !== row.document_hash) faults.push('The document no longer has its hash.')
  const wrong = content ? contradictionsOf(row, content) : []
  if (wrong.length > 0) faults.push(`Not as the document says: ${wrong.join(', ')}.`)
  if (!createRecordCheck(kernel, tx.tenant_id)(row)) faults.push('The record is not as this service wrote it.')
  const manifest = parsed<Pinned[]>(row.manifest ?? '')
  if (row.manifest === null || manifest === null) faults.push('The receipt is gone.')
  else if (hash('sha256', row.manifest, 'hex') !== row.receipt_hash || row.manifest_hash !== row.receipt_hash)
    faults.push('The receipt is not the one the decision was made on.')
  if (row.receipt_valid_at !== row.valid_at || row.receipt_known_at !== row.decided_at)
    faults.push('The receipt speaks of another time.')
  return { row, content, manifest: manifest ?? [], faults }
}

/** A document that was replaced may have any shape. */
function contradictionsOf(row: WholeRow, content: DecisionContent): string[] {
  try {
    return contradictions(row, content)
  } catch {
    return ['everything']
  }
}

/** For whoever shows or uses a decision. */
export async function expectIntact(kernel: Kernel, tx: Tx, evaluation_id: string) {
  const { row, content, manifest, faults } = await readStored(kernel, tx, evaluation_id)
  if (faults.length > 0 || content === null) return fail('content_corrupt')
  return { row, content, manifest }
}
export type Intact = Awaited<ReturnType<typeof expectIntact>>

function parsed<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T
  } catch {
    return null
  }
}
