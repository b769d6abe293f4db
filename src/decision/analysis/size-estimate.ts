/**
 * Estimates an upper bound of the combinations of an analysis from the definition and the lengths of its lists: never too low,
 * often too high. It evaluates nothing.
 */
import { MAX_SCORE_BPS } from '../engine-1/definition-shape.ts'
import { listTables } from '../engine-1/layout.ts'
import type { BoundLists, DecisionTable, Definition, Factor, Input } from '../model.ts'
import { parseFactorKey } from './input-usage.ts'
import { addScoreInputs, toScoreInput } from './plugin-scores.ts'
import { getPossibleScores } from './possible-scores.ts'

export function estimateCombinations(written: Definition, lists: BoundLists): number {
  const definition = addScoreInputs(written)
  const spreads = new Map(definition.inputs.map((input) => [input.name, estimateClasses(input, definition, lists)]))
  const product = (names: Iterable<string>): number =>
    [...new Set(names)].reduce((boxes, name) => boxes * (spreads.get(name) ?? 1), 1)
  // The search for examples changes inputs one by one.
  const changes = [...spreads.values()].reduce((sum, spread) => sum + spread, 0)
  if (definition.family === 'rule') return changes + product(definition.table.columns)
  const factors = new Map(definition.factors.map((factor) => [factor.key, factor]))
  const parts = definition.factors.map((factor) => product(collectInputs(factor, factors)))
  const highest = definition.factors.map((factor) => getPossibleScores(factor, definition.inputs, lists).highest)
  const may_exceed = definition.aggregation === 'sum' && sum(highest) > MAX_SCORE_BPS
  return changes + sum(parts) + (may_exceed ? product(spreads.keys()) : 0)
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** Inputs of a factor, direct or through scores that its table tests; a factor tests earlier factors only. */
function collectInputs(factor: Factor, factors: ReadonlyMap<string, Factor>): string[] {
  if (factor.form === 'lookup') return [...factor.inputs]
  if (factor.form === 'plugin') return [toScoreInput(factor)]
  if (factor.form !== 'table') return [factor.input]
  return factor.table.columns.flatMap((column) => {
    const tested = factors.get(parseFactorKey(column) ?? '')
    return tested && tested !== factor ? collectInputs(tested, factors) : [column]
  })
}

function estimateClasses(input: Input, definition: Definition, lists: BoundLists): number {
  const values = estimateValues(input, definition, lists)
  return input.type === 'list' ? 2 ** values : values
}

function estimateValues(input: Input, definition: Definition, lists: BoundLists): number {
  if (input.type === 'boolean') return 2
  if (input.values) return input.values.length
  if (input.one_of) return getListLength(input.one_of.list_key, lists)
  const tests = collectTests(input.name, definition)
  // Each term is a value or an interval, with values before and after it; surplus commas only raise the estimate.
  const terms = tests.reduce((count, test) => count + test.split(',').length, 0)
  const reads = tests.some((test) => test.includes('list')) || isLookedUp(input.name, definition)
  const entries = reads ? sum([...lists.keys()].map((list_key) => getListLength(list_key, lists))) : 0
  return 1 + 2 * (terms + entries)
}

const getListLength = (list_key: string, lists: BoundLists): number =>
  lists.get(list_key)?.all?.length ?? Number.POSITIVE_INFINITY

function collectTests(name: string, definition: Definition): string[] {
  const inTable = ({ columns, rows }: DecisionTable): string[] => {
    const column = columns.indexOf(name)
    return column < 0 ? [] : rows.map(({ when }) => when[column] ?? '')
  }
  const triggers = definition.family === 'matrix' ? definition.triggers : []
  const conditions = triggers.flatMap(({ when }) => when.filter(({ of }) => of === name).map(({ test }) => test))
  return [...new Set([...listTables(definition).flatMap(([, table]) => inTable(table)), ...conditions])]
}

const isLookedUp = (name: string, definition: Definition): boolean =>
  definition.family === 'matrix' &&
  definition.factors.some((factor) => {
    if (factor.form === 'lookup') return factor.inputs.includes(name)
    return factor.form === 'presence' && factor.input === name
  })
