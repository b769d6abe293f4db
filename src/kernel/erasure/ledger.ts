/**
 * The erasure ledger: which subjects were erased and which tenants deleted, kept outside the database. An older state of the database that is restored
 * contains the subject and its key again; replaying the ledger erases them again. It holds ids only.
 */
import { hash } from 'node:crypto'
import type { NamedRow } from './erasure-class.ts'

export interface LedgerFacts {
  readonly erasure_id: string
  readonly tenant_id: string
  readonly subject_id: string
  readonly requested_by: string
  readonly confirmed_by: string
  readonly confirmed_at: string
  /** Rows that the request named; absent where it named none. */
  readonly also?: readonly NamedRow[]
}

export interface LedgerEntry extends LedgerFacts {
  readonly seq: number
  /** Hash of the entry before; 64 zeros for the first. */
  readonly prev_hash: string
  readonly hash: string
  /** Of `hash`, by the key that signs checkpoints of the audit record. */
  readonly key_id: string
  readonly signature: string
}

/** The entry of a whole tenant names it in the place of a subject: no subject has the id of its tenant. */
export const isTenantDeletion = ({ tenant_id, subject_id }: LedgerFacts): boolean => tenant_id === subject_id

export interface LedgerSigner {
  readonly key_id: string
  sign(hash: string): string
}

/** A file is one implementation; an object store can be another. */
export interface ErasureLedger {
  /** Resolves when the entry is stored durably. An erasure that is in the ledger already is not added again. */
  append(facts: LedgerFacts, signer: LedgerSigner): Promise<LedgerEntry>
  /** All entries, oldest first. Throws `LedgerDamaged` where one was altered or removed. */
  read(): Promise<readonly LedgerEntry[]>
  /** Changes with every entry, and is cheap to ask for; null: there is no ledger yet. */
  readVersion(): Promise<string | null>
}

export class LedgerDamaged extends Error {
  override readonly name = 'LedgerDamaged'
}

export const LEDGER_START = '0'.repeat(64)

export const hashEntry = (entry: Omit<LedgerEntry, 'hash' | 'key_id' | 'signature'>): string =>
  hash(
    'sha256',
    JSON.stringify([
      'probity-erasure-ledger',
      entry.seq,
      entry.prev_hash,
      entry.erasure_id,
      entry.tenant_id,
      entry.subject_id,
      entry.requested_by,
      entry.confirmed_by,
      entry.confirmed_at,
      ...(entry.also ?? []).map((row) => [row.class, row.id]),
    ]),
    'hex',
  )

/** The entry that follows `last`. */
export function createEntry(facts: LedgerFacts, last: LedgerEntry | undefined, signer: LedgerSigner): LedgerEntry {
  const { erasure_id, tenant_id, subject_id, requested_by, confirmed_by, confirmed_at, also } = facts
  const content = {
    seq: (last?.seq ?? 0) + 1,
    prev_hash: last?.hash ?? LEDGER_START,
    ...{ erasure_id, tenant_id, subject_id, requested_by, confirmed_by, confirmed_at, ...(also && { also }) },
  }
  const digest = hashEntry(content)
  return { ...content, hash: digest, key_id: signer.key_id, signature: signer.sign(digest) }
}

export function assertChained(entries: readonly LedgerEntry[]): void {
  let prev_hash = LEDGER_START
  for (const [at, entry] of entries.entries()) {
    if (entry.seq !== at + 1 || entry.prev_hash !== prev_hash || entry.hash !== hashEntry(entry))
      throw new LedgerDamaged(`Entry ${at + 1} of the erasure ledger was altered, or one before it was removed.`)
    prev_hash = entry.hash
  }
}
