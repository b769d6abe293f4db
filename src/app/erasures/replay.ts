/** Erases again what the ledger says was erased, after an older state of the database was restored. */

import { type AuditKeys, verifyStatement } from '#kernel/audit/chain.ts'
import { recordEvent } from '#kernel/audit/record.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Database, Tx } from '#kernel/database/tx.ts'
import { type ErasureLedger, isTenantDeletion, LedgerDamaged, type LedgerEntry } from '#kernel/erasure/ledger.ts'
import type { Kernel } from '#kernel/kernel.ts'
import { Problem } from '#kernel/problem.ts'
import { erasures } from '#modules/subjects/index.ts'
import { findOwnState, findSubjectState, hasUnlisted } from './queries.ts'

export interface ReplayTotals {
  readonly entries: number
  readonly replayed: number
  /** Subjects and tenants that the database does not have. */
  readonly absent: number
  /** Those that the restored state has as begun and that a legal hold keeps: they go on when it is released. */
  readonly waiting: number
  /** Those that could not be carried out, with the reason. The others were. */
  readonly failed: readonly FailedReplay[]
}

export interface FailedReplay {
  readonly tenant_id: string
  readonly erasure_id: string
  readonly reason: string
}

const ACTOR = 'operator:erasures'
const TENANT_IS_BACK = 'The tenant was deleted. Delete it again: npx probity tenant delete.'

/** The ledger says what is destroyed: an entry that nobody signed must not. */
function assertSigned(keys: AuditKeys, entry: LedgerEntry): void {
  const known = [keys, ...keys.earlier_keys].find(({ key_id }) => key_id === entry.key_id)
  if (!known || !verifyStatement('erasure-ledger', entry.hash, entry.signature, known.public_key))
    throw new LedgerDamaged(
      `Entry ${entry.seq} of the erasure ledger is not signed by a key of this installation. Nothing was erased for it.`,
    )
}

export async function replayErasures(
  { kernel, database }: { readonly kernel: Kernel; readonly database: Database },
  ledger: ErasureLedger,
  restored: readonly string[] = [],
): Promise<ReplayTotals> {
  const entries = await ledger.read()
  for (const entry of entries) assertSigned(kernel.auditKeys, entry)
  for (const tenant_id of restored) {
    const own = entries.filter((entry) => entry.tenant_id === tenant_id)
    if (await database.read(fullScope(tenant_id, ACTOR), (tx) => hasUnlisted(tx, own)))
      throw new LedgerDamaged(
        'The backup has erasures that the erasure ledger does not have: it is not the whole ledger.',
      )
  }
  let [replayed, absent, waiting] = [0, 0, 0]
  const failed: FailedReplay[] = []
  for (const entry of entries) {
    const { tenant_id, erasure_id, subject_id } = entry
    // One erasure must not keep all other tenants out.
    try {
      if (isTenantDeletion(entry)) {
        if (!(await database.read(fullScope(tenant_id, ACTOR), findOwnState))) absent++
        else failed.push({ tenant_id, erasure_id, reason: TENANT_IS_BACK })
        continue
      }
      const state = await database.read(fullScope(tenant_id, ACTOR), (tx) => findSubjectState(tx, subject_id))
      if (!state) absent++
      if (!state || state.is_erased) continue
      await replayEntry({ kernel, database }, ledger, entry)
      replayed++
    } catch (error) {
      if (error instanceof Problem && error.code === 'legal_hold') waiting++
      else failed.push({ tenant_id, erasure_id, reason: (error as Error).message })
    }
  }
  return { entries: entries.length, replayed, absent, waiting, failed }
}

async function replayEntry(
  { kernel, database }: { readonly kernel: Kernel; readonly database: Database },
  ledger: ErasureLedger,
  entry: LedgerEntry,
): Promise<void> {
  const { tenant_id, erasure_id, subject_id } = entry
  const scope = fullScope(tenant_id, ACTOR)
  const read = <T>(body: (tx: Tx) => Promise<T>) => database.read(scope, body)
  const write = <T>(body: (tx: Tx) => Promise<T>) => database.write(scope, body)
  await write(async (tx) => {
    await erasures.withdrawOtherErasures(tx, entry)
    await erasures.upsertReplayedErasure(tx, entry)
    recordEvent(tx, kernel.auditKeys, {
      operation: 'replayErasure',
      object_type: 'erasures',
      object_id: erasure_id,
      request_id: null,
      detail: { subject_id, ledger_seq: entry.seq },
      restriction_id: null,
    })
  })
  await erasures.runErasure({ ...kernel, erasureLedger: ledger }, { read, write }, { tenant_id, erasure_id })
}
