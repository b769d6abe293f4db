/** SQL of restrictions, their access lists and log, and the designation of the MLRO. */

import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface RestrictionRow {
  readonly restriction_id: string
  readonly purpose: string
  readonly is_in_force: boolean
  readonly people: { readonly granted: number; readonly excluded: number; readonly mlros: number }
  readonly imposed_at: string | null
  readonly imposed_by: string | null
  readonly lifted_at: string | null
  readonly lifted_by: string | null
  readonly lift_reason: string | null
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly revision: number
}

const columns = `r.restriction_id, r.purpose, r.is_in_force, r.imposed_at, r.imposed_by, r.lifted_at, r.lifted_by, r.lift_reason, r.created_at,
  r.created_by, r.updated_at, r.revision,
  (select jsonb_build_object('granted', count(*) filter (where a.effect = 'grant' and (a.until is null or a.until > now())),
            'excluded', count(*) filter (where a.effect = 'exclude'),
            'mlros', (select count(*) from app.user_account u where u.tenant_id = r.tenant_id and u.is_mlro and u.state <> 'inactive'
                         and not exists (select 1 from app.restriction_access x where x.tenant_id = r.tenant_id
                           and x.restriction_id = r.restriction_id and x.principal = 'user:' || u.user_id and x.effect = 'exclude')))
     from app.restriction_access a where a.tenant_id = r.tenant_id and a.restriction_id = r.restriction_id) as people`

/** Newest first, without those that were made with an object and never imposed. */
export const listRestrictions = (tx: Tx, is_in_force: boolean | null, after: PagePosition, count: number) =>
  tx.query<RestrictionRow>(
    `select ${columns} from app.restriction r
      where r.tenant_id = $1 and (r.prepared_for is null or r.imposed_at is not null) and ($2::boolean is null or r.is_in_force = $2)
        and ($3::timestamptz is null or (r.created_at, r.restriction_id) < ($3, $4::uuid))
      order by r.created_at desc, r.restriction_id desc limit $5`,
    [tx.tenant_id, is_in_force, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findRestriction = (tx: Tx, restriction_id: string) =>
  tx.find<RestrictionRow>(`select ${columns} from app.restriction r where r.tenant_id = $1 and r.restriction_id = $2`, [
    tx.tenant_id,
    restriction_id,
  ])

export const lockRestriction = (tx: Tx, restriction_id: string) =>
  tx.find<RestrictionRow>(
    `select ${columns} from app.restriction r where r.tenant_id = $1 and r.restriction_id = $2 for update`,
    [tx.tenant_id, restriction_id],
  )

/** Inserted as not in force: once it is, only people with access may write its access list, and at first there are none. */
export const insertRestriction = (
  tx: Tx,
  restriction_id: string,
  purpose: string,
  prepared_for: string | null = null,
) =>
  tx.run(
    `insert into app.restriction (tenant_id, restriction_id, purpose, is_in_force, created_by, prepared_for)
     values ($1, $2, $3, false, $4, $5)`,
    [tx.tenant_id, restriction_id, purpose, tx.actor, prepared_for],
  )

export const updateImposed = (tx: Tx, { restriction_id, revision }: { restriction_id: string; revision: number }) =>
  tx.run(
    `update app.restriction set is_in_force = true, imposed_at = now(), imposed_by = $3, lifted_at = null, lifted_by = null,
            lift_reason = null, updated_at = now(), revision = $4
      where tenant_id = $1 and restriction_id = $2`,
    [tx.tenant_id, restriction_id, tx.actor, revision],
  )

/** Whatever its revision was. */
export const imposeAgain = (tx: Tx, restriction_id: string) =>
  tx.run(
    `update app.restriction set is_in_force = true, imposed_at = now(), imposed_by = $3, lifted_at = null, lifted_by = null,
            lift_reason = null, updated_at = now(), revision = revision + 1
      where tenant_id = $1 and restriction_id = $2`,
    [tx.tenant_id, restriction_id, tx.actor],
  )

export const updateLifted = (tx: Tx, restriction_id: string, reason: string) =>
  tx.run(
    `update app.restriction set is_in_force = false, lifted_at = now(), lifted_by = $3, lift_reason = $4, updated_at = now(),
            revision = revision + 1
      where tenant_id = $1 and restriction_id = $2`,
    [tx.tenant_id, restriction_id, tx.actor, reason],
  )

export interface RestrictionAccessRow {
  readonly user_id: string
  readonly effect: 'grant' | 'exclude'
  readonly break_glass: boolean
  readonly until: string | null
  readonly reason: string | null
  readonly granted_at: string
  readonly granted_by: string
  readonly ended_at: string | null
  readonly ended_by: string | null
}
type NewRestrictionAccess = Pick<RestrictionAccessRow, 'user_id' | 'effect' | 'until' | 'reason'>

const commonColumns = 'substr(principal, 6) as user_id, effect, break_glass, until, reason, granted_at, granted_by'
// A grant that ended by itself remains until the person is given another one.
const accessColumns = `${commonColumns}, case when until <= now() then until end as ended_at, null::text as ended_by`

/** Oldest first. With `ended`, also what was revoked or replaced. */
export const listAccess = (
  tx: Tx,
  { restriction_id, ended }: { readonly restriction_id: string; readonly ended: boolean },
  after: PagePosition,
  count: number,
) => {
  const select = (columns: string, table: string) =>
    `(select ${columns}, principal from app.${table}
       where tenant_id = $1 and restriction_id = $2
         and ($3::timestamptz is null or (granted_at, principal) > ($3, 'user:' || $4::text))
       order by granted_at, principal limit $5)`
  const current = select(accessColumns, 'restriction_access')
  const all = ended
    ? `${current} union all ${select(`${commonColumns}, ended_at, ended_by`, 'restriction_access_ended')}`
    : current
  return tx.query<RestrictionAccessRow>(
    `select user_id, effect, break_glass, until, reason, granted_at, granted_by, ended_at, ended_by
       from (${all}) a order by granted_at, principal limit $5`,
    [tx.tenant_id, restriction_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )
}

/** Without grants that have ended. */
export const listCurrentAccess = (tx: Tx, restriction_id: string) =>
  tx.query<RestrictionAccessRow>(
    `select ${accessColumns} from app.restriction_access
      where tenant_id = $1 and restriction_id = $2 and (until is null or until > now()) order by granted_at, principal`,
    [tx.tenant_id, restriction_id],
  )

export const findAccess = (tx: Tx, restriction_id: string, user_id: string) =>
  tx.find<RestrictionAccessRow & { readonly has_ended: boolean }>(
    `select ${accessColumns}, coalesce(until <= now(), false) as has_ended from app.restriction_access
      where tenant_id = $1 and restriction_id = $2 and principal = 'user:' || $3::text`,
    [tx.tenant_id, restriction_id, user_id],
  )

const replaceAccess = `on conflict on constraint restriction_access_pkey do update set effect = excluded.effect,
       break_glass = excluded.break_glass, until = excluded.until, reason = excluded.reason, granted_at = now(),
       granted_by = excluded.granted_by
     returning ${accessColumns}`

/** Replaces what the person had. */
export const upsertAccess = (tx: Tx, restriction_id: string, access: NewRestrictionAccess) =>
  tx.find<RestrictionAccessRow>(
    `insert into app.restriction_access (tenant_id, restriction_id, principal, effect, until, reason, granted_by)
     values ($1, $2, 'user:' || $3::text, $4, $5, $6, $7)
     ${replaceAccess}`,
    [tx.tenant_id, restriction_id, access.user_id, access.effect, access.until, access.reason, tx.actor],
  )

/** Ends by the clock of the database, by which the constraint measures eight hours. */
export const upsertBreakGlass = (
  tx: Tx,
  restriction_id: string,
  access: { user_id: string; hours: number; reason: string },
) =>
  tx.find<RestrictionAccessRow>(
    `insert into app.restriction_access (tenant_id, restriction_id, principal, effect, break_glass, until, reason, granted_by)
     values ($1, $2, 'user:' || $3::text, 'grant', true, now() + $4::int * interval '1 hour', $5, $6)
     ${replaceAccess}`,
    [tx.tenant_id, restriction_id, access.user_id, access.hours, access.reason, tx.actor],
  )

/** A trigger keeps what is removed among what has ended. */
export const removeAccess = (tx: Tx, restriction_id: string, user_id: string) =>
  tx.run(
    `delete from app.restriction_access where tenant_id = $1 and restriction_id = $2 and principal = 'user:' || $3::text`,
    [tx.tenant_id, restriction_id, user_id],
  )

/** Whether somebody can still see a restriction in force tomorrow: by a grant that does not end, or as the designated MLRO. */
export const hasLastingAccess = async (tx: Tx, restriction_id: string): Promise<boolean> =>
  (
    await tx.find<{ is_reachable: boolean }>('select app.is_reachable($1, $2) as is_reachable', [
      tx.tenant_id,
      restriction_id,
    ])
  )?.is_reachable ?? false

/** Whether a person sees it by a grant that ends, and not as the designated MLRO. */
export const hasEndingAccess = async (tx: Tx, restriction_id: string, principal: string): Promise<boolean> =>
  (
    await tx.find<{ is_ending: boolean }>('select app.has_ending_access($1, $2, $3) as is_ending', [
      tx.tenant_id,
      restriction_id,
      principal,
    ])
  )?.is_ending ?? false

/** In force, and nobody who is active has access: the last person was deactivated. Oldest first. */
export const listUnreachable = async (tx: Tx): Promise<readonly string[]> =>
  (
    await tx.query<{ restriction_id: string }>(
      `select restriction_id from app.restriction
        where tenant_id = $1 and is_in_force and not app.is_reachable(tenant_id, restriction_id)
        order by created_at, restriction_id limit 1000`,
      [tx.tenant_id],
    )
  ).map(({ restriction_id }) => restriction_id)

export interface AccessLogRow {
  readonly event_id: string
  readonly recorded_at: string
  readonly actor: string
  readonly operation: string
  readonly object_type: string
  readonly object_id: string
}

/** Newest first: ids of events are in order of time. */
export const listAccessLog = (tx: Tx, restriction_id: string, after: PagePosition, count: number) =>
  tx.query<AccessLogRow>(
    `select e.event_id, e.recorded_at, e.actor, e.operation, e.object_type, e.object_id
       from app.restriction_event r join app.audit_event e on e.tenant_id = r.tenant_id and e.event_id = r.event_id
      where r.tenant_id = $1 and r.restriction_id = $2 and ($3::uuid is null or r.event_id < $3)
      order by r.event_id desc limit $4`,
    [tx.tenant_id, restriction_id, after?.[0] ?? null, count],
  )

export interface PersonRow {
  readonly user_id: string
  readonly roles: readonly string[]
  readonly origin: 'built_in' | 'external'
  readonly is_mlro: boolean
}

/** Locked, so that a designation and the flag change together. */
export const lockPerson = (tx: Tx, user_id: string) =>
  tx.find<PersonRow>(
    `select user_id, roles, origin, is_mlro from app.user_account
      where tenant_id = $1 and user_id = $2 and state <> 'inactive' for update`,
    [tx.tenant_id, user_id],
  )

export const isMlro = async (tx: Tx, principal: string): Promise<boolean> =>
  (await tx.find(
    `select 1 as found from app.user_account
      where tenant_id = $1 and is_mlro and state <> 'inactive' and 'user:' || user_id = $2`,
    [tx.tenant_id, principal],
  )) !== undefined

export const updateMlro = (tx: Tx, user_id: string, is_mlro: boolean) =>
  tx.run(
    `update app.user_account set is_mlro = $3, updated_at = now(), revision = revision + 1 where tenant_id = $1 and user_id = $2`,
    [tx.tenant_id, user_id, is_mlro],
  )

export interface DesignationRow {
  readonly designation_id: string
  readonly user_id: string
  readonly effect: 'designate' | 'end'
  readonly reason: string
  readonly state: 'waiting' | 'confirmed' | 'withdrawn'
  readonly proposed_at: string
  readonly proposed_by: string
  readonly decided_at: string | null
  readonly decided_by: string | null
}

const designationColumns =
  'designation_id, user_id, effect, reason, state, proposed_at, proposed_by, decided_at, decided_by'

/** Newest first. */
export const listDesignations = (tx: Tx, state: string | null, after: PagePosition, count: number) =>
  tx.query<DesignationRow>(
    `select ${designationColumns} from app.mlro_designation
      where tenant_id = $1 and ($2::text is null or state = $2)
        and ($3::timestamptz is null or (proposed_at, designation_id) < ($3, $4::uuid))
      order by proposed_at desc, designation_id desc limit $5`,
    [tx.tenant_id, state, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const lockDesignation = (tx: Tx, designation_id: string) =>
  tx.find<DesignationRow>(
    `select ${designationColumns} from app.mlro_designation where tenant_id = $1 and designation_id = $2 for update`,
    [tx.tenant_id, designation_id],
  )

export const insertDesignation = (
  tx: Tx,
  row: Pick<DesignationRow, 'designation_id' | 'user_id' | 'effect' | 'reason'>,
) =>
  tx.find<DesignationRow>(
    `insert into app.mlro_designation (tenant_id, designation_id, user_id, effect, reason, proposed_by)
     values ($1, $2, $3, $4, $5, $6) returning ${designationColumns}`,
    [tx.tenant_id, row.designation_id, row.user_id, row.effect, row.reason, tx.actor],
  )

export const updateDesignationDecided = (tx: Tx, designation_id: string, state: 'confirmed' | 'withdrawn') =>
  tx.find<DesignationRow>(
    `update app.mlro_designation set state = $3, decided_at = now(), decided_by = $4
      where tenant_id = $1 and designation_id = $2 returning ${designationColumns}`,
    [tx.tenant_id, designation_id, state, tx.actor],
  )

/** For the isolation canary. */
export const insertCanaryDesignation = (tx: Tx, designation_id: string, user_id: string) =>
  tx.run(
    `insert into app.mlro_designation (tenant_id, designation_id, user_id, effect, reason, proposed_by)
     values ($1, $2, $3, 'designate', 'canary', 'user:canary')`,
    [tx.tenant_id, designation_id, user_id],
  )

/** An event that the chain writer of the canary never links. */
export const insertCanaryEvent = (tx: Tx, restriction_id: string, event_id: string) =>
  tx.queryAll([
    {
      text: `insert into app.audit_event (tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac, restriction_id,
               also_restriction_id)
             values ($1, $2, now(), 'seed:canary', 'canary', 'canary', 'canary', 'canary', '{"note":"canary"}', 'canary', $3, $3)`,
      values: [tx.tenant_id, event_id, restriction_id],
    },
    {
      text: 'insert into app.restriction_event (tenant_id, restriction_id, event_id) values ($1, $2, $3)',
      values: [tx.tenant_id, restriction_id, event_id],
    },
  ])

export const restrictionErasure = createErasureClass(
  'restrictions',
  'Purposes and reasons of restrictions, reasons of designations',
  [
    {
      table: 'restriction',
      id: 'r.restriction_id',
      owner: null,
      text: `concat_ws(E'\\n', r.purpose, r.lift_reason)`,
      set: `purpose = 'erased', lift_reason = case when r.lift_reason is null then null else 'erased' end`,
      restriction: 'r.restriction_id',
      even_hidden: true,
    },
    {
      table: 'restriction_access',
      id: 'r.restriction_id',
      owner: null,
      text: 'r.reason',
      where: 'r.reason is not null',
      set: `reason = case when r.break_glass then 'erased' end`,
      restriction: 'r.restriction_id',
      even_hidden: true,
    },
    {
      table: 'restriction_access_ended',
      id: 'r.restriction_id',
      owner: null,
      text: 'r.reason',
      where: 'r.reason is not null',
      set: `reason = case when r.break_glass then 'erased' end`,
      restriction: 'r.restriction_id',
    },
    {
      table: 'mlro_designation',
      id: 'r.designation_id',
      owner: null,
      text: 'r.reason',
      set: `reason = 'erased'`,
    },
  ],
)
