/** SQL of the draft, the profile and the referenced lists of a definition. */
import type { Tx } from '#kernel/database/tx.ts'

/** A definition is a dataset of its own family; these columns identify it. */
export interface DatasetId {
  readonly tenant_id: string
  readonly dataset_id: string
}

export interface DraftRow {
  readonly definition: Record<string, unknown>
  readonly based_on: number | null
  readonly revision: number
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
}
const draftColumns = 'definition, based_on, revision, created_at, created_by, updated_at, updated_by'

export const findDraft = (tx: Tx, { dataset_id }: DatasetId) =>
  tx.find<DraftRow>(`select ${draftColumns} from app.definition_draft where tenant_id = $1 and dataset_id = $2`, [
    tx.tenant_id,
    dataset_id,
  ])

export const listDrafts = (tx: Tx, of: readonly DatasetId[]) =>
  tx.query<DraftRow & { readonly dataset_id: string }>(
    `select dataset_id, ${draftColumns} from app.definition_draft where tenant_id = $1 and dataset_id = any ($2)`,
    [tx.tenant_id, of.map(({ dataset_id }) => dataset_id)],
  )

export const lockDraft = (tx: Tx, { dataset_id }: DatasetId) =>
  tx.find<DraftRow>(
    `select ${draftColumns} from app.definition_draft where tenant_id = $1 and dataset_id = $2 for update`,
    [tx.tenant_id, dataset_id],
  )

/** Returns nothing when a draft exists already. */
export const insertDraft = (tx: Tx, { dataset_id }: DatasetId, definition: object, based_on: number | null) =>
  tx.find<DraftRow>(
    `insert into app.definition_draft (tenant_id, dataset_id, definition, based_on, created_by, updated_by)
     values ($1, $2, $3::jsonb, $4, $5, $5) on conflict do nothing returning ${draftColumns}`,
    [tx.tenant_id, dataset_id, JSON.stringify(definition), based_on, tx.actor],
  )

export const updateDraft = (tx: Tx, { dataset_id }: DatasetId, definition: object) =>
  tx.find<DraftRow>(
    `update app.definition_draft set definition = $3::jsonb, revision = revision + 1, updated_at = now(), updated_by = $4
      where tenant_id = $1 and dataset_id = $2 returning ${draftColumns}`,
    [tx.tenant_id, dataset_id, JSON.stringify(definition), tx.actor],
  )

export const removeDraft = (tx: Tx, { dataset_id }: DatasetId) =>
  tx.run('delete from app.definition_draft where tenant_id = $1 and dataset_id = $2', [tx.tenant_id, dataset_id])

export interface ProfileRow {
  readonly subject_types: string[]
  readonly products: string[]
  readonly typologies: string[]
}

export const findProfiles = (tx: Tx, of: readonly DatasetId[]) =>
  tx.query<ProfileRow & DatasetId>(
    `select p.tenant_id, p.dataset_id, p.subject_types, p.products, p.typologies
       from unnest($1::uuid[], $2::uuid[]) as w (tenant_id, dataset_id)
       join app.definition_profile p on p.tenant_id = w.tenant_id and p.dataset_id = w.dataset_id`,
    [of.map(({ tenant_id }) => tenant_id), of.map(({ dataset_id }) => dataset_id)],
  )

export const upsertProfile = (tx: Tx, { dataset_id }: DatasetId, profile: ProfileRow) =>
  tx.run(
    `insert into app.definition_profile (tenant_id, dataset_id, subject_types, products, typologies) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id, dataset_id) do update
        set subject_types = excluded.subject_types, products = excluded.products, typologies = excluded.typologies`,
    [tx.tenant_id, dataset_id, profile.subject_types, profile.products, profile.typologies],
  )

export const insertReferences = (tx: Tx, { dataset_id }: DatasetId, version: number, list_keys: readonly string[]) =>
  tx.run(
    `insert into app.definition_reference (tenant_id, dataset_id, version, list_key)
     select $1, $2, $3, list_key from unnest($4::text[]) list_key on conflict do nothing`,
    [tx.tenant_id, dataset_id, version, list_keys],
  )

/** Definitions of which any version reads the list: the tenant's and the shared ones. */
export const listReferencingDefinitions = (tx: Tx, list_key: string) =>
  tx.query<{ family: string; key: string }>(
    `select distinct d.family, d.list_key as key from app.definition_reference r
       join app.dataset d on d.tenant_id = r.tenant_id and d.dataset_id = r.dataset_id
      where r.tenant_id in ($1, app.system_tenant()) and r.list_key = $2 order by 1, 2`,
    [tx.tenant_id, list_key],
  )

/** Instants after `from` and after now at which the definition, one of its lists or a plugin changes, earliest first. */
export const listUpcomingChanges = (
  tx: Tx,
  { family, key }: { readonly family: string; readonly key: string },
  from: string | null,
  count: number,
) =>
  tx.query<{ at: string }>(
    `select distinct a.effective_from as at from app.activation a
      where a.tenant_id in ($1, app.system_tenant()) and a.revoked_at is null
        and a.effective_from > greatest(statement_timestamp(), $4::timestamptz)
        and ((a.family = $2 and a.list_key = $3) or ($2 = 'matrix' and a.family = 'plugin') or (a.family = 'list' and a.list_key in (
          select r.list_key from app.definition_reference r
            join app.dataset d on d.tenant_id = r.tenant_id and d.dataset_id = r.dataset_id
           where r.tenant_id in ($1, app.system_tenant()) and d.family = $2 and d.list_key = $3)))
      order by 1 limit $5`,
    [tx.tenant_id, family, key, from, count],
  )

/**
 * Held until the transaction ends. Serialises concurrent changes of a list and a definition, so that the later one sees the
 * earlier one.
 */
export const lockDefinitions = (tx: Tx) =>
  tx.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`definitions:${tx.tenant_id}`])
