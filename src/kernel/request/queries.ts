/** SQL of stored responses and of change requests. */
import type { MemberChange } from '../audit/member-change.ts'
import { answerRestrictions, restrictionInForce } from '../database/restriction-column.ts'
import type { Tx } from '../database/tx.ts'

export interface StoredResponse {
  readonly fingerprint: string
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
}

export interface IdempotencyScope {
  readonly principal: string
  readonly operation: string
  readonly key: string
}

/** A try-lock: a second request with the same key fails while the first is running. */
export const tryLockIdempotencyKey = async (
  tx: Tx,
  { principal, operation, key }: IdempotencyScope,
): Promise<boolean> => {
  const row = await tx.find<{ locked: boolean }>(
    'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked',
    [[tx.tenant_id, principal, operation, key].join('\u0001')],
  )
  return row?.locked ?? false
}

export const findStoredResponse = (tx: Tx, { principal, operation, key }: IdempotencyScope) =>
  tx.find<StoredResponse & { readonly is_hidden: boolean; readonly is_erased: boolean }>(
    `select fingerprint, status, headers, body, erased_at is not null as is_erased, exists (
         select 1 from unnest(${answerRestrictions('i')}) as o (id) where not exists (
           select 1 from app.restriction r where r.tenant_id = i.tenant_id and r.restriction_id = o.id)) as is_hidden
       from app.idempotency i
      where tenant_id = $1 and principal = $2 and operation = $3 and key = $4 and expires_at > now()`,
    [tx.tenant_id, principal, operation, key],
  )

/** An expired response of the same key is replaced. */
export const insertStoredResponse = (
  tx: Tx,
  { principal, operation, key }: IdempotencyScope,
  answer: StoredResponse & {
    readonly restriction_id: string | null
    readonly also_restriction_id?: string | null
    readonly named_restriction_ids?: readonly string[]
  },
) =>
  tx.run(
    `insert into app.idempotency (tenant_id, principal, operation, key, fingerprint, status, headers, body, expires_at,
       object_restriction_id, object_also_restriction_id, object_named_restriction_ids)
     values ($1, $2, $3, $4, $5, $6, $7::jsonb, $8, now() + interval '24 hours', $9, $10, $11)
     on conflict on constraint idempotency_pkey do update set fingerprint = excluded.fingerprint, status = excluded.status,
       headers = excluded.headers, body = excluded.body, created_at = now(), expires_at = excluded.expires_at,
       object_restriction_id = excluded.object_restriction_id, object_also_restriction_id = excluded.object_also_restriction_id,
       object_named_restriction_ids = excluded.object_named_restriction_ids, erased_at = null`,
    [
      tx.tenant_id,
      principal,
      operation,
      key,
      answer.fingerprint,
      answer.status,
      JSON.stringify(answer.headers),
      answer.body,
      answer.restriction_id,
      answer.also_restriction_id ?? null,
      answer.named_restriction_ids ?? [],
    ],
  )

export interface ApprovalRule {
  readonly action: string
  readonly approvers: number
  readonly role: string
  readonly require_impact: boolean
}

export const findApprovalRule = (tx: Tx, action: string) =>
  tx.find<ApprovalRule>(
    `select rule.action, rule.approvers, rule.role, coalesce(rule.require_impact, false) as require_impact
       from app.approval_policy p,
            jsonb_to_recordset(p.rules) as rule (action text, approvers bigint, role text, require_impact boolean)
      where p.tenant_id = $1 and rule.action = $2 and rule.approvers > 0`,
    [tx.tenant_id, action],
  )

/** For a change that reverts or weakens what another action governs, where the policy has no rule of its own for it. */
export const findInheritedRule = async (tx: Tx, action: string): Promise<ApprovalRule | undefined> => {
  const rule = await findApprovalRule(tx, action)
  return rule && { ...rule, require_impact: false }
}

/** The rule that requires the most approvers, of any action. */
export const findStrictestRule = (tx: Tx) =>
  tx.find<ApprovalRule>(
    `select rule.action, rule.approvers, rule.role, false as require_impact
       from app.approval_policy p,
            jsonb_to_recordset(p.rules) as rule (action text, approvers bigint, role text)
      where p.tenant_id = $1 and rule.approvers > 0 order by rule.approvers desc, rule.action limit 1`,
    [tx.tenant_id],
  )

/** The condition of `user_account_approver_idx`: approvers hold one of these roles. A query that repeats it uses the index. */
export const APPROVER_ROLES = `'{tenant_admin,compliance_officer}'::text[]`

/**
 * How many active people other than the author hold a role, and whether the tenant is set up. A request of an API key counts as
 * one of the person who created the key, through any number of keys.
 */
export const countApprovers = (tx: Tx, role: string) =>
  tx.find<{ is_set_up: boolean; available: number }>(
    `with recursive author as (
       select $3 as principal
       union select (select k.created_by from app.api_key k
                      where k.tenant_id = $1 and k.key_id = case when a.principal like 'key:%' then substr(a.principal, 5)::uuid end)
               from author a where a.principal like 'key:%')
     select p.set_up_at is not null as is_set_up,
            (select count(*) from app.user_account u
              where u.tenant_id = $1 and u.state <> 'inactive' and $2 = any (u.roles) and u.roles && ${APPROVER_ROLES}
                and 'user:' || u.user_id not in (select principal from author where principal is not null)) as available
       from app.approval_policy p where p.tenant_id = $1`,
    [tx.tenant_id, role, tx.actor],
  )

export interface PrincipalRow {
  readonly principal: string
  readonly roles: readonly string[]
  readonly created_by: string
  readonly is_active: boolean
}

/** Everybody who holds a role, people and keys. */
export const listPrincipals = (tx: Tx) =>
  tx.query<PrincipalRow>(
    `select 'user:' || user_id as principal, roles, created_by, state <> 'inactive' as is_active
       from app.user_account where tenant_id = $1 and roles <> '{}'
     union all
     select 'key:' || key_id, roles, created_by, state = 'active' and (expires_at is null or expires_at > now())
       from app.api_key where tenant_id = $1`,
    [tx.tenant_id],
  )

export const insertBreakGlassReview = (
  tx: Tx,
  review: {
    review_id: string
    action: string
    operation: string
    params: unknown
    body: unknown
    reason: string
    required_role: string
  },
  created_by = tx.actor,
) =>
  tx.run(
    `insert into app.break_glass_review (tenant_id, review_id, action, operation, params, body, reason, required_role, created_by)
     values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8, $9)`,
    [
      tx.tenant_id,
      review.review_id,
      review.action,
      review.operation,
      JSON.stringify(review.params ?? {}),
      review.body === undefined ? null : JSON.stringify(review.body),
      review.reason,
      review.required_role,
      created_by,
    ],
  )

export async function dryRunInSavepoint(tx: Tx, attempt: () => Promise<unknown>): Promise<void> {
  await tx.run('savepoint proposal')
  await attempt()
  await tx.run('rollback to savepoint proposal')
}

export const changeRequestStates = ['open', 'approved', 'rejected', 'withdrawn', 'void'] as const

export const changeRequestProtocols = ['http', 'mcp'] as const

export interface ChangeRequestRow {
  readonly cr_id: string
  readonly action: string
  readonly operation: string
  readonly params: Record<string, string>
  readonly query: Record<string, unknown>
  readonly body: unknown
  readonly changes: MemberChange[] | null
  readonly content_hash: string
  readonly head: string | null
  readonly state: (typeof changeRequestStates)[number]
  readonly required_role: string
  readonly approvers: number
  readonly require_impact: boolean
  readonly impact_run_id: string | null
  readonly approvals: { approved_by: string; approved_at: string; note: string | null }[]
  readonly created_at: string
  readonly created_by: string
  readonly via: (typeof changeRequestProtocols)[number] | null
  readonly client: string | null
  readonly decided_at: string | null
  readonly decided_by: string | null
  readonly decision_note: string | null
  readonly restriction_id: string | null
  readonly revision: number
}

export const changeRequestColumns = `cr_id, action, operation, params, query, body, changes, content_hash, head, state, required_role,
  approvers, require_impact, impact_run_id, created_at, created_by, via, client, decided_at, decided_by, decision_note, revision, ${restrictionInForce()},
  (select coalesce(jsonb_agg(jsonb_build_object('approved_by', a.approved_by, 'note', a.note,
            'approved_at', to_char(a.approved_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')) order by a.approved_at), '[]')
     from app.change_approval a where a.tenant_id = c.tenant_id and a.cr_id = c.cr_id) as approvals`

export const insertChangeRequest = (
  tx: Tx,
  request: {
    cr_id: string
    action: string
    operation: string
    params: unknown
    query?: unknown
    body: unknown
    changes?: readonly MemberChange[] | null
    restriction_id?: string | null
    content_hash: string
    head: string | null
    required_role: string
    approvers: number
    require_impact?: boolean
    via?: ChangeRequestRow['via']
    client?: string | null
  },
) =>
  tx.find<ChangeRequestRow>(
    `insert into app.change_request as c
       (tenant_id, cr_id, action, operation, params, body, content_hash, head, required_role, approvers, created_by, query, require_impact,
        changes, restriction_id, via, client)
     values ($1, $2, $3, $4, $5::jsonb, $6::jsonb, $7, $8, $9, $10, $11, $12::jsonb, $13, $14::jsonb, $15, $16, $17)
     returning ${changeRequestColumns}`,
    [
      tx.tenant_id,
      request.cr_id,
      request.action,
      request.operation,
      JSON.stringify(request.params ?? {}),
      request.body === undefined ? null : JSON.stringify(request.body),
      request.content_hash,
      request.head,
      request.required_role,
      request.approvers,
      tx.actor,
      JSON.stringify(request.query ?? {}),
      request.require_impact ?? false,
      request.changes ? JSON.stringify(request.changes) : null,
      request.restriction_id ?? null,
      request.via ?? 'http',
      request.client ?? null,
    ],
  )

/** Two proposals of the same content at once make one change request. */
export const lockProposal = (tx: Tx, content_hash: string) =>
  tx.run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [`proposal:${tx.tenant_id}:${content_hash}`])

/** The open request of this author with this content, against this state. The hash covers the operation. */
export const findOpenProposal = (
  tx: Tx,
  { content_hash, head }: { readonly content_hash: string; readonly head: string | null },
) =>
  tx.find<ChangeRequestRow>(
    `select ${changeRequestColumns} from app.change_request c
      where tenant_id = $1 and state = 'open' and created_by = $2 and content_hash = $3 and head is not distinct from $4
      order by created_at limit 1`,
    [tx.tenant_id, tx.actor, content_hash, head],
  )
