/**
 * The score of one factor for given inputs, computed by the engine with a matrix of that factor and the factors it reads. So the
 * analysis has no second implementation of factors.
 */
import { engine1 } from '../engine-1/engine.ts'
import type { BoundDefinition, BoundLists, Definition, Factor, Finding, Input, Inputs } from '../model.ts'

type Matrix = Extract<Definition, { family: 'matrix' }>

/** The factor's score, or why it has none. */
export type FactorResult = { readonly score_bps: number } | { readonly findings: readonly Finding[] }

export function compileFactorScore(
  definition: Matrix,
  key: string,
  lists: BoundLists,
): (inputs: Inputs) => FactorResult {
  const bound = engine1.compile({ ...definition, ...isolateFactor(definition, key) }).bind(lists)
  if (!('decide' in bound)) return () => ({ findings: bound })
  return (inputs) => scoreFactor(bound, inputs)
}

function scoreFactor(bound: BoundDefinition, inputs: Inputs): FactorResult {
  const decision = bound.decide(inputs)
  if (!decision.ok) return { findings: decision.findings }
  return { score_bps: decision.explanation.factors.at(-1)?.score_bps as number }
}

/** Weights, triggers and other inputs do not affect the score of one factor. */
function isolateFactor(
  { inputs, factors }: Matrix,
  key: string,
): Pick<Matrix, 'inputs' | 'factors' | 'aggregation' | 'triggers'> {
  const wanted = new Set([`factor.${key}`])
  const kept: Factor[] = []
  for (const factor of factors.toReversed()) {
    if (!wanted.has(`factor.${factor.key}`)) continue
    const { weight_bps: _, ...rest } = factor
    kept.unshift(rest as Factor)
    for (const name of listFactorInputs(factor)) wanted.add(name)
  }
  return {
    inputs: inputs.map((input) => (wanted.has(input.name) ? input : withoutAllowedList(input))),
    factors: kept,
    aggregation: 'max',
    triggers: [],
  }
}

function listFactorInputs(factor: Factor): readonly string[] {
  if (factor.form === 'table') return factor.table.columns
  return factor.form === 'lookup' ? factor.inputs : [factor.input]
}

/** Without the list, no value of the input is refused. */
function withoutAllowedList(input: Input): Input {
  const { one_of, ...rest } = input
  return one_of && input.type === 'enum' ? { ...rest, type: 'string' } : rest
}
