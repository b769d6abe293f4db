/**
 * How the analysis sees plugin factors: the score of each is one more input, which may be any whole number of the declared range. So
 * a proof holds whatever the plugin answers, and for every version of it.
 */
import { buildBoundLayout } from '../engine-1/bound-layout.ts'
import type { Layout } from '../engine-1/layout.ts'
import type {
  BoundDefinition,
  BoundLists,
  CompiledDefinition,
  Definition,
  Finding,
  Input,
  Inputs,
  PluginFactor,
  PluginResult,
} from '../model.ts'

export const listPluginFactors = (definition: Definition): PluginFactor[] =>
  definition.family === 'matrix' ? definition.factors.filter((factor) => factor.form === 'plugin') : []

/** Also the reference by which tables and triggers test the score. */
export const toScoreInput = ({ key }: PluginFactor): string => `factor.${key}`

/** The definition with an input for the score of each plugin factor. */
export function addScoreInputs<D extends Definition>(definition: D): D {
  const scores = listPluginFactors(definition).map(
    (factor): Input => ({
      name: toScoreInput(factor),
      title: factor.title,
      type: 'integer',
      minimum: factor.score_min_bps,
      maximum: factor.score_max_bps,
    }),
  )
  return scores.length === 0 ? definition : { ...definition, inputs: [...definition.inputs, ...scores] }
}

/** The layout of a definition, in which the scores of plugins are inputs. */
export const buildScoredLayout = (definition: Definition, lists: BoundLists): Layout => ({
  ...buildBoundLayout(definition, lists),
  definition: addScoreInputs(definition),
})

/** Binds a definition so that it takes the scores of its plugins from its inputs. */
export function bindWithScores(
  { definition, bind }: Pick<CompiledDefinition, 'definition' | 'bind'>,
  lists: BoundLists,
): BoundDefinition | readonly Finding[] {
  const bound = bind(lists)
  const factors = listPluginFactors(definition)
  if (!('decide' in bound) || factors.length === 0) return bound
  return {
    decide(inputs, own_lists) {
      const results = factors.map((factor) => [factor.key, toResult(Number(inputs[toScoreInput(factor)]))] as const)
      return bound.decide(omitScores(inputs, factors), own_lists, new Map(results))
    },
  }
}

const toResult = (score_bps: number): PluginResult => ({ score_bps, reason_code: null, values: {}, read: [] })

export function omitScores(inputs: Inputs, factors: readonly PluginFactor[]): Inputs {
  if (factors.length === 0) return inputs
  const scores = new Set(factors.map(toScoreInput))
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => !scores.has(name)))
}
