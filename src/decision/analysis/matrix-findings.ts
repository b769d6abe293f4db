/** Findings about a matrix as a whole: sums that can exceed the maximum score, and triggers that never fire. */

import { MAX_SCORE_BPS } from '../engine-1/definition-shape.ts'
import type { Condition, Layout } from '../engine-1/layout.ts'
import { SCORE } from '../engine-1/layout.ts'
import type { BoundDefinition, BoundLists, Definition, Finding, Input } from '../model.ts'
import { buildAtoms, NotAnalysable } from './atoms.ts'
import { collectInputUsage, type ExampleFinder } from './examples.ts'
import { forEachBox, MAX_DECISIONS } from './factor-findings.ts'
import { InputUsage, parseFactorKey } from './input-usage.ts'
import { getPossibleScores } from './possible-scores.ts'
import { buildDimensions, testHolds } from './table-space.ts'

type Matrix = Extract<Definition, { family: 'matrix' }>

/** Throws NotAnalysable. */
export function analyseSum(
  layout: Layout,
  lists: BoundLists,
  bound: BoundDefinition,
  examples: ExampleFinder,
): Finding[] {
  const { definition } = layout
  if (definition.family !== 'matrix' || definition.aggregation !== 'sum') return []
  const highest = definition.factors.map((factor) => getPossibleScores(factor, definition.inputs, lists).highest)
  if (highest.reduce((sum, score) => sum + score, 0) <= MAX_SCORE_BPS) return []
  const dimensions = buildDimensions(collectInputUsage(layout, lists), layout, MAX_DECISIONS)
  let found: Finding | null = null
  forEachBox(dimensions, (some) => {
    if (found) return
    const example = examples.complete(some)
    const decision = bound.decide(example)
    const faults = decision.ok ? [] : decision.findings
    if (faults.some(({ code }) => code === 'input_not_allowed')) {
      throw new NotAnalysable('for some input no allowed value is known')
    }
    const fault = faults.find(({ pointer }) => pointer === '/aggregation')
    if (fault) found = { ...fault, example }
  })
  return found ? [found] : []
}

export function analyseTriggers(definition: Matrix, layout: Layout, lists: BoundLists): Finding[] {
  return layout.conditions.flatMap((conditions, index) => {
    const references = [...new Set(conditions.map(({ subject }) => subject.reference))]
    const dead = references
      .map((reference) => conditions.filter(({ subject }) => subject.reference === reference))
      .find((together) => !canHold(together, definition, layout, lists))
    if (!dead) return []
    const { title } = (dead[0] as Condition).subject
    const message = `The trigger "${definition.triggers[index]?.key}" never fires: nothing "${title}" may be passes its tests.`
    return [{ code: 'trigger_never', pointer: `/triggers/${index}`, message, severity: 'warning' } satisfies Finding]
  })
}

/** Whether conditions on one subject can hold. True when unknown, to avoid wrong warnings. */
function canHold(together: readonly Condition[], definition: Matrix, layout: Layout, lists: BoundLists): boolean {
  const { reference, column } = (together[0] as Condition).subject
  const all = (held: Parameters<typeof testHolds>[1]): boolean =>
    together.every(({ test }) => testHolds(test, held, column, lists))
  const key = parseFactorKey(reference)
  if (key === undefined && reference !== SCORE) {
    try {
      const usage = new InputUsage(layout, lists)
      for (const { subject, test } of together) usage.tests(subject, [test])
      return usage.dimension(reference).classes.some(({ held }) => all(held))
    } catch (error) {
      if (error instanceof NotAnalysable) return true
      throw error
    }
  }
  const factor = definition.factors.find((each) => each.key === key)
  const possible = factor && getPossibleScores(factor, definition.inputs, lists)
  const values =
    possible?.values ?? listScoresToTry(together, possible?.lowest ?? 0, possible?.highest ?? MAX_SCORE_BPS)
  return values.some(all)
}

function listScoresToTry(together: readonly Condition[], lowest: number, highest: number): number[] {
  const score: Input = { name: SCORE, title: 'Score', type: 'integer', minimum: lowest, maximum: highest }
  const by = { tests: together.map(({ test }) => test), list_keys: [], named: [] }
  return buildAtoms(score, by, new Map()).map(({ value }) => value as number)
}
