/**
 * Finds the smallest changes of inputs that lead to another band: one input, then two, at the break points of the definition. The
 * result states what was searched.
 */

import { buildBoundLayout } from '../engine-1/bound-layout.ts'
import { compileInput } from '../engine-1/inputs.ts'
import { toColumn } from '../engine-1/unary.ts'
import type {
  BoundDefinition,
  BoundLists,
  CompiledDefinition,
  Decision,
  Input,
  Inputs,
  PluginResults,
} from '../model.ts'
import { NotAnalysable, toWireValue } from './atoms.ts'
import { collectInputUsage } from './examples.ts'
import { listPluginFactors } from './plugin-scores.ts'
import type { Dimension, ValueClass } from './value-classes.ts'

export const MAX_DECISIONS = 20_000
const MAX_CANDIDATES = 500
const MAX_CHANGES = 100

export interface MinimalChange {
  readonly changed: readonly { readonly name: string; readonly from: unknown; readonly to: unknown }[]
  /** The band they lead to; for a rule `hit` or `no hit`. */
  readonly result: string
}

export interface MinimalChanges {
  /** All with the same, smallest number of inputs; empty when none was found. Nearest values first. */
  readonly changes: readonly MinimalChange[]
  readonly searched: {
    readonly inputs: readonly string[]
    /** Inputs whose values cannot be gone through; they were left as they are. */
    readonly not_searched: readonly string[]
    /** Factors that a plugin scores. What they would score for other inputs is unknown, so their inputs were left as they are. */
    readonly plugin_factors: readonly string[]
    /** Values tried, by input and in total. */
    readonly candidates: number
    readonly decisions: number
    /** How many inputs were changed at once. */
    readonly together: 0 | 1 | 2
    /** The search was limited by number or time. */
    readonly truncated: boolean
  }
}

interface Candidates {
  readonly name: string
  readonly from: unknown
  readonly values: readonly unknown[]
}

export interface SearchOptions {
  /** Asks for one band; without it any other than now will do. */
  readonly band?: string | undefined
  /** True from when nothing more is to be tried. */
  readonly isOver?: () => boolean
}

/** The result when there was no time to search. */
export const NOT_SEARCHED: MinimalChanges = {
  changes: [],
  searched: {
    inputs: [],
    not_searched: [],
    plugin_factors: [],
    candidates: 0,
    decisions: 0,
    together: 0,
    truncated: true,
  },
}

export interface SearchedDefinition {
  readonly bound: BoundDefinition
  readonly compiled: CompiledDefinition
  readonly lists: BoundLists
  /** For the inputs that the search starts from; they hold as long as the inputs of the plugins do not change. */
  readonly plugins?: PluginResults | undefined
}

/** Inputs that cannot be decided have no changes. */
export function findMinimalChanges(
  searched: SearchedDefinition,
  inputs: Inputs,
  options: SearchOptions = {},
): MinimalChanges {
  const { compiled, lists } = searched
  const search = new ChangeSearch(searched, inputs, options)
  const { candidates, not_searched, truncated } = collectCandidates(compiled, lists, inputs)
  const together = search.isDecidable ? search.run(candidates) : 0
  return {
    changes: search.changes,
    searched: {
      inputs: candidates.map(({ name }) => name),
      not_searched,
      plugin_factors: listPluginFactors(compiled.definition).map(({ key }) => key),
      candidates: candidates.reduce((sum, { values }) => sum + values.length, 0),
      decisions: search.decisions,
      together,
      truncated: truncated || search.truncated,
    },
  }
}

class ChangeSearch {
  readonly changes: MinimalChange[] = []
  decisions = 0
  truncated = false
  private readonly bound: BoundDefinition
  private readonly lists: BoundLists
  private readonly plugins: PluginResults | undefined
  private readonly inputs: Inputs
  private readonly now: string | null
  private readonly wanted: string | undefined
  private readonly isOver: () => boolean
  private readonly seen = new Set<string>()

  constructor(
    { bound, lists, plugins }: SearchedDefinition,
    inputs: Inputs,
    { band, isOver = () => false }: SearchOptions,
  ) {
    this.bound = bound
    this.lists = lists
    this.plugins = plugins
    this.inputs = inputs
    this.wanted = band
    this.isOver = isOver
    this.now = toResult(bound.decide(inputs, lists, plugins))
  }

  get isDecidable(): boolean {
    return this.now !== null && this.now !== this.wanted
  }

  run(candidates: readonly Candidates[]): 1 | 2 {
    for (const one of candidates) this.each([one])
    if (this.changes.length > 0 || this.truncated) return 1
    candidates.forEach((one, n) => {
      for (const other of candidates.slice(n + 1)) this.each([one, other])
    })
    return 2
  }

  /** Tries every combination of values of these inputs; keeps the first that leads to a band. */
  private each(changing: readonly Candidates[]): void {
    const [one, other] = changing
    for (const value of one?.values ?? []) {
      for (const second of other ? other.values : [undefined]) {
        if (this.decisions === MAX_DECISIONS || this.changes.length === MAX_CHANGES || this.isOver()) {
          this.truncated = true
          return
        }
        this.attempt(changing, [value, second])
      }
    }
  }

  private attempt(changing: readonly Candidates[], values: readonly unknown[]): void {
    this.decisions += 1
    const changed = changing.map(({ name, from }, n) => ({ name, from, to: values[n] }))
    const inputs = { ...this.inputs, ...Object.fromEntries(changed.map(({ name, to }) => [name, to])) }
    const result = toResult(this.bound.decide(inputs, this.lists, this.plugins))
    if (result === null || result === this.now || (this.wanted !== undefined && result !== this.wanted)) return
    const way = JSON.stringify([result, ...changing.map(({ name }) => name)])
    if (this.seen.has(way)) return
    this.seen.add(way)
    this.changes.push({ changed, result })
  }
}

function toResult(decision: Decision): string | null {
  if (!decision.ok) return null
  if (decision.outcome.family === 'matrix') return decision.outcome.band
  return decision.outcome.hit ? 'hit' : 'no hit'
}

function collectCandidates(compiled: CompiledDefinition, lists: BoundLists, inputs: Inputs) {
  const questions = collectInputUsage(buildBoundLayout(compiled.definition, lists), lists)
  const candidates: Candidates[] = []
  const of_plugins = new Set(listPluginFactors(compiled.definition).flatMap((factor) => factor.inputs))
  const not_searched = [...of_plugins]
  let truncated = false
  for (const name of questions.inputs()) {
    if (of_plugins.has(name)) continue
    const input = compiled.definition.inputs.find((each) => each.name === name) as Input
    try {
      const from = inputs[name] ?? input.default
      const values = listCandidateValues(questions.dimension(name), from)
      truncated ||= values.length > MAX_CANDIDATES
      candidates.push({ name, from, values: values.slice(0, MAX_CANDIDATES) })
    } catch (error) {
      if (!(error instanceof NotAnalysable)) throw error
      not_searched.push(name)
    }
  }
  return { candidates, not_searched, truncated }
}

/** One value of each other class, the nearest first. */
function listCandidateValues({ input, classes }: Dimension, from: unknown): unknown[] {
  const column = toColumn(input)
  const held = compileInput(input).read(from)
  if (Array.isArray(held)) return listCandidateLists(classes, held as readonly string[])
  if (typeof held !== 'number')
    return classes.filter(({ atoms }) => !atoms.some(({ value }) => value === held)).map(({ wire }) => wire)
  const nearest = classes.map(({ atoms }) => {
    const ends = atoms.map(({ from: low = held, to: high = held }) => Math.min(Math.max(held, low), high))
    return ends.reduce((best, end) => (Math.abs(end - held) < Math.abs(best - held) ? end : best))
  })
  return nearest
    .filter((value) => value !== held)
    .sort((a, b) => Math.abs(a - held) - Math.abs(b - held) || a - b)
    .map((value) => toWireValue(value, column))
}

/** One item less, one more, then every other class of list. */
function listCandidateLists(classes: readonly ValueClass[], held: readonly string[]): unknown[] {
  const lists = classes.map(({ wire }) => wire as readonly string[])
  const fewer = held.map((_, n) => held.filter((__, at) => at !== n))
  const more = lists.filter((list) => list.length === 1).map(([item]) => [...held, item])
  const all = [...fewer, ...more, ...lists].map((list) => JSON.stringify(list))
  return [...new Set(all)].filter((text) => text !== JSON.stringify(held)).map((text) => JSON.parse(text))
}
