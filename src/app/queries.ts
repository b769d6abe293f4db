/** SQL of the operator: tenants, seeding, signing keys, and readiness. Runs as steward, or as app inside one tenant. */
import type { TenantState } from '#kernel/auth/queries.ts'
import type { Tx } from '#kernel/database/tx.ts'

export interface TenantSummary {
  readonly tenant_id: string
  readonly slug: string
  readonly name: string
  readonly state: TenantState
  readonly demo: boolean
  readonly created_at: string
}

const tenantColumns = 'tenant_id, slug, name, state, demo, created_at'

export const listTenants = (tx: Tx) =>
  tx.query<TenantSummary>(`select ${tenantColumns} from app.tenant order by created_at, slug`)

export const findTenantBySlug = (tx: Tx, slug: string) =>
  tx.find<TenantSummary>(`select ${tenantColumns} from app.tenant where slug = $1 or tenant_id::text = $1`, [slug])

export const insertTenant = (
  tx: Tx,
  tenant: { tenant_id: string; slug: string; name: string; demo: boolean; state: 'active' | 'suspended' },
) =>
  tx.run(
    `insert into app.tenant (tenant_id, slug, name, demo, state, suspended_at)
     values ($1, $2, $3, $4, $5, case when $5 = 'suspended' then now() end) on conflict do nothing`,
    [tenant.tenant_id, tenant.slug, tenant.name, tenant.demo, tenant.state],
  )

export const updateTenantState = (tx: Tx, tenant_id: string, state: 'active' | 'suspended') =>
  tx.run(
    `update app.tenant set state = $2, suspended_at = case when $2 = 'suspended' then now() end, access_epoch = access_epoch + 1,
            revision = revision + 1, updated_at = now()
      where tenant_id = $1 and state <> $2`,
    [tenant_id, state],
  )

/** For how long it has been suspended; null when it is not. */
export const findSuspensionAge = async (tx: Tx, tenant_id: string): Promise<number | null> =>
  (
    await tx.find<{ age_s: number | null }>(
      `select case when state = 'suspended' then extract(epoch from now() - suspended_at)::bigint end as age_s
         from app.tenant where tenant_id = $1`,
      [tenant_id],
    )
  )?.age_s ?? null

/** Its id is never used again. */
export const isDeletedTenant = async (tx: Tx, tenant_id: string): Promise<boolean> =>
  (
    await tx.query(
      'select 1 from app.tenant_deletion where tenant_id = app.system_tenant() and deleted_tenant_id = $1',
      [tenant_id],
    )
  ).length > 0

/**
 * From now on deferred statements of the transaction are for this tenant: steward may insert into its audit trail, and nothing
 * else.
 */
export const deferForTenant = (tx: Tx, tenant_id: string): Tx => {
  tx.defer(`select set_config('app.tenant_id', $1, true)`, [tenant_id])
  return { ...tx, tenant_id }
}

/** Serialises seeding and key rotation across replicas; released with the transaction. */
export const lockSeeding = (tx: Tx) => tx.run('select pg_advisory_xact_lock(7205759403792794)')

export const countActiveSigningKeys = async (tx: Tx): Promise<number> =>
  (await tx.query(`select 1 from app.signing_key where tenant_id = app.system_tenant() and state = 'active'`)).length

export const retireSigningKeys = (tx: Tx) =>
  tx.run(
    `update app.signing_key set state = 'retired', retired_at = now() where tenant_id = app.system_tenant() and state = 'active'`,
  )

export const insertSigningKey = (
  tx: Tx,
  key: { kid: string; alg: string; public_jwk: unknown; sealed_private: string },
) =>
  tx.run(
    `insert into app.signing_key (tenant_id, kid, alg, public_jwk, sealed_private, state)
     values (app.system_tenant(), $1, $2, $3::jsonb, $4, 'active')`,
    [key.kid, key.alg, JSON.stringify(key.public_jwk), key.sealed_private],
  )

export interface WrappedSigningKey {
  readonly kid: string
  readonly sealed_private: string
  readonly state: 'active' | 'retired'
}

/** All of them, including those that no longer verify anything. */
export const listWrappedSigningKeys = (tx: Tx) =>
  tx.query<WrappedSigningKey>(
    'select kid, sealed_private, state from app.signing_key where tenant_id = app.system_tenant() order by kid',
  )

/** Compare and set: 0 when another process has encrypted it again meanwhile. */
export const updateWrappedKey = (tx: Tx, before: WrappedSigningKey, sealed_private: string) =>
  tx.run(
    'update app.signing_key set sealed_private = $3 where tenant_id = app.system_tenant() and kid = $1 and sealed_private = $2',
    [before.kid, before.sealed_private, sealed_private],
  )

/** The state of the schema that readiness needs, in one query. */
export const findSchemaState = (tx: Tx) =>
  tx.find<{ current: string; signing_keys: number }>(
    `select (select max(version) from app.migration) as current,
            (select count(*) from app.signing_key where state = 'active') as signing_keys`,
  )

export const pingDatabase = (tx: Tx) => tx.find<{ one: number }>('select 1 as one')

/** Whether the server accepts writes, and if not, why. Called in a read-only transaction. */
export const findServerState = (tx: Tx) =>
  tx.find<{ is_standby: boolean; is_read_only: boolean }>(
    `select pg_is_in_recovery() as is_standby, current_setting('default_transaction_read_only') = 'on' as is_read_only`,
  )

/** Null when the server accepts writes. */
export const findWriteBlocker = async (tx: Tx): Promise<string | null> => {
  const state = await findServerState(tx)
  if (state?.is_standby) return 'the server is a standby and takes no writes'
  return state?.is_read_only ? 'the server is set to default_transaction_read_only and takes no writes' : null
}

/** The table's name comes from a declaration, never from a request. */
export const hasRows = async (tx: Tx, table: string): Promise<boolean> =>
  (await tx.query(`select 1 from app.${table} where tenant_id = $1 limit 1`, [tx.tenant_id])).length > 0

// Start-up guard and doctor ------------------------------------------------------------------------------------------

export const hasSchema = async (tx: Tx): Promise<boolean> =>
  (await tx.find<{ there: boolean }>(`select to_regclass('app.migration') is not null as there`))?.there === true

export const listAppliedMigrations = (tx: Tx) =>
  tx.query<{ version: string; checksum: string }>('select version, checksum from app.migration order by version')

export const listActiveDemoTenants = (tx: Tx) =>
  tx.query<{ slug: string }>(`select slug from app.tenant where demo and state = 'active' order by slug`)

/** With the current time, not that of the transaction. */
export const findServerInfo = (tx: Tx) =>
  tx.find<{ version: string; now_ms: number; backend_pid: number }>(
    `select current_setting('server_version') as version, pg_backend_pid() as backend_pid,
            (extract(epoch from clock_timestamp()) * 1000)::bigint as now_ms`,
  )
