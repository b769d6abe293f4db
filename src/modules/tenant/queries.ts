/** SQL of tenant settings, of housekeeping, and of the isolation probes. */
import { answerRestrictions } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'

export interface TenantRow {
  readonly tenant_id: string
  readonly slug: string
  readonly name: string
  readonly state: 'active' | 'suspended'
  readonly demo: boolean
  readonly jurisdictions: string[]
  readonly licences: { authority: string; kind: string; reference?: string }[]
  readonly time_zone: string
  readonly residency: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly revision: number
}

const columns =
  'tenant_id, slug, name, state, demo, jurisdictions, licences, time_zone, residency, created_at, updated_at, revision'

export const findTenant = (tx: Tx) =>
  tx.find<TenantRow>(`select ${columns} from app.tenant where tenant_id = $1`, [tx.tenant_id])

export const lockTenant = (tx: Tx) =>
  tx.find<TenantRow>(`select ${columns} from app.tenant where tenant_id = $1 for update`, [tx.tenant_id])

export const updateTenant = (
  tx: Tx,
  profile: Pick<TenantRow, 'name' | 'jurisdictions' | 'licences' | 'time_zone' | 'residency'>,
) =>
  tx.find<TenantRow>(
    `update app.tenant set name = $2, jurisdictions = $3, licences = $4::jsonb, time_zone = $5, residency = $6,
            revision = revision + 1, updated_at = now()
      where tenant_id = $1 returning ${columns}`,
    [
      tx.tenant_id,
      profile.name,
      profile.jurisdictions,
      JSON.stringify(profile.licences),
      profile.time_zone,
      profile.residency,
    ],
  )

export interface ApprovalRuleRow {
  readonly action: string
  readonly approvers: number
  readonly role: 'compliance_officer' | 'tenant_admin'
  readonly require_impact?: boolean
}
export interface PolicyRow {
  readonly rules: ApprovalRuleRow[]
  readonly updated_at: string
  readonly updated_by: string
  readonly revision: number
}

export const findApprovalPolicy = (tx: Tx) =>
  tx.find<PolicyRow>('select rules, updated_at, updated_by, revision from app.approval_policy where tenant_id = $1', [
    tx.tenant_id,
  ])

export const lockApprovalPolicy = (tx: Tx) =>
  tx.find<PolicyRow>(
    'select rules, updated_at, updated_by, revision from app.approval_policy where tenant_id = $1 for update',
    [tx.tenant_id],
  )

/** `is_set_up`: the tenant has the people its rules require, so approvals are required from now on. */
export const updateApprovalPolicy = (tx: Tx, rules: readonly ApprovalRuleRow[], is_set_up: boolean) =>
  tx.find<PolicyRow>(
    `update app.approval_policy set rules = $2::jsonb, revision = revision + 1, updated_at = now(), updated_by = $3,
            set_up_at = coalesce(set_up_at, case when $4 then now() end)
      where tenant_id = $1 returning rules, updated_at, updated_by, revision`,
    [tx.tenant_id, JSON.stringify(rules), tx.actor, is_set_up],
  )

/** The same rules again, now that the people they require are there. */
export const updateApprovalPolicySetUp = (tx: Tx) =>
  tx.run('update app.approval_policy set set_up_at = now() where tenant_id = $1 and set_up_at is null', [tx.tenant_id])

export const insertApprovalPolicy = (tx: Tx, rules: readonly ApprovalRuleRow[]) =>
  tx.run(
    `insert into app.approval_policy (tenant_id, rules, updated_by) values ($1, $2::jsonb, $3) on conflict do nothing`,
    [tx.tenant_id, JSON.stringify(rules), tx.actor],
  )

export interface RetentionClassRow {
  readonly record_class: string
  readonly keep_days: number | null
  readonly basis: string
}
export interface RetentionRow {
  readonly classes: RetentionClassRow[]
  readonly updated_at: string
  readonly updated_by: string
  readonly revision: number
}

export const findRetentionPolicy = (tx: Tx) =>
  tx.find<RetentionRow>(
    'select classes, updated_at, updated_by, revision from app.retention_policy where tenant_id = $1',
    [tx.tenant_id],
  )

export const lockRetentionPolicy = (tx: Tx) =>
  tx.find<RetentionRow>(
    'select classes, updated_at, updated_by, revision from app.retention_policy where tenant_id = $1 for update',
    [tx.tenant_id],
  )

export const updateRetentionPolicy = (tx: Tx, classes: readonly RetentionClassRow[]) =>
  tx.find<RetentionRow>(
    `update app.retention_policy set classes = $2::jsonb, revision = revision + 1, updated_at = now(), updated_by = $3
      where tenant_id = $1 returning classes, updated_at, updated_by, revision`,
    [tx.tenant_id, JSON.stringify(classes), tx.actor],
  )

export const insertRetentionPolicy = (tx: Tx, classes: readonly RetentionClassRow[]) =>
  tx.run(
    `insert into app.retention_policy (tenant_id, classes, updated_by) values ($1, $2::jsonb, $3) on conflict do nothing`,
    [tx.tenant_id, JSON.stringify(classes), tx.actor],
  )

export const insertLimit = (tx: Tx, bucket: string, per_second: number, burst: number) =>
  tx.run(
    `insert into app.tenant_limit (tenant_id, bucket, per_second, burst) values ($1, $2, $3, $4)
     on conflict on constraint tenant_limit_pkey do nothing`,
    [tx.tenant_id, bucket, per_second, burst],
  )

// Housekeeping -----------------------------------------------------------------------------------------------------

/** The table has no policy of sight: returned is how many of them belong to nothing that is hidden. */
export const removeExpiredAnswers = async (tx: Tx): Promise<number> =>
  (
    await tx.find<{ removed: number }>(
      `with gone as (delete from app.idempotency i where tenant_id = $1 and expires_at < now() returning ${answerRestrictions('i')} as restriction_ids)
       select count(*) filter (where not exists (select 1 from unnest(restriction_ids) as o (id) where app.is_in_force(o.id))) as removed from gone`,
      [tx.tenant_id],
    )
  )?.removed ?? 0

export const removeExpiredUploads = (tx: Tx) =>
  tx.run('delete from app.upload where tenant_id = $1 and expires_at < now()', [tx.tenant_id])

export const removeExpiredRevocations = (tx: Tx) =>
  tx.run('delete from app.revoked_token where tenant_id = $1 and expires_at < now()', [tx.tenant_id])

/** Counted by restriction, in force or not. */
export interface RemovedRows {
  readonly restriction_id: string | null
  readonly removed: number
}

/** `statement` deletes at most $3 rows that are older than $2 days. */
const remove =
  (statement: string, restriction: 'restriction_id' | 'null::uuid' = 'restriction_id') =>
  (tx: Tx, keep_days: number, limit: number) =>
    tx.query<RemovedRows>(
      `with gone as (${statement} returning ${restriction} as restriction_id)
       select restriction_id, count(*) as removed from gone group by restriction_id`,
      [tx.tenant_id, keep_days, limit],
    )

export const removeOldJobs = remove(
  `delete from app.job where tenant_id = $1 and job_id = any (array(
     select job_id from app.job where tenant_id = $1 and finished_at < now() - $2::bigint * interval '1 day' limit $3))`,
)

/** Rejected rows of imports that ended before the retention period; their counts stay with the import. */
export const removeOldImportRejects = remove(
  `delete from app.dataset_import_reject where tenant_id = $1 and (import_id, seq) in (
     select r.import_id, r.seq
       from app.dataset_import i join app.dataset_import_reject r on r.tenant_id = i.tenant_id and r.import_id = i.import_id
      where i.tenant_id = $1 and r.tenant_id = $1
        and coalesce(i.finished_at, i.created_at) < now() - $2::bigint * interval '1 day'
      limit $3)`,
  'null::uuid',
)

/** Events of the outbox, once they are numbered: a reader that asks for older ones begins with the oldest that is kept. */
export const removeOldEvents = remove(
  `delete from app.event where tenant_id = $1 and event_id in (
     select event_id from app.event where tenant_id = $1 and seq is not null and occurred_at < now() - $2::bigint * interval '1 day'
      limit $3)`,
)

/** The same for bulk files of subjects. */
export const removeOldBulkRejects = remove(
  `delete from app.subject_bulk_reject where tenant_id = $1 and (bulk_id, seq) in (
     select r.bulk_id, r.seq
       from app.subject_bulk b join app.subject_bulk_reject r on r.tenant_id = b.tenant_id and r.bulk_id = b.bulk_id
      where b.tenant_id = $1 and r.tenant_id = $1
        and coalesce(b.finished_at, b.created_at) < now() - $2::bigint * interval '1 day'
      limit $3)`,
  'null::uuid',
)

/** Objects whose hold keeps a row, because `app.refuse_held_delete` refuses it. `c` are contents of payloads, `p` pages of answers. */
const payloadObjects = [
  'c.payload_id',
  '(select s.owner_id from app.source_payload s where s.tenant_id = c.tenant_id and s.payload_id = c.payload_id)',
]
const pageObjects = [
  'p.call_id',
  '(select s.subject_id from app.provider_call s where s.tenant_id = p.tenant_id and s.call_id = p.call_id)',
]

const isHeld = (objects: readonly string[]): string => `(${objects.map((id) => `app.is_held(${id})`).join(' or ')})`

/** By a hold that the transaction sees. */
const isVisiblyHeld = (objects: readonly string[]): string =>
  `exists (select 1 from app.hold h where h.tenant_id = $1 and h.object_id in (${objects.join(', ')}) and h.state = 'active')`

/** Bytes of payloads that arrived before the retention period; hash, admissions and encrypted facts stay with their row. */
export const removeOldPayloadContents = remove(
  `delete from app.source_payload_content where tenant_id = $1 and payload_id = any (array(
     select c.payload_id from app.source_payload_content c
      where c.tenant_id = $1 and c.received_at < now() - $2::bigint * interval '1 day' and not ${isHeld(payloadObjects)} limit $3))`,
)

/** Pages of provider answers that never became complete, by the same period. */
export const removeOldProviderPages = remove(
  `delete from app.provider_page where tenant_id = $1 and (call_id, page_no) in (
     select p.call_id, p.page_no from app.provider_page p
      where p.tenant_id = $1 and p.received_at < now() - $2::bigint * interval '1 day' and not ${isHeld(pageObjects)} limit $3)`,
)

/** Contents and pages past the period that a hold keeps: of those that the transaction sees. */
export const countHeldPayloads = async (tx: Tx, keep_days: number): Promise<number> =>
  (
    await tx.find<{ held: number }>(
      `select (select count(*) from app.source_payload_content c
                where c.tenant_id = $1 and c.received_at < now() - $2::bigint * interval '1 day' and ${isVisiblyHeld(payloadObjects)})
            + (select count(*) from app.provider_page p
                where p.tenant_id = $1 and p.received_at < now() - $2::bigint * interval '1 day' and ${isVisiblyHeld(pageObjects)}) as held`,
      [tx.tenant_id, keep_days],
    )
  )?.held ?? 0

// Isolation probes --------------------------------------------------------------------------------------------------

export const listIsolatedTables = (tx: Tx) =>
  tx.query<{ table_name: string; kind: string }>(
    `select table_name, kind from app.wall_register where kind <> 'system' order by table_name`,
  )

export const findDatabaseRole = (tx: Tx) =>
  tx.find<{ name: string; superuser: boolean; bypasses_row_security: boolean; owns_tables: boolean }>(
    `select r.rolname as name, r.rolsuper as superuser, r.rolbypassrls as bypasses_row_security,
            exists (select 1 from pg_class c join pg_namespace n on n.oid = c.relnamespace
                     where n.nspname = 'app' and c.relowner = r.oid) as owns_tables
       from pg_roles r where r.rolname = current_user`,
  )

export const findPoliciesDigest = (tx: Tx) =>
  tx.find<{ digest: string }>(
    `select encode(sha256(convert_to(string_agg(concat_ws('|', c.relname, c.relrowsecurity, c.relforcerowsecurity, p.polname, p.polcmd,
              p.polpermissive, pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)), E'\\n'
              order by c.relname, p.polname), 'UTF8')), 'hex') as digest
       from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'app'`,
  )

/** Each probe is one statement against another tenant's rows. `table` comes from the catalogue, never from a caller. */
export const probeSelect = async (tx: Tx, table: string, tenant_id: string): Promise<number> =>
  // No limit: with one, a prepared plan would read the table sequentially instead of using an index.
  (await tx.query(`select 1 from app.${table} where tenant_id = $1`, [tenant_id])).length

export const probeUpdate = (tx: Tx, table: string, tenant_id: string) =>
  tx.run(`update app.${table} set tenant_id = tenant_id where tenant_id = $1`, [tenant_id])

export const probeDelete = (tx: Tx, table: string, tenant_id: string) =>
  tx.run(`delete from app.${table} where tenant_id = $1`, [tenant_id])

export const probeInsert = (tx: Tx, table: string, tenant_id: string) =>
  tx.run(`insert into app.${table} (tenant_id) values ($1)`, [tenant_id])

export const probeWithoutTenant = async (tx: Tx, table: string, tenant_id: string): Promise<number> => {
  await tx.run(`select set_config('app.tenant_id', '', true)`)
  return probeSelect(tx, table, tenant_id)
}

export const createSavepoint = (tx: Tx) => tx.run('savepoint probe')
export const rollBackToSavepoint = (tx: Tx) => tx.run('rollback to savepoint probe')
