/** SQL of resolution: pointers to what is in force, in one statement for all lists, and the receipts that pin them. */
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Family } from '../datasets/queries.ts'

export interface PointerRow {
  readonly list_key: string
  /** NULL: nothing is in force. */
  readonly via: 'tenant-own' | 'tenant-pin' | 'shared' | null
  readonly known: boolean
  readonly shadows_shared: boolean | null
  readonly dataset_tenant_id: string
  readonly dataset_id: string
  readonly version: number
  readonly label: string | null
  readonly type_tenant_id: string
  readonly type_key: string
  readonly type_version: number
  readonly content_hash: string
  readonly entry_count: number
  readonly data_bytes: number
  readonly effective_from: string
  readonly expires_at: string | null
  readonly activation_id: string
  readonly overlay_policy: 'none' | 'add_only' | 'tighten_only' | 'free'
  readonly overlay_dataset_id: string | null
  readonly overlay_version: number | null
  readonly overlay_activation_id: string | null
  readonly overlay_hash: string | null
  readonly overlay_count: number | null
  readonly overlay_base_version: number | null
  readonly now: string
}

/**
 * A single key is written as such: an array whose length PostgreSQL cannot know may be planned anew each time, which takes
 * several times as long as the answer.
 */
export const resolveLists = (
  tx: Tx,
  keys: readonly string[],
  clocks: { valid_at: string | null; known_at: string | null },
  family: Family = 'list',
) =>
  tx.query<PointerRow>(
    `select r.list_key, r.via, r.shadows_shared, r.dataset_tenant_id, r.dataset_id, r.version, v.label, v.type_tenant_id,
            v.type_key, v.type_version, v.content_hash, v.entry_count, v.data_bytes, r.effective_from, r.expires_at,
            r.activation_id, d.overlay_policy, r.overlay_dataset_id, r.overlay_version, r.overlay_activation_id,
            o.content_hash as overlay_hash, o.entry_count as overlay_count, o.base_version as overlay_base_version, statement_timestamp() as now,
            r.version is not null or exists (select 1 from app.dataset x where x.tenant_id in ($1, app.system_tenant())
              and x.family = $2 and x.list_key = r.list_key and x.role = 'base') as known
       from app.resolve_lists($2, ${keys.length === 1 ? 'array[$3::text]' : '$3::text[]'}, coalesce($4::timestamptz, statement_timestamp()), $5::timestamptz) r
       left join app.dataset_version v on v.tenant_id = r.dataset_tenant_id and v.dataset_id = r.dataset_id and v.version = r.version
       left join app.dataset d on d.tenant_id = r.dataset_tenant_id and d.dataset_id = r.dataset_id
       left join app.dataset_version o on o.tenant_id = $1 and o.dataset_id = r.overlay_dataset_id and o.version = r.overlay_version`,
    [tx.tenant_id, family, keys.length === 1 ? keys[0] : keys, clocks.valid_at, clocks.known_at],
  )

/** Waits for activations under way, so that the answer for a `known_at` of this minute never changes afterwards. */
export const lockActivationsShared = (tx: Tx, family: Family, keys: readonly string[]) =>
  tx.run(
    `select pg_advisory_xact_lock_shared(hashtextextended(name, 0)) from (
       select 'activation:' || t || ':' || $2::text || ':' || k as name
         from unnest(array[$1::text, app.system_tenant()::text]) t, unnest($3::text[]) k order by 1) names`,
    [tx.tenant_id, family, keys],
  )

export interface ReceiptRow {
  readonly receipt_id: string
  readonly consumer: string
  readonly valid_at: string
  readonly known_at: string
  readonly manifest: string
  readonly manifest_hash: string
  readonly created_at: string
  readonly created_by: string
}

const columns = 'receipt_id, consumer, valid_at, known_at, manifest, manifest_hash, created_at, created_by'

export const insertReceipt = (tx: Tx, receipt: Omit<ReceiptRow, 'created_at' | 'created_by'>) =>
  tx.find<ReceiptRow>(
    `insert into app.resolution_receipt (tenant_id, receipt_id, consumer, valid_at, known_at, manifest, manifest_hash, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
    [
      tx.tenant_id,
      receipt.receipt_id,
      receipt.consumer,
      receipt.valid_at,
      receipt.known_at,
      receipt.manifest,
      receipt.manifest_hash,
      tx.actor,
    ],
  )

export const findReceipt = (tx: Tx, receipt_id: string) =>
  tx.find<ReceiptRow>(`select ${columns} from app.resolution_receipt where tenant_id = $1 and receipt_id = $2`, [
    tx.tenant_id,
    receipt_id,
  ])
