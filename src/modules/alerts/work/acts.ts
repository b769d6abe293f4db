/**
 * What people do with an alert. Each act first checks every rule, then returns the function that does it: a dry run stops in between,
 * and a refused alert of a bulk request has changed nothing.
 */
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { isOpen, type Priority } from '../model.ts'
import { assertAlertReason, loadAlertSettings } from '../policy-lists.ts'
import { type AlertRow, insertComment } from '../queries.ts'
import { addSecondLook } from '../second-looks/sample.ts'
import { type AlertWork, findWorker, updateWork } from './queries.ts'

export interface ActContext {
  readonly kernel: Capabilities<'caches'>
  readonly tx: Tx
  readonly principal: string
}

type Apply = () => Promise<void>
/** `alert` is locked. */
export type Act<Input> = (context: ActContext, alert: AlertRow, input: Input) => Promise<Apply>

const DAY_MS = 86_400_000

function assertOpen(alert: AlertRow): void {
  if (!isOpen(alert)) fail('transition_not_allowed', `The alert is ${alert.state}.`)
}

const expectWorker = (principal: string): string => {
  expectPerson(principal, 'Only a person works on alerts, not an API key.')
  return principal
}

/** Stores the change, and what was written about it under the same revision. */
async function change(
  { tx }: ActContext,
  alert: AlertRow,
  changed: Partial<AlertWork>,
  note: string | null | undefined,
): Promise<void> {
  const { alert_id } = alert
  await updateWork(tx, alert_id, { ...alert, ...changed })
  if (note) await insertComment(tx, { comment_id: uuidv7(), alert_id, revision: alert.revision + 1, text: note })
}

export const assign: Act<{ user_id: string; note?: string | null }> = async (context, alert, { user_id, note }) => {
  expectWorker(context.principal)
  assertOpen(alert)
  const worker = assertReferenced(
    await findWorker(context.tx, user_id, alert.restriction_id),
    'active person with this id',
  )
  if (!worker.can_work) fail('conflict', 'The person is neither analyst nor compliance officer.')
  if (!worker.can_see) fail('conflict', 'The person has no access to this alert. Give them access first.')
  const assignee = `user:${worker.user_id}`
  if (alert.assignee === assignee) fail('transition_not_allowed', 'The person works on it already.')
  const state = alert.state === 'snoozed' ? 'snoozed' : 'claimed'
  return () => change(context, alert, { state, assignee }, note)
}

export const release: Act<{ note?: string | null; may_release_others: boolean }> = async (
  context,
  alert,
  { note, may_release_others },
) => {
  assertOpen(alert)
  if (alert.assignee === null) fail('transition_not_allowed', 'Nobody works on the alert.')
  if (alert.assignee !== context.principal && !may_release_others)
    fail('transition_not_allowed', 'Somebody else works on it; they or a compliance officer release it.')
  const state = alert.state === 'snoozed' ? 'snoozed' : 'new'
  return () => change(context, alert, { state, assignee: null }, note)
}

export const snooze: Act<{ until: string; note?: string | null }> = async (context, alert, { until, note }) => {
  expectWorker(context.principal)
  assertOpen(alert)
  if (alert.state === 'snoozed') fail('transition_not_allowed', 'The alert is snoozed already.')
  if (alert.proposed_by !== null) fail('transition_not_allowed', 'A dismissal waits to be confirmed.')
  const { max_snooze_days } = (await loadAlertSettings(context.kernel, context.tx))(alert.priority)
  const ahead_ms = Date.parse(until) - Date.now()
  if (ahead_ms <= 0) fail('conflict', 'The end is in the past.')
  if (ahead_ms > max_snooze_days * DAY_MS)
    fail('conflict', `Alerts of this priority may be put off for at most ${max_snooze_days} days.`)
  return () => change(context, alert, { state: 'snoozed', snoozed_until: until }, note)
}

export const dismiss: Act<{ reason_code: string; note?: string | null }> = async (
  context,
  alert,
  { reason_code, note },
) => {
  const { kernel, tx } = context
  const principal = expectWorker(context.principal)
  assertOpen(alert)
  if (alert.proposed_by !== null)
    fail('transition_not_allowed', 'A dismissal waits to be confirmed or returned by another person.')
  await assertAlertReason(kernel, tx, reason_code)
  const { second_person } = (await loadAlertSettings(kernel, tx))(alert.priority)
  if (second_person) return () => change(context, alert, { second_person, reason_code, proposed_by: principal }, note)
  return () => close(context, alert, { second_person, reason_code }, note)
}

async function close(
  context: ActContext,
  alert: AlertRow,
  reason: Partial<AlertWork>,
  note: string | null | undefined,
): Promise<void> {
  const { kernel, tx, principal } = context
  await change(context, alert, { ...reason, state: 'dismissed', dismissed_by: principal, snoozed_until: null }, note)
  await addSecondLook(kernel, tx, { ...alert, dismissed_by: principal, revision: alert.revision + 1 })
}

export const confirmDismissal: Act<{ note?: string | null }> = async (context, alert, { note }) => {
  const principal = expectWorker(context.principal)
  assertOpen(alert)
  if (alert.proposed_by === null) fail('transition_not_allowed', 'No dismissal was proposed.')
  if (alert.proposed_by === principal)
    fail('approval_own_request', 'Nobody confirms their own proposal; another person must.')
  return () => close(context, alert, {}, note)
}

export const returnDismissal: Act<{ note?: string | null }> = async (context, alert, { note }) => {
  expectWorker(context.principal)
  assertOpen(alert)
  if (alert.proposed_by === null) fail('transition_not_allowed', 'No dismissal was proposed.')
  return () => change(context, alert, { proposed_by: null, reason_code: null, second_person: false }, note)
}

export const escalate: Act<{ note: string }> = async (context, alert, { note }) => {
  const principal = expectWorker(context.principal)
  assertOpen(alert)
  if (alert.proposed_by !== null) fail('transition_not_allowed', 'A dismissal waits to be confirmed or returned.')
  return () => change(context, alert, { state: 'escalated', escalated_by: principal, snoozed_until: null }, note)
}

export const prioritise: Act<{ priority: Priority; note?: string | null }> = async (context, alert, { priority, note }) => {
  assertOpen(alert)
  if (alert.priority === priority) fail('transition_not_allowed', `The priority is ${priority} already.`)
  // Whether a second person is needed depends on the priority.
  if (alert.proposed_by !== null) fail('transition_not_allowed', 'A dismissal waits to be confirmed or returned.')
  return () => change(context, alert, { priority }, note)
}
