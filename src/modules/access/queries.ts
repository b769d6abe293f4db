/** SQL of users and API keys. */
import type { Role } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import { APPROVER_ROLES } from '#kernel/request/queries.ts'
import type { IdRange } from '#kernel/search/source.ts'

export interface UserRow {
  readonly user_id: string
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
  readonly name: string
  readonly team: string | null
  readonly locale: string | null
  readonly roles: Role[]
  readonly origin: 'built_in' | 'external'
  readonly state: 'invited' | 'active' | 'inactive'
  readonly is_mlro: boolean
  readonly away_from: string | null
  readonly away_until: string | null
  readonly away_reason: 'leave' | 'training' | 'travel' | 'other' | null
  readonly last_seen_at: string | null
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly revision: number
}

const userColumns = `user_id, issuer, subject, email, name, team, locale, roles, origin, state, is_mlro, away_from, away_until, away_reason, last_seen_at,
  created_at, created_by, updated_at, revision`

export const listUsers = (
  tx: Tx,
  filter: { state: string | null; role: string | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<UserRow>(
    `select ${userColumns} from app.user_account
      where tenant_id = $1 and ($2::text is null or state = $2) and ($3::text is null or $3 = any (roles))
        and ($4::timestamptz is null or (created_at, user_id) > ($4, $5::uuid))
      order by created_at, user_id limit $6`,
    [tx.tenant_id, filter.state, filter.role, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findUser = (tx: Tx, user_id: string) =>
  tx.find<UserRow>(`select ${userColumns} from app.user_account where tenant_id = $1 and user_id = $2`, [
    tx.tenant_id,
    user_id,
  ])

/** Addresses are stored in lower case. */
export const findUserByEmail = (tx: Tx, email: string) =>
  tx.find<UserRow>(`select ${userColumns} from app.user_account where tenant_id = $1 and email = $2`, [
    tx.tenant_id,
    email,
  ])

export const lockUser = (tx: Tx, user_id: string) =>
  tx.find<UserRow>(`select ${userColumns} from app.user_account where tenant_id = $1 and user_id = $2 for update`, [
    tx.tenant_id,
    user_id,
  ])

export interface NewUser {
  readonly user_id: string
  readonly issuer: string
  readonly subject: string
  readonly email: string | null
  readonly name: string
  readonly team: string | null
  readonly locale: string | null
  readonly roles: readonly string[]
  readonly origin: 'built_in' | 'external'
  readonly state: 'invited' | 'active'
  /** The principal who requested it, where another one approves it. */
  readonly created_by?: string
}

/** With `keep`, gives no row when the user exists: two processes may provision the same user at once. */
export const insertUser = (tx: Tx, user: NewUser, on_conflict: 'fail' | 'keep' = 'fail') =>
  tx.find<UserRow>(
    `insert into app.user_account (tenant_id, user_id, issuer, subject, email, name, team, locale, roles, origin, state, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ${on_conflict === 'keep' ? 'on conflict do nothing' : ''}
     returning ${userColumns}`,
    [
      tx.tenant_id,
      user.user_id,
      user.issuer,
      user.subject,
      user.email,
      user.name,
      user.team,
      user.locale,
      user.roles,
      user.origin,
      user.state,
      user.created_by ?? tx.actor,
    ],
  )

/** Whoever was invited is active from the first request on. */
const SIGNED_IN = `case state when 'invited' then 'active' else state end`

/** Stores what the external issuer says about a user. The roles are for display: the token decides. */
export const updateSeenUser = (tx: Tx, user_id: string, roles: readonly string[], name: string | null) =>
  tx.run(
    `update app.user_account set last_seen_at = now(), state = ${SIGNED_IN}, roles = $3, name = coalesce($4, name)
      where tenant_id = $1 and user_id = $2 and origin = 'external'`,
    [tx.tenant_id, user_id, roles, name],
  )

/** A user is written at most once a minute, however many requests there are. A principal without an account is left out. */
export const updateUsersSeen = (tx: Tx, seen: readonly { readonly user_id: string; readonly at: string }[]) =>
  tx.run(
    `update app.user_account u set last_seen_at = s.at, state = ${SIGNED_IN}
       from jsonb_to_recordset($2::jsonb) as s (user_id uuid, at timestamptz)
      where u.tenant_id = $1 and u.user_id = s.user_id
        and (u.last_seen_at is null or u.last_seen_at < s.at - interval '1 minute')`,
    [tx.tenant_id, JSON.stringify(seen)],
  )

export const updateUser = (tx: Tx, user_id: string, user: Pick<UserRow, 'name' | 'team' | 'locale'>) =>
  tx.find<UserRow>(
    `update app.user_account set name = $3, team = $4, locale = $5, revision = revision + 1, updated_at = now()
      where tenant_id = $1 and user_id = $2 returning ${userColumns}`,
    [tx.tenant_id, user_id, user.name, user.team, user.locale],
  )

/** Reactivating a person does not designate them as MLRO again. */
export const updateUserState = (tx: Tx, user_id: string, state: 'active' | 'inactive') =>
  tx.find<UserRow>(
    `update app.user_account set state = $3, is_mlro = is_mlro and $3 <> 'inactive', revision = revision + 1, updated_at = now()
      where tenant_id = $1 and user_id = $2 returning ${userColumns}`,
    [tx.tenant_id, user_id, state],
  )

export const updateUserRoles = (tx: Tx, user_id: string, roles: readonly string[]) =>
  tx.find<UserRow>(
    `update app.user_account set roles = $3, revision = revision + 1, updated_at = now()
      where tenant_id = $1 and user_id = $2 returning ${userColumns}`,
    [tx.tenant_id, user_id, roles],
  )

export const updateUserAvailability = (
  tx: Tx,
  user_id: string,
  { away_from, away_until, away_reason }: Pick<UserRow, 'away_from' | 'away_until' | 'away_reason'>,
) =>
  tx.find<UserRow>(
    `update app.user_account set away_from = $3, away_until = $4, away_reason = $5, revision = revision + 1, updated_at = now()
      where tenant_id = $1 and user_id = $2 returning ${userColumns}`,
    [tx.tenant_id, user_id, away_from, away_until, away_reason],
  )

/** Counts the other administrators and locks their rows, so that two administrators cannot remove each other at once. */
export const countOtherAdministrators = async (tx: Tx, user_id: string): Promise<number> =>
  (
    await tx.query(
      `select 1 from app.user_account
        where tenant_id = $1 and user_id <> $2 and state <> 'inactive' and 'tenant_admin' = any (roles)
          and roles && ${APPROVER_ROLES} for update`,
      [tx.tenant_id, user_id],
    )
  ).length

/** Whether the tenant ever had enough people to approve roles. The database sets it once and never clears it. */
export const isApprovalSetUp = async (tx: Tx): Promise<boolean> =>
  (await tx.find('select 1 as one from app.approval_policy where tenant_id = $1 and set_up_at is not null', [
    tx.tenant_id,
  ])) !== undefined

/** Counts inactive users too: deactivating all approvers must not remove the need for approval. */
export const countOthersWithRole = async (tx: Tx, role: string): Promise<number> =>
  (
    await tx.query(
      `select 1 from app.user_account
        where tenant_id = $1 and $2 = any (roles) and roles && ${APPROVER_ROLES} and 'user:' || user_id <> $3 limit 5`,
      [tx.tenant_id, role, tx.actor],
    )
  ).length

/** Holds the lock until the transaction ends, so that two users cannot both be created without approval at once. */
export const lockApprovalPolicy = (tx: Tx) =>
  tx.run('select 1 from app.approval_policy where tenant_id = $1 for update', [tx.tenant_id])

export interface ApiKeyRow {
  readonly key_id: string
  readonly name: string
  readonly roles: Role[]
  readonly state: 'active' | 'revoked'
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly previous_valid_until: string | null
  readonly created_at: string
  readonly created_by: string
  readonly revoked_at: string | null
  readonly revision: number
}

const keyColumns = `key_id, name, roles, state, expires_at, last_used_at, previous_valid_until, created_at, created_by, revoked_at, revision`

export const findUserName = (tx: Tx, user_id: string) =>
  tx.find<{ user_id: string; name: string }>(
    'select user_id, name from app.user_account where tenant_id = $1 and user_id = $2',
    [tx.tenant_id, user_id],
  )

export const findApiKeyName = (tx: Tx, key_id: string) =>
  tx.find<{ key_id: string; name: string }>(
    'select key_id, name from app.api_key where tenant_id = $1 and key_id = $2',
    [tx.tenant_id, key_id],
  )

export const listApiKeys = (tx: Tx, state: string | null, after: PagePosition, count: number) =>
  tx.query<ApiKeyRow>(
    `select ${keyColumns} from app.api_key
      where tenant_id = $1 and ($2::text is null or state = $2)
        and ($3::timestamptz is null or (created_at, key_id) > ($3, $4::uuid))
      order by created_at, key_id limit $5`,
    [tx.tenant_id, state, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findApiKey = (tx: Tx, key_id: string) =>
  tx.find<ApiKeyRow>(`select ${keyColumns} from app.api_key where tenant_id = $1 and key_id = $2`, [
    tx.tenant_id,
    key_id,
  ])

export const lockApiKey = (tx: Tx, key_id: string) =>
  tx.find<ApiKeyRow>(`select ${keyColumns} from app.api_key where tenant_id = $1 and key_id = $2 for update`, [
    tx.tenant_id,
    key_id,
  ])

export interface NewApiKey {
  readonly key_id: string
  readonly name: string
  readonly roles: readonly string[]
  readonly secret_hash: string
  readonly expires_in_days: number | null
  /** The principal who requested it, where another one approves it. */
  readonly created_by?: string
}

export const insertApiKey = (tx: Tx, key: NewApiKey) =>
  tx.find<ApiKeyRow>(
    `insert into app.api_key (tenant_id, key_id, name, roles, secret_hash, expires_at, created_by)
     values ($1, $2, $3, $4, $5, now() + $6::bigint * interval '1 day', $7) returning ${keyColumns}`,
    [tx.tenant_id, key.key_id, key.name, key.roles, key.secret_hash, key.expires_in_days, key.created_by ?? tx.actor],
  )

export const updateApiKeySecret = (tx: Tx, key_id: string, secret_hash: string, overlap_minutes: number) =>
  tx.find<ApiKeyRow>(
    `update app.api_key set previous_secret_hash = secret_hash, previous_valid_until = now() + $4::bigint * interval '1 minute',
            secret_hash = $3, revision = revision + 1
      where tenant_id = $1 and key_id = $2 returning ${keyColumns}`,
    [tx.tenant_id, key_id, secret_hash, overlap_minutes],
  )

export const updateApiKeyRevoked = (tx: Tx, key_id: string) =>
  tx.run(
    `update app.api_key set state = 'revoked', revoked_at = now(), previous_secret_hash = null, previous_valid_until = null,
            revision = revision + 1
      where tenant_id = $1 and key_id = $2 and state = 'active'`,
    [tx.tenant_id, key_id],
  )

export interface UsageRow {
  readonly used_on: string
  readonly operation: string
  readonly status: number
  readonly calls: number
}

export const listApiKeyUsage = (tx: Tx, key_id: string, from_on: string | null, until_on: string | null) =>
  tx.query<UsageRow>(
    `select used_on, operation, status, calls from app.api_key_usage
      where tenant_id = $1 and key_id = $2 and used_on >= coalesce($3::date, current_date - 30) and used_on <= coalesce($4::date, current_date)
      order by used_on desc, operation, status limit 1000`,
    [tx.tenant_id, key_id, from_on, until_on],
  )

/** Adds counts gathered in this process. Counts of a key that was removed meanwhile are dropped. */
export const addApiKeyUsage = (tx: Tx, counts: readonly (UsageRow & { key_id: string })[]) =>
  tx.run(
    `insert into app.api_key_usage (tenant_id, key_id, used_on, operation, status, calls)
     select $1, c.key_id, c.used_on, c.operation, c.status, c.calls
       from jsonb_to_recordset($2::jsonb) as c (key_id uuid, used_on date, operation text, status bigint, calls bigint)
      where exists (select 1 from app.api_key k where k.tenant_id = $1 and k.key_id = c.key_id)
     on conflict on constraint api_key_usage_pkey do update set calls = api_key_usage.calls + excluded.calls`,
    [tx.tenant_id, JSON.stringify(counts)],
  )

export type FoundUserRow = Pick<UserRow, 'user_id' | 'name' | 'email' | 'roles' | 'state'>

export const listFoundUsers = (tx: Tx, user_ids: readonly string[]) =>
  tx.query<FoundUserRow>(
    `select u.user_id, u.name, u.email, u.roles, u.state
       from unnest($2::uuid[]) as n (user_id)
      cross join lateral (select * from app.user_account x where x.tenant_id = $1 and x.user_id = n.user_id offset 0) u`,
    [tx.tenant_id, user_ids],
  )

export const listUsersInRange = (tx: Tx, { from, to }: IdRange, count: number) =>
  tx.query<FoundUserRow>(
    `select user_id, name, email, roles, state from app.user_account
      where tenant_id = $1 and user_id >= $2::uuid and user_id <= $3::uuid order by user_id limit $4`,
    [tx.tenant_id, from, to, count],
  )
