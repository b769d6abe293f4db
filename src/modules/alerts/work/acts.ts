/**
 * What people do with an alert. Each act first checks every rule of the alert, then returns the function that does it. That may still be
 * refused by what it starts; whoever goes on afterwards undoes it.
 */
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Escalate, EscalationKernel } from '#kernel/escalation.ts'
import { emit } from '#kernel/events/emit.ts'
import type { EventType } from '#kernel/events/event-type.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { workClocks, workItems } from '#modules/work/index.ts'
import {
  alertClaimed,
  alertDismissed,
  alertEscalated,
  alertReleased,
  alertSnoozed,
  dismissalProposed,
} from '../events.ts'
import { alertWorkers, isHigher, isOpen, type Priority } from '../model.ts'
import { assertAlertReason, loadAlertSettings } from '../policy-lists.ts'
import { type AlertRow, insertComment, lockAlert } from '../queries.ts'
import { addSecondLook } from '../second-looks/sample.ts'
import { startShorterClock, stopFirstActionClock, toWorkItem, wakeAlertWork } from './alert-work.ts'
import { type AlertWork, updateWork } from './queries.ts'

export interface ActContext {
  readonly kernel: Capabilities<'caches' | 'encryption' | 'jobs' | 'modules'>
  readonly tx: Tx
  readonly principal: string
}

type Apply = () => Promise<void>
/** `alert` is locked. */
export type Act<Input> = (context: ActContext, alert: AlertRow, input: Input) => Promise<Apply>

type Note = string | null | undefined

const DAY_MS = 86_400_000

function assertOpen(alert: AlertRow): void {
  if (!isOpen(alert)) fail('transition_not_allowed', `The alert is ${alert.state}.`)
}

/** The database refuses it too: nothing could remove the text again. */
export function assertMayWrite({ is_erased }: AlertRow): void {
  if (is_erased)
    fail(
      'erased',
      'The subject of the alert was erased, and nothing is written about it. The alert can be dismissed without a note.',
    )
}

const expectWorker = (principal: string): string => {
  expectPerson(principal, 'Only a person works on alerts, not an API key.')
  return principal
}

/** Stores the change, and what was written about it under the same revision. */
async function change(
  { tx }: Pick<ActContext, 'tx'>,
  alert: AlertRow,
  changed: Partial<AlertWork>,
  note: Note,
): Promise<void> {
  const { alert_id } = alert
  if (note) assertMayWrite(alert)
  await updateWork(tx, alert_id, { ...alert, ...changed })
  if (note) await insertComment(tx, { comment_id: uuidv7(), alert_id, revision: alert.revision + 1, text: note })
}

const announce = <E extends EventType>(
  { tx }: Pick<ActContext, 'tx'>,
  { alert_id, restriction_id }: AlertRow,
  event: E,
  data: { readonly [K in keyof E['data']]: string | number | boolean | null },
) => emit(tx, event, { object_id: alert_id, restriction_id, data })

/** The caller has claimed its work. */
export async function recordClaim(context: ActContext, alert: AlertRow): Promise<void> {
  await change(context, alert, { assignee: context.principal }, null)
  await stopFirstActionClock(context.tx, alert.alert_id)
  await announce(context, alert, alertClaimed, { priority: alert.priority, assignee: context.principal })
}

export const assign: Act<{ user_id: string; note?: Note; may_release_others: boolean }> = async (
  context,
  alert,
  { user_id, note, may_release_others },
) => {
  const { tx } = context
  const { alert_id, restriction_id, priority } = alert
  expectWorker(context.principal)
  assertOpen(alert)
  assertMayGiveAway(alert, context.principal, may_release_others)
  await workItems.assertAssignable(tx, user_id, restriction_id, alertWorkers)
  const assignee = `user:${user_id}`
  if (alert.proposed_by === assignee)
    fail('transition_not_allowed', 'The person proposed its dismissal; another person must confirm it.')
  if (alert.assignee === assignee) fail('transition_not_allowed', 'The person works on it already.')
  return async () => {
    await workItems.assignWork(tx, { ...toWorkItem(alert_id), restriction_id }, user_id)
    await change(context, alert, { assignee }, note)
    await stopFirstActionClock(tx, alert_id)
    await announce(context, alert, alertClaimed, { priority, assignee })
  }
}

/** The work was given away among work of other kinds; the reason is a comment, which an erasure can overwrite: none is stored after one. */
export async function recordReassignment(
  tx: Tx,
  alert_id: string,
  { assignee, reason }: { readonly assignee: string | null; readonly reason: string },
): Promise<void> {
  const alert = await lockAlert(tx, alert_id)
  if (!alert) return
  if (assignee !== null && alert.proposed_by === assignee)
    fail('transition_not_allowed', 'The person proposed the dismissal; another person must confirm it.')
  await updateWork(tx, alert_id, { ...alert, assignee })
  if (!alert.is_erased)
    await insertComment(tx, { comment_id: uuidv7(), alert_id, revision: alert.revision + 1, text: reason })
  if (assignee !== null) await stopFirstActionClock(tx, alert_id)
  const { priority, restriction_id } = alert
  if (assignee === null) await emit(tx, alertReleased, { object_id: alert_id, restriction_id, data: { priority } })
  else await emit(tx, alertClaimed, { object_id: alert_id, restriction_id, data: { priority, assignee } })
}

function assertMayGiveAway({ assignee }: AlertRow, principal: string, may_release_others: boolean): void {
  if (assignee !== null && assignee !== principal && !may_release_others)
    fail('transition_not_allowed', 'Somebody else works on it; they or a compliance officer give it away.')
}

export const release: Act<{ note?: Note; may_release_others: boolean }> = async (
  context,
  alert,
  { note, may_release_others },
) => {
  assertOpen(alert)
  if (alert.assignee === null) fail('transition_not_allowed', 'Nobody works on the alert.')
  assertMayGiveAway(alert, context.principal, may_release_others)
  return async () => {
    await workItems.releaseWork(context.tx, toWorkItem(alert.alert_id))
    await change(context, alert, { assignee: null }, note)
    await announce(context, alert, alertReleased, { priority: alert.priority })
  }
}

/** Service clocks do not run meanwhile. */
export const snooze: Act<{ until: string; note?: Note }> = async (context, alert, { until, note }) => {
  const { kernel, tx } = context
  const { alert_id, priority } = alert
  expectWorker(context.principal)
  assertOpen(alert)
  if (alert.state === 'snoozed') fail('transition_not_allowed', 'The alert is snoozed already.')
  assertNotProposed(alert)
  const { max_snooze_days } = (await loadAlertSettings(kernel, tx))(alert.highest_priority)
  const ahead_ms = Date.parse(until) - Date.now()
  if (ahead_ms <= 0) fail('conflict', 'The end is in the past.')
  if (ahead_ms > max_snooze_days * DAY_MS)
    fail(
      'conflict',
      `Alerts that had the priority ${alert.highest_priority} may be snoozed for at most ${formatDays(max_snooze_days)}.`,
    )
  return async () => {
    await workItems.postponeWork(tx, toWorkItem(alert_id), until)
    await workClocks.pauseClocks(tx, toWorkItem(alert_id))
    await change(context, alert, { state: 'snoozed', snoozed_until: until }, note)
    await announce(context, alert, alertSnoozed, { priority, until })
  }
}

const formatDays = (days: number): string => `${days} ${days === 1 ? 'day' : 'days'}`

/** Before its time has come. */
export const wake: Act<{ note?: Note }> = async (context, alert, { note }) => {
  expectWorker(context.principal)
  if (alert.state !== 'snoozed') fail('transition_not_allowed', 'The alert is not snoozed.')
  return async () => {
    await wakeAlertWork(context.kernel, context.tx, alert)
    await change(context, alert, { state: 'new', snoozed_until: null }, note)
  }
}

function assertNotProposed({ proposed_by }: AlertRow): void {
  if (proposed_by !== null)
    fail('transition_not_allowed', 'A dismissal waits to be confirmed or returned by another person.')
}

export const dismiss: Act<{ reason_code: string; note?: Note }> = async (context, alert, { reason_code, note }) => {
  const { kernel, tx } = context
  const { alert_id, priority } = alert
  const principal = expectWorker(context.principal)
  assertOpen(alert)
  assertNotProposed(alert)
  await assertAlertReason(kernel, tx, reason_code)
  const { second_person } = (await loadAlertSettings(kernel, tx))(alert.highest_priority)
  if (!second_person) return () => close(context, alert, { second_person, reason_code }, note)
  return async () => {
    // Back to the queue: somebody else confirms it.
    await workItems.releaseWork(tx, toWorkItem(alert_id))
    if (alert.state === 'snoozed') await wakeAlertWork(kernel, tx, alert)
    await stopFirstActionClock(tx, alert_id)
    const waiting = await endWork(context, alert)
    await change(context, waiting, { second_person, reason_code, proposed_by: principal }, note)
    await announce(context, alert, dismissalProposed, { priority, reason_code })
  }
}

/** A snooze or a person's work ends with an entry of its own in the history: one revision says one thing. */
async function endWork({ tx }: ActContext, alert: AlertRow): Promise<AlertRow> {
  if (alert.state !== 'snoozed' && alert.worked_by === null) return alert
  const waiting = { ...alert, state: 'new', assignee: null, worked_by: null, snoozed_until: null } as const
  await updateWork(tx, alert.alert_id, waiting)
  return { ...waiting, revision: alert.revision + 1 }
}

async function close(context: ActContext, alert: AlertRow, reason: Partial<AlertWork>, note: Note): Promise<void> {
  const { kernel, tx, principal } = context
  const { alert_id, priority } = alert
  const closed = { ...reason, state: 'dismissed', dismissed_by: principal, snoozed_until: null } as const
  await workItems.completeWork(tx, toWorkItem(alert_id))
  await change(context, alert, closed, note)
  const reason_code = reason.reason_code ?? alert.reason_code
  const dismissed = { ...alert, reason_code, dismissed_by: principal, revision: alert.revision + 1 }
  // As for the second person: lowering the priority first takes nothing away.
  await addSecondLook(kernel, tx, { ...dismissed, priority: alert.highest_priority })
  await announce(context, alert, alertDismissed, { priority, reason_code })
}

export const confirmDismissal: Act<{ note?: Note }> = async (context, alert, { note }) => {
  const principal = expectWorker(context.principal)
  assertOpen(alert)
  if (alert.proposed_by === null) fail('transition_not_allowed', 'No dismissal was proposed.')
  if (alert.proposed_by === principal)
    fail('approval_own_request', 'Nobody confirms their own proposal; another person must.')
  return () => close(context, alert, {}, note)
}

export const returnDismissal: Act<{ note?: Note }> = async (context, alert, { note }) => {
  expectWorker(context.principal)
  assertOpen(alert)
  if (alert.proposed_by === null) fail('transition_not_allowed', 'No dismissal was proposed.')
  return () => change(context, alert, { proposed_by: null, reason_code: null, second_person: false }, note)
}

export const escalate: Act<{ note: string; playbook_key?: string | null | undefined }> = async (
  context,
  alert,
  { note, playbook_key = null },
) => {
  expectWorker(context.principal)
  assertOpen(alert)
  assertNotProposed(alert)
  const escalates = context.kernel.modules.find((module) => module.escalates !== undefined)?.escalates
  return () => openCase(context, alert, { note, playbook_key, origin: 'alert', escalates })
}

interface CaseContext extends Omit<ActContext, 'kernel'> {
  readonly kernel: EscalationKernel
}
interface CaseRequest {
  readonly note: Note
  readonly playbook_key: string | null
  readonly origin: 'alert' | 'trigger'
  readonly escalates: Escalate | undefined
}

/** The case is opened or joined in the same transaction, so that no alert is escalated to nobody. */
export async function openCase(
  context: CaseContext,
  alert: AlertRow,
  { note = null, escalates, ...request }: CaseRequest,
): Promise<void> {
  const { kernel, tx, principal } = context
  await workItems.completeWork(tx, toWorkItem(alert.alert_id))
  await change(context, alert, { state: 'escalated', escalated_by: principal, snoozed_until: null }, note)
  await escalates?.(kernel, tx, alert, { ...request, note })
  await announce(context, alert, alertEscalated, { priority: alert.priority })
}

export const prioritise: Act<{ priority: Priority; note?: Note }> = async (context, alert, { priority, note }) => {
  const { kernel, tx } = context
  const { alert_id, source } = alert
  expectWorker(context.principal)
  assertOpen(alert)
  // It was put off for as long as the lower priority allows.
  const wakes = alert.state === 'snoozed' && isHigher(priority, alert.highest_priority)
  if (alert.priority === priority) fail('transition_not_allowed', `The priority is ${priority} already.`)
  // Whether a second person is needed depends on the priority.
  assertNotProposed(alert)
  return async () => {
    await workItems.rerouteWork(kernel, tx, { ...toWorkItem(alert_id), priority, source })
    if (wakes) await wakeAlertWork(kernel, tx, { ...alert, priority })
    await change(context, alert, { priority, ...(wakes && { state: 'new', snoozed_until: null }) }, note)
    await startShorterClock(kernel, tx, { ...alert, priority })
  }
}
