/**
 * The score of one factor for given inputs, computed by the engine with a matrix of that factor and the factors it reads. So the
 * analysis has no second implementation of factors.
 */
import { compileDefinition } from '../engines.ts'
import type { BoundDefinition, BoundLists, Definition, Factor, Finding, Input, Inputs } from '../model.ts'
import { bindWithScores, listPluginFactors, omitScores, toScoreInput } from './plugin-scores.ts'

type Matrix = Extract<Definition, { family: 'matrix' }>

/** The factor's score, or why it has none. */
export type FactorResult = { readonly score_bps: number } | { readonly findings: readonly Finding[] }

/** `definition` has an input for the score of each plugin factor: see plugin-scores.ts. */
export function compileFactorScore(
  definition: Matrix,
  key: string,
  lists: BoundLists,
): (inputs: Inputs) => FactorResult {
  const isolated = { ...definition, ...isolateFactor(definition, key) }
  const bound = bindWithScores(compileDefinition(isolated), lists)
  if (!('decide' in bound)) return () => ({ findings: bound })
  const kept = new Set(isolated.factors.map((factor) => factor.key))
  const left_out = listPluginFactors(definition).filter((factor) => !kept.has(factor.key))
  return (inputs) => scoreFactor(bound, omitScores(inputs, left_out))
}

function scoreFactor(bound: BoundDefinition, inputs: Inputs): FactorResult {
  const decision = bound.decide(inputs)
  if (!decision.ok) return { findings: decision.findings }
  return { score_bps: decision.explanation.factors.at(-1)?.score_bps as number }
}

/** Weights, triggers and other inputs do not affect the score of one factor. */
function isolateFactor(
  definition: Matrix,
  key: string,
): Pick<Matrix, 'inputs' | 'factors' | 'aggregation' | 'triggers'> {
  const scores = new Set(listPluginFactors(definition).map(toScoreInput))
  const wanted = new Set([`factor.${key}`])
  const kept: Factor[] = []
  for (const factor of definition.factors.toReversed()) {
    if (!wanted.has(`factor.${factor.key}`)) continue
    const { weight_bps: _, ...rest } = factor
    kept.unshift(rest as Factor)
    for (const name of listFactorInputs(factor)) wanted.add(name)
  }
  return {
    inputs: definition.inputs
      .filter(({ name }) => !scores.has(name))
      .map((input) => (wanted.has(input.name) ? input : withoutAllowedList(input))),
    factors: kept,
    aggregation: 'max',
    triggers: [],
  }
}

function listFactorInputs(factor: Factor): readonly string[] {
  if (factor.form === 'table') return factor.table.columns
  return 'inputs' in factor ? factor.inputs : [factor.input]
}

/** Without the list, no value of the input is refused. */
function withoutAllowedList(input: Input): Input {
  const { one_of, ...rest } = input
  return one_of && input.type === 'enum' ? { ...rest, type: 'string' } : rest
}
