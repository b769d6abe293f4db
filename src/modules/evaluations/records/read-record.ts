/** Stores decisions with a MAC and checks it when they are read, so that rows altered in the database are detected. */
import { createHmac, hash, type KeyObject } from 'node:crypto'
import type { DecisionContent } from '#decision/document.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { OwnerKeyDestroyed } from '#kernel/encryption/failures.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { resolver } from '#modules/definitions/index.ts'

import { deferEvaluation, type EvaluationWithReceipt, findErasedAt, findEvaluation } from '../queries.ts'
import { type EvaluationRow, listMismatchedColumns, toMacInput } from './record.ts'
import { encryptDocument, type OpenedDocument, openDocuments } from './stored-document.ts'

const getMacKeys = (kernel: Capabilities<'integrity'>): readonly KeyObject[] =>
  kernel.integrity.macKeys('evaluation-record')
const computeMac = (key: KeyObject, text: string): string => createHmac('sha256', key).update(text).digest('hex')

export async function insertEvaluation(
  kernel: Capabilities<'encryption' | 'integrity'>,
  tx: Tx,
  row: Omit<EvaluationRow, 'mac'> & { readonly document: string },
): Promise<void> {
  const mac = computeMac(getMacKeys(kernel)[0] as KeyObject, toMacInput(tx.tenant_id, row))
  deferEvaluation(tx, { mac, ...row, document_encrypted: await encryptDocument(kernel, tx, row) })
}

/** Creates a check whether a row has a valid MAC, by any of the keys. */
export function createRecordCheck(
  kernel: Capabilities<'integrity'>,
  tenant_id: string,
): (row: EvaluationRow) => boolean {
  return (row) => {
    const text = toMacInput(tenant_id, row)
    return getMacKeys(kernel).some((key) => computeMac(key, text) === row.mac)
  }
}

/** As answers show a decision. */
export { toEvaluationView, toPinnedVersions } from './record.ts'

export type ReadCapabilities = Capabilities<'encryption' | 'integrity'>

/** A stored decision and all faults that were found in it. */
export interface StoredEvaluation {
  readonly row: EvaluationWithReceipt & {
    /** Empty where it cannot be decrypted. */
    readonly document: string
  }
  /** Null where the document cannot be parsed. */
  readonly content: DecisionContent | null
  readonly manifest: readonly resolver.PinnedVersion[]
  readonly faults: readonly string[]
}

/** What an erasure keeps of a decision, for the problem that is answered in its place. */
const toKeptMembers = async (tx: Tx, stored: EvaluationWithReceipt) => ({
  evaluation_id: stored.evaluation_id,
  subject_id: stored.subject_id,
  family: stored.family,
  definition_key: stored.definition_key,
  definition_version: stored.definition_version,
  band: stored.band,
  score_bps: stored.score_bps,
  hit: stored.hit,
  decided_at: stored.decided_at,
  erased_at: stored.subject_id === null ? null : await findErasedAt(tx, stored.subject_id),
  document_hash: stored.document_hash,
  receipt_hash: stored.receipt_hash,
})

/** Fails with `erased`, and what remains, where the subject was erased. */
export async function readEvaluation(
  kernel: ReadCapabilities,
  tx: Tx,
  evaluation_id: string,
): Promise<StoredEvaluation> {
  const { document_encrypted, ...stored } = assertFound(await findEvaluation(tx, evaluation_id))
  const [opened] = (await openDocuments(kernel, tx, [{ ...stored, document_encrypted }])) as [OpenedDocument]
  if (opened.state === 'erased') throw new OwnerKeyDestroyed(await toKeptMembers(tx, stored))
  const row = { ...stored, document: opened.document ?? '' }
  const faults: string[] = []
  const content = parseJson<DecisionContent>(row.document)
  if (opened.state === 'altered')
    faults.push(opened.document === null ? 'The document cannot be decrypted.' : 'The document no longer has its hash.')
  const wrong = content ? findContradictions(row, content) : []
  if (wrong.length > 0) faults.push(`Not as the document says: ${wrong.join(', ')}.`)
  if (!createRecordCheck(kernel, tx.tenant_id)(row)) faults.push('The record is not as this service wrote it.')
  const manifest = parseJson<resolver.PinnedVersion[]>(row.manifest ?? '')
  if (row.manifest === null || manifest === null) faults.push('The receipt is gone.')
  else if (hash('sha256', row.manifest, 'hex') !== row.receipt_hash || row.manifest_hash !== row.receipt_hash)
    faults.push('The receipt is not the one the decision was made on.')
  if (row.receipt_valid_at !== row.valid_at || row.receipt_known_at !== row.decided_at)
    faults.push('The receipt speaks of another time.')
  return { row, content, manifest: manifest ?? [], faults }
}

/** An altered document may have any shape. */
function findContradictions(row: EvaluationWithReceipt, content: DecisionContent): string[] {
  try {
    return listMismatchedColumns(row, content)
  } catch {
    return ['everything']
  }
}

/** Reads a decision and fails when it was altered. */
export async function getIntactEvaluation(kernel: ReadCapabilities, tx: Tx, evaluation_id: string) {
  const { row, content, manifest, faults } = await readEvaluation(kernel, tx, evaluation_id)
  if (faults.length > 0 || content === null) return fail('content_corrupt')
  return { row, content, manifest }
}
export type IntactEvaluation = Awaited<ReturnType<typeof getIntactEvaluation>>

function parseJson<T>(text: string): T | null {
  try {
    return JSON.parse(text) as T
  } catch {
    return null
  }
}
