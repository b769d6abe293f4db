/** SQL of provider credentials, their versions, access tokens and access log, and of how a tenant uses a provider. */
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { Environment } from './schema.ts'

export interface CredentialRow {
  readonly credential_id: string
  readonly provider_key: string
  readonly label: string
  readonly environment: Environment
  readonly state: 'enabled' | 'disabled' | 'destroyed'
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly revision: number
}

const credentialColumns =
  'credential_id, provider_key, label, environment, state, created_at, created_by, updated_at, revision'

export const findCredential = (tx: Tx, credential_id: string) =>
  tx.find<CredentialRow>(
    `select ${credentialColumns} from app.provider_credential where tenant_id = $1 and credential_id = $2`,
    [tx.tenant_id, credential_id],
  )

export const lockCredential = (tx: Tx, credential_id: string) =>
  tx.find<CredentialRow>(
    `select ${credentialColumns} from app.provider_credential where tenant_id = $1 and credential_id = $2 for update`,
    [tx.tenant_id, credential_id],
  )

export interface CredentialFilter {
  readonly provider_key: string | null
  readonly environment: string | null
  readonly state: string | null
}

export const listCredentials = (tx: Tx, filter: CredentialFilter, after: PagePosition, count: number) =>
  tx.query<CredentialRow>(
    `select ${credentialColumns} from app.provider_credential
      where tenant_id = $1 and ($2::text is null or provider_key = $2) and ($3::text is null or environment = $3)
        and ($4::text is null or state = $4) and ($5::timestamptz is null or (created_at, credential_id) > ($5, $6::uuid))
      order by created_at, credential_id limit $7`,
    [
      tx.tenant_id,
      filter.provider_key,
      filter.environment,
      filter.state,
      after?.[0] ?? null,
      after?.[1] ?? null,
      count,
    ],
  )

/** Those that are not destroyed, of the given providers. */
export const listUsableCredentials = (tx: Tx, provider_keys: readonly string[]) =>
  tx.query<CredentialRow>(
    `select ${credentialColumns} from app.provider_credential
      where tenant_id = $1 and provider_key = any ($2::text[]) and state <> 'destroyed' order by created_at, credential_id`,
    [tx.tenant_id, provider_keys],
  )

/** Held until the transaction ends: of two credentials that are created at once, the second is disabled. */
export const lockProviderCredentials = (tx: Tx, provider_key: string) =>
  tx.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [
    `provider-credentials:${tx.tenant_id}:${provider_key}`,
  ])

/** Enabled when no other credential of this provider and environment is. */
export const insertCredential = (
  tx: Tx,
  credential: Pick<CredentialRow, 'credential_id' | 'provider_key' | 'label' | 'environment'>,
) =>
  tx.find<CredentialRow>(
    `insert into app.provider_credential (tenant_id, credential_id, provider_key, label, environment, state, created_by, updated_by)
     select $1, $2, $3, $4, $5,
            case when exists (select 1 from app.provider_credential where tenant_id = $1 and provider_key = $3 and environment = $5
                                and state = 'enabled') then 'disabled' else 'enabled' end, $6, $6
     returning ${credentialColumns}`,
    [
      tx.tenant_id,
      credential.credential_id,
      credential.provider_key,
      credential.label,
      credential.environment,
      tx.actor,
    ],
  )

export const updateCredentialState = (tx: Tx, credential_id: string, state: CredentialRow['state']) =>
  tx.find<CredentialRow>(
    `update app.provider_credential set state = $3, revision = revision + 1, updated_at = now(), updated_by = $4
      where tenant_id = $1 and credential_id = $2 returning ${credentialColumns}`,
    [tx.tenant_id, credential_id, state, tx.actor],
  )

export const updateCredentialTouched = (tx: Tx, credential_id: string) =>
  tx.find<CredentialRow>(
    `update app.provider_credential set revision = revision + 1, updated_at = now(), updated_by = $3
      where tenant_id = $1 and credential_id = $2 returning ${credentialColumns}`,
    [tx.tenant_id, credential_id, tx.actor],
  )

// Versions ------------------------------------------------------------------------------------------------------------

export interface CredentialVersionRow {
  readonly credential_id: string
  readonly version: number
  readonly state: 'staged' | 'active' | 'retired' | 'destroyed'
  readonly members: string[]
  readonly fingerprint: string
  readonly set_at: string
  readonly set_by: string
  readonly expires_at: string | null
  readonly activated_at: string | null
  readonly usable_until: string | null
  readonly last_verified_at: string | null
  readonly rejected_at: string | null
  readonly last_used_at: string | null
  readonly destroyed_at: string | null
  readonly is_expired: boolean
  /** Retired, and still within its overlap. */
  readonly is_in_overlap: boolean
}

/** The last use that the caller may see. That of a hidden call moves the stored time too, from which the log is read backwards. */
const LAST_SEEN_USE = `(select a.accessed_at from app.credential_access a where a.tenant_id = provider_credential_version.tenant_id
    and (a.credential_id, a.version) = (provider_credential_version.credential_id, provider_credential_version.version)
    and a.accessed_at <= provider_credential_version.last_used_at order by a.accessed_at desc, a.access_id desc limit 1)`

/** The secret is not among them: only findSecret reads it. */
const versionColumns = `credential_id, version, state, members, fingerprint, created_at as set_at, created_by as set_by, expires_at,
  activated_at, usable_until, verified_at as last_verified_at, rejected_at, ${LAST_SEEN_USE} as last_used_at, destroyed_at,
  coalesce(expires_at <= now(), false) as is_expired, state = 'retired' and coalesce(usable_until > now(), false) as is_in_overlap`

export const listCredentialVersions = (tx: Tx, credential_ids: readonly string[]) =>
  tx.query<CredentialVersionRow>(
    `select ${versionColumns} from app.provider_credential_version
      where tenant_id = $1 and credential_id = any ($2::uuid[]) order by credential_id, version desc`,
    [tx.tenant_id, credential_ids],
  )

export const findCredentialVersion = (tx: Tx, credential_id: string, version: number) =>
  tx.find<CredentialVersionRow>(
    `select ${versionColumns} from app.provider_credential_version
      where tenant_id = $1 and credential_id = $2 and version = $3`,
    [tx.tenant_id, credential_id, version],
  )

/** The version that is named, unless it is destroyed; without a name, the active one. */
export const findVersionToVerify = (tx: Tx, credential_id: string, version: number | null) =>
  tx.find<CredentialVersionRow>(
    `select ${versionColumns} from app.provider_credential_version
      where tenant_id = $1 and credential_id = $2 and case when $3::bigint is null then state = 'active'
                                                           else version = $3 and (state in ('staged', 'active') or (state = 'retired' and usable_until > now())) end`,
    [tx.tenant_id, credential_id, version],
  )

export const findLastVersionNumber = async (tx: Tx, credential_id: string): Promise<number> =>
  (
    await tx.find<{ version: number }>(
      `select max(version) as version from app.provider_credential_version where tenant_id = $1 and credential_id = $2`,
      [tx.tenant_id, credential_id],
    )
  )?.version ?? 0

export interface NewVersion {
  readonly credential_id: string
  readonly version: number
  readonly members: readonly string[]
  readonly secret: Buffer
  readonly fingerprint: string
  readonly expires_at: string | null
}

export const insertCredentialVersion = (tx: Tx, version: NewVersion) =>
  tx.find<CredentialVersionRow>(
    `insert into app.provider_credential_version
       (tenant_id, credential_id, version, members, secret, fingerprint, expires_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${versionColumns}`,
    [
      tx.tenant_id,
      version.credential_id,
      version.version,
      version.members,
      version.secret,
      version.fingerprint,
      version.expires_at,
      tx.actor,
    ],
  )

/** Whatever an earlier activation allowed, only the version that is retired next may stand in for the active one. */
export const endOverlaps = (tx: Tx, credential_id: string) =>
  tx.run(
    `update app.provider_credential_version set usable_until = now()
      where tenant_id = $1 and credential_id = $2 and state = 'retired' and usable_until > now()`,
    [tx.tenant_id, credential_id],
  )

/** The version before is retired first: at most one is active. */
export const updateActiveRetired = (tx: Tx, credential_id: string, overlap_s: number) =>
  tx.find<{ version: number }>(
    `update app.provider_credential_version set state = 'retired', usable_until = now() + $3::bigint * interval '1 s'
      where tenant_id = $1 and credential_id = $2 and state = 'active' returning version`,
    [tx.tenant_id, credential_id, overlap_s],
  )

export const updateVersionActivated = (tx: Tx, credential_id: string, version: number) =>
  tx.find<CredentialVersionRow>(
    `update app.provider_credential_version set state = 'active', activated_at = now()
      where tenant_id = $1 and credential_id = $2 and version = $3 and state = 'staged' returning ${versionColumns}`,
    [tx.tenant_id, credential_id, version],
  )

export const updateVersionVerified = (tx: Tx, credential_id: string, version: number) =>
  tx.run(
    `update app.provider_credential_version set verified_at = now(), rejected_at = null
      where tenant_id = $1 and credential_id = $2 and version = $3`,
    [tx.tenant_id, credential_id, version],
  )

export const updateVersionRejected = (tx: Tx, credential_id: string, version: number) =>
  tx.run(
    `update app.provider_credential_version set rejected_at = now()
      where tenant_id = $1 and credential_id = $2 and version = $3 and rejected_at is null and state <> 'destroyed'`,
    [tx.tenant_id, credential_id, version],
  )

/** The values of all versions, or of those that are retired and past their overlap. */
export const destroySecrets = (tx: Tx, credential_id: string | null) =>
  tx.query<{ credential_id: string; version: number }>(
    `update app.provider_credential_version set state = 'destroyed', secret = null, destroyed_at = now()
      where tenant_id = $1 and state <> 'destroyed'
        and case when $2::uuid is null then state = 'retired' and usable_until < now() else credential_id = $2 end
     returning credential_id, version`,
    [tx.tenant_id, credential_id],
  )

export const removeTokens = (tx: Tx, versions: readonly { credential_id: string; version: number }[]) =>
  tx.run(
    `delete from app.credential_token t using unnest($2::uuid[], $3::bigint[]) as gone (credential_id, version)
      where t.tenant_id = $1 and t.credential_id = gone.credential_id and t.version = gone.version`,
    [tx.tenant_id, versions.map(({ credential_id }) => credential_id), versions.map(({ version }) => version)],
  )

// Opening: used by with-credential.ts only ----------------------------------------------------------------------------

/**
 * The encrypted values, and when they were used last. Only of a version that can be used: the row of the credential is locked, so that none is sent after it was disabled. What is
 * verified may be staged, rejected or expired.
 */
export const findSecret = (
  tx: Tx,
  wanted: { readonly credential_id: string; readonly version: number; readonly is_verification: boolean },
) =>
  tx.find<{ secret: Buffer }>(
    `update app.provider_credential_version v set last_used_at = now()
       from (select credential_id from app.provider_credential
              where tenant_id = $1 and credential_id = $2 and (state = 'enabled' or $4) for share) c
      where v.tenant_id = $1 and v.credential_id = c.credential_id and v.version = $3 and v.secret is not null
        and (v.state = 'active' or (v.state = 'staged' and $4) or (v.state = 'retired' and v.usable_until > now()))
        and ($4 or (v.rejected_at is null and (v.expires_at is null or v.expires_at > now())))
      returning v.secret`,
    [tx.tenant_id, wanted.credential_id, wanted.version, wanted.is_verification],
  )

export interface NewAccess {
  readonly access_id: string
  readonly credential_id: string
  readonly version: number
  readonly purpose: 'call' | 'token' | 'verify' | 'list_tools'
  readonly call_id: string | null
}

/** Sent together with COMMIT. */
export const deferAccess = (tx: Tx, access: NewAccess): void =>
  tx.defer(
    `insert into app.credential_access (tenant_id, access_id, credential_id, version, purpose, call_id, accessed_by)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [tx.tenant_id, access.access_id, access.credential_id, access.version, access.purpose, access.call_id, tx.actor],
  )

export interface AccessRow extends Omit<NewAccess, 'credential_id'> {
  /** While it is in force. */
  readonly restriction_id: string | null
  readonly accessed_at: string
  readonly accessed_by: string
}

/** Newest first. */
export const listAccesses = (tx: Tx, credential_id: string, after: PagePosition, count: number) =>
  tx.query<AccessRow>(
    `select access_id, version, purpose, call_id, ${restrictionInForce()}, accessed_at, accessed_by from app.credential_access
      where tenant_id = $1 and credential_id = $2 and ($3::timestamptz is null or (accessed_at, access_id) < ($3, $4::uuid))
      order by accessed_at desc, access_id desc limit $5`,
    [tx.tenant_id, credential_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )

// Access tokens -------------------------------------------------------------------------------------------------------

export interface TokenRow {
  readonly token_no: number
  readonly token: Buffer | null
  /** Neither expired nor due for a new one. */
  readonly is_fresh: boolean
  readonly is_usable: boolean
  readonly is_leased: boolean
}

const tokenColumns = `token_no, token, coalesce(refresh_at > now(), false) as is_fresh, coalesce(expires_at > now(), false) as is_usable,
  coalesce(lease_until > now(), false) as is_leased`

export const findToken = (tx: Tx, credential_id: string, version: number) =>
  tx.find<TokenRow>(
    `select ${tokenColumns} from app.credential_token where tenant_id = $1 and credential_id = $2 and version = $3`,
    [tx.tenant_id, credential_id, version],
  )

/** Compare-and-set: returns no row while another process fetches a token, or when there is a newer token than `token_no`. */
export const claimTokenLease = (
  tx: Tx,
  credential: { credential_id: string; version: number },
  lease: { lease_id: string; lease_s: number; token_no: number },
) =>
  tx.find<{ token_no: number }>(
    `insert into app.credential_token as t (tenant_id, credential_id, version, lease_id, lease_until)
     values ($1, $2, $3, $4, now() + $5::bigint * interval '1 s')
     on conflict (tenant_id, credential_id, version) do update
        set lease_id = excluded.lease_id, lease_until = excluded.lease_until
      where (t.lease_until is null or t.lease_until < now()) and t.token_no = $6
     returning token_no`,
    [tx.tenant_id, credential.credential_id, credential.version, lease.lease_id, lease.lease_s, lease.token_no],
  )

/** Stores the token of the process that still holds the lease; returns 0 for any other. */
export const updateToken = (
  tx: Tx,
  credential: { credential_id: string; version: number },
  token: { lease_id: string; token_no: number; token: Buffer; lifetime_s: number; refresh_after_s: number },
) =>
  tx.run(
    `update app.credential_token set token = $6, token_no = $5 + 1, expires_at = now() + $7::float8 * interval '1 s',
            refresh_at = now() + $8::float8 * interval '1 s', lease_id = null, lease_until = null
      where tenant_id = $1 and credential_id = $2 and version = $3 and lease_id = $4 and token_no = $5`,
    [
      tx.tenant_id,
      credential.credential_id,
      credential.version,
      token.lease_id,
      token.token_no,
      token.token,
      token.lifetime_s,
      token.refresh_after_s,
    ],
  )

/** After a failure: the next process tries again in a second, not at once. */
export const shortenTokenLease = (tx: Tx, credential: { credential_id: string; version: number }, lease_id: string) =>
  tx.run(
    `update app.credential_token set lease_until = least(lease_until, now() + interval '1 s')
      where tenant_id = $1 and credential_id = $2 and version = $3 and lease_id = $4`,
    [tx.tenant_id, credential.credential_id, credential.version, lease_id],
  )

/** Drops a token that the provider refused, unless it has been replaced since. */
export const removeToken = (tx: Tx, credential: { credential_id: string; version: number }, token_no: number) =>
  tx.run(
    `update app.credential_token set token = null, expires_at = null, refresh_at = null
      where tenant_id = $1 and credential_id = $2 and version = $3 and token_no = $4`,
    [tx.tenant_id, credential.credential_id, credential.version, token_no],
  )

// How a tenant uses a provider ------------------------------------------------------------------------------------------

export const providerModes = ['live', 'recorded', 'fixtures'] as const
export type ProviderMode = (typeof providerModes)[number]

export interface ProviderSettingRow {
  readonly provider_key: string
  readonly mode: ProviderMode
  readonly environment: Environment
  readonly reason: string
  readonly updated_at: string
  readonly updated_by: string
  readonly revision: number
}
const settingColumns = 'provider_key, mode, environment, reason, updated_at, updated_by, revision'

export const listProviderSettings = (tx: Tx, provider_keys: readonly string[]) =>
  tx.query<ProviderSettingRow>(
    `select ${settingColumns} from app.provider_setting where tenant_id = $1 and provider_key = any ($2::text[])`,
    [tx.tenant_id, provider_keys],
  )

export const upsertProviderSetting = (
  tx: Tx,
  setting: Pick<ProviderSettingRow, 'provider_key' | 'mode' | 'environment' | 'reason'>,
) =>
  tx.find<ProviderSettingRow>(
    `insert into app.provider_setting as s (tenant_id, provider_key, mode, environment, reason, updated_by)
     values ($1, $2, $3, $4, $5, $6)
     on conflict (tenant_id, provider_key) do update
        set mode = excluded.mode, environment = excluded.environment, reason = excluded.reason, updated_by = excluded.updated_by,
            updated_at = now(), revision = s.revision + 1
     returning ${settingColumns}`,
    [tx.tenant_id, setting.provider_key, setting.mode, setting.environment, setting.reason, tx.actor],
  )

/** Keys of the providers that have a version in force for the tenant. */
export const listProvidersInForce = (tx: Tx, count: number) =>
  tx.query<{ provider_key: string }>(
    `select distinct d.list_key as provider_key from app.dataset d
      where d.tenant_id in ($1, app.system_tenant()) and d.family = 'provider' and d.role = 'base' and d.state = 'live'
      order by 1 limit $2`,
    [tx.tenant_id, count],
  )
