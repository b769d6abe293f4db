/**
 * Enumerates every combination of classes of a table's inputs with the rows that fire. Rows are bits, so a combination costs a few
 * machine words per column; a subspace in which no row can fire is skipped as a whole.
 */
import type { Dimension } from './value-classes.ts'

export const MAX_COLUMNS = 12
export const MAX_BOXES = 1_000_000

/** A tested score: known when all its inputs are. Undefined when the factor fails. */
export interface ScoreColumn {
  readonly dimensions: readonly number[]
  rowsAt(classes: Int32Array): Uint32Array | undefined
}

export interface TableSpace {
  readonly dimensions: readonly Dimension[]
  /** By dimension and class: the rows whose test on that input holds. */
  readonly rows: readonly (readonly Uint32Array[])[]
  readonly scores: readonly ScoreColumn[]
  readonly row_count: number
}

/** `boxes` is the number of combinations this call represents; `fired` and `classes` are valid only during the call. */
export type BoxVisitor = (fired: Uint32Array, classes: Int32Array, boxes: number) => void

export const countBoxes = (dimensions: readonly Dimension[]): number =>
  dimensions.reduce((product, { classes }) => product * classes.length, 1)

export const countWords = (rows: number): number => Math.max(1, Math.ceil(rows / 32))

export function allRows(count: number): Uint32Array {
  const bits = new Uint32Array(countWords(count))
  for (let row = 0; row < count; row++) setRow(bits, row)
  return bits
}

export function setRow(bits: Uint32Array, row: number): void {
  bits[row >>> 5] = (bits[row >>> 5] as number) | (1 << (row & 31))
}

export const hasRow = (bits: Uint32Array, row: number): boolean =>
  ((bits[row >>> 5] as number) & (1 << (row & 31))) !== 0

/** Rows in ascending order. */
export function listRows(bits: Uint32Array): number[] {
  const rows: number[] = []
  for (let word = 0; word < bits.length; word++) {
    for (let rest = bits[word] as number; rest !== 0; rest &= rest - 1) {
      rows.push(word * 32 + 31 - Math.clz32(rest & -rest))
    }
  }
  return rows
}

/** Stores the result in `target`; returns false when it is empty. */
function intersect(target: Uint32Array, a: Uint32Array, b: Uint32Array): boolean {
  let left = 0
  for (let word = 0; word < target.length; word++) {
    const both = (a[word] as number) & (b[word] as number)
    target[word] = both
    left |= both
  }
  return left !== 0
}

export function sweep(space: TableSpace, visit: BoxVisitor): void {
  const { dimensions, rows, scores, row_count } = space
  const depth = dimensions.length
  const classes = new Int32Array(depth)
  const levels = Array.from({ length: depth + 1 }, () => allRows(row_count))
  // For each dimension: the number of combinations below it, and the scores that become known.
  const below = Array.from({ length: depth + 1 }, (_, level) => countBoxes(dimensions.slice(level)))
  const known = dimensions.map((_, level) => scores.filter((score) => Math.max(...score.dimensions) === level))
  const pending = dimensions.map((_, level) => scores.some((score) => Math.max(...score.dimensions) > level))

  const enter = (level: number): void => {
    if (level === depth) {
      visit(levels[depth] as Uint32Array, classes, 1)
      return
    }
    const fired = levels[level + 1] as Uint32Array
    for (let index = 0; index < (dimensions[level] as Dimension).classes.length; index++) {
      classes[level] = index
      let left = intersect(fired, levels[level] as Uint32Array, rows[level]?.[index] as Uint32Array)
      let faulty = false
      for (const score of known[level] as ScoreColumn[]) {
        const passing = score.rowsAt(classes)
        if (passing) left = intersect(fired, fired, passing)
        else faulty = true
      }
      if (faulty) continue
      if (left || pending[level]) enter(level + 1)
      else {
        classes.fill(0, level + 1)
        visit(fired, classes, below[level + 1] as number)
      }
    }
  }
  enter(0)
}
