/** SQL of stored difference summaries. */
import type { Tx } from '#kernel/database/tx.ts'

interface DatasetId {
  readonly tenant_id: string
  readonly dataset_id: string
}

export interface VersionRange {
  readonly from: number
  readonly to: number
}

export interface FieldCount {
  readonly pointer: string
  readonly changed: number
}

export interface DifferenceCounts {
  readonly added: number
  readonly removed: number
  readonly changed: number
}

export interface SummaryRow extends DifferenceCounts {
  readonly fields: readonly FieldCount[]
}

/** Operator and tenant may both have stored one; their contents are equal. */
export const findSummary = (tx: Tx, of: DatasetId, { from, to }: VersionRange) =>
  tx.find<SummaryRow>(
    `select added, removed, changed, fields from app.dataset_difference
      where dataset_tenant_id = $1 and dataset_id = $2 and from_version = $3 and to_version = $4 limit 1`,
    [of.tenant_id, of.dataset_id, from, to],
  )

export const insertSummary = (
  tx: Tx,
  of: DatasetId,
  { from, to }: VersionRange,
  { added, removed, changed, fields }: SummaryRow,
) =>
  tx.run(
    `insert into app.dataset_difference
       (tenant_id, dataset_tenant_id, dataset_id, from_version, to_version, added, removed, changed, fields)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9::jsonb) on conflict do nothing`,
    [tx.tenant_id, of.tenant_id, of.dataset_id, from, to, added, removed, changed, JSON.stringify(fields)],
  )

/** Upper bound of the number of keys that differ: the sum over the versions in between. */
export const sumDifferences = async (tx: Tx, of: DatasetId, { from, to }: VersionRange): Promise<number> => {
  const row = await tx.find<{ keys: number }>(
    `select coalesce(sum((difference->>'added')::bigint + (difference->>'removed')::bigint + (difference->>'changed')::bigint), 0)::bigint as keys
       from app.dataset_version where tenant_id = $1 and dataset_id = $2
        and version > least($3::bigint, $4::bigint) and version <= greatest($3::bigint, $4::bigint)`,
    [of.tenant_id, of.dataset_id, from, to],
  )
  return row?.keys ?? 0
}
