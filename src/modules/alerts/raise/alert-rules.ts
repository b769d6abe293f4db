/**
 * Which findings raise which alerts: the list `alert-rules` in force, indexed once per version. A decision passes the epochs that it
 * has read, so that one which raises nothing sends no statement.
 */
import { declareCache } from '#kernel/cache/caches.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { resolver } from '#modules/definitions/index.ts'
import type { Priority } from '../model.ts'
import { ALERT_RULES } from '../policy-lists.ts'

export const findingKinds = [
  'rule_hit',
  'matrix_band',
  'required_action',
  'contract_refusal',
  'contract_drift',
] as const
export type FindingKind = (typeof findingKinds)[number]

export interface AlertRule {
  readonly code: string
  readonly title: string
  readonly on: FindingKind
  /** Key of the rule, matrix or contract; `*`: all. */
  readonly definition: string
  /** The band, the action or the kind of drift; `*`: any. */
  readonly value: string
  readonly priority: Priority
}

/** Something that was found, in the terms of the list. */
export interface Finding {
  readonly on: FindingKind
  readonly definition: string
  readonly value: string
}

export interface Epochs {
  readonly own_epoch: number
  readonly shared_epoch: number
  readonly now: string
}

interface CachedRules extends Epochs {
  /** When an activation starts or ends by the clock. */
  readonly until: string | null
  readonly rules: ReadonlyMap<string, AlertRule>
}

const alertRules = declareCache<CachedRules>({
  name: 'alert_rules',
  summary: 'The entries of alert-rules in force of one tenant.',
  bound: { max_entries: 5_000 },
})

const toKey = ({ on, definition, value }: Finding): string => `${on} ${definition} ${value}`

/** The most specific entry for a finding, or none. */
export type MatchRule = (finding: Finding) => AlertRule | undefined

const createMatcher =
  (rules: ReadonlyMap<string, AlertRule>): MatchRule =>
  (finding) =>
    rules.get(toKey(finding)) ??
    rules.get(toKey({ ...finding, value: '*' })) ??
    rules.get(toKey({ ...finding, definition: '*' })) ??
    rules.get(toKey({ ...finding, definition: '*', value: '*' }))

const isCurrent = (known: CachedRules, current: Epochs): boolean =>
  known.own_epoch === current.own_epoch &&
  known.shared_epoch === current.shared_epoch &&
  (known.until === null || current.now < known.until)

export async function loadAlertRules(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  epochs: Epochs | undefined,
): Promise<MatchRule> {
  const cache = kernel.caches.get(alertRules)
  const known = cache.get(tx.tenant_id)
  const current = known && (epochs ?? (await resolver.findEpochs(tx)))
  if (known && current && isCurrent(known, current)) return createMatcher(known.rules)
  const [row] = await resolver.listPointers(tx, [ALERT_RULES], { valid_at: null, known_at: null })
  if (!row) return () => undefined
  const entries =
    row.via === null ? [] : await resolver.readPolicyEntries<AlertRule>(kernel, tx, row as resolver.VersionPointer)
  const rules = new Map(entries.map((rule) => [toKey(rule), rule]))
  const { own_epoch, shared_epoch, now, until } = row
  cache.set(tx.tenant_id, { own_epoch, shared_epoch, now, until, rules })
  return createMatcher(rules)
}
