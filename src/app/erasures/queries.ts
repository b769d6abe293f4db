/** SQL that compares the erasure ledger with the database, inside one tenant. */
import type { Tx } from '#kernel/database/tx.ts'
import type { LedgerEntry } from '#kernel/erasure/ledger.ts'

/** Of these entries, those whose subject is there and neither erased nor being erased. */
export const listUnerased = async (tx: Tx, entries: readonly LedgerEntry[]): Promise<ReadonlySet<string>> => {
  const rows = await tx.query<{ erasure_id: string }>(
    `select e.erasure_id from unnest($2::uuid[], $3::uuid[]) as e (erasure_id, subject_id)
       join app.subject s on s.tenant_id = $1 and s.subject_id = e.subject_id
      where s.erased_at is null and not exists (
        select 1 from app.erasure x where x.tenant_id = $1 and x.erasure_id = e.erasure_id and x.state = 'executing')`,
    [tx.tenant_id, entries.map(({ erasure_id }) => erasure_id), entries.map(({ subject_id }) => subject_id)],
  )
  return new Set(rows.map(({ erasure_id }) => erasure_id))
}

/** Whether an erasure of the tenant is done whose entry is not among these. */
export const hasUnlisted = async (tx: Tx, entries: readonly LedgerEntry[]): Promise<boolean> =>
  (await tx.find(
    `select 1 from app.erasure where tenant_id = $1 and state = 'done' and ledger_hash <> all ($2::text[]) limit 1`,
    [tx.tenant_id, entries.map(({ hash }) => hash)],
  )) !== undefined

export const findSubjectState = (tx: Tx, subject_id: string) =>
  tx.find<{ is_erased: boolean }>(
    'select erased_at is not null as is_erased from app.subject where tenant_id = $1 and subject_id = $2',
    [tx.tenant_id, subject_id],
  )

/** The state of the tenant of the transaction; undefined: there is no such tenant. */
export const findOwnState = async (tx: Tx): Promise<string | undefined> =>
  (await tx.find<{ state: string }>('select state from app.tenant where tenant_id = $1', [tx.tenant_id]))?.state

/** The same of all tenants, as worker. */
export const hasUnlistedAnywhere = async (tx: Tx, entries: readonly LedgerEntry[]): Promise<boolean> =>
  (await tx.find(
    `select 1 as found from app.erasure where state = 'done' and ledger_hash <> all ($1::text[]) limit 1`,
    [entries.map(({ hash }) => hash)],
  )) !== undefined
