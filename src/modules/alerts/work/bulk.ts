/** The same act on many alerts: at once for up to 200, by a job above. Each alert is done or refused for itself. */
import { recordEvent } from '#kernel/audit/record.ts'
import { runAndUndo, runInSavepoint } from '#kernel/database/savepoint.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail, Problem, problems } from '#kernel/problem.ts'
import type { Static } from '#kernel/schema.ts'
import type { AlertState } from '../model.ts'
import { findAlert, lockAlert } from '../queries.ts'
import type { BulkRequest } from '../schema.ts'
import {
  type Act,
  type ActContext,
  assign,
  confirmDismissal,
  dismiss,
  escalate,
  prioritise,
  release,
  snooze,
} from './acts.ts'

export type BulkAct = Omit<Static<typeof BulkRequest>, 'alert_ids' | 'dry_run'>
type BulkCapabilities = Capabilities<'auditKeys' | 'caches' | 'encryption' | 'jobs' | 'modules'>

export interface BulkCaller {
  readonly principal: string
  readonly may_release_others: boolean
  readonly request_id: string | null
}

export interface BulkItem {
  readonly alert_id: string
  readonly done: boolean
  readonly state: AlertState | null
  readonly code: string | null
  readonly detail: string | null
  /** Not part of an answer, which is hidden with each of them. */
  readonly restriction_id: string | null
}

type BoundAct = (context: ActContext, alert: Parameters<Act<never>>[1]) => ReturnType<Act<never>>

/** Fails with 409 where a member that the act needs is missing. */
export function bindAct(given: BulkAct, { may_release_others }: Pick<BulkCaller, 'may_release_others'>): BoundAct {
  const { action, note = null } = given
  const need = <T>(value: T | undefined, member: string): T => value ?? fail('conflict', `${action} needs ${member}.`)
  switch (action) {
    case 'assign': {
      const user_id = need(given.user_id, 'user_id')
      return (context, alert) => assign(context, alert, { user_id, note, may_release_others })
    }
    case 'release':
      return (context, alert) => release(context, alert, { note, may_release_others })
    case 'snooze': {
      const until = need(given.until, 'until')
      return (context, alert) => snooze(context, alert, { until, note })
    }
    case 'dismiss': {
      const reason_code = need(given.reason_code, 'reason_code')
      return (context, alert) => dismiss(context, alert, { reason_code, note })
    }
    case 'confirm_dismissal':
      return (context, alert) => confirmDismissal(context, alert, { note })
    case 'escalate': {
      const text = need(note ?? undefined, 'note')
      return (context, alert) => escalate(context, alert, { note: text })
    }
    case 'prioritise': {
      const priority = need(given.priority, 'priority')
      return (context, alert) => prioritise(context, alert, { priority, note })
    }
  }
}

const OPERATIONS: Readonly<Record<BulkAct['action'], string>> = {
  assign: 'assignAlert',
  release: 'releaseAlert',
  snooze: 'snoozeAlert',
  dismiss: 'dismissAlert',
  confirm_dismissal: 'confirmAlertDismissal',
  escalate: 'escalateAlert',
  prioritise: 'updateAlert',
}

/** In the order of the ids, so that two requests do not wait for each other. Each alert has an audit event of its own. */
export async function performBulk(
  kernel: BulkCapabilities,
  tx: Tx,
  { alert_ids, dry_run, ...given }: BulkAct & { readonly alert_ids: readonly string[]; readonly dry_run: boolean },
  caller: BulkCaller,
): Promise<BulkItem[]> {
  const act = bindAct(given, caller)
  const items: BulkItem[] = []
  // A dry run does it all and is undone: what one alert takes away, for example of a limit, the next one no longer has.
  if (dry_run) {
    await runAndUndo(tx, async (part) => {
      const context = { kernel, tx: part, principal: caller.principal }
      for (const alert_id of alert_ids.toSorted()) {
        const { before, ...shown } = await performOne(context, act, alert_id)
        items.push({ ...shown, state: before })
      }
    })
    return items
  }
  const context = { kernel, tx, principal: caller.principal }
  for (const alert_id of alert_ids.toSorted()) {
    const item = await performOne(context, act, alert_id)
    if (item.done)
      recordEvent(tx, kernel.auditKeys, {
        operation: OPERATIONS[given.action],
        object_type: 'alerts',
        object_id: alert_id,
        request_id: caller.request_id,
        detail: { diff: [{ member: 'state', before: item.before, after: item.state }] },
        restriction_id: item.restriction_id,
      })
    const { before: _, ...shown } = item
    items.push(shown)
  }
  return items
}

/** A refused alert has changed nothing, whatever refused it and when. */
async function performOne(context: ActContext, act: BoundAct, alert_id: string) {
  const found = await lockAlert(context.tx, alert_id)
  const before = found?.state ?? null
  const restriction_id = found?.restriction_id ?? null
  const refuse = (code: string, detail: string) => ({
    ...{ alert_id, before, restriction_id },
    ...{ done: false, state: before, code, detail },
  })
  if (!found) return refuse('not_found', 'There is no such alert.')
  // The event of the request could not carry several restrictions.
  if (found.is_in_force) return refuse('conflict', 'A restricted alert is worked on alone.')
  try {
    await runInSavepoint(context.tx, async (tx) => (await act({ ...context, tx }, found))())
  } catch (error) {
    if (!(error instanceof Problem) || error.status >= 500) throw error
    return refuse(error.code, error.extra.detail ?? problems[error.code].title)
  }
  const after = await findAlert(context.tx, alert_id)
  return { ...{ alert_id, before, restriction_id }, done: true, state: after?.state ?? null, code: null, detail: null }
}
