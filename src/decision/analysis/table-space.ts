/**
 * The space of a table: the classes of every input that its columns read, directly or through the score of a factor, and for each
 * class the rows that pass. A space that is too large is refused with its columns.
 */

import type { InputValue } from '../engine-1/inputs.ts'
import type { Layout, ParsedTable } from '../engine-1/layout.ts'
import type { Column, UnaryTest } from '../engine-1/unary.ts'
import type { BoundLists, Inputs } from '../model.ts'
import { NotAnalysable, passesTest } from './atoms.ts'
import { compileFactorScore } from './factor-score.ts'
import { distinctTests, InputUsage, parseFactorKey } from './input-usage.ts'
import { allRows, countBoxes, countWords, MAX_COLUMNS, type ScoreColumn, setRow, type TableSpace } from './sweep.ts'
import { listPassedTests } from './unary-test-bits.ts'
import type { Dimension } from './value-classes.ts'

/** Throws NotAnalysable with the input, or with the columns that have too many combinations so far. */
export function buildDimensions(questions: InputUsage, layout: Layout, max_boxes: number): Dimension[] {
  const dimensions: Dimension[] = []
  for (const name of questions.inputs()) {
    dimensions.push(buildNamedDimension(name, questions, layout))
    assertSpaceSize(dimensions, max_boxes)
  }
  return dimensions
}

function buildNamedDimension(name: string, questions: InputUsage, layout: Layout): Dimension {
  try {
    return questions.dimension(name)
  } catch (error) {
    if (!(error instanceof NotAnalysable)) throw error
    const { title } = layout.subject(name)
    throw new NotAnalysable(`"${title}" (${name}) cannot be gone through: ${error.message}`)
  }
}

function assertSpaceSize(dimensions: readonly Dimension[], max_boxes: number): void {
  const telling = dimensions.filter(({ classes }) => classes.length > 1)
  const boxes = countBoxes(telling)
  if (telling.length <= MAX_COLUMNS && boxes <= max_boxes) return
  const columns = telling.map(({ input, classes }) => `${input.name} (${classes.length})`).join(', ')
  const limit = telling.length > MAX_COLUMNS ? `${MAX_COLUMNS} columns` : `${max_boxes} combinations`
  throw new NotAnalysable(`these columns have ${boxes} combinations, and at most ${limit} are gone through: ${columns}`)
}

interface DefinitionContext {
  readonly layout: Layout
  readonly lists: BoundLists
  /** Fills in the inputs that the table does not read. */
  readonly complete: (some: Inputs) => Inputs
}

export function buildTableSpace(parsed: ParsedTable, context: DefinitionContext, max_boxes: number): TableSpace {
  const { layout, lists } = context
  const questions = new InputUsage(layout, lists)
  const answered = questions.table(parsed)
  const dimensions = buildDimensions(questions, layout, max_boxes)
  const row_count = parsed.rows.length
  const columnTests = (n: number): UnaryTest[] => parsed.rows.map(({ tests }) => tests[n] as UnaryTest)
  const rows = dimensions.map(({ input, classes }) => {
    const n = parsed.subjects.findIndex(({ reference }) => reference === input.name)
    const answer = answered[n]
    if (answer === undefined) return classes.map(() => allRows(row_count))
    const groups = groupRowsByTest(columnTests(n))
    return classes.map(({ labels }) => toRowBits(listPassedTests(labels[answer] as string), groups, row_count))
  })
  const scores = parsed.subjects.flatMap((subject, n) => {
    const key = parseFactorKey(subject.reference)
    // The score of a plugin is a dimension itself.
    const is_input = dimensions.some(({ input }) => input.name === subject.reference)
    if (key === undefined || is_input) return []
    const tests = columnTests(n)
    const groups = groupRowsByTest(tests)
    const asked = distinctTests(tests)
    const passing: RowsPassing = (score) => {
      const passed = asked.flatMap((test, index) => (passesTest(test, score, subject.column, lists) ? [index] : []))
      return toRowBits(passed, groups, row_count)
    }
    return [buildScoreColumn(key, dimensions, passing, context)]
  })
  return { dimensions, rows, scores, row_count }
}

type RowsPassing = (score: number) => Uint32Array

/** The rows of each distinct test, in order of first occurrence. */
function groupRowsByTest(tests: readonly UnaryTest[]): number[][] {
  const groups = new Map<string, number[]>()
  tests.forEach((test, row) => {
    const text = JSON.stringify(test)
    const group = groups.get(text)
    if (group) group.push(row)
    else groups.set(text, [row])
  })
  return [...groups.values()]
}

function toRowBits(passed: readonly number[], groups: readonly (readonly number[])[], row_count: number): Uint32Array {
  const bits = new Uint32Array(countWords(row_count))
  for (const test of passed) for (const row of groups[test] ?? []) setRow(bits, row)
  return bits
}

/** A list passes when any item does. */
export function testHolds(test: UnaryTest, held: InputValue, column: Column, lists: BoundLists): boolean {
  if (test.form === 'any') return true
  if (typeof held === 'object') return held.some((item) => passesTest(test, item, column, lists))
  return passesTest(test, held, column, lists)
}

/** Scores are not negative, so negative numbers mark missing ones. */
const UNKNOWN = -1
const NONE = -2

function buildScoreColumn(
  key: string,
  dimensions: readonly Dimension[],
  passing: RowsPassing,
  { layout, lists, complete }: DefinitionContext,
): ScoreColumn {
  const { definition } = layout
  if (definition.family !== 'matrix') throw new Error('only a matrix has factors')
  const questions = new InputUsage(layout, lists)
  const index = definition.factors.findIndex((factor) => factor.key === key)
  questions.factor(definition.factors[index] as (typeof definition.factors)[number], index)
  const made_of = questions.inputs().map((name) => dimensions.findIndex(({ input }) => input.name === name))
  const answer = compileFactorScore(definition, key, lists)
  // Scores by box, in a typed array since there may be millions.
  const scores = new Int32Array(countBoxes(made_of.map((at) => dimensions[at] as Dimension))).fill(UNKNOWN)
  const byScore = new Map<number, Uint32Array>()
  return {
    dimensions: made_of,
    rowsAt(classes) {
      const box = made_of.reduce(
        (code, at) => code * (dimensions[at] as Dimension).classes.length + (classes[at] as number),
        0,
      )
      if (scores[box] === UNKNOWN) {
        const given = answer(complete(toInputs(dimensions, classes)))
        scores[box] = 'score_bps' in given ? given.score_bps : NONE
      }
      const score = scores[box] as number
      if (score === NONE) return undefined
      const bits = byScore.get(score) ?? passing(score)
      byScore.set(score, bits)
      return bits
    },
  }
}

/** Inputs that represent a combination of classes. */
export function toInputs(dimensions: readonly Dimension[], classes: ArrayLike<number>): Inputs {
  return Object.fromEntries(
    dimensions.map(({ input, classes: all }, n) => [input.name, all[classes[n] as number]?.wire]),
  )
}
