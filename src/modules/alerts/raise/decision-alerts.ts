/** Alerts of decisions: what a rule or matrix decided, compared with `alert-rules`. */
import type { Explanation as DecisionExplanation, Outcome } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { Explanation } from '../model.ts'
import { type AlertRule, type Epochs, type Finding, loadAlertRules } from './alert-rules.ts'
import { type AlertReport, raiseAlert } from './raise-alert.ts'

export interface DecidedOutcome {
  readonly family: Outcome['family']
  readonly band: string | null
  readonly hit: boolean | null
  readonly required_actions: readonly string[]
  readonly reason_codes: readonly string[]
  readonly subject_id: string | null
  /** `evaluation:<id>`, or the item of a batch. */
  readonly reference: string
  readonly explanation?: DecisionExplanation
}

export interface DecidedBy {
  readonly key: string
  readonly version: number
  /** Read in this transaction by the decision itself; absent: they are read. */
  readonly epochs?: Epochs
}

/** Raises what the outcomes of one definition ask for, in the order of the keys, so that two transactions do not wait for each other. */
export async function raiseDecisionAlerts(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { epochs, ...definition }: DecidedBy,
  outcomes: readonly DecidedOutcome[],
): Promise<number> {
  if (outcomes.length === 0) return 0
  const match = await loadAlertRules(kernel, tx, epochs)
  const reports = outcomes.flatMap((outcome) =>
    listFindings(definition.key, outcome).flatMap((finding) => {
      const rule = match(finding)
      return rule ? [toReport(definition, outcome, rule, finding)] : []
    }),
  )
  for (const report of reports.toSorted((a, b) => (a.dedup_key < b.dedup_key ? -1 : 1)))
    await raiseAlert(kernel, tx, report)
  return reports.length
}

function listFindings(definition: string, { band, hit, required_actions }: DecidedOutcome): Finding[] {
  return [
    ...(hit === true ? [{ on: 'rule_hit' as const, definition, value: 'hit' }] : []),
    ...(band === null ? [] : [{ on: 'matrix_band' as const, definition, value: band }]),
    ...required_actions.map((value) => ({ on: 'required_action' as const, definition, value })),
  ]
}

const MAX_TEXT = 500
const MAX_FIELDS = 50

function toReport(
  { key, version }: DecidedBy,
  outcome: DecidedOutcome,
  rule: AlertRule,
  { on, value }: Finding,
): AlertReport {
  const { family, subject_id, reference } = outcome
  // Without a subject nothing says that two decisions are about the same.
  const about = subject_id === null ? reference : `subject:${subject_id}`
  return {
    source: family,
    rule_code: rule.code,
    subject_id,
    dedup_key: `${on}:${key}:${value}:${about}`,
    title: rule.title,
    facts: {
      outcome: outcome.band ?? (outcome.hit ? 'hit' : 'no hit'),
      required_actions: outcome.required_actions.toSorted().join(', ').slice(0, MAX_TEXT),
      reason_codes: outcome.reason_codes.toSorted().join(', ').slice(0, MAX_TEXT),
    },
    explanation: toExplanation({ key, version }, outcome, rule),
    priority: rule.priority,
    reference,
  }
}

function toExplanation({ key, version }: DecidedBy, outcome: DecidedOutcome, rule: AlertRule): Explanation {
  const { explanation, family, reference } = outcome
  const fired = explanation
    ? [
        ...explanation.triggers.map(({ title, reason }) => ({ name: title, value: reason })),
        ...explanation.rows.map((row) => ({ name: row.key, value: row.reason ?? row.reason_code ?? '' })),
      ]
    : outcome.reason_codes.map((code) => ({ name: 'reason_code', value: code }))
  const [kind = 'decision', ...id] = reference.split(':')
  return {
    sentence: (explanation?.summary.join(' ') || rule.title).slice(0, 2 * MAX_TEXT),
    fields: fired.slice(0, MAX_FIELDS).map(({ name, value }) => ({
      name: name.slice(0, 200),
      subject_value: value.slice(0, MAX_TEXT),
      matched_value: null,
      agrees: null,
    })),
    references: [
      { kind, id: id.join(':'), version: null },
      { kind: family, id: key, version },
    ],
  }
}
