/** SQL of dataset types. A tenant sees its own and the shared ones. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { TypeDefinition } from '#registry/types/type-definition.ts'

export interface TypeRow {
  readonly tenant_id: string
  readonly type_key: string
  readonly type_version: number
  readonly definition: Omit<TypeDefinition, 'type_key' | 'type_version'>
  readonly definition_hash: string
  readonly compatibility: 'backward' | 'none'
  readonly created_at: string
  readonly created_by: string
}

const columns = 'tenant_id, type_key, type_version, definition, definition_hash, compatibility, created_at, created_by'

/** The newest version of each type, by key; own types before shared ones. */
export const listTypes = (tx: Tx, origin: 'own' | 'shared' | null, after: PagePosition, count: number) =>
  tx.query<TypeRow>(
    `select distinct on (type_key, tenant_id) ${columns} from app.dataset_type
      where tenant_id in ($1, app.system_tenant())
        and ($2::text is null or (tenant_id = $1) = ($2 = 'own'))
        and ($3::text is null or (type_key, tenant_id) > ($3, $4::uuid))
      order by type_key, tenant_id, type_version desc limit $5`,
    [tx.tenant_id, origin, after?.[0] ?? null, after?.[1] ?? null, count],
  )

/** Own before shared, so that an older tenant type keeps its name. */
export const findType = (tx: Tx, type_key: string, type_version: number | null = null) =>
  tx.find<TypeRow>(
    `select ${columns} from app.dataset_type
      where tenant_id in ($1, app.system_tenant()) and type_key = $2 and ($3::bigint is null or type_version = $3)
      order by (tenant_id = $1) desc, type_version desc limit 1`,
    [tx.tenant_id, type_key, type_version],
  )

/** The newest version of a shared type, whatever type of that name the tenant owns. */
export const findSharedType = (tx: Tx, type_key: string) =>
  tx.find<TypeRow>(
    `select ${columns} from app.dataset_type where tenant_id = app.system_tenant() and type_key = $1
      order by type_version desc limit 1`,
    [type_key],
  )

export const findTypeVersion = (tx: Tx, tenant_id: string, type_key: string, type_version: number) =>
  tx.find<TypeRow>(
    `select ${columns} from app.dataset_type where tenant_id = $1 and type_key = $2 and type_version = $3`,
    [tenant_id, type_key, type_version],
  )

export const listTypeVersions = (
  tx: Tx,
  { tenant_id, type_key }: Pick<TypeRow, 'tenant_id' | 'type_key'>,
  after: PagePosition,
  count: number,
) =>
  tx.query<TypeRow>(
    `select ${columns} from app.dataset_type where tenant_id = $1 and type_key = $2
        and ($3::bigint is null or type_version < $3) order by type_version desc limit $4`,
    [tenant_id, type_key, after?.[0] ?? null, count],
  )

/** Serialises writers of a type, so that version numbers have no gaps. */
export const lockType = (tx: Tx, type_key: string) =>
  tx.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`dataset-type:${tx.tenant_id}:${type_key}`])

export const insertType = (tx: Tx, type: Omit<TypeRow, 'tenant_id' | 'created_at' | 'created_by'>) =>
  tx.find<TypeRow>(
    `insert into app.dataset_type (tenant_id, type_key, type_version, definition, definition_hash, compatibility, created_by)
     values ($1, $2, $3, $4::jsonb, $5, $6, $7) returning ${columns}`,
    [
      tx.tenant_id,
      type.type_key,
      type.type_version,
      JSON.stringify(type.definition),
      type.definition_hash,
      type.compatibility,
      tx.actor,
    ],
  )

export interface TypedVersionRow {
  readonly list_key: string
  readonly dataset_id: string
  readonly version: number
}

/** Versions in force now or later that were validated with any version of the caller's type. */
export const listVersionsInForceOfType = (tx: Tx, type_key: string) =>
  tx.query<TypedVersionRow>(
    `select distinct a.list_key, a.dataset_id, a.version
       from app.activation a join app.dataset d on d.tenant_id = a.dataset_tenant_id and d.dataset_id = a.dataset_id
      where a.tenant_id = $1 and d.type_tenant_id = $1 and d.type_key = $2 and a.revoked_at is null and a.layer = 'base'
        and (a.effective_from > now() or a.activation_id = (
          select b.activation_id from app.activation b where b.tenant_id = $1 and b.family = a.family and b.list_key = a.list_key
             and b.layer = 'base' and b.revoked_at is null and b.effective_from <= now()
           order by b.effective_from desc, b.seq desc limit 1))
      order by a.list_key, a.version`,
    [tx.tenant_id, type_key],
  )
