/**
 * SQL of the overview. Every statement walks an index in the order of its answer and filters on the way, so that rows of other
 * people never displace those of the caller. Limits bound what is returned, time ranges and states what is read.
 */
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { type ChangeRequestRow, changeRequestColumns } from '#kernel/request/queries.ts'
import { datasetStore } from '#modules/definitions/index.ts'
import type { ImpactFacts, VersionedTarget, VersionFacts } from './describe-change.ts'
import { MAX_READ } from './limits.ts'

/** `total` is the number of rows before the limit, which itself is counted up to a limit. */
export interface Counted {
  readonly total: number
}

export interface ExpiringOverrideRow extends Counted {
  readonly subject_id: string
  readonly name: string
  readonly band: string
  readonly expires_at: string
}

/** Of active subjects, the next to expire first. */
export const listExpiringOverrides = (tx: Tx, until_at: string, most: number, count: number) =>
  tx.query<ExpiringOverrideRow>(
    `with k as materialized (
       select k.subject_id, s.name, k.override_band as band, k.override_until as expires_at
         from app.subject_risk k join app.subject s on s.tenant_id = $1 and s.subject_id = k.subject_id
        where k.tenant_id = $1 and k.override_until > now() and k.override_until < $2 and s.state = 'active'
        order by k.override_until, k.subject_id limit $3)
     select k.*, (select count(*) from k) as total from k order by expires_at, subject_id limit $4`,
    [tx.tenant_id, until_at, most, count],
  )

export interface FailedBatchRow {
  readonly batch_id: string
  readonly family: 'matrix' | 'rule'
  readonly definition_key: string
  readonly failed: number
  readonly items: number
  readonly created_at: string
}

/** Ended batches with failed items, newest first. */
export const listFailedBatches = (tx: Tx, from_at: string, count: number) =>
  tx.query<FailedBatchRow>(
    `select batch_id, family, definition_key, failed, done + failed as items, created_at from app.batch_evaluation
      where tenant_id = $1 and created_at >= $2 and failed > 0 and finished_at is not null
      order by created_at desc, batch_id desc limit $3`,
    [tx.tenant_id, from_at, count],
  )

export interface RejectedUploadRow {
  readonly bulk_id: string
  readonly file_name: string | null
  readonly rejected: number
  readonly rows: number
  readonly created_at: string
}

/** Files of subjects with refused rows, newest first. Their ids begin with their time. */
export const listRejectedUploads = (tx: Tx, first_id: string, count: number) =>
  tx.query<RejectedUploadRow>(
    `select bulk_id, source ->> 'file_name' as file_name, (counts ->> 'rejected')::bigint as rejected,
            (counts ->> 'rows')::bigint as rows, created_at
       from app.subject_bulk where tenant_id = $1 and bulk_id >= $2 and finished_at is not null and (counts ->> 'rejected')::bigint > 0
      order by bulk_id desc limit $3`,
    [tx.tenant_id, first_id, count],
  )

export interface DecisionRow {
  readonly evaluation_id: string
  readonly family: 'matrix' | 'rule'
  readonly definition_key: string
  readonly subject_id: string | null
  readonly subject_name: string | null
  readonly band: string | null
  readonly hit: boolean | null
  readonly required_actions: string[]
  readonly decided_at: string
}

/** Those among the newest `most` decisions that require an action. */
export const listDecisionsWithActions = (tx: Tx, most: number, count: number) =>
  tx.query<DecisionRow>(
    `with newest as materialized (
       select evaluation_id, family, definition_key, subject_id, band, hit, required_actions, decided_at from app.evaluation
        where tenant_id = $1 order by decided_at desc, evaluation_id desc limit $2)
     select n.*, s.name as subject_name
       from (select * from newest where required_actions <> '{}' order by decided_at desc, evaluation_id desc limit $3) n
       left join app.subject s on s.tenant_id = $1 and s.subject_id = n.subject_id
      order by n.decided_at desc, n.evaluation_id desc`,
    [tx.tenant_id, most, count],
  )

export interface DraftRow {
  readonly family: string
  readonly key: string
  readonly title: string
  readonly based_on: number | null
  readonly updated_at: string
}

/** Drafts that this principal began or changed last. A definition has at most one draft. */
export const listDraftsByAuthor = (tx: Tx, principal: string, count: number) =>
  tx.query<DraftRow>(
    `select s.family, s.list_key as key, s.title, d.based_on, d.updated_at
       from app.definition_draft d join app.dataset s on s.tenant_id = $1 and s.dataset_id = d.dataset_id
      where d.tenant_id = $1 and $2 in (d.created_by, d.updated_by)
      order by d.updated_at desc, s.list_key limit $3`,
    [tx.tenant_id, principal, count],
  )

export interface DueDefinitionRow {
  readonly family: string
  readonly key: string
  readonly title: string
  readonly origin: 'own' | 'shared'
  readonly version: number
  readonly stale_since: string | null
  readonly review_due_at: string | null
}

/** Definitions in force that are older than their limit, or whose review is due by an instant; the longest overdue first. */
export const listDueDefinitions = (tx: Tx, due_by: string, count: number) =>
  tx.query<DueDefinitionRow>(
    `select * from (
       select d.family, d.list_key as key, d.title, case when d.tenant_id = $1 then 'own' else 'shared' end as origin, r.version,
              ${datasetStore.staleSinceExpression} as stale_since,
              (select max(h.created_at) + d.review_every_days * interval '1 day' from app.dataset_version h
                where h.tenant_id = d.tenant_id and h.dataset_id = d.dataset_id) as review_due_at
         from app.dataset d
        cross join lateral app.resolve_lists(d.family, array[d.list_key], statement_timestamp(), null) r
         join app.dataset_version v on v.tenant_id = d.tenant_id and v.dataset_id = d.dataset_id and v.version = r.version
        where d.tenant_id in ($1, app.system_tenant()) and d.role = 'base' and d.state = 'live'
          and (d.stale_after_days is not null or d.review_every_days is not null)
          and r.dataset_tenant_id = d.tenant_id and r.dataset_id = d.dataset_id) x
      where stale_since is not null or review_due_at < $2::timestamptz
      order by least(stale_since, review_due_at), key limit $3`,
    [tx.tenant_id, due_by, count],
  )

export interface FailedImportRow {
  readonly import_id: string
  readonly list_key: string
  readonly state: 'rejected' | 'blocked' | 'failed'
  readonly file_name: string | null
  readonly created_at: string
}

/** Imports that gave no version, unless a later import of the list did; newest first. */
export const listFailedImports = (tx: Tx, from_at: string, count: number) =>
  tx.query<FailedImportRow>(
    `select i.import_id, i.list_key, i.state, i.source ->> 'file_name' as file_name, i.created_at from app.dataset_import i
      where i.tenant_id = $1 and i.created_at >= $2 and i.state in ('rejected', 'blocked', 'failed')
        and not exists (select 1 from app.dataset_import n where n.tenant_id = $1 and n.list_key = i.list_key
                           and n.created_at > i.created_at and n.state in ('published', 'unchanged'))
      order by i.created_at desc, i.import_id desc limit $3`,
    [tx.tenant_id, from_at, count],
  )

type WaitingRow = ChangeRequestRow & Counted

/** Open change requests that this principal may approve, oldest first. */
export const listAwaiting = (
  tx: Tx,
  { principal, roles }: { readonly principal: string; readonly roles: readonly string[] },
  most: number,
  count: number,
) =>
  tx.query<WaitingRow>(
    `with c as materialized (
       select * from app.change_request o
        where o.tenant_id = $1 and o.state = 'open' and o.created_by <> $2 and o.required_role = any ($3::text[])
          and (select a.approved_by from app.change_approval a
                where a.tenant_id = $1 and a.cr_id = o.cr_id and a.approved_by = $2) is null
        order by o.created_at, o.cr_id limit $4)
     select ${changeRequestColumns}, (select count(*) from c) as total from c order by created_at, cr_id limit $5`,
    [tx.tenant_id, principal, roles, most, count],
  )

/** Open change requests of this principal, newest first. */
export const listProposals = (tx: Tx, principal: string, count: number) =>
  tx.query<ChangeRequestRow>(
    `select ${changeRequestColumns} from app.change_request c
      where c.tenant_id = $1 and c.state = 'open' and c.created_by = $2 order by c.created_at desc, c.cr_id desc limit $3`,
    [tx.tenant_id, principal, count],
  )

/** Emergency changes that this principal may acknowledge, counted up to `most`. */
export const countOpenReviews = async (
  tx: Tx,
  { principal, roles }: { readonly principal: string; readonly roles: readonly string[] },
  most: number,
): Promise<number> =>
  (
    await tx.find<{ open: number }>(
      `with mine as materialized (
         select review_id from app.break_glass_review
          where tenant_id = $1 and state = 'open' and created_by <> $2 and required_role = any ($3::text[])
          order by created_at desc, review_id desc limit $4)
       select count(*) as open from mine`,
      [tx.tenant_id, principal, roles, most],
    )
  )?.open ?? 0

/** For each target by its position: title, the version in force, and what differs from it. */
export const listVersionFacts = (tx: Tx, targets: readonly VersionedTarget[]) =>
  tx.query<VersionFacts & { readonly place: number }>(
    `select w.place, d.title, v.entry_count, f.version as from_version,
            coalesce(n.added, x.added) as added, coalesce(n.removed, x.removed) as removed, coalesce(n.changed, x.changed) as changed,
            (select sum((h.difference ->> 'added')::bigint + (h.difference ->> 'removed')::bigint + (h.difference ->> 'changed')::bigint)::bigint
               from app.dataset_version h where h.tenant_id = d.tenant_id and h.dataset_id = d.dataset_id
                and h.version > least(f.version, w.version) and h.version <= greatest(f.version, w.version)) as at_most
       from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as w (family, key, version, place)
       left join lateral (select b.tenant_id, b.dataset_id, b.title from app.dataset b
                           where b.tenant_id in ($1, app.system_tenant()) and b.family = w.family and b.list_key = w.key and b.role = 'base'
                           order by (b.tenant_id = $1) desc limit 1) d on true
       left join lateral app.resolve_lists(w.family, array[w.key], statement_timestamp(), null) f on f.dataset_id = d.dataset_id
       left join app.dataset_version v on v.tenant_id = d.tenant_id and v.dataset_id = d.dataset_id and v.version = w.version
       left join lateral (select (v.difference ->> 'added')::bigint as added, (v.difference ->> 'removed')::bigint as removed,
                                 (v.difference ->> 'changed')::bigint as changed
                           where w.version = f.version + 1) n on true
       left join lateral (select s.added, s.removed, s.changed from app.dataset_difference s
                           where s.tenant_id in ($1, app.system_tenant()) and s.dataset_tenant_id = d.tenant_id
                             and s.dataset_id = d.dataset_id and s.from_version = f.version and s.to_version = w.version limit 1) x on true
      order by w.place`,
    [
      tx.tenant_id,
      targets.map(({ family }) => family),
      targets.map(({ key }) => key),
      targets.map(({ version }) => version),
    ],
  )

export const listImpactFacts = (tx: Tx, run_ids: readonly string[]) =>
  tx.query<ImpactFacts & { readonly run_id: string }>(
    `select run_id, result -> 'transitions' as transitions, (result ->> 'decisions')::bigint as decisions,
            jsonb_array_length(result -> 'definitions')::bigint as readers,
            not coalesce((result -> 'population' ->> 'complete')::boolean, true) as is_sample
       from app.impact_run where tenant_id = $1 and run_id = any ($2::uuid[]) and result is not null`,
    [tx.tenant_id, run_ids],
  )

/** Names of users and subjects by id. */
export const listNames = (tx: Tx, user_ids: readonly string[], subject_ids: readonly string[]) =>
  tx.query<{ readonly id: string; readonly name: string }>(
    `select user_id as id, name from app.user_account where tenant_id = $1 and user_id = any ($2::uuid[])
     union all select subject_id, name from app.subject where tenant_id = $1 and subject_id = any ($3::uuid[])`,
    [tx.tenant_id, user_ids, subject_ids],
  )

export interface PolicyChangeRow {
  readonly activation_id: string
  readonly family: string
  readonly key: string
  readonly title: string
  readonly kind: string
  readonly version: number | null
  readonly previous_version: number | null
  readonly effective_from: string
  readonly recorded_at: string
  readonly reason: string
  readonly actor: string
  readonly proposed_by: string | null
  readonly cr_id: string | null
}

/** The tenant's newest activations; their ids are in order of time. */
export const listPolicyChanges = (tx: Tx, count: number) =>
  tx.query<PolicyChangeRow>(
    `select a.activation_id, a.family, a.list_key as key, coalesce(d.title, a.list_key) as title, a.kind, a.version,
            p.version as previous_version, a.effective_from, a.recorded_at, a.reason, a.actor, c.created_by as proposed_by, a.cr_id
       from (select * from app.activation where tenant_id = $1 order by activation_id desc limit $2) a
       left join lateral (select b.title from app.dataset b
                           where b.tenant_id in ($1, app.system_tenant()) and b.family = a.family and b.list_key = a.list_key and b.role = 'base'
                           order by (b.tenant_id = $1) desc limit 1) d on true
       left join lateral (select b.version from app.activation b
                           where b.tenant_id = $1 and b.family = a.family and b.list_key = a.list_key and b.seq < a.seq
                             and b.layer = a.layer and b.revoked_at is null order by b.seq desc limit 1) p on true
       left join app.change_request c on c.tenant_id = $1 and c.cr_id = a.cr_id
      order by a.activation_id desc`,
    [tx.tenant_id, count],
  )

export interface KeyRow {
  readonly key_id: string
  readonly name: string
  readonly expires_at: string | null
  readonly last_used_at: string | null
  readonly created_at: string
  readonly why: 'expired' | 'expiring' | 'unused'
}

/** Keys that are not revoked and have expired, expire soon, or were not used for long. */
export const listKeysToCheck = (tx: Tx, expiring_by: string, unused_since: string, count: number) =>
  tx.query<KeyRow>(
    `select * from (
       select key_id, name, expires_at, last_used_at, created_at,
              case when expires_at <= now() then 'expired' when expires_at < $2::timestamptz then 'expiring'
                   when coalesce(last_used_at, created_at) < $3::timestamptz then 'unused' end as why
         from app.api_key where tenant_id = $1 and state = 'active') k
      where why is not null order by expires_at nulls last, created_at, key_id limit $4`,
    [tx.tenant_id, expiring_by, unused_since, count],
  )

/** Of the users created first; `read` is how many were read. */
export const countUsersByState = (tx: Tx) =>
  tx.query<{ readonly state: 'invited' | 'active' | 'inactive'; readonly users: number; readonly read: number }>(
    `with u as materialized (
       select state from app.user_account where tenant_id = $1 order by created_at, user_id limit ${MAX_READ})
     select state, count(*) as users, (select count(*) from u) as read from u group by state`,
    [tx.tenant_id],
  )

export interface FailedJobRow {
  readonly job_id: string
  readonly kind: string
  readonly reason: string | null
  readonly finished_at: string
  readonly restriction_id: string | null
}

/** Failed jobs that these roles may see, newest first. */
export const listFailedJobs = (tx: Tx, from_at: string, roles: readonly string[], count: number) =>
  tx.query<FailedJobRow>(
    `select job_id, kind, left(coalesce(problem ->> 'detail', problem ->> 'title'), 500) as reason, finished_at,
            ${restrictionInForce()} from app.job
      where tenant_id = $1 and finished_at is not null and finished_at >= $2 and state = 'failed'
        and (visible_to is null or visible_to && $3::text[])
      order by finished_at desc limit $4`,
    [tx.tenant_id, from_at, roles, count],
  )
