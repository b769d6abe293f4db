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

type DefinitionParts = Partial<Omit<MatrixDefinition & RuleDefinition, 'inputs'>> & {
  readonly inputs?: readonly Input[]
}

export function describeDefinition(text: Readonly<Record<string, unknown>>): string[] {
  try {
    return [...describeParts(text as DefinitionParts)]
  } catch (error) {
    // Not a valid definition; the findings of the draft say where.
    if (error instanceof TypeError) return []
    throw error
  }
}

function* describeParts({ inputs = [], factors = [], aggregation, bands, triggers = [], ...rule }: DefinitionParts) {
  const names = new ColumnNames(inputs, factors)
  for (const factor of factors) yield* describeFactor(factor, names)
  if (aggregation) yield `The score is the ${AGGREGATIONS[aggregation]} of the factors.`
  if (bands) yield `The band of the score is read from the list ${bands.list_key}.`
  for (const trigger of triggers) yield describeTrigger(trigger, names)
  if (!rule.table) return
  yield* describeRows(rule.table, names, () => 'the rule hits')
  if (rule.required_actions?.length) yield `A hit requires: ${rule.required_actions.join(', ')}.`
}

const AGGREGATIONS = { weighted_sum: 'weighted sum', sum: 'sum', max: 'highest' } as const

/** Titles and types of columns. */
class ColumnNames {
  readonly #inputs: ReadonlyMap<string, Input>
  readonly #factors: ReadonlyMap<string, string>
  constructor(inputs: readonly Input[], factors: readonly Factor[]) {
    this.#inputs = new Map(inputs.map((input) => [input.name, input]))
    this.#factors = new Map(factors.map(({ key, title }) => [`factor.${key}`, title]))
  }
  getTitle(name: string): string {
    if (name === 'score') return 'the score'
    return this.#inputs.get(name)?.title ?? (this.#factors.has(name) ? `the score of ${this.#factors.get(name)}` : name)
  }
  getColumn(name: string): Column {
    const input = this.#inputs.get(name)
    return input ? toColumn(input) : SCORE_COLUMN
  }
}

function* describeFactor(factor: Factor, names: ColumnNames): Generator<string> {
  const weight = factor.weight_bps === undefined ? '' : ` (weight ${formatValue(factor.weight_bps)})`
  const begin = `${factor.title}${weight}`
  switch (factor.form) {
    case 'lookup': {
      const by = factor.inputs.map((name) => names.getTitle(name)).join(' and ')
      const missing =
        factor.on_missing === 'fail'
          ? 'a value that is not on it cannot be decided on'
          : `a value that is not on it gives ${formatValue(factor.on_missing.default)}`
      yield `${begin}: ${factor.field} of ${by} in the list ${factor.list_key}; ${missing}.`
      return
    }
    case 'presence': {
      const how = factor.count ? 'for each value' : 'when a value'
      yield `${begin}: ${formatValue(factor.present)} ${how} of ${names.getTitle(factor.input)} is on the list ${factor.list_key}, ${formatValue(factor.absent)} otherwise.`
      return
    }
    case 'score_map': {
      const scores = Object.entries(factor.scores).map(([value, score]) => `${value} gives ${formatValue(score)}`)
      yield `${begin}: by ${names.getTitle(factor.input)}, ${scores.join(', ')}.`
      return
    }
    case 'plugin': {
      const by = factor.inputs.map((name) => names.getTitle(name)).join(' and ')
      const range = `${formatValue(factor.score_min_bps)} to ${formatValue(factor.score_max_bps)}`
      yield `${begin}: scored by plugin ${factor.plugin_key}, version in force, from ${by}; ${range}.`
      return
    }
    case 'table':
      yield `${begin}: a table by ${factor.table.columns.map((name) => names.getTitle(name)).join(' and ')}.`
      yield* describeRows(factor.table, names, ([score]) => `the score is ${formatValue(score)}`)
  }
}

function* describeRows(
  table: DecisionTable,
  names: ColumnNames,
  then: (values: readonly PolicyValue[]) => string,
): Generator<string> {
  for (const { when, then: values, reason } of table.rows) {
    const conditions = when.flatMap((test, index) => {
      const words = describeCondition(test, table.columns[index] ?? '', names)
      return words === null ? [] : [words]
    })
    const when_text = conditions.length === 0 ? 'Always' : `When ${conditions.join(' and ')}`
    yield `${when_text}: ${then(values)}${reason ? ` (${reason})` : ''}.`
  }
  if (table.otherwise) yield `Otherwise: ${then(table.otherwise.then)} (${table.otherwise.reason}).`
}

function describeTrigger({ title, when, floor_band, required_actions = [] }: Trigger, names: ColumnNames): string {
  const conditions = when.map(
    ({ of, test }) => describeCondition(test, of, names) ?? `${names.getTitle(of)} is anything`,
  )
  const effects = [
    ...(floor_band === undefined ? [] : [`the band is at least ${floor_band}`]),
    ...required_actions.map((action) => `${action} is required`),
  ]
  return `${title}: when ${conditions.join(' and ')}, ${effects.join(' and ')}.`
}

const formatValue = (value: PolicyValue | undefined): string =>
  typeof value === 'object' ? `${value.field} of ${value.key} in the list ${value.list_key}` : String(value)

/** Null for a condition that everything matches. */
function describeCondition(test: string, name: string, names: ColumnNames): string | null {
  const column = names.getColumn(name)
  const parsed = parseTest(test, column)
  if (isTestFault(parsed)) return `${names.getTitle(name)} passes "${test}"`
  if (parsed.form === 'any') return null
  const subject = column.many ? `one of ${names.getTitle(name)}` : names.getTitle(name)
  return `${subject} ${parsed.terms.map((term) => describeTerm(term, column)).join(' or ')}`
}

const SIGNS = { '<': 'is less than', '<=': 'is at most', '>': 'is more than', '>=': 'is at least' } as const

/** The value itself, or the list entry it comes from. */
const formatOperand = (value: Scalar | ListOperand, column: Column): string =>
  isListOperand(value) ? formatValue(value) : printScalar(value, column)

function describeTerm(term: UnboundTerm, column: Column): string {
  switch (term.form) {
    case 'equals':
      return `is ${formatOperand(term.value, column)}`
    case 'compare':
      return `${SIGNS[term.sign]} ${formatOperand(term.value, column)}`
    case 'range': {
      const [from, to] = [formatOperand(term.from, column), formatOperand(term.to, column)]
      return `is ${term.from_included ? 'from' : 'above'} ${from} ${term.to_included ? 'to' : 'to below'} ${to}`
    }
    case 'in_list':
      return `is on the list ${term.list_key}`
    case 'not':
      return `${term.terms.map((inner) => describeTerm(inner, column).replace(/^is /, 'is not ')).join(' and ')}`
  }
}
