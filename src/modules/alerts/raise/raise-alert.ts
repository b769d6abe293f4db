/**
 * Raises an alert in the caller's transaction: every source reports here. A match that is open already gets one more occurrence; one
 * that was closed with the same facts is counted there; other facts, or a higher priority, open a new alert that says what changed.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import {
  computeFingerprint,
  createFingerprintSalt,
  diffFacts,
  type Explanation,
  type FactChange,
  type Facts,
  isHigher,
  isOpen,
  maxPriority,
  type Priority,
} from '../model.ts'
import { openAlertWork, resumeAlertWork } from '../work/alert-work.ts'
import {
  addOccurrence,
  addSuppressed,
  type ChangedFacts,
  deferOccurrence,
  findSeries,
  insertAlert,
  type NewOccurrence,
  OPEN_SCOPE,
  type ReportTarget,
  raisePriority,
  type SeriesHead,
  updateFacts,
} from './queries.ts'

export interface AlertReport {
  /** `rule`, `matrix` or `contract`; from outside, another slug of at most 40 characters. */
  readonly source: string
  /** The entry of `alert-rules` that asks for it. Absent: a report from outside, which never meets alerts of the service itself. */
  readonly rule_code?: string | null
  readonly subject_id?: string | null
  /** The same for every report of the same match. At most 300 characters. */
  readonly dedup_key: string
  /** One sentence, at most 300 characters. */
  readonly title: string
  /** What would make it another match: after a dismissal, a report with other facts opens an alert. */
  readonly facts: Facts
  readonly explanation: Explanation
  readonly priority: Priority
  /** What was reported on: `evaluation:<id>`. */
  readonly reference?: string | null
  /** Of the object that it is about; absent: the alert gets one of its own, not in force. */
  readonly restriction_id?: string | null
}

export interface RaisedAlert {
  readonly outcome: 'opened' | 'joined' | 'counted' | 'suppressed'
  /** Null where it was suppressed. */
  readonly alert_id: string | null
  readonly suppression_id: string | null
  /** Of the alert, or of the suppression. */
  readonly occurrences: number
  /** The closed alert of the same match, whose facts were others. */
  readonly previous_alert_id: string | null
  readonly changes: readonly FactChange[] | null
  readonly restriction_id: string | null
}

/** Each attempt that fails means that another transaction has opened an alert of this key. */
const ATTEMPTS = 10

/** Without capabilities, as for the canary of isolation, no work is opened. */
export async function raiseAlert(
  kernel: Capabilities<'caches'> | null,
  tx: Tx,
  report: AlertReport,
): Promise<RaisedAlert> {
  const target = {
    source: report.source,
    dedup_key: report.dedup_key,
    // A report without a restriction never meets a restricted alert, not even by a conflict.
    dedup_scope: report.restriction_id ?? OPEN_SCOPE,
    subject_id: report.subject_id ?? null,
    priority: report.priority,
    is_external: isExternal(report),
  }
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { head, suppression_id } = await findSeries(tx, target)
    if (suppression_id !== undefined) {
      const suppressed = await countSuppressed(tx, report, suppression_id)
      if (suppressed) return suppressed
    }
    if (head) {
      // It must not write into the alert of another source.
      if (target.is_external && head.source !== report.source)
        fail('conflict', 'Another source reports under this dedup_key. Use a key of your own.')
      const changes = diffFacts(head.facts, report.facts)
      // Whoever closed it has decided on no more than the highest priority that it had.
      const is_counted = changes.length === 0 && !isHigher(report.priority, head.highest_priority)
      if (isOpen(head) || is_counted) return repeatAlert(kernel, tx, report, { head, changes })
    }
    const opened = await openAlert(tx, report, { ...target, head })
    if (!opened) continue
    if (kernel) await openAlertWork(kernel, tx, { ...report, ...opened })
    return opened
  }
  return fail('overloaded', {
    detail: 'Alerts of this key are opened all the time. Repeat the request.',
    retry_after_s: 1,
  })
}

const isExternal = ({ rule_code = null }: AlertReport): boolean => rule_code === null

const recordOccurrence = (
  tx: Tx,
  report: AlertReport,
  of: Pick<NewOccurrence, 'alert_id' | 'suppression_id' | 'outcome' | 'fingerprint'>,
): void => {
  const { reference = null, priority } = report
  deferOccurrence(tx, { ...of, occurrence_id: uuidv7(), reference, priority, is_external: isExternal(report) })
}

/** Undefined where the suppression was ended at this moment. */
async function countSuppressed(tx: Tx, report: AlertReport, suppression_id: string): Promise<RaisedAlert | undefined> {
  const counted = await addSuppressed(tx, suppression_id)
  if (!counted) return undefined
  const outcome = 'suppressed' as const
  recordOccurrence(tx, report, { alert_id: null, suppression_id, outcome, fingerprint: null })
  const { occurrences } = counted
  return {
    outcome,
    alert_id: null,
    suppression_id,
    occurrences,
    previous_alert_id: null,
    changes: null,
    restriction_id: null,
  }
}

async function repeatAlert(
  kernel: Capabilities<'caches'> | null,
  tx: Tx,
  report: AlertReport,
  { head, changes }: { readonly head: SeriesHead; readonly changes: readonly FactChange[] },
): Promise<RaisedAlert> {
  const { alert_id, restriction_id } = head
  const fingerprint = computeFingerprint(head.facts_salt, report.facts)
  const { facts, explanation, title } = report
  // An open alert says what differs from the one that was closed. Facts that were dismissed before do not replace what opened it.
  const since_closed = isOpen(head) && head.previous_facts ? diffFacts(head.previous_facts, facts) : null
  const replaces = changes.length > 0 && since_closed?.length !== 0
  const priority = isOpen(head) ? maxPriority(head.priority, report.priority) : head.priority
  if (!replaces && priority === head.priority) await addOccurrence(tx, alert_id)
  else {
    const changes_since: ChangedFacts['changes_since'] = since_closed ? 'previous_alert' : 'previous_report'
    const changed = {
      facts,
      fingerprint,
      changes: since_closed ?? changes,
      changes_since,
      explanation,
      title,
      priority,
    }
    if (!replaces) await raisePriority(tx, alert_id, priority)
    else await updateFacts(tx, alert_id, changed)
    if (kernel) await resumeAlertWork(kernel, tx, { ...head, source: report.source, raised_to: priority })
  }
  const outcome = isOpen(head) ? 'joined' : 'counted'
  recordOccurrence(tx, report, { alert_id, suppression_id: null, outcome, fingerprint })
  return {
    outcome,
    alert_id,
    suppression_id: null,
    occurrences: head.occurrences + 1,
    previous_alert_id: null,
    changes: changes.length === 0 ? null : changes,
    restriction_id,
  }
}

/** Undefined where another transaction was first. */
async function openAlert(
  tx: Tx,
  report: AlertReport,
  { head, ...target }: ReportTarget & { readonly head: SeriesHead | undefined },
): Promise<(RaisedAlert & { readonly alert_id: string; readonly restriction_id: string }) | undefined> {
  const alert_id = uuidv7()
  const facts_salt = createFingerprintSalt()
  const fingerprint = computeFingerprint(facts_salt, report.facts)
  const previous_alert_id = head?.alert_id ?? null
  const changes = head ? diffFacts(head.facts, report.facts) : null
  const restriction_id = report.restriction_id ?? uuidv7()
  const is_inserted = await insertAlert(tx, {
    ...target,
    alert_id,
    rule_code: report.rule_code ?? null,
    round: (head?.round ?? 0) + 1,
    previous_alert_id,
    title: report.title,
    facts: report.facts,
    fingerprint,
    facts_salt,
    changes,
    explanation: report.explanation,
    restriction_id,
    is_own_restriction: !report.restriction_id,
  })
  if (!is_inserted) return undefined
  const outcome = 'opened' as const
  recordOccurrence(tx, report, { alert_id, suppression_id: null, outcome, fingerprint })
  return { outcome, alert_id, suppression_id: null, occurrences: 1, previous_alert_id, changes, restriction_id }
}
