/**
 * The space of a table: the classes of every input that its columns read, directly or through the score of a factor, and for
 * each class the rows that pass. Refuses spaces that are too large, naming the columns.
 */

import type { Held } from '../engine-1/inputs.ts'
import type { Layout, ParsedTable } from '../engine-1/layout.ts'
import type { Column, UnaryTest } from '../engine-1/unary.ts'
import type { Inputs, Lists } from '../model.ts'
import { NotAnalysable, passes } from './atoms.ts'
import type { Dimension } from './classes.ts'
import { distinctTests, factorKeyOf, Questions } from './questions.ts'
import { compileFactor } from './score-probe.ts'
import { allRows, boxesOf, MAX_COLUMNS, type ScoreColumn, type Space, setRow, wordsFor } from './sweep.ts'
import { passedIn } from './test-answers.ts'

/** Throws NotAnalysable naming the input, or the columns that have too many combinations; later ones are not looked at then. */
export function dimensionsOf(questions: Questions, layout: Layout, max_boxes: number): Dimension[] {
  const dimensions: Dimension[] = []
  for (const name of questions.inputs()) {
    dimensions.push(dimensionNamed(name, questions, layout))
    refuseLarge(dimensions, max_boxes)
  }
  return dimensions
}

function dimensionNamed(name: string, questions: Questions, layout: Layout): Dimension {
  try {
    return questions.dimension(name)
  } catch (error) {
    if (!(error instanceof NotAnalysable)) throw error
    const { title } = layout.subject(name)
    throw new NotAnalysable(`"${title}" (${name}) cannot be gone through: ${error.message}`)
  }
}

function refuseLarge(dimensions: readonly Dimension[], max_boxes: number): void {
  const telling = dimensions.filter(({ classes }) => classes.length > 1)
  const boxes = boxesOf(telling)
  if (telling.length <= MAX_COLUMNS && boxes <= max_boxes) return
  const columns = telling.map(({ input, classes }) => `${input.name} (${classes.length})`).join(', ')
  const limit = telling.length > MAX_COLUMNS ? `${MAX_COLUMNS} columns` : `${max_boxes} combinations`
  throw new NotAnalysable(`these columns have ${boxes} combinations, and at most ${limit} are gone through: ${columns}`)
}

/** `complete` fills in the inputs that have no part in the table. */
export function spaceOf(
  parsed: ParsedTable,
  layout: Layout,
  lists: Lists,
  complete: (some: Inputs) => Inputs,
  max_boxes: number,
): Space {
  const questions = new Questions(layout, lists)
  const answered = questions.table(parsed)
  const dimensions = dimensionsOf(questions, layout, max_boxes)
  const row_count = parsed.rows.length
  const columnTests = (n: number): UnaryTest[] => parsed.rows.map(({ tests }) => tests[n] as UnaryTest)
  const rows = dimensions.map(({ input, classes }) => {
    const n = parsed.subjects.findIndex(({ reference }) => reference === input.name)
    const answer = answered[n]
    if (answer === undefined) return classes.map(() => allRows(row_count))
    const groups = rowsByTest(columnTests(n))
    return classes.map(({ labels }) => rowsOf(passedIn(labels[answer] as string), groups, row_count))
  })
  const scores = parsed.subjects.flatMap((subject, n) => {
    const key = factorKeyOf(subject.reference)
    if (key === undefined) return []
    const tests = columnTests(n)
    const groups = rowsByTest(tests)
    const asked = distinctTests(tests)
    const passing: RowsPassing = (score) => {
      const passed = asked.flatMap((test, index) => (passes(test, score, subject.column, lists) ? [index] : []))
      return rowsOf(passed, groups, row_count)
    }
    return [scoreColumn(key, dimensions, passing, layout, lists, complete)]
  })
  return { dimensions, rows, scores, row_count }
}

type RowsPassing = (score: number) => Uint32Array

/** For each distinct test, in the order they are first met, its rows. */
function rowsByTest(tests: readonly UnaryTest[]): number[][] {
  const groups = new Map<string, number[]>()
  tests.forEach((test, row) => {
    const text = JSON.stringify(test)
    const group = groups.get(text)
    if (group) group.push(row)
    else groups.set(text, [row])
  })
  return [...groups.values()]
}

function rowsOf(passed: readonly number[], groups: readonly (readonly number[])[], row_count: number): Uint32Array {
  const bits = new Uint32Array(wordsFor(row_count))
  for (const test of passed) for (const row of groups[test] ?? []) setRow(bits, row)
  return bits
}

/** A list passes when any item does. */
export function holdsFor(test: UnaryTest, held: Held, column: Column, lists: Lists): boolean {
  if (test.form === 'any') return true
  if (typeof held === 'object') return held.some((item) => passes(test, item, column, lists))
  return passes(test, held, column, lists)
}

/** No score is negative. */
const UNKNOWN = -1
const NONE = -2

function scoreColumn(
  key: string,
  dimensions: readonly Dimension[],
  passing: RowsPassing,
  layout: Layout,
  lists: Lists,
  complete: (some: Inputs) => Inputs,
): ScoreColumn {
  const { definition } = layout
  if (definition.family !== 'matrix') throw new Error('only a matrix has factors')
  const questions = new Questions(layout, lists)
  const index = definition.factors.findIndex((factor) => factor.key === key)
  questions.factor(definition.factors[index] as (typeof definition.factors)[number], index)
  const made_of = questions.inputs().map((name) => dimensions.findIndex(({ input }) => input.name === name))
  const answer = compileFactor(definition, key, lists)
  // Scores by box; millions of them are no matter for the heap.
  const scores = new Int32Array(boxesOf(made_of.map((at) => dimensions[at] as Dimension))).fill(UNKNOWN)
  const byScore = new Map<number, Uint32Array>()
  return {
    dimensions: made_of,
    rowsAt(classes) {
      const box = made_of.reduce(
        (code, at) => code * (dimensions[at] as Dimension).classes.length + (classes[at] as number),
        0,
      )
      if (scores[box] === UNKNOWN) {
        const given = answer(complete(inputsAt(dimensions, classes)))
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

/** The inputs that stand for a combination of classes. */
export function inputsAt(dimensions: readonly Dimension[], classes: ArrayLike<number>): Inputs {
  return Object.fromEntries(
    dimensions.map(({ input, classes: all }, n) => [input.name, all[classes[n] as number]?.wire]),
  )
}
