/**
 * Complete inputs that show a fault. What has no part in the fault is filled in so that nothing else fails first, as far as
 * that can be had: a counter-example is worth what the engine says about it.
 */
import type { Layout } from '../engine-1/layout.ts'
import type { Bound, Decision, Finding, Input, Inputs, Lists } from '../model.ts'
import { NotAnalysable } from './atoms.ts'
import { type Dimension, dimensionOf, type Question, type ValueClass } from './classes.ts'
import { Questions } from './questions.ts'

/** Decisions made in search of good examples, for one definition. */
const MAX_TRIES = 5000

export class Examples {
  private readonly layout: Layout
  private readonly lists: Lists
  private readonly bound: Bound
  private known: readonly Dimension[] | undefined
  private tries_left = MAX_TRIES
  /** A decision that goes through, or as far as one could be found. */
  readonly usual: Inputs

  constructor(layout: Layout, lists: Lists, bound: Bound) {
    this.layout = layout
    this.lists = lists
    this.bound = bound
    const first = layout.definition.inputs.map((input) => [input.name, anyValueOf(input, lists).wire])
    this.usual = this.improve(Object.fromEntries(first), new Set(), ({ ok }) => ok)
  }

  /** Only asked for where a first guess does not do. */
  private get dimensions(): readonly Dimension[] {
    this.known ??= allDimensions(this.layout, this.lists)
    return this.known
  }

  readonly complete = (some: Inputs): Inputs => ({ ...this.usual, ...some })

  /** `some` completed so that `decide` answers a finding that `shows` the fault; nothing where no completion was found. */
  showing(some: Inputs, shows: (finding: Finding) => boolean): { readonly example?: Inputs } {
    const fixed = new Set(Object.keys(some))
    const good = (decision: Decision) => !decision.ok && decision.findings.some(shows)
    const example = this.improve(this.complete(some), fixed, good)
    return good(this.bound.decide(example)) ? { example } : {}
  }

  /** Changes free inputs one by one, always to what lets the decision come furthest, until it is `good` or stays as it is. */
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
          if (reachOf(decision) > reachOf(best.decision)) best = { inputs: changed, decision }
        }
      }
      if (best === before) return inputs
    }
  }
}

/** How many factors had their score before the decision ended. */
function reachOf(decision: Decision): number {
  if (decision.ok) return Number.POSITIVE_INFINITY
  const [factor] = decision.findings.flatMap(({ pointer }) => /^\/factors\/(\d+)/.exec(pointer)?.[1] ?? [])
  return Number(factor ?? 0)
}

/** Of every input, as finely as the whole definition tells its values apart; one value where they cannot be gone through. */
function allDimensions(layout: Layout, lists: Lists): Dimension[] {
  const questions = wholeDefinition(layout, lists)
  return layout.definition.inputs.map(
    (input): Dimension =>
      attempt(() => questions.dimension(input.name)) ?? { input, classes: [anyValueOf(input, lists)] },
  )
}

const UNASKED: Question = { by: { tests: [], list_keys: [], named: [] }, probes: [] }

function anyValueOf(input: Input, lists: Lists): ValueClass {
  const known = input.default ?? (input.type === 'list' ? [] : 'any other text')
  const [found] = attempt(() => dimensionOf(input, UNASKED, lists))?.classes ?? []
  return found ?? { held: 0, wire: known, atoms: [], labels: [] }
}

function attempt<T>(find: () => T): T | undefined {
  try {
    return find()
  } catch (error) {
    if (error instanceof NotAnalysable) return undefined
    throw error
  }
}

/** Everything a definition asks: factors or the rule's table, and triggers. */
export function wholeDefinition(layout: Layout, lists: Lists): Questions {
  const { definition } = layout
  const questions = new Questions(layout, lists)
  if (definition.family === 'rule') for (const table of layout.tables.values()) questions.table(table)
  else for (const [index, factor] of definition.factors.entries()) questions.factor(factor, index)
  for (const conditions of layout.conditions)
    for (const { subject, test } of conditions) questions.tests(subject, [test])
  return questions
}
