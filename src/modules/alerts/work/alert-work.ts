/** The work on an alert: its queue, its person and its clocks, which the work module keeps. */
import type { Tx } from '#kernel/database/tx.ts'
import { emit } from '#kernel/events/emit.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { workClocks, workItems } from '#modules/work/index.ts'
import { alertOpened, alertWoken } from '../events.ts'
import type { AlertState, Priority } from '../model.ts'
import { loadAlertSettings } from '../policy-lists.ts'
import { updateWorkedBy } from './queries.ts'

export const toWorkItem = (alert_id: string) => ({ object_kind: 'alert', object_id: alert_id })

interface OpenedAlert {
  readonly alert_id: string
  readonly source: string
  readonly priority: Priority
  readonly restriction_id: string
}

const toClockKey = (openings: number): string => (openings === 1 ? 'first-action' : `first-action-${openings}`)

/** Routes the alert to a queue, and starts the clock until somebody acts on it. */
export async function startAlertWork(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { alert_id, priority, source, restriction_id }: OpenedAlert,
): Promise<void> {
  const object = { ...toWorkItem(alert_id), restriction_id }
  const { openings, assignee } = await workItems.openWork(kernel, tx, { ...object, priority, source })
  // A queue that assigns by itself: the history says to whom.
  if (assignee !== null) await updateWorkedBy(tx, alert_id, assignee)
  const { first_action_hours: hours } = (await loadAlertSettings(kernel, tx))(priority)
  if (hours === undefined) return
  const clock_key = toClockKey(openings)
  await workClocks.startClock(kernel, tx, { ...object, clock_key, kind: 'service', duration: { hours } })
}

export async function openAlertWork(kernel: Capabilities<'caches'>, tx: Tx, alert: OpenedAlert): Promise<void> {
  await startAlertWork(kernel, tx, alert)
  const { alert_id, restriction_id, priority, source } = alert
  await emit(tx, alertOpened, { object_id: alert_id, restriction_id, data: { priority, source } })
}

const listFirstActionClocks = async (tx: Tx, alert_id: string) =>
  (await workClocks.listClocksByObject(tx, toWorkItem(alert_id))).filter(
    ({ clock_key, ended_at }) => clock_key.startsWith('first-action') && ended_at === null,
  )

/** Somebody has acted: the clocks until then have ended. */
export const stopFirstActionClock = async (tx: Tx, alert_id: string): Promise<void> => {
  for (const { clock_key } of await listFirstActionClocks(tx, alert_id))
    await workClocks.stopClocks(tx, toWorkItem(alert_id), { clock_key })
}

/** A higher priority leaves less time. The clock that runs keeps its due time; another one is due earlier. */
export async function startShorterClock(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { alert_id, priority, restriction_id }: Omit<OpenedAlert, 'source'>,
): Promise<void> {
  const running = await listFirstActionClocks(tx, alert_id)
  const { first_action_hours: hours } = (await loadAlertSettings(kernel, tx))(priority)
  const [first] = running
  if (first === undefined || hours === undefined) return
  const clock_key = `${first.clock_key.replace(/-(low|medium|high|critical)$/, '')}-${priority}`
  const due_ms = Date.now() + hours * 3_600_000
  if (running.some((clock) => clock.clock_key === clock_key || Date.parse(clock.due_at) <= due_ms)) return
  const object = { ...toWorkItem(alert_id), restriction_id }
  await workClocks.startClock(kernel, tx, { ...object, clock_key, kind: 'service', duration: { hours } })
}

/** New facts or a higher priority wake a snoozed alert. */
export async function resumeAlertWork(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  alert: {
    readonly alert_id: string
    readonly state: AlertState
    readonly source: string
    readonly priority: Priority
    readonly raised_to: Priority
    readonly restriction_id: string
  },
): Promise<void> {
  const { alert_id, source, raised_to: priority } = alert
  if (alert.state === 'snoozed') await wakeAlertWork(kernel, tx, { ...alert, priority })
  if (alert.priority === priority) return
  await workItems.rerouteWork(kernel, tx, { ...toWorkItem(alert_id), priority, source })
  await startShorterClock(kernel, tx, { ...alert, priority })
}

export async function wakeAlertWork(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  alert: { readonly alert_id: string; readonly priority: Priority; readonly restriction_id: string },
): Promise<void> {
  const { alert_id, priority, restriction_id } = alert
  await workItems.postponeWork(tx, toWorkItem(alert_id), null)
  await workClocks.resumeClocks(kernel, tx, toWorkItem(alert_id))
  await emit(tx, alertWoken, { object_id: alert_id, restriction_id, data: { priority } })
}
