/** Describes a definition in plain words for approvers. Drafts may be any JSON, so unreadable parts are omitted. */

import {
  type Column,
  isListOperand,
  type ListOperand,
  printScalar,
  SCORE_COLUMN,
  type Scalar,
  toColumn,
  type UnboundTerm,
} from '#decision/engine-1/unary.ts'
import { isTestFault, parseTest } from '#decision/engine-1/unary-parser.ts'
import type {
  DecisionTable,
  Factor,
  Input,
  MatrixDefinition,
  PolicyValue,
  RuleDefinition,
  Trigger,
} from '#decision/model.ts'

type Readable = Partial<Omit<MatrixDefinition & RuleDefinition, 'inputs'>> & { readonly inputs?: readonly Input[] }

export function describeDefinition(text: Readonly<Record<string, unknown>>): string[] {
  try {
    return [...sentences(text as Readable)]
  } catch (error) {
    // Not a valid definition; the findings of the draft say where.
    if (error instanceof TypeError) return []
    throw error
  }
}

function* sentences({ inputs = [], factors = [], aggregation, bands, triggers = [], ...rule }: Readable) {
  const names = new Names(inputs, factors)
  for (const factor of factors) yield* factorSentences(factor, names)
  if (aggregation) yield `The score is the ${AGGREGATIONS[aggregation]} of the factors.`
  if (bands) yield `The band of the score is read from the list ${bands.list_key}.`
  for (const trigger of triggers) yield triggerSentence(trigger, names)
  if (!rule.table) return
  yield* rows(rule.table, names, () => 'the rule hits')
  if (rule.required_actions?.length) yield `A hit requires: ${rule.required_actions.join(', ')}.`
}

const AGGREGATIONS = { weighted_sum: 'weighted sum', sum: 'sum', max: 'highest' } as const

/** Titles and types of columns. */
class Names {
  readonly #inputs: ReadonlyMap<string, Input>
  readonly #factors: ReadonlyMap<string, string>
  constructor(inputs: readonly Input[], factors: readonly Factor[]) {
    this.#inputs = new Map(inputs.map((input) => [input.name, input]))
    this.#factors = new Map(factors.map(({ key, title }) => [`factor.${key}`, title]))
  }
  titleOf(name: string): string {
    if (name === 'score') return 'the score'
    return this.#inputs.get(name)?.title ?? (this.#factors.has(name) ? `the score of ${this.#factors.get(name)}` : name)
  }
  columnOf(name: string): Column {
    const input = this.#inputs.get(name)
    return input ? toColumn(input) : SCORE_COLUMN
  }
}

function* factorSentences(factor: Factor, names: Names): Generator<string> {
  const weight = factor.weight_bps === undefined ? '' : ` (weight ${valueText(factor.weight_bps)})`
  const begin = `${factor.title}${weight}`
  switch (factor.form) {
    case 'lookup': {
      const by = factor.inputs.map((name) => names.titleOf(name)).join(' and ')
      const missing =
        factor.on_missing === 'fail'
          ? 'a value that is not on it cannot be decided on'
          : `a value that is not on it gives ${valueText(factor.on_missing.default)}`
      yield `${begin}: ${factor.field} of ${by} in the list ${factor.list_key}; ${missing}.`
      return
    }
    case 'presence': {
      const how = factor.count ? 'for each value' : 'when a value'
      yield `${begin}: ${valueText(factor.present)} ${how} of ${names.titleOf(factor.input)} is on the list ${factor.list_key}, ${valueText(factor.absent)} otherwise.`
      return
    }
    case 'score_map': {
      const scores = Object.entries(factor.scores).map(([value, score]) => `${value} gives ${valueText(score)}`)
      yield `${begin}: by ${names.titleOf(factor.input)}, ${scores.join(', ')}.`
      return
    }
    case 'table':
      yield `${begin}: a table by ${factor.table.columns.map((name) => names.titleOf(name)).join(' and ')}.`
      yield* rows(factor.table, names, ([score]) => `the score is ${valueText(score)}`)
  }
}

function* rows(
  table: DecisionTable,
  names: Names,
  then: (values: readonly PolicyValue[]) => string,
): Generator<string> {
  for (const { when, then: values, reason } of table.rows) {
    const conditions = when.flatMap((test, index) => {
      const words = testWords(test, table.columns[index] ?? '', names)
      return words === null ? [] : [words]
    })
    const when_text = conditions.length === 0 ? 'Always' : `When ${conditions.join(' and ')}`
    yield `${when_text}: ${then(values)}${reason ? ` (${reason})` : ''}.`
  }
  if (table.otherwise) yield `Otherwise: ${then(table.otherwise.then)} (${table.otherwise.reason}).`
}

function triggerSentence({ title, when, floor_band, required_actions = [] }: Trigger, names: Names): string {
  const conditions = when.map(({ of, test }) => testWords(test, of, names) ?? `${names.titleOf(of)} is anything`)
  const effects = [
    ...(floor_band === undefined ? [] : [`the band is at least ${floor_band}`]),
    ...required_actions.map((action) => `${action} is required`),
  ]
  return `${title}: when ${conditions.join(' and ')}, ${effects.join(' and ')}.`
}

const valueText = (value: PolicyValue | undefined): string =>
  typeof value === 'object' ? `${value.field} of ${value.key} in the list ${value.list_key}` : String(value)

/** Null for a condition that everything matches. */
function testWords(test: string, name: string, names: Names): string | null {
  const column = names.columnOf(name)
  const parsed = parseTest(test, column)
  if (isTestFault(parsed)) return `${names.titleOf(name)} passes "${test}"`
  if (parsed.form === 'any') return null
  const subject = column.many ? `one of ${names.titleOf(name)}` : names.titleOf(name)
  return `${subject} ${parsed.terms.map((term) => termWords(term, column)).join(' or ')}`
}

const SIGNS = { '<': 'is less than', '<=': 'is at most', '>': 'is more than', '>=': 'is at least' } as const

/** The value itself, or the list entry it comes from. */
const operandText = (value: Scalar | ListOperand, column: Column): string =>
  isListOperand(value) ? valueText(value) : printScalar(value, column)

function termWords(term: UnboundTerm, column: Column): string {
  switch (term.form) {
    case 'equals':
      return `is ${operandText(term.value, column)}`
    case 'compare':
      return `${SIGNS[term.sign]} ${operandText(term.value, column)}`
    case 'range': {
      const [from, to] = [operandText(term.from, column), operandText(term.to, column)]
      return `is ${term.from_included ? 'from' : 'above'} ${from} ${term.to_included ? 'to' : 'to below'} ${to}`
    }
    case 'in_list':
      return `is on the list ${term.list_key}`
    case 'not':
      return `${term.terms.map((inner) => termWords(inner, column).replace(/^is /, 'is not ')).join(' and ')}`
  }
}
