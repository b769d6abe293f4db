/** SQL of resolution: pointers to the versions in force, in one statement for all lists, and receipts that pin them. */
import { shownActor } from '#kernel/database/actor-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { DatasetFamily } from '../datasets/queries.ts'

export interface PointerRow {
  readonly family: DatasetFamily
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
  /** Number of activations by the tenant, and by the operator, when this was read. */
  readonly own_epoch: number
  readonly shared_epoch: number
  /** When the next activation starts or ends by the clock; NULL: never. */
  readonly until: string | null
  readonly now: string
}

/** A pointer row with a version in force. */
export type VersionPointer = PointerRow & { readonly via: NonNullable<PointerRow['via']> }

/** A pointer without the time of resolution, so that it stays equal until an activation changes it. */
export type ListPointer = Omit<VersionPointer, 'now'>

/** The part of a pointer that identifies content, which is all that reading it needs. */
export type ContentPointer = ContentRow & {
  readonly via: NonNullable<PointerRow['via']>
  /** Of a plugin that is pinned: what it runs with. */
  readonly configuration_hash?: string
  readonly sandbox_hash?: string
}

/** `r` is a row of app.resolve_lists with its family. */
export const selectPointers = (source: string): string =>
  `select r.family, r.list_key, r.via, r.shadows_shared, r.dataset_tenant_id, r.dataset_id, r.version, v.label, v.type_tenant_id,
          v.type_key, v.type_version, v.content_hash, v.entry_count, v.data_bytes, r.effective_from, r.expires_at,
          r.activation_id, d.overlay_policy, r.overlay_dataset_id, r.overlay_version, r.overlay_activation_id,
          o.content_hash as overlay_hash, o.entry_count as overlay_count, o.base_version as overlay_base_version, statement_timestamp() as now,
          coalesce((select epoch from app.activation_epoch where tenant_id = $1), 0) as own_epoch,
          coalesce((select epoch from app.activation_epoch where tenant_id = (select app.system_tenant())), 0) as shared_epoch,
          (select min(instant) from app.activation a, unnest(array[a.effective_from, a.expires_at]) instant
            where a.tenant_id in ($1, (select app.system_tenant())) and a.family = r.family and a.list_key = r.list_key
              and a.revoked_at is null and instant > statement_timestamp()) as until,
          r.version is not null or exists (select 1 from app.dataset x where x.tenant_id in ($1, app.system_tenant())
            and x.family = r.family and x.list_key = r.list_key and x.role = 'base') as known
     from (${source}) r
     left join app.dataset_version v on v.tenant_id = r.dataset_tenant_id and v.dataset_id = r.dataset_id and v.version = r.version
     left join app.dataset d on d.tenant_id = r.dataset_tenant_id and d.dataset_id = r.dataset_id
     left join app.dataset_version o on o.tenant_id = $1 and o.dataset_id = r.overlay_dataset_id and o.version = r.overlay_version`

export const selectInForce = (family: string, keys: string): string =>
  `select ${family} as family, l.* from app.resolve_lists(${family}, ${keys}, coalesce($4::timestamptz, statement_timestamp()), $5::timestamptz) l`

/**
 * A single key is a scalar parameter: PostgreSQL may plan an array of unknown length again each time, which takes several
 * times as long as the query.
 */
export const listPointers = (
  tx: Tx,
  keys: readonly string[],
  clocks: { valid_at: string | null; known_at: string | null },
  family: DatasetFamily = 'list',
) =>
  tx.query<PointerRow>(
    selectPointers(selectInForce('$2::text', keys.length === 1 ? 'array[$3::text]' : '$3::text[]')),
    [tx.tenant_id, family, keys.length === 1 ? keys[0] : keys, clocks.valid_at, clocks.known_at],
  )

/**
 * A definition and the lists it reads in one statement, so that concurrent activations cannot mix versions of two instants.
 */
export const listDefinitionPointers = (
  tx: Tx,
  definition: { family: DatasetFamily; key: string },
  list_keys: readonly string[],
  clocks: { valid_at: string | null; known_at: string | null },
) =>
  tx.query<PointerRow>(
    selectPointers(
      `${selectInForce('$2::text', 'array[$3::text]')} union all ${selectInForce(`'list'`, '$6::text[]')}`,
    ),
    [tx.tenant_id, definition.family, definition.key, clocks.valid_at, clocks.known_at, list_keys],
  )

export interface EpochRow {
  readonly own_epoch: number
  readonly shared_epoch: number
  readonly now: string
}

/** The current epochs: a read of two small rows, whatever the number of lists. */
export const findEpochs = (tx: Tx) =>
  tx.find<EpochRow>(
    `select coalesce(max(epoch) filter (where tenant_id = $1), 0) as own_epoch,
            coalesce(max(epoch) filter (where tenant_id <> $1), 0) as shared_epoch, statement_timestamp() as now
       from app.activation_epoch where tenant_id in ($1, (select app.system_tenant()))`,
    [tx.tenant_id],
  )

/** Identifies content exactly, without a clock: the part of a pointer that a receipt stores. */
export interface PinnedVersion {
  readonly family?: DatasetFamily
  readonly list_key: string
  readonly via: string
  readonly dataset_tenant_id: string
  readonly dataset_id: string
  readonly version: number
  readonly content_hash: string
  readonly type_key: string
  readonly type_version: number
  readonly overlay_dataset_id: string | null
  readonly overlay_version: number | null
  readonly overlay_hash: string | null
  /** The policy at the time of the receipt; the list may change it later. */
  readonly overlay_policy?: PointerRow['overlay_policy']
  /** Of a plugin: what it ran with. */
  readonly configuration_hash?: string
  readonly sandbox_hash?: string
}

/** The part of a pointer that does not depend on the time of resolution. */
export type ContentRow = Omit<
  PointerRow,
  | 'known'
  | 'shadows_shared'
  | 'effective_from'
  | 'expires_at'
  | 'activation_id'
  | 'overlay_activation_id'
  | keyof EpochRow
  | 'until'
>

/** Versions by the numbers in a receipt. Missing ones are absent; the caller compares hashes. */
export const listPinnedVersions = (tx: Tx, pinned: readonly PinnedVersion[]) =>
  tx.query<ContentRow>(
    `select p.family, p.list_key, p.via, p.dataset_tenant_id, p.dataset_id, v.version, v.label, v.type_tenant_id, v.type_key,
            v.type_version, v.content_hash, v.entry_count, v.data_bytes, d.overlay_policy, p.overlay_dataset_id,
            p.overlay_version, o.content_hash as overlay_hash, o.entry_count as overlay_count,
            o.base_version as overlay_base_version
       from jsonb_to_recordset($2::jsonb) as p (family text, list_key text, via text, dataset_tenant_id uuid, dataset_id uuid,
              version bigint, overlay_dataset_id uuid, overlay_version bigint)
       join app.dataset d on d.tenant_id = p.dataset_tenant_id and d.dataset_id = p.dataset_id
       join app.dataset_version v on v.tenant_id = p.dataset_tenant_id and v.dataset_id = p.dataset_id and v.version = p.version
       left join app.dataset_version o on o.tenant_id = $1 and o.dataset_id = p.overlay_dataset_id and o.version = p.overlay_version`,
    [tx.tenant_id, JSON.stringify(pinned.map((one) => ({ family: 'list', ...one })))],
  )

/** Waits for activations in progress, so that an answer for a recent `known_at` cannot change afterwards. */
export const lockActivationsShared = (tx: Tx, family: DatasetFamily, keys: readonly string[]) =>
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

const ownColumns = 'receipt_id, consumer, valid_at, known_at, manifest, manifest_hash, created_at'
const columns = `${ownColumns}, created_by`

export type NewReceipt = Omit<ReceiptRow, 'created_at' | 'created_by'>

const insertReceiptSql = `insert into app.resolution_receipt
  (tenant_id, receipt_id, consumer, valid_at, known_at, manifest, manifest_hash, created_by)
  values ($1, $2, $3, $4, $5, $6, $7, $8)`
const toReceiptValues = (tx: Tx, receipt: NewReceipt): unknown[] => [
  tx.tenant_id,
  receipt.receipt_id,
  receipt.consumer,
  receipt.valid_at,
  receipt.known_at,
  receipt.manifest,
  receipt.manifest_hash,
  tx.actor,
]

export const insertReceipt = (tx: Tx, receipt: NewReceipt) =>
  tx.find<ReceiptRow>(`${insertReceiptSql} returning ${columns}`, toReceiptValues(tx, receipt))

/** Sent in the same pipeline as COMMIT, before statements deferred later. */
export const deferReceipt = (tx: Tx, receipt: NewReceipt): void =>
  tx.defer(insertReceiptSql, toReceiptValues(tx, receipt))

const shownColumns = `${ownColumns}, ${shownActor('r', 'created_by')} as created_by`

export const findReceipt = (tx: Tx, receipt_id: string) =>
  tx.find<ReceiptRow>(`select ${shownColumns} from app.resolution_receipt r where tenant_id = $1 and receipt_id = $2`, [
    tx.tenant_id,
    receipt_id,
  ])
