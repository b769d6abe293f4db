/** SQL of token exchange and revocation. */

import type { TenantState } from '#kernel/auth/queries.ts'
import type { Role } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'

export interface ExchangeRow {
  readonly key_id: string
  readonly name: string
  readonly roles: readonly Role[]
  readonly tenant_state: TenantState
  readonly current: string
  readonly previous: string | null
}

/** Finds active, unexpired keys only; matches the previous secret only within its overlap. */
export const findUsableKey = (tx: Tx, key_id: string) =>
  tx.find<ExchangeRow>(
    `select k.key_id, k.name, k.roles, t.state as tenant_state, k.secret_hash as current,
            case when k.previous_valid_until > now() then k.previous_secret_hash end as previous
       from app.api_key k join app.tenant t on t.tenant_id = k.tenant_id
      where k.tenant_id = $1 and k.key_id = $2 and k.state = 'active' and (k.expires_at is null or k.expires_at > now())`,
    [tx.tenant_id, key_id],
  )

/** Writes at most once a minute: the exact time of the last use is not needed. */
export const updateKeyUsed = (tx: Tx, key_id: string) =>
  tx.run(
    `update app.api_key set last_used_at = now()
      where tenant_id = $1 and key_id = $2 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    [tx.tenant_id, key_id],
  )

export interface DemoPersonRow {
  readonly tenant_name: string
  readonly tenant_state: TenantState
  readonly user_id: string
  readonly name: string
  readonly roles: readonly Role[]
}

/** Of the users named, those who are active, where the tenant is a demo tenant. */
export const listDemoPeople = (tx: Tx, user_ids: readonly string[]) =>
  tx.query<DemoPersonRow>(
    `select t.name as tenant_name, t.state as tenant_state, u.user_id, u.name, u.roles
       from app.user_account u join app.tenant t on t.tenant_id = u.tenant_id
      where u.tenant_id = $1 and u.user_id = any($2) and u.state = 'active' and t.demo
      order by u.user_id`,
    [tx.tenant_id, user_ids],
  )

export interface RevokedRow {
  readonly token_id: string
  readonly expires_at: string
  readonly reason: string | null
  readonly revoked_at: string
  readonly revoked_by: string
}

/** Processes drop expired revocations from their deny lists and notice new rows only, so an expired row is replaced. */
export const removeEndedRevocation = (tx: Tx, token_id: string) =>
  tx.run('delete from app.revoked_token where tenant_id = $1 and token_id = $2 and expires_at <= now()', [
    tx.tenant_id,
    token_id,
  ])

/** Revoking again keeps the later expiry. */
export const upsertRevokedToken = (
  tx: Tx,
  token: { token_id: string; expires_at: string | null; reason: string | null },
) =>
  tx.find<RevokedRow>(
    `insert into app.revoked_token (tenant_id, token_id, expires_at, reason, revoked_by)
     values ($1, $2, least(coalesce($3::timestamptz, now() + interval '24 hours'), now() + interval '25 hours'), $4, $5)
     on conflict on constraint revoked_token_pkey
     do update set expires_at = greatest(revoked_token.expires_at, excluded.expires_at)
     returning token_id, expires_at, reason, revoked_at, revoked_by`,
    [tx.tenant_id, token.token_id, token.expires_at, token.reason, tx.actor],
  )

export const findTenantName = (tx: Tx) =>
  tx.find<{ tenant_id: string; slug: string; name: string }>(
    'select tenant_id, slug, name from app.tenant where tenant_id = $1',
    [tx.tenant_id],
  )
