/** Adds up how a candidate changes decisions, without I/O. The tally is plain JSON, so that it can be a checkpoint. */
import type { Decision, DefinitionFamily, Finding, Input } from '#decision/model.ts'

export const MAX_SUBJECTS = 100_000
/** So many subjects can be named by a result; it counts all of them. */
export const MAX_SAMPLES = 200
const MAX_SEGMENTS = 200
const MAX_REASONS = 100
const MAX_ACTIONS = 1000
const MAX_OUTCOMES = 10_000

/** A past decision that is decided again. */
export interface PastDecision {
  readonly evaluation_id: string | null
  readonly batch_id: string | null
  readonly seq: number | null
  readonly subject_id: string
  readonly segment: string | null
  readonly family: DefinitionFamily
  readonly key: string
}

/** The band of an override, compared with the outcome with and without the candidate. */
interface Outcome {
  readonly key: string
  readonly outcome: string
  readonly before: string | null
  readonly after: string | null
  decisions: number
}

interface Side {
  readonly result: string | null
  readonly score_bps: number | null
  readonly required_actions: string[]
}
interface FactorMove {
  readonly factor: string
  readonly before_bps: number | null
  readonly after_bps: number | null
}
type Refusal = Pick<Finding, 'code' | 'pointer' | 'message'>
export interface Sample extends PastDecision {
  readonly before: Side
  readonly after: Side
  readonly factors: FactorMove[]
  readonly refusals: Refusal[]
}

interface Transition {
  readonly family: DefinitionFamily
  readonly key: string
  readonly from: string | null
  readonly to: string | null
  decisions: number
}
interface FactorCount {
  readonly family: DefinitionFamily
  readonly key: string
  readonly factor: string
  moved: number
  raised: number
  lowered: number
  flipped: number
}
interface SegmentCount {
  readonly segment: string | null
  decisions: number
  flips: number
  refusals_added: number
}

export interface ImpactTally {
  decisions: number
  unusable: number
  flips: number
  score_moves: number
  refusals_added: number
  refusals_removed: number
  transitions: Transition[]
  factors: FactorCount[]
  segments: SegmentCount[]
  other_segments: Omit<SegmentCount, 'segment'>
  required_actions: { readonly action: string; added: number; removed: number }[]
  refusals: (Refusal & { decisions: number })[]
  outcomes: Outcome[]
  /** Examples: the first decisions whose result changes, and the first whose score alone changes. */
  changed: Sample[]
  moved: Sample[]
}

export const EMPTY_TALLY: ImpactTally = {
  decisions: 0,
  unusable: 0,
  flips: 0,
  score_moves: 0,
  refusals_added: 0,
  refusals_removed: 0,
  transitions: [],
  factors: [],
  segments: [],
  other_segments: { decisions: 0, flips: 0, refusals_added: 0 },
  required_actions: [],
  refusals: [],
  outcomes: [],
  changed: [],
  moved: [],
}

/** Changes `tally` in place. */
export function addDecision(tally: ImpactTally, past: PastDecision, before: Decision, after: Decision): void {
  const [from, to] = [toSide(before), toSide(after)]
  const { family, key } = past
  const appears = before.ok && !after.ok
  const flips = before.ok && after.ok && from.result !== to.result
  const factors = before.ok && after.ok ? findFactorMoves(before, after) : []
  const scoreMoves = before.ok && after.ok && from.score_bps !== to.score_bps

  tally.decisions++
  if (flips) tally.flips++
  if (scoreMoves) tally.score_moves++
  if (appears) tally.refusals_added++
  if (!before.ok && after.ok) tally.refusals_removed++
  const transition = { family, key, from: from.result, to: to.result }
  findOrAddRow(tally.transitions, transition, { decisions: 0 }).decisions++
  addSegment(tally, past.segment, flips, appears)
  for (const move of factors) addFactor(tally, past, move, flips)
  if (before.ok && after.ok) addActions(tally, from.required_actions, to.required_actions)

  const refusals = appears ? listRefusals(after) : []
  for (const refusal of refusals) {
    const reason = findOrAddRow(tally.refusals, refusal, { decisions: 0 }, MAX_REASONS)
    if (reason) reason.decisions++
  }
  const sampleList =
    flips || before.ok !== after.ok ? tally.changed : scoreMoves || factors.length > 0 ? tally.moved : null
  if (sampleList && sampleList.length < MAX_SAMPLES) {
    sampleList.push({ ...past, before: from, after: to, factors, refusals: refusals.slice(0, 10) })
  }
}

/** Matrices only: an override names a band. */
export function addOutcome(
  tally: ImpactTally,
  { family, key }: PastDecision,
  outcome: string,
  { before, after }: { readonly before: Decision; readonly after: Decision },
): void {
  if (family !== 'matrix') return
  const names = { key, outcome, before: toSide(before).result, after: toSide(after).result }
  const row = findOrAddRow(tally.outcomes, names, { decisions: 0 }, MAX_OUTCOMES)
  if (row) row.decisions++
}

function toSide(decision: Decision): Side {
  if (!decision.ok) return { result: null, score_bps: null, required_actions: [] }
  const { outcome } = decision
  const required_actions = [...outcome.required_actions]
  if (outcome.family === 'matrix') return { result: outcome.band, score_bps: outcome.score_bps, required_actions }
  return { result: outcome.hit ? 'hit' : 'no hit', score_bps: null, required_actions }
}

type SuccessfulDecision = Extract<Decision, { ok: true }>

/** A factor that only one side has changes from or to nothing. */
function findFactorMoves(before: SuccessfulDecision, after: SuccessfulDecision): FactorMove[] {
  const scores = ({ explanation }: SuccessfulDecision) =>
    new Map(explanation.factors.map(({ key, score_bps }) => [key, score_bps]))
  const [old, young] = [scores(before), scores(after)]
  return [...new Set([...old.keys(), ...young.keys()])].flatMap((factor) => {
    const [before_bps, after_bps] = [old.get(factor) ?? null, young.get(factor) ?? null]
    return before_bps === after_bps ? [] : [{ factor, before_bps, after_bps }]
  })
}

const listRefusals = (decision: Decision): Refusal[] =>
  decision.ok
    ? []
    : decision.findings
        .filter(({ severity }) => severity === 'error')
        .map(({ code, pointer, message }) => ({ code, pointer, message }))

function addFactor(
  tally: ImpactTally,
  { family, key }: PastDecision,
  { factor, before_bps, after_bps }: FactorMove,
  flips: boolean,
) {
  const none = { moved: 0, raised: 0, lowered: 0, flipped: 0 }
  const count = findOrAddRow(tally.factors, { family, key, factor }, none)
  count.moved++
  if ((after_bps ?? 0) > (before_bps ?? 0)) count.raised++
  if ((after_bps ?? 0) < (before_bps ?? 0)) count.lowered++
  if (flips) count.flipped++
}

function addSegment(tally: ImpactTally, segment: string | null, flips: boolean, appears: boolean): void {
  const none = { decisions: 0, flips: 0, refusals_added: 0 }
  const count = findOrAddRow(tally.segments, { segment }, none, MAX_SEGMENTS) ?? tally.other_segments
  count.decisions++
  if (flips) count.flips++
  if (appears) count.refusals_added++
}

function addActions(tally: ImpactTally, before: readonly string[], after: readonly string[]): void {
  const add = (action: string, way: 'added' | 'removed') => {
    const count = findOrAddRow(tally.required_actions, { action }, { added: 0, removed: 0 }, MAX_ACTIONS)
    if (count) count[way]++
  }
  for (const action of after) if (!before.includes(action)) add(action, 'added')
  for (const action of before) if (!after.includes(action)) add(action, 'removed')
}

/** Finds or adds the row with these names; returns nothing when the maximum number of rows is reached. */
function findOrAddRow<N extends object, C extends object>(rows: (N & C)[], names: N, none: C): N & C
function findOrAddRow<N extends object, C extends object>(
  rows: (N & C)[],
  names: N,
  none: C,
  most: number,
): (N & C) | null
function findOrAddRow<N extends object, C extends object>(
  rows: (N & C)[],
  names: N,
  none: C,
  most = 0,
): (N & C) | null {
  const wanted = Object.entries(names)
  const known = rows.find((row) => wanted.every(([name, value]) => row[name as keyof typeof row] === value))
  if (known) return known
  if (most > 0 && rows.length >= most) return null
  const made = { ...names, ...none }
  rows.push(made)
  return made
}

/** Sorted, so that the result does not depend on the order of decisions. */
export function toImpactResult({ changed, moved, outcomes, ...tally }: ImpactTally) {
  const by = <T extends object>(rows: readonly T[], ...names: (keyof T)[]): T[] =>
    rows.toSorted((a, b) => {
      for (const name of names) {
        const [one, other] = [String(a[name] ?? ''), String(b[name] ?? '')]
        if (one !== other) return one < other ? -1 : 1
      }
      return 0
    })
  const decided = (rows: readonly Outcome[]) => rows.reduce((sum, { decisions }) => sum + decisions, 0)
  return {
    ...tally,
    known_outcomes: {
      decisions: decided(outcomes),
      agreed_before: decided(outcomes.filter(({ outcome, before }) => outcome === before)),
      agreed_after: decided(outcomes.filter(({ outcome, after }) => outcome === after)),
      table: by(outcomes, 'key', 'outcome', 'before', 'after'),
    },
    transitions: by(tally.transitions, 'family', 'key', 'from', 'to'),
    factors: by(tally.factors, 'family', 'key', 'factor'),
    segments: by(tally.segments, 'segment'),
    required_actions: by(tally.required_actions, 'action'),
    refusals: by(tally.refusals, 'code', 'pointer', 'message'),
    samples: [...changed, ...moved].slice(0, MAX_SAMPLES),
  }
}

/** The inputs of the decision win; missing ones come from the subject; undeclared ones are left out. */
export function selectInputs(
  declared: readonly Input[],
  decided: Readonly<Record<string, unknown>>,
  attributes: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const from = [decided, attributes]
  return Object.fromEntries(
    declared.flatMap(({ name }) => {
      const given = from.find((values) => Object.hasOwn(values, name))
      return given ? [[name, given[name]]] : []
    }),
  )
}
