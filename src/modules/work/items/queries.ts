/** SQL of work items: routing, claiming, assigning, lists and counts. */
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { ObjectRef } from '../clocks/queries.ts'

export interface WorkItemRow extends ObjectRef {
  readonly queue_key: string
  readonly priority: 'low' | 'medium' | 'high' | 'critical'
  readonly priority_rank: number
  readonly state: 'open' | 'done'
  readonly assignee: string | null
  readonly assigned_at: string | null
  readonly not_before: string | null
  readonly opened_at: string
  readonly done_at: string | null
  readonly openings: number
  readonly restriction_id: string | null
  readonly revision: number
}

const names = [
  'object_kind',
  'object_id',
  'queue_key',
  'priority',
  'priority_rank',
  'state',
  'assignee',
  'assigned_at',
  'not_before',
  'opened_at',
  'done_at',
  'openings',
  'restriction_id',
  'revision',
]
const columns = names.join(', ')
const itemColumns = names.map((name) => `w.${name}`).join(', ')

// Whose turn ----------------------------------------------------------------------------------------------------------

/** The next turn of a queue. The row stays locked until the transaction ends, so turns are taken one after the other. */
export const takeTurn = async (tx: Tx, queue_key: string): Promise<number> =>
  (
    await tx.find<{ turn: number }>(
      `insert into app.work_queue_turn as q (tenant_id, queue_key, turn) values ($1, $2, 1)
       on conflict on constraint work_queue_turn_pkey do update set turn = q.turn + 1 returning turn`,
      [tx.tenant_id, queue_key],
    )
  )?.turn ?? 0

export const saveTurn = (tx: Tx, queue_key: string, assignee: string, turn: number) =>
  tx.run(
    `insert into app.work_person_turn (tenant_id, queue_key, assignee, last_turn) values ($1, $2, $3, $4)
     on conflict on constraint work_person_turn_pkey do update set last_turn = excluded.last_turn`,
    [tx.tenant_id, queue_key, assignee, turn],
  )

/**
 * Who of a team is next: active, not away, below the limit. In turn: whose last turn is longest ago. By load: who has the fewest open items
 * of the queue. Only items that the transaction sees are counted, so hidden ones do not show in who is chosen.
 */
export const findNextPerson = (
  tx: Tx,
  team: {
    readonly queue_key: string
    readonly roles: readonly string[]
    readonly users: readonly string[]
    readonly most_open: number | null
    readonly by_load: boolean
  },
) =>
  tx.find<{ assignee: string }>(
    `select 'user:' || u.user_id as assignee
       from app.user_account u
       left join app.work_person_turn p on p.tenant_id = u.tenant_id and p.queue_key = $2 and p.assignee = 'user:' || u.user_id
       cross join lateral (select count(*) as items from app.work_item w where w.tenant_id = $1 and w.queue_key = $2
                              and w.assignee = 'user:' || u.user_id and w.state = 'open') open
      where u.tenant_id = $1 and u.state = 'active' and not coalesce(now() between u.away_from and u.away_until, false)
        and case when cardinality($4::uuid[]) > 0 then u.user_id = any ($4) else u.roles && $3::text[] end
        and ($5::bigint is null or open.items < $5)
      order by case when $6 then open.items else 0 end, coalesce(p.last_turn, 0), u.user_id limit 1`,
    [tx.tenant_id, team.queue_key, team.roles, team.users, team.most_open, team.by_load],
  )

// Items ---------------------------------------------------------------------------------------------------------------

export interface NewWorkItem extends ObjectRef {
  readonly queue_key: string
  readonly priority: WorkItemRow['priority']
  readonly assignee: string | null
  readonly restriction_id: string | null
}

/** An item that was done is opened again. */
export const upsertWork = (tx: Tx, item: NewWorkItem) =>
  tx.find<WorkItemRow>(
    `insert into app.work_item as w (tenant_id, object_kind, object_id, queue_key, priority, assignee, assigned_at, assigned_by, restriction_id)
     values ($1, $2, $3, $4, $5, $6, case when $6::text is not null then now() end, case when $6::text is not null then $7::text end, $8)
     on conflict on constraint work_item_pkey do update set queue_key = excluded.queue_key, priority = excluded.priority,
       assignee = excluded.assignee, assigned_at = excluded.assigned_at, assigned_by = excluded.assigned_by, state = 'open',
       done_at = null, done_by = null, not_before = null, opened_at = now(), openings = w.openings + 1, revision = w.revision + 1
       where w.state = 'done'
     returning ${itemColumns}`,
    [
      tx.tenant_id,
      item.object_kind,
      item.object_id,
      item.queue_key,
      item.priority,
      item.assignee,
      tx.actor,
      item.restriction_id,
    ],
  )

export const findWork = (tx: Tx, { object_kind, object_id }: ObjectRef) =>
  tx.find<WorkItemRow>(
    `select ${columns} from app.work_item where tenant_id = $1 and object_kind = $2 and object_id = $3`,
    [tx.tenant_id, object_kind, object_id],
  )

const inForce = 'w.restriction_id is not null and app.is_in_force(w.restriction_id) as is_in_force'

export interface LockedWorkItem extends WorkItemRow {
  readonly is_in_force: boolean
}

/** In the order of their ids, so that two transactions that lock the same items wait and do not deadlock. */
export const lockWork = (tx: Tx, objects: readonly ObjectRef[]) =>
  tx.query<LockedWorkItem>(
    `select ${itemColumns}, ${inForce}
       from app.work_item w
       join unnest($2::text[], $3::uuid[]) as o (object_kind, object_id) on o.object_kind = w.object_kind and o.object_id = w.object_id
      where w.tenant_id = $1 and w.state = 'open' order by w.object_kind, w.object_id for update of w`,
    [tx.tenant_id, objects.map(({ object_kind }) => object_kind), objects.map(({ object_id }) => object_id)],
  )

/** Takes the first item that nobody else is taking. Materialized: a join may run a subquery again, which would lock another item. */
export const claimNext = (
  tx: Tx,
  from: {
    readonly queue_keys: readonly string[]
    readonly object_kinds: readonly string[]
    readonly assignee: string
    readonly except: readonly string[]
  },
) =>
  tx.find<WorkItemRow>(
    `with next as materialized (
       select object_kind, object_id from app.work_item
        where tenant_id = $1 and state = 'open' and assignee is null and queue_key = any ($2) and object_kind = any ($3)
          and (not_before is null or not_before <= now()) and object_id <> all ($6::uuid[])
        order by priority_rank, opened_at, object_kind, object_id limit 1 for update skip locked)
     update app.work_item w set assignee = $4, assigned_at = now(), assigned_by = $5, revision = w.revision + 1 from next
      where w.tenant_id = $1 and w.object_kind = next.object_kind and w.object_id = next.object_id
     returning ${itemColumns}`,
    [tx.tenant_id, from.queue_keys, from.object_kinds, from.assignee, tx.actor, from.except],
  )

export const updateAssignee = (tx: Tx, { object_kind, object_id }: ObjectRef, assignee: string | null) =>
  tx.find<WorkItemRow>(
    `update app.work_item w set assignee = $4, assigned_at = case when $4::text is not null then now() end,
            assigned_by = case when $4::text is not null then $5::text end, revision = revision + 1
      where tenant_id = $1 and object_kind = $2 and object_id = $3 and state = 'open' returning ${itemColumns}`,
    [tx.tenant_id, object_kind, object_id, assignee, tx.actor],
  )

/** Why somebody has it now, in the words of who moved it. */
export const updateAssignReason = (tx: Tx, { object_kind, object_id }: ObjectRef, reason: string) =>
  tx.run('update app.work_item set assign_reason = $4 where tenant_id = $1 and object_kind = $2 and object_id = $3', [
    tx.tenant_id,
    object_kind,
    object_id,
    reason,
  ])

export const workErasure = createErasureClass('work', 'Reasons for which work was reassigned', [
  {
    table: 'work_item',
    id: 'r.object_id',
    owner: `case r.object_kind
              when 'alert' then (select a.subject_id from app.alert a where a.tenant_id = r.tenant_id and a.alert_id = r.object_id)
              when 'second_look' then (select a.subject_id from app.alert_second_look l
                                         join app.alert a on a.tenant_id = l.tenant_id and a.alert_id = l.alert_id
                                        where l.tenant_id = r.tenant_id and l.look_id = r.object_id)
              when 'investigation' then (select i.subject_id from app.investigation i
                                          where i.tenant_id = r.tenant_id and i.investigation_id = r.object_id) end`,
    text: 'r.assign_reason',
    where: 'r.assign_reason is not null',
    set: 'assign_reason = null',
    restriction: 'r.restriction_id',
  },
])

export const updateRouting = (
  tx: Tx,
  { object_kind, object_id }: ObjectRef,
  to: Pick<WorkItemRow, 'queue_key' | 'priority'>,
) =>
  tx.find<WorkItemRow>(
    `update app.work_item w set queue_key = $4, priority = $5, revision = revision + 1
      where tenant_id = $1 and object_kind = $2 and object_id = $3 and state = 'open' returning ${itemColumns}`,
    [tx.tenant_id, object_kind, object_id, to.queue_key, to.priority],
  )

export const updatePostponed = (tx: Tx, { object_kind, object_id }: ObjectRef, not_before: string | null) =>
  tx.find<WorkItemRow>(
    `update app.work_item w set not_before = $4, revision = revision + 1
      where tenant_id = $1 and object_kind = $2 and object_id = $3 and state = 'open' returning ${itemColumns}`,
    [tx.tenant_id, object_kind, object_id, not_before],
  )

export const updateDone = (tx: Tx, { object_kind, object_id }: ObjectRef) =>
  tx.find<WorkItemRow>(
    `update app.work_item w set state = 'done', done_at = now(), done_by = $4, revision = revision + 1
      where tenant_id = $1 and object_kind = $2 and object_id = $3 and state = 'open' returning ${itemColumns}`,
    [tx.tenant_id, object_kind, object_id, tx.actor],
  )

// People --------------------------------------------------------------------------------------------------------------

export interface WorkerRow {
  /** Null: another issuer says them with each token. */
  readonly roles: readonly string[] | null
  readonly is_away: boolean
}

/** Locked, so that two claims of one person do not exceed the limit of a queue together. Null: known by tokens only. */
export const lockWorker = (tx: Tx, user_id: string) =>
  tx.find<WorkerRow>(
    `select case when origin = 'built_in' then roles end as roles, coalesce(now() between away_from and away_until, false) as is_away from app.user_account
      where tenant_id = $1 and user_id = $2 and state <> 'inactive' for no key update`,
    [tx.tenant_id, user_id],
  )

/** By name, without what else an account has. */
export const listWorkers = (tx: Tx, roles: readonly string[], after: PagePosition, count: number) =>
  tx.query<{ user_id: string; name: string; is_away: boolean }>(
    `select user_id, name, coalesce(now() between away_from and away_until, false) as is_away from app.user_account
      where tenant_id = $1 and state <> 'inactive' and (roles && $2::text[] or origin = 'external')
        and ($3::text is null or (name, user_id) > ($3, $4::uuid)) order by name, user_id limit $5`,
    [tx.tenant_id, roles, after?.[0] ?? null, after?.[1] ?? null, count],
  )

/** Whether a person may see what belongs to a restriction: the policy of sight, asked for somebody else. */
export const maySee = async (tx: Tx, restriction_id: string, principal: string): Promise<boolean> =>
  (await tx.find<{ may_see: boolean }>('select app.may_see($2, $1) as may_see', [restriction_id, principal]))
    ?.may_see ?? false

export const countOpenByQueue = (tx: Tx, assignee: string) =>
  tx.query<{ queue_key: string; items: number }>(
    `select queue_key, count(*) as items from app.work_item
      where tenant_id = $1 and assignee = $2 and state = 'open' group by queue_key`,
    [tx.tenant_id, assignee],
  )

// Lists and counts ----------------------------------------------------------------------------------------------------

export interface QueueCountRow {
  readonly queue_key: string
  readonly open: number
  readonly unassigned: number
  readonly mine: number
  readonly oldest_opened_at: string
  readonly next_due_at: string | null
  readonly missed: number
}

/** Items of these kinds. */
export const countQueues = (tx: Tx, principal: string, object_kinds: readonly string[]) =>
  tx.query<QueueCountRow>(
    `select w.queue_key, count(*) as open, count(*) filter (where w.assignee is null) as unassigned,
            count(*) filter (where w.assignee = $2) as mine, min(w.opened_at) as oldest_opened_at, min(c.next_due_at) as next_due_at,
            coalesce(sum(c.missed), 0)::bigint as missed
       from app.work_item w
       left join lateral (
         select min(c.due_at) filter (where c.state = 'running') as next_due_at, count(*) filter (where c.state = 'missed') as missed
           from app.work_clock c
          where c.tenant_id = $1 and c.object_kind = w.object_kind and c.object_id = w.object_id and c.ended_at is null) c on true
      where w.tenant_id = $1 and w.state = 'open' and w.object_kind = any ($3) group by w.queue_key`,
    [tx.tenant_id, principal, object_kinds],
  )

export interface OwnWorkRow extends LockedWorkItem {
  readonly next_due_at: string | null
  readonly clock_state: 'running' | 'paused' | 'missed' | null
}

/** Highest priority first, then oldest: the order of the index, in which clocks have no part. */
export const listWorkByAssignee = (
  tx: Tx,
  { assignee, object_kinds }: { readonly assignee: string; readonly object_kinds: readonly string[] },
  after: PagePosition,
  count: number,
) =>
  tx.query<OwnWorkRow>(
    `select ${itemColumns}, ${inForce}, c.due_at as next_due_at, c.state as clock_state
       from app.work_item w
       left join lateral (
         select c.due_at, c.state from app.work_clock c
          where c.tenant_id = $1 and c.object_kind = w.object_kind and c.object_id = w.object_id and c.ended_at is null
          order by c.due_at limit 1) c on true
      where w.tenant_id = $1 and w.assignee = $2 and w.state = 'open' and w.object_kind = any ($8)
        and ($3::int is null or (w.priority_rank, w.opened_at, w.object_kind, w.object_id) > ($3, $4::timestamptz, $5, $6::uuid))
      order by w.priority_rank, w.opened_at, w.object_kind, w.object_id limit $7`,
    [
      tx.tenant_id,
      assignee,
      after?.[0] ?? null,
      after?.[1] ?? null,
      after?.[2] ?? null,
      after?.[3] ?? null,
      count,
      object_kinds,
    ],
  )

export interface WorkLoad {
  readonly assigned: number
  readonly unassigned: number
  readonly oldest_unassigned_s: number
  readonly overdue_service: number
  readonly overdue_statutory: number
  readonly unmarked_s: number
}

/** Over all active tenants, as the worker role. */
export const findWorkLoad = async (tx: Tx): Promise<WorkLoad> =>
  (await tx.find<WorkLoad>(
    `select w.*, c.* from
       (select count(i.assignee) as assigned, count(*) - count(i.assignee) as unassigned,
               coalesce(extract(epoch from now() - min(i.opened_at) filter (where i.assignee is null)), 0)::float8 as oldest_unassigned_s
          from app.work_item i join app.tenant t on t.tenant_id = i.tenant_id where i.state = 'open' and t.state = 'active') w,
       (select count(*) filter (where c.state = 'missed' and c.kind = 'service') as overdue_service,
               count(*) filter (where c.state = 'missed' and c.kind = 'statutory') as overdue_statutory,
               coalesce(extract(epoch from now() - min(c.due_at) filter (where c.state = 'running' and c.due_at < now())), 0)::float8 as unmarked_s
          from app.work_clock c join app.tenant t on t.tenant_id = c.tenant_id
         where c.ended_at is null and c.state in ('running', 'missed') and t.state = 'active') c`,
  )) ?? {
    assigned: 0,
    unassigned: 0,
    oldest_unassigned_s: 0,
    overdue_service: 0,
    overdue_statutory: 0,
    unmarked_s: 0,
  }

/** Asked for each tenant, so that an index answers. */
export const listTenantsWithAssignedWork = (tx: Tx) =>
  tx.query<{ tenant_id: string }>(
    `select t.tenant_id from app.tenant t cross join lateral (
       select 1 from app.work_item w where w.tenant_id = t.tenant_id and w.state = 'open' and w.assignee is not null limit 1) w
      where t.state = 'active'`,
  )

/** Open work of people with a grant that is over, as `app.return_hidden_work` returns it where access is taken away. */
export const returnUnseenWork = (tx: Tx) =>
  tx.run(
    `update app.work_item w set assignee = null, assigned_at = null, assigned_by = null, revision = w.revision + 1
       from (select distinct a.principal from app.restriction_access a
              where a.tenant_id = $1 and a.effect = 'grant' and a.until <= now()) e
      where w.tenant_id = $1 and w.state = 'open' and w.assignee = e.principal and w.restriction_id is not null
        and not app.may_see(w.assignee, w.restriction_id)`,
    [tx.tenant_id],
  )
