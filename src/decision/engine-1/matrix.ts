/** A matrix bound to lists: scores of its factors, their aggregate, its band, and the triggers that may raise it. */
import type {
  BoundDefinition,
  Decision,
  Definition,
  FactorOutcome,
  Finding,
  MatrixDefinition,
  TriggerOutcome,
} from '../model.ts'
import type { AddedForm } from './added-form.ts'
import { type BoundBand, bindBands } from './bands.ts'
import type { Binder } from './binder.ts'
import { MAX_SCORE_BPS } from './definition-shape.ts'
import { type BoundFactor, bindFactor } from './factors.ts'
import type { Subject, UnboundLayout } from './layout.ts'
import { SCORE } from './layout.ts'
import { appendListsSentence, formatListsSentence } from './list-operands.ts'
import { bindInputs, describeDefaults, explainInputs } from './read-inputs.ts'
import { Run } from './run.ts'
import { compileRunSentence } from './run-sentence.ts'
import type { Sentence } from './sentence-template.ts'
import { type ConditionPredicate, compileCondition, compileConjunction } from './unary-conditions.ts'

export function bindMatrix(
  definition: Extract<Definition, { family: 'matrix' }>,
  layout: UnboundLayout,
  binder: Binder,
  added?: AddedForm,
): BoundDefinition | readonly Finding[] {
  const readInputs = bindInputs(layout, binder)
  const factors = definition.factors.map((factor, index) => bindFactor(factor, index, { layout, binder, added }))
  const bands = bindBands(definition.bands, binder)
  const triggers = definition.triggers.map((trigger, index) => bindTrigger(trigger, index, bands, { layout, binder }))
  checkWeights(definition, binder)
  if (binder.findings.list.length > 0) return binder.findings.list
  const aggregate = aggregators[definition.aggregation]
  const first = layout.readers.length
  const scoreSlot = layout.subject(SCORE).slot

  return {
    decide(inputs, lists, plugins): Decision {
      const run = readInputs(inputs, lists)
      if (!(run instanceof Run)) return { ok: false, findings: run }
      run.plugins = plugins
      const outcomes = evaluateFactors(factors, first, run)
      if (run.findings.length > 0) return run.refuse()
      const score_bps = aggregate(outcomes)
      if (score_bps > MAX_SCORE_BPS) {
        const message = `The scores sum to ${score_bps}, but a score is from 0 to ${MAX_SCORE_BPS}.`
        run.fail('score_out_of_range', '/aggregation', message)
        return { ok: false, findings: run.findings }
      }
      run.values[scoreSlot] = score_bps
      run.score_bps = score_bps
      const scored = findBand(score_bps, bands)
      run.recordUsed(scored.used)
      const { fired, highest, required_actions } = evaluateTriggers(triggers, scored, run)
      const summary = describeDefaults(layout, run)
      for (const { title, contribution_bps, reason } of outcomes) {
        summary.push(`${title} contributes ${contribution_bps}: ${reason}`)
      }
      summary.push(`The score is ${score_bps} of ${MAX_SCORE_BPS}, which is the band ${scored.band}.`)
      for (const { reason } of fired) summary.push(reason)
      if (highest !== scored) summary.push(`The band is raised from ${scored.band} to ${highest.band}.`)
      return {
        ok: true,
        outcome: {
          family: 'matrix',
          score_bps,
          band: highest.band,
          scored_band: scored.band,
          required_actions,
          reason_codes: run.reason_codes,
        },
        explanation: { inputs: explainInputs(layout, run), factors: outcomes, triggers: fired, rows: [], summary },
        used: run.listDistinctUsed(),
      }
    },
  }
}

/** Evaluates every factor with valid inputs, so that all faults are reported together. */
function evaluateFactors(factors: readonly BoundFactor[], first: number, run: Run): FactorOutcome[] {
  const outcomes: FactorOutcome[] = []
  for (let index = 0; index < factors.length; index++) {
    const { slots, decide } = factors[index] as BoundFactor
    if (run.findings.length > 0 && slots.some((slot) => run.values[slot] === undefined)) continue
    const outcome = decide(run)
    if (!outcome) continue
    outcomes.push(outcome)
    run.values[first + index] = outcome.score_bps
    run.raw_values[first + index] = outcome.score_bps
    if (outcome.score_bps > 0) run.addReasonCode(outcome.reason_code)
  }
  return outcomes
}

/** Integer arithmetic; a weighted sum is divided once and rounded half up. */
const aggregators: Record<MatrixDefinition['aggregation'], (outcomes: readonly FactorOutcome[]) => number> = {
  weighted_sum(outcomes) {
    let sum = 0
    for (const { score_bps, weight_bps } of outcomes) sum += score_bps * (weight_bps as number)
    return Math.floor((sum + MAX_SCORE_BPS / 2) / MAX_SCORE_BPS)
  },
  sum(outcomes) {
    let sum = 0
    for (const { score_bps } of outcomes) sum += score_bps
    return sum
  },
  max(outcomes) {
    let highest = 0
    for (const { score_bps } of outcomes) if (score_bps > highest) highest = score_bps
    return highest
  },
}

function findBand(score_bps: number, bands: readonly BoundBand[]): BoundBand {
  for (const band of bands) if (score_bps <= band.to) return band
  throw new Error(`No band covers ${score_bps}, although the bands were found contiguous`)
}

/** Checks the sum again with weights from lists. */
function checkWeights(definition: MatrixDefinition, binder: Binder): void {
  if (definition.aggregation !== 'weighted_sum' || binder.findings.list.length > 0) return
  let sum = 0
  definition.factors.forEach(({ weight_bps = 0 }, index) => {
    sum += binder.bindScore(weight_bps, `/factors/${index}/weight_bps`, 'weight').value
  })
  if (sum === MAX_SCORE_BPS) return
  const message = `The weights must sum to ${MAX_SCORE_BPS} basis points; they sum to ${sum}.`
  binder.findings.error('weights_sum', '/factors', message)
}

interface BoundTrigger {
  readonly holds: ConditionPredicate
  readonly floor: BoundBand | null
  readonly reason: Sentence<Run>
  /** List values it was compared with. */
  readonly by_lists: string | null
  readonly outcome: Omit<TriggerOutcome, 'reason'>
}

function bindTrigger(
  trigger: MatrixDefinition['triggers'][number],
  index: number,
  bands: readonly BoundBand[],
  { layout, binder }: { readonly layout: UnboundLayout; readonly binder: Binder },
): BoundTrigger {
  const { key, title, floor_band = null, required_actions = [], reason_code } = trigger
  const pointer = `/triggers/${index}`
  const written = layout.conditions[index] ?? []
  const conditions = written.map((condition, n) => compileCondition(condition, `${pointer}/when/${n}/test`, binder))
  const floor = bands.find(({ band }) => band === floor_band) ?? null
  // Missing bands have been reported.
  if (floor_band !== null && !floor && bands.length > 0) {
    const known = bands.map(({ band }) => `"${band}"`).join(', ')
    binder.findings.error('band_unknown', `${pointer}/floor_band`, `There is no band "${floor_band}", only ${known}.`)
  }
  const subjects: readonly Subject[] = written.map(({ subject }) => subject)
  return {
    holds: compileConjunction(conditions),
    floor,
    reason: compileRunSentence(trigger.reason, layout, subjects),
    by_lists: formatListsSentence(conditions.map(({ words }) => words)),
    outcome: { key, title, floor_band, required_actions, reason_code },
  }
}

function evaluateTriggers(triggers: readonly BoundTrigger[], scored: BoundBand, run: Run) {
  const fired: TriggerOutcome[] = []
  const required_actions: string[] = []
  let highest = scored
  for (const { holds, floor, reason, by_lists, outcome } of triggers) {
    if (!holds(run)) continue
    fired.push({ ...outcome, reason: appendListsSentence(reason(run), by_lists) })
    run.addReasonCode(outcome.reason_code)
    for (const action of outcome.required_actions) if (!required_actions.includes(action)) required_actions.push(action)
    if (floor) run.recordUsed(floor.used)
    if (floor && floor.rank > highest.rank) highest = floor
  }
  return { fired, required_actions, highest }
}
