/**
 * Computes which tests each atom of an input passes, as one string of bits per atom. A test is evaluated once per range of equal
 * results, not once per atom, so that thousands of rows over thousands of values stay cheap.
 */
import { type Column, findListKeys, type Scalar, type UnaryTest } from '../engine-1/unary.ts'
import type { BoundLists } from '../model.ts'
import { type Atom, listIntervalStarts, listTestTexts, NotAnalysable, passesTest } from './atoms.ts'

/** Tests that look up a list are evaluated for every atom. */
const MAX_LIST_ANSWERS = 5_000_000
/** Bits per UTF-16 code unit of the string. */
const UNIT_BITS = 16
/** A text that no test names: inputs cannot contain this character. */
const UNNAMED = '\0'

type TestPredicate = (test: UnaryTest, value: Scalar) => boolean

/** For each atom the string whose bits are the passed tests. */
export function computeTestBits(
  tests: readonly UnaryTest[],
  column: Column,
  lists: BoundLists,
  atoms: readonly Atom[],
): string[] {
  const on_lists = tests.filter((test) => findListKeys(test).length > 0).length
  if (on_lists * atoms.length > MAX_LIST_ANSWERS) {
    throw new NotAnalysable(`${atoms.length} values and ${on_lists} tests on lists are more than can be tried`)
  }
  const ask: TestPredicate = (test, value) => passesTest(test, value, column, lists)
  return column.kind === 'text' ? computeTextBits(tests, atoms, ask) : computeOrderedBits(tests, atoms, ask)
}

/** A test without list lookup gives the same result for all texts it does not name. */
function computeTextBits(tests: readonly UnaryTest[], atoms: readonly Atom[], ask: TestPredicate): string[] {
  const flips = new Map(atoms.map(({ value }) => [value, [] as number[]]))
  const base = allocateBits(tests)
  tests.forEach((test, n) => {
    const unnamed = ask(test, UNNAMED)
    if (unnamed) toggleBit(base, n)
    const differing = findListKeys(test).length > 0 ? flips.keys() : new Set(listTestTexts(test))
    for (const value of differing) if (ask(test, value) !== unnamed) flips.get(value)?.push(n)
  })
  return [...flips.values()].map((flipped) => {
    const bits = base.slice()
    for (const n of flipped) toggleBit(bits, n)
    return encodeBits(bits)
  })
}

/** Visits atoms in ascending order and stores only changes from one to the next. */
function computeOrderedBits(tests: readonly UnaryTest[], atoms: readonly Atom[], ask: TestPredicate): string[] {
  const flips = atoms.map((): number[] => [])
  const position = new Map(atoms.map(({ from }, at) => [from, at]))
  tests.forEach((test, n) => {
    const everywhere = findListKeys(test).length > 0 || position.size < atoms.length
    const asked = everywhere ? atoms.keys() : listIntervalStarts(test).map((start) => position.get(start) ?? 0)
    let before = false
    for (const at of new Set([0, ...asked])) {
      const now = ask(test, (atoms[at] as Atom).value)
      if (now !== before) flips[at]?.push(n)
      before = now
    }
  })
  const bits = allocateBits(tests)
  return flips.map((flipped) => {
    for (const n of flipped) toggleBit(bits, n)
    return encodeBits(bits)
  })
}

const allocateBits = (tests: readonly UnaryTest[]): Uint16Array => new Uint16Array(Math.ceil(tests.length / UNIT_BITS))

function toggleBit(bits: Uint16Array, n: number): void {
  const unit = Math.floor(n / UNIT_BITS)
  bits[unit] = (bits[unit] as number) ^ (1 << (n % UNIT_BITS))
}

const encodeBits = (bits: Uint16Array): string => String.fromCharCode(...bits)

/** A list passes every test that any of its items passes. */
export function unionTestBits(tests: readonly UnaryTest[], answers: readonly string[]): string {
  const bits = allocateBits(tests)
  tests.forEach(({ form }, n) => {
    if (form === 'any') toggleBit(bits, n)
  })
  for (const answer of answers) {
    for (let unit = 0; unit < bits.length; unit++) bits[unit] = (bits[unit] as number) | answer.charCodeAt(unit)
  }
  return encodeBits(bits)
}

/** The indexes of passed tests. */
export function listPassedTests(answer: string): number[] {
  const passed: number[] = []
  for (let unit = 0; unit < answer.length; unit++) {
    for (let rest = answer.charCodeAt(unit); rest !== 0; rest &= rest - 1) {
      passed.push(unit * UNIT_BITS + 31 - Math.clz32(rest & -rest))
    }
  }
  return passed
}
