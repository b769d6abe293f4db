/** What every process reads of a tenant to authenticate a request, in that tenant's transaction; and the keys of the issuer. */
import type { Tx } from '../database/tx.ts'
import { isUuid } from '../uuid.ts'
import type { ToolRule } from './tool-policy.ts'

/** What a tenant can have a limit of its own for. */
export type Bucket = 'principal' | 'tenant' | 'in_flight' | 'heavy' | 'mcp'

/** Only an active tenant is served; one that is being deleted stays so until it is gone. */
export type TenantState = 'active' | 'suspended' | 'deleting'

export interface TenantStatusRow {
  readonly state: TenantState
  readonly access_epoch: number
  /** NULL when the caller already holds this epoch: then nothing else was read. */
  readonly details: {
    readonly denied: readonly string[]
    readonly limits: readonly { bucket: Bucket; per_second: number; burst: number }[]
    /** The current roles of principals whose roles changed within the life of a token. */
    readonly roles: readonly (readonly [principal: string, roles: readonly string[]])[]
    readonly tool_rules: readonly ToolRule[]
  } | null
}

/** One row. The lists are read only when the epoch has changed, so that the refresh every two seconds costs one index read. */
export const findTenantStatus = (tx: Tx, known_epoch: number) =>
  tx.find<TenantStatusRow>(
    `select t.state, t.access_epoch,
            case when t.access_epoch = $2 then null else jsonb_build_object(
              'denied', (select coalesce(jsonb_agg(d.id), '[]') from (
                 select 'token:' || token_id as id from app.revoked_token where tenant_id = $1 and expires_at > now()
                 union all select 'user:' || user_id from app.user_account where tenant_id = $1 and state = 'inactive'
                 union all select 'key:' || key_id from app.api_key where tenant_id = $1 and state = 'revoked'
                   and revoked_at > now() - interval '25 hours') d),
              'limits', (select coalesce(jsonb_agg(jsonb_build_object('bucket', bucket, 'per_second', per_second, 'burst', burst)), '[]')
                 from app.tenant_limit where tenant_id = $1),
              'roles', (select coalesce(jsonb_agg(jsonb_build_array(r.principal, to_jsonb(r.roles))), '[]') from (
                 select 'user:' || user_id as principal, roles from app.user_account
                  where tenant_id = $1 and roles_changed_at > now() - interval '25 hours'
                 union all select 'key:' || key_id, roles from app.api_key
                  where tenant_id = $1 and roles_changed_at > now() - interval '25 hours') r),
              'tool_rules', coalesce((select p.rules from app.mcp_tool_policy p where p.tenant_id = $1), '[]')) end as details
       from app.tenant t where t.tenant_id = $1`,
    [tx.tenant_id, known_epoch],
  )

export interface SigningKeyRow {
  readonly kid: string
  readonly alg: 'ES256' | 'EdDSA'
  readonly public_jwk: Record<string, unknown>
  readonly sealed_private: string
  readonly state: 'active' | 'retired'
  readonly created_at: string
  readonly retired_at: string | null
}

/** Active first. A retired key verifies until every token it signed has expired (24 h and the skew). */
export const listSigningKeys = (tx: Tx) =>
  tx.query<SigningKeyRow>(
    `select kid, alg, public_jwk, sealed_private, state, created_at, retired_at from app.signing_key
      where tenant_id = app.system_tenant() and (state = 'active' or retired_at > now() - interval '25 hours')
      order by state, created_at desc, kid`,
  )

/** Locked in one order, so that of two designations that end at the same time the second finds the first. */
export const lockMlros = (tx: Tx) =>
  tx.query<{ user_id: string }>(
    `select user_id from app.user_account where tenant_id = $1 and is_mlro and state <> 'inactive' order by user_id for update`,
    [tx.tenant_id],
  )

export interface ActorName {
  readonly actor: string
  readonly name: string
}

/** People and machine keys by their names; the others keep what they are called in the record. */
export const listActorNames = (tx: Tx, actors: readonly string[]) => {
  const listIds = (kind: string): string[] =>
    actors.flatMap((actor) =>
      actor.startsWith(kind) && isUuid(actor.slice(kind.length)) ? [actor.slice(kind.length)] : [],
    )
  return tx.query<ActorName>(
    `select 'user:' || user_id as actor, coalesce(name, email) as name from app.user_account
      where tenant_id = $1 and user_id = any ($2::uuid[])
     union all
     select 'key:' || key_id, name from app.api_key where tenant_id = $1 and key_id = any ($3::uuid[])`,
    [tx.tenant_id, listIds('user:'), listIds('key:')],
  )
}
