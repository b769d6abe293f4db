/** SQL of overlays: reads all inputs of one in a single statement, and replaces its entries in another. */
import type { Tx } from '#kernel/database/tx.ts'
import { type datasetStore, resolver, type typeStore, versionStore } from '#modules/definitions/index.ts'
import type { StagedRow } from '#registry/import/copy-rows.ts'

const sharedColumns = ['tenant_id', 'dataset_id', 'type_tenant_id', 'type_key', 'title', 'overlay_policy'] as const
const typeColumns = ['tenant_id', 'type_key', 'type_version', 'definition', 'definition_hash'] as const

export type SharedList = Pick<datasetStore.DatasetRow, (typeof sharedColumns)[number]>
export type BaseTypeRow = Pick<typeStore.TypeRow, (typeof typeColumns)[number]>

export interface OverlayBaseRow {
  /** Null where no list with this key is shared. */
  readonly shared: SharedList | null
  readonly pointer: resolver.PointerRow
  readonly type: BaseTypeRow | null
  /** Null until the tenant has an overlay. */
  readonly overlay: Pick<datasetStore.DatasetRow, 'tenant_id' | 'dataset_id'> | null
}

/** The shared list, its version in force with the type, and the tenant's overlay. */
export async function findOverlayBase(tx: Tx, list_key: string): Promise<OverlayBaseRow | undefined> {
  const row = await tx.find<resolver.PointerRow & Omit<OverlayBaseRow, 'pointer'>>(
    `select p.*, to_jsonb(s) as shared, to_jsonb(t) as type, to_jsonb(o) as overlay
       from (${resolver.selectPointers(resolver.selectInForce('$2::text', 'array[$3::text]'))}) p
       left join (select ${sharedColumns.join(', ')} from app.dataset
                   where tenant_id = app.system_tenant() and family = $2 and list_key = $3 and role = 'base') s on true
       left join (select tenant_id, dataset_id from app.dataset
                   where tenant_id = $1 and family = $2 and list_key = $3 and role = 'overlay') o on true
       left join lateral (select ${typeColumns.join(', ')} from app.dataset_type
                   where tenant_id = p.type_tenant_id and type_key = p.type_key and type_version = p.type_version) t on true`,
    [tx.tenant_id, 'list', list_key, null, null],
  )
  if (!row) return undefined
  const { shared, type, overlay, ...pointer } = row
  return { shared, type, overlay, pointer }
}

export interface OpenEntryRow {
  readonly key: string
  readonly op: 'put' | 'merge' | 'remove'
  readonly hash: Buffer
  readonly base_hash: Buffer | null
}

/** The entries of the newest version without their data. */
export const listOpenEntries = (tx: Tx, dataset_id: string) =>
  tx.query<OpenEntryRow>(
    `select key, op, hash, base_hash from app.dataset_entry
      where tenant_id = $1 and dataset_id = $2 and v_to = ${versionStore.OPEN_VERSION}`,
    [tx.tenant_id, dataset_id],
  )

/** Closes replaced entries and inserts new ones of a version. */
export const replaceEntries = (
  tx: Tx,
  { dataset_id, version }: { readonly dataset_id: string; readonly version: number },
  closed_keys: readonly string[],
  new_rows: readonly StagedRow[],
) =>
  tx.run(
    `with closed as (
       update app.dataset_entry set v_to = $3
        where tenant_id = $1 and dataset_id = $2 and key = any ($4::text[]) and v_to = ${versionStore.OPEN_VERSION})
     insert into app.dataset_entry (tenant_id, dataset_id, key, v_from, op, hash, base_hash, data)
     select $1, $2, key, $3, op, decode(hash, 'hex'), decode(base_hash, 'hex'), data
       from unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[]) as s (key, op, hash, base_hash, data)
      order by key`,
    [
      tx.tenant_id,
      dataset_id,
      version,
      closed_keys,
      new_rows.map(({ key }) => key),
      new_rows.map(({ op = 'put' }) => op),
      new_rows.map(({ hash }) => hash),
      new_rows.map(({ base_hash = null }) => base_hash),
      new_rows.map(({ text }) => text),
    ],
  )
