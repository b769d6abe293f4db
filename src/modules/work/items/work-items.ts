/** Work items: opened by the owner of an object, routed to a queue, claimed or assigned, returned and done. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import type { Actor } from '#kernel/route.ts'
import { startClock, stopClocks } from '../clocks/clocks.ts'
import { isInForce, type ObjectRef } from '../clocks/queries.ts'
import {
  chooseQueue,
  getTarget,
  isInTeam,
  loadQueues,
  type Priority,
  type RoutingFacts,
  UNROUTED,
  type WorkQueue,
} from '../queue-list.ts'
import {
  claimNext,
  countOpenByQueue,
  findNextPerson,
  lockWorker,
  maySee,
  saveTurn,
  takeTurn,
  updateAssignee,
  updateDone,
  updatePostponed,
  updateRouting,
  upsertWork,
  type WorkItemRow,
} from './queries.ts'

export interface WorkFacts extends RoutingFacts {
  /** Of the object; null where it has none. */
  readonly restriction_id: string | null
}

export interface WorkRoute {
  readonly queue_key: string
  /** `user:<id>`; null: somebody claims it. */
  readonly assignee: string | null
}

/** The queue that takes new work, and who gets it where the queue assigns by itself. */
export async function routeWork(kernel: Capabilities<'caches'>, tx: Tx, facts: WorkFacts): Promise<WorkRoute> {
  return routeTo(tx, chooseQueue(await loadQueues(kernel, tx), facts), facts)
}

/**
 * Restricted work is never assigned by itself: the turn that it took would show in whom the next visible item goes to. People with access
 * claim it.
 */
async function routeTo(tx: Tx, queue: WorkQueue | null, { restriction_id }: WorkFacts): Promise<WorkRoute> {
  if (!queue) return { queue_key: UNROUTED, assignee: null }
  const queue_key = queue.queue
  if (queue.assignment === 'manual' || (restriction_id !== null && (await isInForce(tx, restriction_id))))
    return { queue_key, assignee: null }
  const turn = await takeTurn(tx, queue_key)
  const next = await findNextPerson(tx, {
    queue_key,
    roles: queue.team_roles,
    users: queue.team_users ?? [],
    most_open: queue.most_open ?? null,
    by_load: queue.assignment === 'least_loaded',
  })
  if (next) await saveTurn(tx, queue_key, next.assignee, turn)
  return { queue_key, assignee: next?.assignee ?? null }
}

/**
 * Routes an object to a queue, in the transaction that creates it or opens it again. A queue with a target starts a service clock. Fails
 * with `conflict` when the object is open already.
 */
export async function openWork(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  object: ObjectRef & WorkFacts,
): Promise<WorkItemRow> {
  const queue = chooseQueue(await loadQueues(kernel, tx), object)
  const { queue_key, assignee } = await routeTo(tx, queue, object)
  const { object_kind, object_id, priority, restriction_id } = object
  const item = await upsertWork(tx, { object_kind, object_id, priority, restriction_id, queue_key, assignee })
  if (!item) fail('conflict', 'The work on this object is open already.')
  const duration = queue && getTarget(queue)
  if (duration) {
    const clock_key = item.openings === 1 ? 'target' : `target-${item.openings}`
    await startClock(kernel, tx, { object_kind, object_id, clock_key, kind: 'service', duration, restriction_id })
  }
  return item
}

/** Another queue or priority; whoever has the item keeps it. Undefined: it is not open. */
export async function rerouteWork(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  object: ObjectRef & { readonly priority: Priority; readonly source: string | null },
): Promise<WorkItemRow | undefined> {
  const queue = chooseQueue(await loadQueues(kernel, tx), object)
  return updateRouting(tx, object, { queue_key: queue?.queue ?? UNROUTED, priority: object.priority })
}

/**
 * Takes the most urgent unassigned item of the caller's queues for the caller; undefined when there is none, or the caller has as many open
 * items of each queue as it allows.
 */
export async function claimWork(
  kernel: Capabilities<'caches' | 'modules'>,
  tx: Tx,
  actor: Pick<Actor, 'principal' | 'roles'>,
  filter: {
    readonly object_kind?: string
    readonly queue_key?: string
    /** Ids of objects that the caller must not get. */
    readonly except?: readonly string[]
  } = {},
): Promise<WorkItemRow | undefined> {
  const user_id = expectWorker(actor.principal)
  if ((await lockWorker(tx, user_id))?.is_away)
    fail('transition_not_allowed', 'You are marked as away. End your absence first.')
  const open = new Map((await countOpenByQueue(tx, actor.principal)).map(({ queue_key, items }) => [queue_key, items]))
  const queues = (await loadQueues(kernel, tx)).filter(
    (queue) => isInTeam(queue, actor) && (open.get(queue.queue) ?? 0) < (queue.most_open ?? Number.POSITIVE_INFINITY),
  )
  const keys = [...queues.map(({ queue }) => queue), UNROUTED]
  return claimNext(tx, {
    queue_keys: filter.queue_key === undefined ? keys : keys.filter((key) => key === filter.queue_key),
    object_kinds: listKinds(kernel, actor).filter((kind) => (filter.object_kind ?? kind) === kind),
    assignee: actor.principal,
    except: filter.except ?? [],
  })
}

const listKinds = ({ modules }: Capabilities<'modules'>, { roles }: Pick<Actor, 'roles'>): string[] =>
  modules
    .flatMap(({ work = [] }) => work)
    .filter((kind) => kind.roles.some((role) => roles.includes(role)))
    .map(({ kind }) => kind)

function expectWorker(principal: string): string {
  const [, user_id] = /^user:(.+)$/.exec(principal) ?? []
  return user_id ?? fail('person_required', 'Only a person works on items, not an API key.')
}

/** Gives an item to an active person who is not away and may see it. Undefined: the item is not open. */
export async function assignWork(
  tx: Tx,
  item: Pick<WorkItemRow, 'object_kind' | 'object_id' | 'restriction_id'>,
  user_id: string,
): Promise<WorkItemRow | undefined> {
  await assertAssignable(tx, user_id, item.restriction_id)
  return updateAssignee(tx, item, `user:${user_id}`)
}

/** `roles`: those of which the person needs one, as the kind of work declares them. */
export async function assertAssignable(
  tx: Tx,
  user_id: string,
  restriction_id: string | null,
  roles?: readonly string[],
): Promise<void> {
  const person = assertReferenced(await lockWorker(tx, user_id), 'active person with this id')
  if (roles && person.roles && !person.roles.some((role) => roles.includes(role)))
    fail('transition_not_allowed', `The person has none of the roles ${roles.join(', ')}.`)
  if (person.is_away) fail('transition_not_allowed', 'The person is away.')
  if (restriction_id !== null && !(await maySee(tx, restriction_id, `user:${user_id}`)))
    fail('transition_not_allowed', 'The person has no access to what the work is about.')
}

/** Back to the queue. Undefined: the item is not open. */
export const releaseWork = (tx: Tx, object: ObjectRef): Promise<WorkItemRow | undefined> =>
  updateAssignee(tx, object, null)

/** Nobody claims it before then; null ends that. Undefined: the item is not open. */
export const postponeWork = (tx: Tx, object: ObjectRef, not_before: string | null): Promise<WorkItemRow | undefined> =>
  updatePostponed(tx, object, not_before)

/** Ends the work and its service clocks; statutory clocks run until what the law asks for is done. Undefined: the item is not open. */
export async function completeWork(tx: Tx, object: ObjectRef): Promise<WorkItemRow | undefined> {
  const item = await updateDone(tx, object)
  if (item) await stopClocks(tx, object)
  return item
}
