/** SQL of datasets. A tenant sees its own and the shared ones, and may own one with the key of a shared one. */
import type { Static } from 'typebox'
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { GuardSettings } from '../versions/guards.ts'
import type { Origin } from './origin.ts'
import type { Dataset } from './schema.ts'

/** A row of app.definition_family. */
export type DatasetFamily = string
export type OverlayPolicy = 'none' | 'add_only' | 'tighten_only' | 'free'

export interface DatasetRow {
  readonly tenant_id: string
  readonly dataset_id: string
  readonly family: DatasetFamily
  readonly list_key: string
  readonly role: 'base' | 'overlay'
  readonly base_tenant_id: string | null
  readonly base_dataset_id: string | null
  readonly type_tenant_id: string
  readonly type_key: string
  readonly title: string
  readonly description: string | null
  readonly owner: string | null
  readonly review_every_days: number | null
  readonly stale_after_days: number | null
  readonly guards: GuardSettings
  readonly overlay_policy: OverlayPolicy
  readonly head_version: number
  readonly state: 'live' | 'archived'
  readonly revision: number
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
}

export const datasetColumns = `tenant_id, dataset_id, family, list_key, role, base_tenant_id, base_dataset_id, type_tenant_id,
  type_key, title, description, owner, review_every_days, stale_after_days, guards, overlay_policy, head_version, state,
  revision, created_at, created_by, updated_at`

/**
 * The dataset a reader means by a key: of the given owner, or else the one in force, then the tenant's own, then the shared
 * one.
 */
export const findDataset = (tx: Tx, list_key: string, family: DatasetFamily = 'list', origin: Origin | null = null) =>
  tx.find<DatasetRow>(
    `select ${datasetColumns} from app.dataset
      where tenant_id in ($1, app.system_tenant()) and family = $2 and list_key = $3 and role = 'base'
        and ($4::text is null or (tenant_id = $1) = ($4 = 'own'))
      order by (dataset_id is not distinct from (select r.dataset_id
                  from app.resolve_lists($2, array[$3::text], statement_timestamp(), null) r)) desc,
               (tenant_id = $1) desc limit 1`,
    [tx.tenant_id, family, list_key, origin],
  )

/**
 * The dataset a writer means by a key: the tenant's own. Returns the shared one only when there is no other; callers refuse
 * it.
 */
export const findDatasetForWrite = (tx: Tx, list_key: string, family: DatasetFamily = 'list') =>
  tx.find<DatasetRow>(
    `select ${datasetColumns} from app.dataset
      where tenant_id in ($1, app.system_tenant()) and family = $2 and list_key = $3 and role = 'base'
      order by (tenant_id = $1) desc limit 1`,
    [tx.tenant_id, family, list_key],
  )

export const findSharedDataset = (tx: Tx, list_key: string, family: DatasetFamily = 'list') =>
  tx.find<DatasetRow>(
    `select ${datasetColumns} from app.dataset
      where tenant_id = app.system_tenant() and family = $1 and list_key = $2 and role = 'base'`,
    [family, list_key],
  )

export const findOverlay = (tx: Tx, list_key: string, family: DatasetFamily = 'list') =>
  tx.find<DatasetRow>(
    `select ${datasetColumns} from app.dataset where tenant_id = $1 and family = $2 and list_key = $3 and role = 'overlay'`,
    [tx.tenant_id, family, list_key],
  )

/** Serialises publishing and activation of this list only. */
export const lockDataset = (tx: Tx, dataset_id: string) =>
  tx.find<DatasetRow>(`select ${datasetColumns} from app.dataset where tenant_id = $1 and dataset_id = $2 for update`, [
    tx.tenant_id,
    dataset_id,
  ])

export interface NewDatasetRow {
  readonly dataset_id: string
  readonly family: DatasetFamily
  readonly list_key: string
  readonly role: 'base' | 'overlay'
  readonly base_tenant_id?: string | null
  readonly base_dataset_id?: string | null
  readonly type_tenant_id: string
  readonly type_key: string
  readonly title: string
  readonly description?: string | null
  readonly owner?: string | null
  readonly review_every_days?: number | null
  readonly stale_after_days?: number | null
  readonly guards?: GuardSettings
  readonly overlay_policy?: OverlayPolicy
}

export const insertDataset = (tx: Tx, dataset: NewDatasetRow) =>
  tx.find<DatasetRow>(
    `insert into app.dataset (tenant_id, dataset_id, family, list_key, role, base_tenant_id, base_dataset_id, type_tenant_id,
       type_key, title, description, owner, review_every_days, stale_after_days, guards, overlay_policy, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15::jsonb, $16, $17)
     returning ${datasetColumns}`,
    [
      tx.tenant_id,
      dataset.dataset_id,
      dataset.family,
      dataset.list_key,
      dataset.role,
      dataset.base_tenant_id ?? null,
      dataset.base_dataset_id ?? null,
      dataset.type_tenant_id,
      dataset.type_key,
      dataset.title,
      dataset.description ?? null,
      dataset.owner ?? null,
      dataset.review_every_days ?? null,
      dataset.stale_after_days ?? null,
      JSON.stringify(dataset.guards ?? {}),
      dataset.overlay_policy ?? 'none',
      tx.actor,
    ],
  )

export const updateDataset = (tx: Tx, dataset: DatasetRow) =>
  tx.find<DatasetRow>(
    `update app.dataset set title = $3, description = $4, owner = $5, review_every_days = $6, stale_after_days = $7,
        guards = $8::jsonb, state = $9, revision = revision + 1, updated_at = now()
      where tenant_id = $1 and dataset_id = $2 returning ${datasetColumns}`,
    [
      tx.tenant_id,
      dataset.dataset_id,
      dataset.title,
      dataset.description,
      dataset.owner,
      dataset.review_every_days,
      dataset.stale_after_days,
      JSON.stringify(dataset.guards),
      dataset.state,
    ],
  )

type DatasetView = Static<typeof Dataset>

export interface DatasetViewRow extends DatasetRow {
  readonly origin: Origin
  readonly active: DatasetView['active']
  readonly pending: DatasetView['pending']
  readonly versions: DatasetView['versions']
  readonly versions_total: number
  readonly stale_since: string | null
  readonly review_due_at: string | null
}

const formatInstant = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

/**
 * From when the age of the version in force counts. A tenant that puts its own list in force retroactively says since when it is
 * used; a seed's start only says since when decisions may use it.
 */
const inUseSince = `case when r.via = 'tenant-own' then least(v.created_at, r.effective_from) else v.created_at end`

/**
 * Since when the version in force is older than its limit, or null. Of the dataset `d`, what is in force `r` and its version `v`;
 * every page that says "stale" must compute it from here.
 */
export const staleSinceExpression = `case when ${inUseSince} + d.stale_after_days * interval '1 day' < statement_timestamp()
       then ${inUseSince} + d.stale_after_days * interval '1 day' end`

/** `d` is a dataset row. Instants inside JSON have the same format as all others. */
const viewColumns = `${datasetColumns
  .split(',')
  .map((name) => `d.${name.trim()}`)
  .join(', ')},
  case when d.tenant_id = $1 then 'own' else 'shared' end as origin, d.head_version as versions_total,
  case when v.version is not null then jsonb_build_object('version', r.version, 'via', r.via, 'content_hash', v.content_hash,
    'effective_from', ${formatInstant('r.effective_from')}, 'overlay_version', r.overlay_version) end as active,
  (select coalesce(jsonb_agg(p order by p ->> 'effective_from'), '[]') from (
     select jsonb_build_object('version', a.version, 'effective_from', ${formatInstant('a.effective_from')}, 'reason', a.reason) as p
       from app.activation a where a.tenant_id = d.tenant_id and a.family = d.family and a.list_key = d.list_key
        and a.effective_from > statement_timestamp() and a.revoked_at is null order by a.effective_from limit 50) x) as pending,
  (select coalesce(jsonb_agg(s order by (s ->> 'version')::bigint desc), '[]') from (
     select jsonb_build_object('version', v.version, 'label', v.label, 'state', v.state, 'content_hash', v.content_hash,
              'entry_count', v.entry_count, 'created_at', ${formatInstant('v.created_at')}) as s
       from app.dataset_version v where v.tenant_id = d.tenant_id and v.dataset_id = d.dataset_id
      order by v.version desc limit 50) y) as versions,
  ${staleSinceExpression} as stale_since,
  (select max(v.created_at) + d.review_every_days * interval '1 day' from app.dataset_version v
    where v.tenant_id = d.tenant_id and v.dataset_id = d.dataset_id) as review_due_at`

/** `r` and `v` are computed once per list: what is in force, and its version. */
const viewSource = `app.dataset d
  left join lateral app.resolve_lists(d.family, array[d.list_key], statement_timestamp(), null) r
    on r.dataset_tenant_id = d.tenant_id and r.dataset_id = d.dataset_id
  left join app.dataset_version v on v.tenant_id = r.dataset_tenant_id and v.dataset_id = r.dataset_id and v.version = r.version`

export const listDatasets = (
  tx: Tx,
  filter: {
    family?: DatasetFamily
    origin: string | null
    state: string | null
    type_key: string | null
    key_prefix: string | null
    /** Only definitions with this tag. */
    typology?: string | null
  },
  after: PagePosition,
  count: number,
) =>
  tx.query<DatasetViewRow>(
    `select ${viewColumns} from ${viewSource}
      where d.tenant_id in ($1, app.system_tenant()) and d.family = $9 and d.role = 'base'
        and ($2::text is null or (d.tenant_id = $1) = ($2 = 'own')) and ($3::text is null or d.state = $3)
        and ($4::text is null or d.type_key = $4)
        and ($5::text is null or (d.list_key collate "C" >= $5 and d.list_key collate "C" < $5 || '~'))
        and ($6::text is null or (d.list_key, d.dataset_id) > ($6, $7::uuid))
        and ($10::text is null or exists (select 1 from app.definition_profile p
              where p.tenant_id = d.tenant_id and p.dataset_id = d.dataset_id and $10 = any (p.typologies)))
      order by d.list_key, d.dataset_id limit $8`,
    [
      tx.tenant_id,
      filter.origin,
      filter.state,
      filter.type_key,
      filter.key_prefix,
      after?.[0] ?? null,
      after?.[1] ?? null,
      count,
      filter.family ?? 'list',
      filter.typology ?? null,
    ],
  )

export const findDatasetView = (
  tx: Tx,
  list_key: string,
  family: DatasetFamily = 'list',
  origin: Origin | null = null,
) =>
  tx.find<DatasetViewRow>(
    `select ${viewColumns} from ${viewSource}
      where d.tenant_id in ($1, app.system_tenant()) and d.family = $3 and d.list_key = $2 and d.role = 'base'
        and ($4::text is null or (d.tenant_id = $1) = ($4 = 'own'))
      order by (v.version is not null) desc, (d.tenant_id = $1) desc limit 1`,
    [tx.tenant_id, list_key, family, origin],
  )

export interface DependentRow {
  /** overlay, pin, or the family of a definition. */
  readonly kind: string
  readonly key: string
  readonly version: number | null
  readonly detail: string
}

/**
 * What of this tenant uses the list: its overlay, and the definitions in force that read it. Empty while another owner's
 * list is in force under the key.
 */
export const listDependents = (tx: Tx, { list_key, dataset_id }: Pick<DatasetRow, 'list_key' | 'dataset_id'>) =>
  tx.query<DependentRow>(
    `select case when r.overlay_version is not null then 'overlay' else 'pin' end as kind, r.list_key as key,
            coalesce(r.overlay_version, r.version) as version,
            case when r.overlay_version is not null then 'The overlay in force applies to this list.'
                 else 'The list is pinned to this version.' end as detail
       from app.resolve_lists('list', array[$1::text], statement_timestamp(), null) r
      where r.dataset_id = $3 and (r.overlay_version is not null or r.via = 'tenant-pin')
      union all
     select d.family, d.list_key, r.version,
            case when d.tenant_id = $2 then 'The version in force reads this list.'
                 else 'The version in force, shared by all tenants, reads this list.' end
       from app.definition_reference f join app.dataset d on d.tenant_id = f.tenant_id and d.dataset_id = f.dataset_id
      cross join lateral app.resolve_lists(d.family, array[d.list_key], statement_timestamp(), null) r
      where f.tenant_id in ($2, app.system_tenant()) and f.list_key = $1
        and r.dataset_tenant_id = d.tenant_id and r.dataset_id = d.dataset_id and r.version = f.version
        and exists (select 1 from app.resolve_lists('list', array[$1::text], statement_timestamp(), null) l where l.dataset_id = $3)
      order by 1, 2`,
    [list_key, tx.tenant_id, dataset_id],
  )
