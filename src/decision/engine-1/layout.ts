/**
 * The execution layout of a checked definition: every input and factor has a slot, every test is parsed. It uses no lists.
 */
import type { DecisionRow, DecisionTable, Definition, Inputs } from '../model.ts'
import { compileInput, type InputReader, type InputValue } from './inputs.ts'
import { type Column, type ListOperand, SCORE_COLUMN, type UnaryTest, type UnboundTest } from './unary.ts'
import { isTestFault, parseTest } from './unary-parser.ts'

/** A testable value: an input, the score of a factor, or the total score. */
export interface Subject {
  readonly reference: string
  readonly title: string
  readonly slot: number
  readonly column: Column
}

/** Here and below: `L` is the type of list references in tests; `never` when lists are bound. */
export interface ParsedTable<L = never> {
  readonly table: DecisionTable
  readonly pointer: string
  readonly subjects: readonly Subject[]
  readonly rows: readonly { readonly row: DecisionRow; readonly tests: readonly UnaryTest<L>[] }[]
}

export interface Condition<L = never> {
  readonly subject: Subject
  readonly test: UnaryTest<L>
}

export interface Layout<L = never> {
  readonly definition: Definition
  readonly readers: readonly InputReader[]
  readonly slots: number
  subject(reference: string): Subject
  /** By their pointers. */
  readonly tables: ReadonlyMap<string, ParsedTable<L>>
  /** Of each trigger. */
  readonly conditions: readonly (readonly Condition<L>[])[]
}

/** As written: tests may refer to values in lists. */
export type UnboundLayout = Layout<ListOperand>

export const SCORE = 'score'

export function buildLayout(definition: Definition): UnboundLayout {
  const readers = definition.inputs.map(compileInput)
  const subjects = new Map<string, Subject>()
  const add = (reference: string, title: string, column: Column) =>
    subjects.set(reference, { reference, title, column, slot: subjects.size })
  for (const { input, column } of readers) add(input.name, input.title, column)
  if (definition.family === 'matrix') {
    for (const { key, title } of definition.factors) add(`factor.${key}`, title, SCORE_COLUMN)
    add(SCORE, 'Score', SCORE_COLUMN)
  }
  const subject = (reference: string): Subject => {
    const found = subjects.get(reference)
    if (!found) throw new Error(`"${reference}" is not declared: the definition was not checked`)
    return found
  }
  const tables = listTables(definition).map(([pointer, table]) => parseTable(table, pointer, subject))
  const triggers = definition.family === 'matrix' ? definition.triggers : []
  return {
    definition,
    readers,
    slots: subjects.size,
    subject,
    tables: new Map(tables.map((table) => [table.pointer, table])),
    conditions: triggers.map(({ when }) =>
      when.map(({ of, test }) => ({ subject: subject(of), test: parseOrThrow(test, subject(of).column) })),
    ),
  }
}

export function listTables(definition: Definition): [pointer: string, table: DecisionTable][] {
  if (definition.family === 'rule') return [['/table', definition.table]]
  return definition.factors.flatMap((factor, index): [string, DecisionTable][] =>
    factor.form === 'table' ? [[`/factors/${index}/table`, factor.table]] : [],
  )
}

function parseTable(
  table: DecisionTable,
  pointer: string,
  subject: (reference: string) => Subject,
): ParsedTable<ListOperand> {
  const subjects = table.columns.map(subject)
  const rows = table.rows.map((row) => ({
    row,
    tests: row.when.map((test, index) => parseOrThrow(test, (subjects[index] as Subject).column)),
  }))
  return { table, pointer, subjects, rows }
}

function parseOrThrow(text: string, column: Column): UnboundTest {
  const test = parseTest(text, column)
  if (isTestFault(test)) throw new Error(`${test.message} The definition was not checked.`)
  return test
}

/** The values of the inputs by slot, as far as they can be read. */
export function readKnownInputs(readers: readonly InputReader[], inputs: Inputs): (InputValue | undefined)[] {
  return readers.map(({ getRaw: own, read, fallback }) => {
    const value = own(inputs)
    return value === undefined ? fallback : read(value)
  })
}
