/** Work: queues, own work, clocks, reassignment, and the calendar by which days are counted. */
import { recordEvent } from '#kernel/audit/record.ts'
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { paginate } from '#kernel/page.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import { loadCalendar } from './clocks/calendar-list.ts'
import { DEFAULT_CALENDAR } from './clocks/clocks.ts'
import { findSetting, listClocks, lockSetting, upsertSetting, type WorkSettingRow } from './clocks/queries.ts'
import {
  countQueues,
  type LockedWorkItem,
  listWorkByAssignee,
  listWorkers,
  lockWork,
  type OwnWorkRow,
  updateAssignee,
  updateAssignReason,
} from './items/queries.ts'
import { assertAssignable } from './items/work-items.ts'
import { isInTeam, loadQueues, UNROUTED, type WorkQueue } from './queue-list.ts'
import { listReadableKinds } from './readable-kinds.ts'
import {
  Reassigned,
  ReassignRequest,
  WorkClockPage,
  WorkClockQuery,
  WorkerPage,
  WorkItemPage,
  WorkItemQuery,
  WorkQueueList,
  WorkSettings,
  WorkSettingsChange,
} from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const

const toUnlistedQueue = (queue: string): WorkQueue => ({
  queue,
  title: queue === UNROUTED ? 'Not in any queue' : queue,
  position: Number.MAX_SAFE_INTEGER,
  team_roles: [],
  assignment: 'manual',
})

/** One statement for each kind that is on the page. */
async function describeItems(
  { modules }: Capabilities<'modules'>,
  tx: Tx,
  rows: readonly OwnWorkRow[],
): Promise<Map<string, string>> {
  const titles = new Map<string, string>()
  for (const { kind, describe } of modules.flatMap(({ work = [] }) => work)) {
    const ids = rows.filter(({ object_kind }) => object_kind === kind).map(({ object_id }) => object_id)
    if (ids.length === 0) continue
    for (const [id, title] of await describe(tx, ids)) titles.set(`${kind} ${id}`, title)
  }
  return titles
}

const toSettingsView = (row: WorkSettingRow | undefined) => ({
  calendar: row?.calendar_key ?? DEFAULT_CALENDAR,
  updated_at: row?.updated_at ?? null,
  updated_by: row?.updated_by ?? null,
  revision: (row?.revision ?? 0) + 1,
})

/** What everybody sees of a request must not name a hidden item: those of one restriction in force go together, apart from others. */
function assertSameSight(items: readonly LockedWorkItem[]): void {
  const hidden = new Set(items.map(({ restriction_id, is_in_force }) => (is_in_force ? restriction_id : null)))
  if (hidden.size > 1)
    fail(
      'conflict',
      'Items under a restriction in force are reassigned in requests of their own, one for each restriction.',
    )
}

export const workRoutes = [
  tenantRoute('GET /work/queues', {
    id: 'listWorkQueues',
    summary: 'Work queues with open items, the oldest of them and their clocks',
    description: 'In the order in which new work is offered to them. Counts hold what the caller may open.',
    roles: readers,
    tx: 'read',
    uses: ['caches', 'modules'],
    reply: [200, WorkQueueList],
  }).handle(async ({ tx, actor, kernel }) => {
    const listed = await loadQueues(kernel, tx)
    const counts = new Map(
      (await countQueues(tx, actor.principal, listReadableKinds(kernel, actor))).map((row) => [row.queue_key, row]),
    )
    const known = new Set(listed.map(({ queue }) => queue))
    const unlisted = [...counts.keys()].filter((key) => !known.has(key)).sort()
    return {
      items: [...listed, ...unlisted.map(toUnlistedQueue)].map((queue) => {
        const count = counts.get(queue.queue)
        return {
          queue_key: queue.queue,
          title: queue.title,
          assignment: queue.assignment,
          team_roles: [...queue.team_roles],
          is_mine: queue.queue === UNROUTED || isInTeam(queue, actor),
          open: count?.open ?? 0,
          unassigned: count?.unassigned ?? 0,
          mine: count?.mine ?? 0,
          oldest_opened_at: count?.oldest_opened_at ?? null,
          oldest_age_s: count
            ? Math.max(0, Math.floor((Date.now() - Date.parse(count.oldest_opened_at)) / 1000))
            : null,
          next_due_at: count?.next_due_at ?? null,
          missed: count?.missed ?? 0,
        }
      }),
    }
  }),

  tenantRoute('GET /work/mine', {
    id: 'listOwnWork',
    summary: 'Open work that is assigned to me, highest priority first, then oldest',
    roles: ['analyst', 'compliance_officer'],
    tx: 'read',
    uses: ['cursors', 'modules'],
    query: WorkItemQuery,
    reply: [200, WorkItemPage],
  }).handle(async (input) => {
    const { tx, actor, kernel } = input
    const order = ['priority_rank', 'opened_at', 'object_kind', 'object_id'] as const
    const of = { assignee: actor.principal, object_kinds: listReadableKinds(kernel, actor) }
    const page = await paginate(input, 'listOwnWork', order, (after, count) => listWorkByAssignee(tx, of, after, count))
    const titles = await describeItems(kernel, tx, page.items)
    return {
      ...page,
      items: page.items.map((row) => ({
        object_kind: row.object_kind,
        object_id: row.object_id,
        title: titles.get(`${row.object_kind} ${row.object_id}`) ?? null,
        queue_key: row.queue_key,
        priority: row.priority,
        assigned_at: row.assigned_at,
        not_before: row.not_before,
        opened_at: row.opened_at,
        next_due_at: row.next_due_at,
        clock_state: row.clock_state,
        restriction_id: row.is_in_force ? row.restriction_id : null,
      })),
    }
  }),

  tenantRoute('GET /work/clocks', {
    id: 'listWorkClocks',
    summary: 'Service and statutory clocks, earliest due first',
    description: 'Those of objects that the caller may open.',
    roles: readers,
    tx: 'one',
    uses: ['cursors', 'modules'],
    query: WorkClockQuery,
    reply: [200, WorkClockPage],
  }).handle(async (input) => {
    const { state = null, kind = null, object_kind } = input.query
    const readable = listReadableKinds(input.kernel, input.actor)
    const object_kinds = readable.filter((each) => (object_kind ?? each) === each)
    const order = ['due_at', 'object_kind', 'object_id', 'clock_key'] as const
    const page = await paginate(input, 'listWorkClocks', order, (after, count) =>
      listClocks(input.tx, { state, kind, object_kinds }, after, count),
    )
    const items = page.items.map(({ is_in_force, restriction_id, ...clock }) => ({
      ...clock,
      restriction_id: is_in_force ? restriction_id : null,
    }))
    return { ...page, items }
  }),

  tenantRoute('POST /work/reassign', {
    id: 'reassignWork',
    summary: 'Give open items to another person, or return them to their queues',
    description:
      'All of them or none. The person must be active, not away, and able to see them. Items under a restriction in force need a request ' +
      'for each restriction. Each item is recorded for itself; alerts keep the reason in their history.',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['auditKeys', 'modules'],
    body: ReassignRequest,
    reply: [200, Reassigned],
    problems: ['not_found', 'conflict', 'transition_not_allowed', 'person_required'],
  }).handle(async ({ tx, body, audit, kernel, request, actor }) => {
    expectPerson(actor.principal, 'Only a person reassigns work, not an API key.')
    const readable = listReadableKinds(kernel, actor)
    const items = await lockWork(
      tx,
      body.items.filter(({ object_kind }) => readable.includes(object_kind)),
    )
    if (items.length < body.items.length) fail('not_found', 'Not all of these are open work items.')
    assertSameSight(items)
    const [first] = items
    const isOne = items.every(({ restriction_id }) => restriction_id === first?.restriction_id)
    if (first && isOne) audit.belongsTo(first)
    audit.names(items)
    const assignee = body.user_id === null ? null : `user:${body.user_id}`
    const moved = []
    const kinds = new Map(kernel.modules.flatMap(({ work = [] }) => work).map((kind) => [kind.kind, kind]))
    for (const item of items) {
      const { object_kind, object_id, queue_key, restriction_id } = item
      if (body.user_id !== null) await assertAssignable(tx, body.user_id, restriction_id, kinds.get(object_kind)?.roles)
      await updateAssignee(tx, item, assignee)
      await updateAssignReason(tx, item, body.reason)
      await kinds.get(object_kind)?.recordReassignment?.(tx, object_id, { assignee, reason: body.reason })
      // One event each where they may be restricted apart. The reason may name people and stays out.
      if (!isOne)
        recordEvent(tx, kernel.auditKeys, {
          operation: 'reassignWork',
          object_type: 'work',
          object_id,
          request_id: request.id,
          detail: { diff: [{ member: 'assignee', before: item.assignee, after: assignee }] },
          restriction_id,
        })
      moved.push({ object_kind, object_id, queue_key, assignee })
    }
    if (isOne) {
      const before = items.map(({ object_kind, object_id, assignee: from }) => ({
        object_kind,
        object_id,
        assignee: from,
      }))
      audit.recordDiff({ items: before }, { items: moved.map(({ queue_key: _, ...item }) => item) })
    }
    audit.recordText('reason', body.reason)
    return { items: moved }
  }),

  tenantRoute('GET /work/people', {
    id: 'listWorkers',
    summary: 'People whom work can be given to: id, name and whether they are away',
    description:
      'Everybody whose roles allow work of some kind, by name. Roles of people of another issuer are not known; they are listed.',
    roles: ['analyst', 'compliance_officer'],
    tx: 'one',
    uses: ['cursors', 'modules'],
    query: WorkItemQuery,
    reply: [200, WorkerPage],
  }).handle(async (input) => {
    const roles = [...new Set(input.kernel.modules.flatMap(({ work = [] }) => work).flatMap((kind) => kind.roles))]
    return paginate(input, 'listWorkers', ['name', 'user_id'], (after, count) =>
      listWorkers(input.tx, roles, after, count),
    )
  }),

  tenantRoute('GET /work/settings', {
    id: 'getWorkSettings',
    summary: 'The calendar by which business days are counted',
    roles: ['analyst', 'compliance_officer', 'auditor', 'tenant_admin'],
    tx: 'one',
    reply: [200, WorkSettings],
    revisioned: true,
  }).handle(async ({ tx }) => toSettingsView(await findSetting(tx))),

  tenantRoute('PUT /work/settings', {
    id: 'updateWorkSettings',
    summary: 'Choose the calendar by which business days are counted',
    description: 'For clocks that start or resume from now on; due times that were computed stay.',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['caches'],
    body: WorkSettingsChange,
    reply: [200, WorkSettings],
    revisioned: true,
    problems: ['conflict'],
  }).handle(async (input) => {
    const { tx, body, kernel, audit } = input
    const before = toSettingsView(await lockSetting(tx))
    assertRevision(before.revision, input)
    const { version } = await loadCalendar(kernel, tx, body.calendar)
    assertReferenced(
      version ?? undefined,
      'calendar with this key and a known time zone in the list business-calendars',
    )
    const after = toSettingsView(await upsertSetting(tx, body.calendar))
    audit.recordDiff({ calendar: before.calendar }, { calendar: after.calendar })
    return after
  }),
]
