/** Work queues in force: entries of the list `work-queues`, in the order in which they are asked. */
import type { Role } from '#kernel/auth/roles.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { resolver } from '#modules/definitions/index.ts'
import type { Duration } from './clocks/calendar.ts'

export const QUEUE_LIST = 'work-queues'
/** Where an item goes that no queue takes. Everybody who may do work of its kind may claim it. */
export const UNROUTED = 'unrouted'

export const priorities = ['low', 'medium', 'high', 'critical'] as const
export type Priority = (typeof priorities)[number]

export interface WorkQueue {
  readonly queue: string
  readonly title: string
  readonly position: number
  /** An absent filter takes everything. */
  readonly kinds?: readonly string[]
  readonly priorities?: readonly Priority[]
  readonly sources?: readonly string[]
  readonly team_roles: readonly Role[]
  /** Ids of users: exactly these instead of everybody with one of the roles. */
  readonly team_users?: readonly string[]
  readonly assignment: 'manual' | 'round_robin' | 'least_loaded'
  readonly most_open?: number
  readonly target_hours?: number
  readonly target_days?: number
  readonly day_kind?: 'calendar' | 'business'
}

export async function loadQueues(kernel: Capabilities<'caches'>, tx: Tx): Promise<WorkQueue[]> {
  const list = await resolver.loadPolicyList<WorkQueue>(kernel, tx, QUEUE_LIST)
  return (list?.entries ?? []).toSorted((a, b) => a.position - b.position || (a.queue < b.queue ? -1 : 1))
}

export interface RoutingFacts {
  readonly object_kind: string
  readonly priority: Priority
  /** What raised it, for example the name of a provider or `rule`; null: nothing in particular. */
  readonly source: string | null
}

export const chooseQueue = (queues: readonly WorkQueue[], facts: RoutingFacts): WorkQueue | null =>
  queues.find(
    ({ kinds, priorities: taken, sources }) =>
      (!kinds || kinds.includes(facts.object_kind)) &&
      (!taken || taken.includes(facts.priority)) &&
      (!sources || (facts.source !== null && sources.includes(facts.source))),
  ) ?? null

export const isInTeam = (
  { team_roles, team_users = [] }: WorkQueue,
  person: { readonly principal: string; readonly roles: readonly string[] },
): boolean =>
  team_users.length > 0
    ? team_users.some((user_id) => `user:${user_id}` === person.principal)
    : team_roles.some((role) => person.roles.includes(role))

/** The service target of a queue; null: none. */
export function getTarget({ target_hours, target_days, day_kind = 'business' }: WorkQueue): Duration | null {
  if (target_hours !== undefined) return { hours: target_hours }
  return target_days === undefined ? null : { days: target_days, day_kind }
}
