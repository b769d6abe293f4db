/** Compares what arrives with the baseline of a version. Nothing is refused because of a finding. */
import { toStorableText } from './places.ts'
import type { PointerSketch, SketchKind, SketchSummary } from './sketch.ts'

export const DRIFT_KINDS = [
  'new_member',
  'vanished_member',
  'kind_changed',
  'null_share_up',
  'null_share_down',
  'new_value',
  'number_above',
  'number_below',
  'text_longer',
] as const
export type DriftKind = (typeof DRIFT_KINDS)[number]

export interface DriftFinding {
  readonly kind: DriftKind
  readonly pointer: string
  /** The new value or the new kind; empty otherwise. */
  readonly item: string
  readonly facts: Readonly<Record<string, unknown>>
  readonly first_payload_id: string | null
}

/** Fewer records say nothing about shares. */
export const MIN_RECORDS = 30
/** Present in nearly all records before, and in less than half of them now. */
const WAS_PRESENT = 0.95
const IS_VANISHED = 0.5
const NULL_POINTS = 0.2
/** A new value or kind that occurs less often may have been missing from the baseline by chance. */
const MIN_NEW_SHARE = 0.01
const MIN_NEW_COUNT = 3
const RANGE_FACTOR = 10
const MIN_LONG_TEXT = 64

export const isConclusive = ({ records }: Pick<SketchSummary, 'records'>): boolean => records >= MIN_RECORDS

/** Findings in the order of the pointers. `ignores_undeclared`: members that the contract does not declare are dropped. */
export function findDrift(
  baseline: SketchSummary,
  current: SketchSummary,
  { ignores_undeclared = false }: { readonly ignores_undeclared?: boolean } = {},
): DriftFinding[] {
  if (!isConclusive(baseline) || !isConclusive(current)) return []
  const before = new Map(baseline.pointers.map((sketch) => [sketch.pointer, sketch]))
  const now = new Map(current.pointers.map((sketch) => [sketch.pointer, sketch]))
  const shares = { before: baseline.records, now: current.records }
  return [...new Set([...before.keys(), ...now.keys()])].sort().flatMap((pointer) => {
    const [old, young] = [before.get(pointer), now.get(pointer)]
    if (ignores_undeclared && !(old ?? young)?.declared) return []
    if (!old) return young ? findNewMember(young, shares.now) : []
    return [
      ...findVanished(old, young, shares),
      ...(young ? [...findKinds(old, young), ...findNulls(old, young), ...findValues(old, young)] : []),
      ...(young ? [...findRange(old, young), ...findLength(old, young)] : []),
    ]
  })
}

const countValues = ({ kinds }: PointerSketch): number =>
  Object.values(kinds).reduce((sum, each) => sum + (each?.count ?? 0), 0)

const getFirst = ({ kinds }: PointerSketch): string | null =>
  Object.values(kinds)
    .map(({ first }) => first)
    .sort()[0] ?? null

const round = (share: number): number => Math.round(share * 1000) / 1000

/** A member that is declared and only rarely present is no news. */
function findNewMember(young: PointerSketch, records: number): DriftFinding[] {
  const share = young.records / records
  if (young.declared && (share < MIN_NEW_SHARE || young.records < MIN_NEW_COUNT)) return []
  const { pointer, declared } = young
  return [
    {
      kind: 'new_member',
      pointer,
      item: '',
      facts: { share: round(share), declared },
      first_payload_id: getFirst(young),
    },
  ]
}

function findVanished(
  old: PointerSketch,
  young: PointerSketch | undefined,
  records: { readonly before: number; readonly now: number },
): DriftFinding[] {
  const before = old.records / records.before
  const now = (young?.records ?? 0) / records.now
  if (before < WAS_PRESENT || now >= IS_VANISHED) return []
  const facts = { share_before: round(before), share_now: round(now) }
  return [{ kind: 'vanished_member', pointer: old.pointer, item: '', facts, first_payload_id: null }]
}

function findKinds(old: PointerSketch, young: PointerSketch): DriftFinding[] {
  const total = countValues(young)
  return (Object.keys(young.kinds) as SketchKind[]).flatMap((kind) => {
    const { count, first } = young.kinds[kind] as { count: number; first: string }
    if (kind === 'null' || old.kinds[kind] || count < MIN_NEW_COUNT || count / total < MIN_NEW_SHARE) return []
    const facts = { share: round(count / total), kinds_before: Object.keys(old.kinds) }
    return [{ kind: 'kind_changed', pointer: young.pointer, item: kind, facts, first_payload_id: first }]
  })
}

function findNulls(old: PointerSketch, young: PointerSketch): DriftFinding[] {
  const share = (sketch: PointerSketch): number => (sketch.kinds.null?.count ?? 0) / Math.max(1, countValues(sketch))
  const [before, now] = [share(old), share(young)]
  if (Math.abs(now - before) < NULL_POINTS || countValues(young) < MIN_RECORDS) return []
  const facts = { share_before: round(before), share_now: round(now) }
  const kind = now > before ? 'null_share_up' : 'null_share_down'
  const first = now > before ? (young.kinds.null?.first ?? null) : null
  return [{ kind, pointer: young.pointer, item: '', facts, first_payload_id: first }]
}

/** Only where the baseline had few values and all of them are known: an enumeration, declared or not. */
function findValues(old: PointerSketch, young: PointerSketch): DriftFinding[] {
  if (!old.is_complete || !old.top || !young.top || (old.kinds.string?.count ?? 0) < MIN_RECORDS) return []
  const known = new Set(old.top.map(({ value }) => value))
  const total = young.kinds.string?.count ?? 0
  return young.top.flatMap(({ value, count, error, first }) => {
    const least = count - error
    if (known.has(value) || least < MIN_NEW_COUNT || least / total < MIN_NEW_SHARE) return []
    const facts = { share: round(least / total), values_before: known.size }
    return [{ kind: 'new_value', pointer: young.pointer, item: toStorableText(value), facts, first_payload_id: first }]
  })
}

function findRange(old: PointerSketch, young: PointerSketch): DriftFinding[] {
  if (old.minimum === null || old.maximum === null || young.minimum === null || young.maximum === null) return []
  const span = Math.max(old.maximum - old.minimum, Math.abs(old.maximum), Math.abs(old.minimum))
  const facts = { minimum_before: old.minimum, maximum_before: old.maximum }
  const { pointer } = young
  const findings: DriftFinding[] = []
  if (young.maximum > old.maximum + RANGE_FACTOR * span) {
    const above = { ...facts, maximum_now: young.maximum }
    findings.push({ kind: 'number_above', pointer, item: '', facts: above, first_payload_id: young.maximum_at })
  }
  if (young.minimum < old.minimum - RANGE_FACTOR * span) {
    const below = { ...facts, minimum_now: young.minimum }
    findings.push({ kind: 'number_below', pointer, item: '', facts: below, first_payload_id: young.minimum_at })
  }
  return findings
}

function findLength(old: PointerSketch, young: PointerSketch): DriftFinding[] {
  if (old.max_length === null || young.max_length === null) return []
  if (young.max_length <= Math.max(MIN_LONG_TEXT, old.max_length * RANGE_FACTOR)) return []
  const facts = { longest_before: old.max_length, longest_now: young.max_length }
  const { pointer, max_length_at } = young
  return [{ kind: 'text_longer', pointer, item: '', facts, first_payload_id: max_length_at }]
}
