/**
 * How a definition uses each of its inputs: tests of tables and triggers, keys of lists, score maps. Collected for one table, one
 * factor, or the whole definition; a tested score is replaced by the inputs it depends on.
 */
import { createFieldReader } from '../engine-1/binder.ts'
import { formatValue } from '../engine-1/inputs.ts'
import type { Layout, ParsedTable, Subject } from '../engine-1/layout.ts'
import { type Column, findListKeys, type Scalar, toColumn, type UnaryTest } from '../engine-1/unary.ts'
import type { BoundLists, Factor, Input, LookupFactor, PresenceFactor } from '../model.ts'
import { toScoreInput } from './plugin-scores.ts'
import { computeTestBits, unionTestBits } from './unary-test-bits.ts'
import { buildDimension, type Dimension, type Probe } from './value-classes.ts'

interface UsageEntry {
  readonly input: Input
  readonly tests: UnaryTest[]
  readonly list_keys: Set<string>
  readonly named: Set<string>
  readonly probes: Probe[]
  /** Lists that the items of the input are counted on. */
  readonly counted: Set<string>
}

const FACTOR = /^factor\.(.+)$/

/** The key of the factor of a score; undefined for an input. */
export const parseFactorKey = (reference: string): string | undefined => FACTOR.exec(reference)?.[1]

export class InputUsage {
  private readonly layout: Layout
  private readonly lists: BoundLists
  private readonly asked = new Map<string, UsageEntry>()
  private readonly factors_seen = new Set<string>()

  constructor(layout: Layout, lists: BoundLists) {
    this.layout = layout
    this.lists = lists
  }

  /** Names of the used inputs, in the order of the definition. */
  inputs(): string[] {
    return this.layout.definition.inputs.map(({ name }) => name).filter((name) => this.asked.has(name))
  }

  /** Throws NotAnalysable. */
  dimension(name: string): Dimension {
    const { input, tests, list_keys, named, probes, counted } = this.about(name)
    const by = { tests, list_keys: [...list_keys], named: [...named] }
    const all = counted.size === 0 ? probes : [...probes, this.countProbe(toColumn(input), [...counted])]
    const dimension = buildDimension(input, { by, probes: all }, this.lists)
    return parseFactorKey(name) === undefined ? dimension : representByHighest(dimension)
  }

  /** For each column that is an input: the indexes of its distinct tests among the probes of that input. */
  table({ subjects, rows }: ParsedTable): (number | undefined)[] {
    return subjects.map((subject, n) =>
      this.tests(
        subject,
        rows.map(({ tests }) => tests[n] as UnaryTest),
      ),
    )
  }

  /** Adds tests of an input, or of a factor by the inputs of its score; tests of the total score are ignored. */
  tests({ reference, column }: Subject, tests: readonly UnaryTest[]): number | undefined {
    const factor = parseFactorKey(reference)
    if (factor !== undefined) this.factorByKey(factor)
    const input = this.layout.definition.inputs.find(({ name }) => name === reference)
    if (!input) return undefined
    const about = this.about(reference)
    const distinct = distinctTests(tests)
    about.tests.push(...distinct)
    for (const test of distinct) for (const list_key of findListKeys(test)) about.list_keys.add(list_key)
    return about.probes.push(createTestsProbe(distinct, column, this.lists)) - 1
  }

  factor(factor: Factor, index: number): void {
    if (this.factors_seen.has(factor.key)) return
    this.factors_seen.add(factor.key)
    switch (factor.form) {
      case 'table':
        this.table(this.layout.tables.get(`/factors/${index}/table`) as ParsedTable)
        break
      case 'lookup':
        if (factor.inputs.length === 1) this.lookup(factor)
        else this.compositeLookup(factor)
        break
      case 'presence':
        this.presence(factor)
        break
      case 'plugin': {
        // The score is an input of its own, whatever the inputs of the plugin are.
        const name = toScoreInput(factor)
        if (this.layout.definition.inputs.some((input) => input.name === name)) this.about(name)
        break
      }
      case 'score_map': {
        const about = this.about(factor.input)
        const label = (value: Scalar) => JSON.stringify(factor.scores[String(value)] ?? null)
        for (const value of Object.keys(factor.scores)) about.named.add(value)
        about.probes.push(createProbe(label))
      }
    }
  }

  private presence({ input, list_key, count }: PresenceFactor): void {
    const about = this.about(input)
    const column = toColumn(about.input)
    const list = this.lists.get(list_key)
    about.list_keys.add(list_key)
    about.probes.push(createProbe((value) => (list?.get(formatValue(value, column)) ? 'on' : 'off')))
    if (count) about.counted.add(list_key)
  }

  /** Counts items for all lists together: counts of single lists would not show what can still be added. */
  private countProbe(column: Column, list_keys: readonly string[]): Probe {
    const lists = list_keys.map((list_key) => this.lists.get(list_key))
    const label = (value: Scalar): string =>
      lists.map((list) => (list?.get(formatValue(value, column)) ? '1' : '0')).join('')
    return createProbe(label, (labels) =>
      labels
        .filter((each) => each.includes('1'))
        .sort()
        .join(' '),
    )
  }

  private factorByKey(key: string): void {
    const { definition } = this.layout
    if (definition.family !== 'matrix') return
    const index = definition.factors.findIndex((factor) => factor.key === key)
    const factor = definition.factors[index]
    if (factor) this.factor(factor, index)
  }

  private lookup({ inputs: [name], list_key, field }: LookupFactor): void {
    const about = this.about(name as string)
    const column = toColumn(about.input)
    const read = createFieldReader(field)
    const list = this.lists.get(list_key)
    const label = (value: Scalar): string => {
      const found = list?.get(formatValue(value, column))
      return found ? JSON.stringify(read(found.entry) ?? null) : 'missing'
    }
    about.list_keys.add(list_key)
    about.probes.push(createProbe(label, joinHighest))
  }

  /** Each value that is part of a key is its own class, since only complete keys are known. */
  private compositeLookup({ inputs, list_key }: LookupFactor): void {
    const all = this.lists.get(list_key)?.all
    const keys = (all ?? []).map(({ key }) => splitKey(key))
    inputs.forEach((name, n) => {
      const about = this.about(name)
      const column = toColumn(about.input)
      // A list that cannot be enumerated is reported when the values of the input are built.
      if (!all) about.list_keys.add(list_key)
      const parts = new Set(keys.map((key) => key[n] ?? ''))
      for (const part of parts) about.named.add(part)
      const label = (value: Scalar): string => {
        const text = formatValue(value, column)
        return parts.has(text) ? JSON.stringify(text) : 'missing'
      }
      about.probes.push(createProbe(label))
    })
  }

  private about(name: string): UsageEntry {
    const known = this.asked.get(name)
    if (known) return known
    const input = this.layout.definition.inputs.find((each) => each.name === name) as Input
    const fresh: UsageEntry = {
      input,
      tests: [],
      list_keys: new Set(),
      named: new Set(),
      probes: [],
      counted: new Set(),
    }
    this.asked.set(name, fresh)
    return fresh
  }
}

/** Of scores that pass the same tests the highest is shown: what it does not exceed, no other one does. */
const representByHighest = ({ input, classes }: Dimension): Dimension => ({
  input,
  classes: classes.map((each) => {
    const highest = Math.max(...each.atoms.map(({ to }) => to as number))
    return { ...each, held: highest, wire: highest }
  }),
})

/** The distinct results of the items, which is enough for "any item". */
const distinct = (labels: readonly string[]): string => [...new Set(labels)].sort().join(' ')

/** For a lookup by list only the highest score counts, and whether an item has none. */
const joinHighest = (labels: readonly string[]): string => {
  const scores = labels.filter((label) => /^\d+$/.test(label)).map(Number)
  const others = labels.filter((label) => !/^\d+$/.test(label))
  return `${scores.length === 0 ? 'none' : Math.max(...scores)} ${distinct(others)}`
}

export function distinctTests(tests: readonly UnaryTest[]): UnaryTest[] {
  return [...new Map(tests.map((test) => [JSON.stringify(test), test])).values()]
}

function createTestsProbe(tests: readonly UnaryTest[], column: Column, lists: BoundLists): Probe {
  return {
    labels: (atoms) => computeTestBits(tests, column, lists, atoms),
    join: (labels) => unionTestBits(tests, labels),
  }
}

/** A probe that evaluates each value separately. */
const createProbe = (label: (value: Scalar) => string, join: Probe['join'] = distinct): Probe => ({
  labels: (atoms) => atoms.map(({ value }) => label(value)),
  join,
})

/** The parts of a composite key: `|` between them, `\` before a `|` or `\` that belongs to a part. */
function splitKey(key: string): string[] {
  const parts = ['']
  for (let at = 0; at < key.length; at++) {
    const char = key[at] as string
    if (char === '|') parts.push('')
    else parts[parts.length - 1] += char === '\\' ? (key[++at] ?? '') : char
  }
  return parts
}
