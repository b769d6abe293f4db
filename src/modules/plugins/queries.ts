/** SQL of plugins: validation results, grants, configurations, switches, invocations and the status for readiness. */
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { PluginReason } from './model.ts'

/** Escapes of U+0000 and of lone surrogates, as far as they are not escaped themselves. */
const UNSTORABLE = /(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

/** Code of a plugin may write any text, and jsonb does not take all of them. */
const toStorableJson = (value: unknown): string => JSON.stringify(value).replaceAll(UNSTORABLE, '$1\\ufffd')

export interface VersionId {
  readonly tenant_id: string
  readonly dataset_id: string
  readonly version: number
}

export interface ValidationRow {
  readonly sandbox_hash: string
  readonly content_hash: string
  readonly valid: boolean
  readonly reasons: readonly PluginReason[]
  readonly fuel_max: number | null
  readonly validated_at: string
}

const validationColumns = 'sandbox_hash, content_hash, valid, reasons, fuel_max, validated_at'

/** Newest first. */
export const listValidations = (tx: Tx, { tenant_id, dataset_id, version }: VersionId) =>
  tx.query<ValidationRow>(
    `select ${validationColumns} from app.plugin_validation where tenant_id = $1 and dataset_id = $2 and version = $3
      order by validated_at desc, sandbox_hash`,
    [tenant_id, dataset_id, version],
  )

/** The results of many versions at once, for listings. */
export const listValidationsByVersion = (tx: Tx, versions: readonly VersionId[]) =>
  tx.query<ValidationRow & VersionId>(
    `select v.tenant_id, v.dataset_id, v.version, ${validationColumns}
       from unnest($1::uuid[], $2::uuid[], $3::bigint[]) as w (tenant_id, dataset_id, version)
       join app.plugin_validation v on v.tenant_id = w.tenant_id and v.dataset_id = w.dataset_id and v.version = w.version
      order by v.validated_at desc, v.sandbox_hash`,
    [
      versions.map(({ tenant_id }) => tenant_id),
      versions.map(({ dataset_id }) => dataset_id),
      versions.map(({ version }) => version),
    ],
  )

/** Under any build of the sandbox: what a plugin is does not depend on the build. Null where no version was ever valid. */
export const findNewestValidVersion = async (
  tx: Tx,
  { tenant_id, dataset_id }: Pick<VersionId, 'tenant_id' | 'dataset_id'>,
): Promise<number | null> => {
  const found = await tx.find<{ version: number | null }>(
    'select max(version) as version from app.plugin_validation where tenant_id = $1 and dataset_id = $2 and valid',
    [tenant_id, dataset_id],
  )
  return found?.version ?? null
}

/** Two processes may validate at the same time: the result is the same, and the first is kept. */
export const insertValidation = (tx: Tx, of: VersionId, result: Omit<ValidationRow, 'validated_at'>) =>
  tx.run(
    `insert into app.plugin_validation
       (tenant_id, dataset_id, version, sandbox_hash, content_hash, valid, reasons, fuel_max, validated_by)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9) on conflict do nothing`,
    [
      of.tenant_id,
      of.dataset_id,
      of.version,
      result.sandbox_hash,
      result.content_hash,
      result.valid,
      toStorableJson(result.reasons),
      result.fuel_max,
      tx.actor,
    ],
  )

/** Versions of this owner's plugins without a result under a build of the sandbox. */
export const listUnvalidatedVersions = (tx: Tx, sandbox_hash: string, count: number) =>
  tx.query<{ plugin_key: string; dataset_id: string; version: number }>(
    `select d.list_key as plugin_key, v.dataset_id, v.version from app.dataset d
       join app.dataset_version v on v.tenant_id = d.tenant_id and v.dataset_id = d.dataset_id
      where d.tenant_id = $1 and d.family = 'plugin'
        and not exists (select 1 from app.plugin_validation r where r.tenant_id = v.tenant_id and r.dataset_id = v.dataset_id
                           and r.version = v.version and r.sandbox_hash = $2)
      order by d.list_key, v.version limit $3`,
    [tx.tenant_id, sandbox_hash, count],
  )

export interface SettingsRow {
  readonly disabled: boolean
  readonly disabled_reason: string | null
  readonly switch_revision: number
  readonly lists: readonly string[]
  readonly hosts: readonly string[]
  readonly grant_revision: number
  /** Canonical JSON; NULL: never configured. */
  readonly configuration: string | null
  readonly configuration_hash: string | null
  readonly configuration_revision: number
}

/** How the tenant uses a plugin, own or shared, in one statement. */
export const listSettings = (tx: Tx, plugin_keys: readonly string[]) =>
  tx.query<SettingsRow & { readonly plugin_key: string }>(
    `select k.plugin_key, coalesce(s.disabled, false) as disabled, s.reason as disabled_reason,
            coalesce(s.revision, 0) as switch_revision, coalesce(g.lists, '{}') as lists, coalesce(g.hosts, '{}') as hosts,
            coalesce(g.revision, 0) as grant_revision, c.configuration, c.configuration_hash,
            coalesce(c.revision, 0) as configuration_revision
       from unnest($2::text[]) as k (plugin_key)
       left join app.plugin_switch s on s.tenant_id = $1 and s.plugin_key = k.plugin_key
       left join lateral (select lists, hosts, revision from app.plugin_grant x
                           where x.tenant_id = $1 and x.plugin_key = k.plugin_key order by x.revision desc limit 1) g on true
       left join lateral (select configuration, configuration_hash, revision from app.plugin_configuration x
                           where x.tenant_id = $1 and x.plugin_key = k.plugin_key order by x.revision desc limit 1) c on true`,
    [tx.tenant_id, plugin_keys],
  )

/** Serialises changes of how the tenant uses a plugin. */
export const lockSettings = (tx: Tx, plugin_key: string) =>
  tx.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`plugin-settings:${tx.tenant_id}:${plugin_key}`])

export interface GrantRow {
  readonly plugin_key: string
  readonly revision: number
  readonly lists: readonly string[]
  readonly hosts: readonly string[]
  readonly reason: string
  readonly granted_at: string
  readonly granted_by: string
}

export const insertGrant = (tx: Tx, grant: Omit<GrantRow, 'granted_at' | 'granted_by'>) =>
  tx.find<GrantRow>(
    `insert into app.plugin_grant (tenant_id, plugin_key, revision, lists, hosts, reason, granted_by)
     values ($1, $2, $3, $4, $5, $6, $7)
     returning plugin_key, revision, lists, hosts, reason, granted_at, granted_by`,
    [tx.tenant_id, grant.plugin_key, grant.revision, grant.lists, grant.hosts, grant.reason, tx.actor],
  )

export interface ConfigurationRow {
  readonly plugin_key: string
  readonly revision: number
  readonly configuration: string
  readonly configuration_hash: string
  readonly reason: string
  readonly configured_at: string
  readonly configured_by: string
}
const configurationColumns =
  'plugin_key, revision, configuration, configuration_hash, reason, configured_at, configured_by'

export const insertConfiguration = (tx: Tx, row: Omit<ConfigurationRow, 'configured_at' | 'configured_by'>) =>
  tx.find<ConfigurationRow>(
    `insert into app.plugin_configuration
       (tenant_id, plugin_key, revision, configuration, configuration_hash, reason, configured_by)
     values ($1, $2, $3, $4, $5, $6, $7) returning ${configurationColumns}`,
    [tx.tenant_id, row.plugin_key, row.revision, row.configuration, row.configuration_hash, row.reason, tx.actor],
  )

export const findConfiguration = (tx: Tx, plugin_key: string, configuration_hash: string) =>
  tx.find<ConfigurationRow>(
    `select ${configurationColumns} from app.plugin_configuration
      where tenant_id = $1 and plugin_key = $2 and configuration_hash = $3 order by revision desc limit 1`,
    [tx.tenant_id, plugin_key, configuration_hash],
  )

export interface SwitchRow {
  readonly plugin_key: string
  readonly disabled: boolean
  readonly reason: string
  readonly revision: number
  readonly updated_at: string
  readonly updated_by: string
}

export const upsertSwitch = (tx: Tx, plugin_key: string, disabled: boolean, reason: string) =>
  tx.find<SwitchRow>(
    `insert into app.plugin_switch (tenant_id, plugin_key, disabled, reason, updated_by) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id, plugin_key) do update
        set disabled = excluded.disabled, reason = excluded.reason, revision = app.plugin_switch.revision + 1, updated_at = now(),
            updated_by = excluded.updated_by
     returning plugin_key, disabled, reason, revision, updated_at, updated_by`,
    [tx.tenant_id, plugin_key, disabled, reason, tx.actor],
  )

export interface InvocationFailure {
  readonly item: number
  readonly reason: string
  readonly message: string
  readonly line: number | null
  readonly stack: string | null
  readonly fuel: number
}

export interface NewInvocation {
  readonly plugin_key: string
  readonly origin: 'own' | 'shared'
  readonly version: number
  readonly content_hash: string
  readonly sandbox_hash: string
  readonly cause_kind: string
  readonly cause_id: string | null
  readonly items: number
  readonly failed: number
  readonly fuel_total: number
  readonly fuel_max: number
  readonly failures: readonly InvocationFailure[]
}

export interface InvocationRow extends NewInvocation {
  readonly invocation_id: string
  readonly invoked_at: string
  readonly invoked_by: string
  readonly restriction_id: string | null
}

export const insertInvocation = (tx: Tx, row: NewInvocation) =>
  tx.run(
    `insert into app.plugin_invocation (tenant_id, invocation_id, plugin_key, origin, version, content_hash, sandbox_hash,
       cause_kind, cause_id, items, failed, fuel_total, fuel_max, failures, invoked_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb, $15)`,
    [
      tx.tenant_id,
      uuidv7(),
      row.plugin_key,
      row.origin,
      row.version,
      row.content_hash,
      row.sandbox_hash,
      row.cause_kind,
      row.cause_id,
      row.items,
      row.failed,
      row.fuel_total,
      row.fuel_max,
      toStorableJson(row.failures),
      tx.actor,
    ],
  )

/** Newest first. */
export const listInvocations = (
  tx: Tx,
  { plugin_key, failed_only }: { readonly plugin_key: string; readonly failed_only: boolean },
  after: PagePosition,
  count: number,
) =>
  tx.query<InvocationRow>(
    `select invocation_id, plugin_key, origin, version, content_hash, sandbox_hash, cause_kind, cause_id, items, failed,
            fuel_total, fuel_max, failures, invoked_at, invoked_by, ${restrictionInForce()}
       from app.plugin_invocation
      where tenant_id = $1 and plugin_key = $2 and ($3::boolean is false or failed > 0)
        and ($4::timestamptz is null or (invoked_at, invocation_id) < ($4, $5::uuid))
      order by invoked_at desc, invocation_id desc limit $6`,
    [tx.tenant_id, plugin_key, failed_only, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export interface InvocationCounts {
  readonly invocations: number
  readonly items: number
  readonly failed: number
  readonly fuel_max: number
}

/** Of the last thirty days. */
export const countInvocations = (tx: Tx, plugin_key: string) =>
  tx.find<InvocationCounts>(
    `select count(*)::bigint as invocations, coalesce(sum(items), 0)::bigint as items,
            coalesce(sum(failed), 0)::bigint as failed, coalesce(max(fuel_max), 0)::bigint as fuel_max
       from app.plugin_invocation where tenant_id = $1 and plugin_key = $2 and invoked_at > now() - interval '30 days'`,
    [tx.tenant_id, plugin_key],
  )

/** Keys of all plugins that may be in force for the tenant: its own and the shared ones. */
export const listPluginKeys = (tx: Tx) =>
  tx.query<{ plugin_key: string }>(
    `select distinct list_key as plugin_key from app.dataset
      where tenant_id in ($1, app.system_tenant()) and family = 'plugin' and role = 'base' and head_version > 0 order by 1`,
    [tx.tenant_id],
  )

export interface StatusRow {
  readonly plugin_key: string
  readonly version: number
  readonly state: 'valid' | 'invalid' | 'disabled'
  readonly reasons: readonly string[]
}

export const upsertStatus = (tx: Tx, status: StatusRow) =>
  tx.run(
    `insert into app.plugin_status (tenant_id, plugin_key, version, state, reasons) values ($1, $2, $3, $4, $5)
     on conflict (tenant_id, plugin_key) do update
        set version = excluded.version, state = excluded.state, reasons = excluded.reasons, checked_at = now()`,
    [tx.tenant_id, status.plugin_key, status.version, status.state, status.reasons],
  )

/** Of plugins of which nothing is in force any more. */
export const removeStatusExcept = (tx: Tx, plugin_keys: readonly string[]) =>
  tx.run('delete from app.plugin_status where tenant_id = $1 and plugin_key <> all ($2::text[])', [
    tx.tenant_id,
    plugin_keys,
  ])

export const removeStatus = (tx: Tx, plugin_key: string) =>
  tx.run('delete from app.plugin_status where tenant_id = $1 and plugin_key = $2', [tx.tenant_id, plugin_key])

/** Over all tenants: only as the worker role, which sees no key and no reason. */
export const countStatuses = (tx: Tx) =>
  tx.find<{ active: number; invalid: number }>(
    `select count(*) filter (where state <> 'disabled')::bigint as active,
            count(*) filter (where state = 'invalid')::bigint as invalid from app.plugin_status`,
  )

/** The version of a plugin with exactly this content. */
export const findVersionByHash = (
  tx: Tx,
  { tenant_id, dataset_id }: Pick<VersionId, 'tenant_id' | 'dataset_id'>,
  content_hash: string,
) =>
  tx.find<{ version: number }>(
    `select version from app.dataset_version where tenant_id = $1 and dataset_id = $2 and content_hash = $3
      order by version desc limit 1`,
    [tenant_id, dataset_id, content_hash],
  )

/** The entries that name the kind, of versions that passed validation. */
export const listKindParts = (tx: Tx, { tenant_id, dataset_id }: Pick<VersionId, 'tenant_id' | 'dataset_id'>) =>
  tx.query<{ data: string }>(
    `select e.data from app.dataset_entry e
      where e.tenant_id = $1 and e.dataset_id = $2 and e.key = 'manifest|kind'
        and exists (select 1 from app.plugin_validation v where v.tenant_id = e.tenant_id and v.dataset_id = e.dataset_id
                       and v.version >= e.v_from and v.version < e.v_to and v.valid)
      order by e.v_from limit 10`,
    [tenant_id, dataset_id],
  )

/**
 * The entry that names the kind of the plugin, of the tenant or shared: of versions that passed validation, else of the newest one.
 * Other bytes of the version may be damaged.
 */
export const findKindPart = (tx: Tx, plugin_key: string) =>
  tx.find<{ data: string }>(
    `select e.data from app.dataset d
       join app.dataset_entry e on e.tenant_id = d.tenant_id and e.dataset_id = d.dataset_id and e.key = 'manifest|kind'
      where d.tenant_id in ($1, app.system_tenant()) and d.family = 'plugin' and d.list_key = $2 and d.role = 'base'
      order by exists (select 1 from app.plugin_validation v where v.tenant_id = e.tenant_id and v.dataset_id = e.dataset_id
                          and v.version >= e.v_from and v.version < e.v_to and v.valid) desc,
               d.tenant_id = $1 desc, e.v_from desc limit 1`,
    [tx.tenant_id, plugin_key],
  )

/** Those that exist: lists of the tenant and shared ones. */
export async function findKnownLists(tx: Tx, list_keys: readonly string[]): Promise<ReadonlySet<string>> {
  if (list_keys.length === 0) return new Set()
  const rows = await tx.query<{ list_key: string }>(
    `select distinct list_key from app.dataset
      where tenant_id in ($1, app.system_tenant()) and family = 'list' and role = 'base' and list_key = any ($2::text[])`,
    [tx.tenant_id, list_keys],
  )
  return new Set(rows.map(({ list_key }) => list_key))
}

/** Those of the lists that are not archived: an archived one stays in force for what was decided with it. */
export async function listLiveDatasets(
  tx: Tx,
  lists: readonly { readonly dataset_tenant_id: string; readonly dataset_id: string }[],
): Promise<ReadonlySet<string>> {
  if (lists.length === 0) return new Set()
  const rows = await tx.query<{ dataset_id: string }>(
    `select d.dataset_id from unnest($1::uuid[], $2::uuid[]) as w (tenant_id, dataset_id)
       join app.dataset d on d.tenant_id = w.tenant_id and d.dataset_id = w.dataset_id where d.state = 'live'`,
    [lists.map(({ dataset_tenant_id }) => dataset_tenant_id), lists.map(({ dataset_id }) => dataset_id)],
  )
  return new Set(rows.map(({ dataset_id }) => dataset_id))
}
