/**
 * Finds complete inputs that show a fault. Unrelated inputs are filled in so that, if possible, nothing else fails first. The engine
 * confirms each example.
 */
import type { Layout } from '../engine-1/layout.ts'
import type { BoundDefinition, BoundLists, Decision, Finding, Input, Inputs } from '../model.ts'
import { NotAnalysable } from './atoms.ts'
import { InputUsage } from './input-usage.ts'
import { buildDimension, type Dimension, type InputProbes, type ValueClass } from './value-classes.ts'

/** Maximum number of decisions to find examples, for one definition. */
const MAX_TRIES = 5000

export class ExampleFinder {
  private readonly layout: Layout
  private readonly lists: BoundLists
  private readonly bound: BoundDefinition
  private known: readonly Dimension[] | undefined
  private tries_left = MAX_TRIES
  /** Inputs of a decision that succeeds, or gets as far as possible. */
  readonly usual: Inputs

  constructor(layout: Layout, lists: BoundLists, bound: BoundDefinition) {
    this.layout = layout
    this.lists = lists
    this.bound = bound
    const first = layout.definition.inputs.map((input) => [input.name, pickAnyValue(input, lists).wire])
    this.usual = this.improve(Object.fromEntries(first), new Set(), ({ ok }) => ok)
  }

  /** Computed only when the first guess fails. */
  private get dimensions(): readonly Dimension[] {
    this.known ??= buildAllDimensions(this.layout, this.lists)
    return this.known
  }

  readonly complete = (some: Inputs): Inputs => ({ ...this.usual, ...some })

  /** Completes `some` so that `decide` returns a finding that `shows` the fault; empty when none was found. */
  showing(some: Inputs, shows: (finding: Finding) => boolean): { readonly example?: Inputs } {
    const fixed = new Set(Object.keys(some))
    const good = (decision: Decision) => !decision.ok && decision.findings.some(shows)
    const example = this.improve(this.complete(some), fixed, good)
    return good(this.bound.decide(example)) ? { example } : {}
  }

  /** Changes free inputs one by one to the value that lets the decision get furthest, until it is `good` or no longer improves. */
  private improve(inputs: Inputs, fixed: ReadonlySet<string>, good: (decision: Decision) => boolean): Inputs {
    let best = { inputs, decision: this.bound.decide(inputs) }
    for (;;) {
      if (good(best.decision)) return best.inputs
      const before = best
      for (const { input, classes } of this.dimensions) {
        if (fixed.has(input.name)) continue
        for (const { wire } of classes) {
          if (this.tries_left-- <= 0) return inputs
          const changed = { ...before.inputs, [input.name]: wire }
          const decision = this.bound.decide(changed)
          if (good(decision)) return changed
          if (measureProgress(decision) > measureProgress(best.decision)) best = { inputs: changed, decision }
        }
      }
      if (best === before) return inputs
    }
  }
}

/** How many factors had their score before the decision ended. */
function measureProgress(decision: Decision): number {
  if (decision.ok) return Number.POSITIVE_INFINITY
  const [factor] = decision.findings.flatMap(({ pointer }) => /^\/factors\/(\d+)/.exec(pointer)?.[1] ?? [])
  return Number(factor ?? 0)
}

/** The classes of every input for the whole definition; a single value when they cannot be enumerated. */
function buildAllDimensions(layout: Layout, lists: BoundLists): Dimension[] {
  const questions = collectInputUsage(layout, lists)
  return layout.definition.inputs.map(
    (input): Dimension =>
      tryAnalyse(() => questions.dimension(input.name)) ?? { input, classes: [pickAnyValue(input, lists)] },
  )
}

const NO_PROBES: InputProbes = { by: { tests: [], list_keys: [], named: [] }, probes: [] }

function pickAnyValue(input: Input, lists: BoundLists): ValueClass {
  const known = input.default ?? (input.type === 'list' ? [] : 'any other text')
  const [found] = tryAnalyse(() => buildDimension(input, NO_PROBES, lists))?.classes ?? []
  return found ?? { held: 0, wire: known, atoms: [], labels: [] }
}

function tryAnalyse<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof NotAnalysable) return undefined
    throw error
  }
}

/** The usage of inputs by the whole definition: factors or the rule's table, and triggers. */
export function collectInputUsage(layout: Layout, lists: BoundLists): InputUsage {
  const { definition } = layout
  const questions = new InputUsage(layout, lists)
  if (definition.family === 'rule') for (const table of layout.tables.values()) questions.table(table)
  else for (const [index, factor] of definition.factors.entries()) questions.factor(factor, index)
  for (const conditions of layout.conditions)
    for (const { subject, test } of conditions) questions.tests(subject, [test])
  return questions
}
