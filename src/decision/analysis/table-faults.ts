/**
 * Collects the faults of a table during a sweep: gaps, forbidden overlaps, unreachable rows, sums beyond the maximum score. It keeps
 * the first combination that shows each fault, and counts the rest.
 */
import { MAX_SCORE_BPS } from '../engine-1/definition-shape.ts'
import type { Scalar } from '../engine-1/unary.ts'
import type { DecisionTable } from '../model.ts'
import { type BoxVisitor, countWords, hasRow, listRows, setRow } from './sweep.ts'

/** Combinations as indices of classes, one per dimension. */
export type Box = readonly number[]

export interface Overlap {
  readonly rows: readonly [number, number]
  readonly box: Box
}

export interface TableFaults {
  readonly gap: { readonly box: Box; readonly boxes: number } | null
  readonly overlaps: readonly Overlap[]
  readonly overlaps_omitted: boolean
  /** Rows that never decide; `fires` when another row always takes precedence. */
  readonly dead_rows: readonly { readonly row: number; readonly fires: boolean }[]
  readonly overflow: { readonly box: Box; readonly sum: number } | null
}

const MAX_OVERLAPS = 20

/** Rows are in order of precedence: when one row decides, it is the first that fires. */
export class FaultFinder {
  private readonly table: DecisionTable
  /** The outputs of each row, with resolved policy values. */
  private readonly then: readonly (readonly Scalar[])[]
  private readonly fired: Uint32Array
  /** Rows that decided or contributed somewhere. */
  private readonly counted: Uint32Array
  /** By the first row that fires: rows that may fire together with it, or do. */
  private readonly allowed_rows = new Map<number, Uint32Array>()
  private readonly overlaps: Overlap[] = []
  private overlaps_omitted = false
  private gap: { box: Box; boxes: number } | null = null
  private overflow: TableFaults['overflow'] = null
  private readonly amounts: readonly number[] | null

  constructor(table: DecisionTable, then: readonly (readonly Scalar[])[], scores: boolean) {
    this.table = table
    this.then = then
    this.fired = new Uint32Array(countWords(then.length))
    this.counted = new Uint32Array(countWords(then.length))
    this.amounts = scores ? getRowAmounts(table, then) : null
  }

  readonly visit: BoxVisitor = (fired, classes, boxes) => {
    const first = findFirstRow(fired)
    if (first === -1) {
      if (this.gap) this.gap.boxes += boxes
      else this.gap = { box: [...classes], boxes }
      return
    }
    unionInto(this.fired, fired)
    const { hit_policy } = this.table
    if (hit_policy === 'first' || hit_policy === 'priority') setRow(this.counted, first)
    else unionInto(this.counted, fired)
    if (hit_policy === 'unique' || hit_policy === 'any') this.checkOverlap(fired, first, classes)
    if (this.amounts && !this.overflow) this.checkSum(this.amounts, fired, classes)
  }

  getFaults(): TableFaults {
    const never = this.then
      .map((_, row) => ({ row, fires: hasRow(this.fired, row) }))
      .filter(({ row }) => !hasRow(this.counted, row))
    const { gap, overlaps, overlaps_omitted, overflow: beyond } = this
    return { gap, overlaps, overlaps_omitted, dead_rows: never, overflow: beyond }
  }

  /** `unique` forbids any second row, `any` a second row with other outputs. */
  private checkOverlap(fired: Uint32Array, first: number, classes: Int32Array): void {
    if (this.overlaps_omitted) return
    const beside = this.allowed_rows.get(first) ?? this.findAllowedRows(first)
    this.allowed_rows.set(first, beside)
    if (isSubset(fired, beside)) return
    for (const row of listRows(fired)) {
      if (hasRow(beside, row)) continue
      this.overlaps_omitted = this.overlaps.length === MAX_OVERLAPS
      if (this.overlaps_omitted) return
      setRow(beside, row)
      this.overlaps.push({ rows: [first, row], box: [...classes] })
    }
  }

  private findAllowedRows(first: number): Uint32Array {
    const allowed = new Uint32Array(this.fired.length)
    const outputs = this.then[first]
    this.then.forEach((then, row) => {
      const same = this.table.hit_policy === 'any' && then.every((value, n) => value === outputs?.[n])
      if (same || row === first) setRow(allowed, row)
    })
    return allowed
  }

  private checkSum(amounts: readonly number[], fired: Uint32Array, classes: Int32Array): void {
    const sum = listRows(fired).reduce((total, row) => total + (amounts[row] as number), 0)
    if (sum > MAX_SCORE_BPS) this.overflow = { box: [...classes], sum }
  }
}

/** What each row adds to the score; null when no combination can exceed the maximum. */
function getRowAmounts({ collect }: DecisionTable, then: readonly (readonly Scalar[])[]): readonly number[] | null {
  if (collect !== 'sum' && collect !== 'count') return null
  const amounts = then.map(([first]) => (collect === 'count' ? 1 : Number(first)))
  return amounts.reduce((sum, amount) => sum + amount, 0) > MAX_SCORE_BPS ? amounts : null
}

function unionInto(target: Uint32Array, bits: Uint32Array): void {
  for (let word = 0; word < bits.length; word++) target[word] = (target[word] as number) | (bits[word] as number)
}

function isSubset(bits: Uint32Array, allowed: Uint32Array): boolean {
  for (let word = 0; word < bits.length; word++) {
    if (((bits[word] as number) & ~(allowed[word] as number)) !== 0) return false
  }
  return true
}

function findFirstRow(bits: Uint32Array): number {
  for (let word = 0; word < bits.length; word++) {
    const rest = bits[word] as number
    if (rest !== 0) return word * 32 + 31 - Math.clz32(rest & -rest)
  }
  return -1
}
