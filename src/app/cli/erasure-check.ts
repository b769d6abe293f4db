/** Check of the doctor: whether the erasure ledger and the database have the same erasures. */
import type { Database } from '#kernel/database/tx.ts'
import type { ErasureLedger } from '#kernel/erasure/ledger.ts'
import { createLedgerCheck } from '../erasures/ledger-check.ts'
import { type Finding, failFinding, okFinding, skipFinding } from './machine-checks.ts'

export async function checkErasureLedger(
  ledger: ErasureLedger | null,
  { app, worker }: { readonly app: Pick<Database, 'read'>; readonly worker: Pick<Database, 'one'> },
): Promise<Finding> {
  const name = 'erasures'
  const { status, detail, entries } = await createLedgerCheck(ledger, app, () => worker)()
  if (status === 'ok') return okFinding(name, `the ledger and the database have the same erasures (${entries})`)
  if (status === 'not_configured') return skipFinding(name, String(detail))
  return failFinding(
    name,
    String(detail),
    'Put the whole ledger of this installation back: see Erasure in docs/operations.md.',
  )
}
