/** Unary tests as functions. A test on a list holds when any item passes it. */
import type { Binder } from './binder.ts'
import { formatValue, type InputValue } from './inputs.ts'
import type { Condition } from './layout.ts'
import { type BoundTest, bindTest } from './list-operands.ts'
import type { Run } from './run.ts'
import { type Column, type ListOperand, type Scalar, type Term, toInterval, type UnaryTest } from './unary.ts'

type Predicate = (value: Scalar, run: Run) => boolean
/** Whether a condition holds in a run. */
export type ConditionPredicate = (run: Run) => boolean

export interface BoundCondition extends Pick<BoundTest, 'used' | 'words'> {
  /** Undefined for `-`, which always holds. */
  readonly holds: ConditionPredicate | undefined
}

export function compileCondition(condition: Condition<ListOperand>, pointer: string, binder: Binder): BoundCondition {
  const { test, used, words } = bindTest(condition, pointer, binder)
  const holds = compilePredicate({ ...condition, test }, pointer, binder)
  if (!holds || used.length === 0) return { holds, used, words }
  // List entries are read when the test is evaluated.
  const reads: ConditionPredicate = (run) => {
    run.recordUsed(used)
    return holds(run)
  }
  return { holds: reads, used, words }
}

function compilePredicate(
  { subject, test }: Condition,
  pointer: string,
  binder: Binder,
): ConditionPredicate | undefined {
  const passes = compileTest(test, subject.column, pointer, binder)
  if (!passes) return undefined
  const { slot } = subject
  if (!subject.column.many) return (run) => passes(run.values[slot] as Scalar, run)
  return (run) => {
    for (const item of run.values[slot] as readonly string[]) if (passes(item, run)) return true
    return false
  }
}

function compileTest(test: UnaryTest, column: Column, pointer: string, binder: Binder): Predicate | undefined {
  return test.form === 'any' ? undefined : compileTerms(test.terms, column, pointer, binder)
}

function compileTerms(terms: readonly Term[], column: Column, pointer: string, binder: Binder): Predicate {
  const values = terms.flatMap((term) => (term.form === 'equals' ? [term.value] : []))
  if (terms.length > 1 && values.length === terms.length) {
    const wanted = new Set<InputValue>(values)
    return (value) => wanted.has(value)
  }
  const [first, ...others] = terms.map((term) => compileTerm(term, column, pointer, binder)) as [
    Predicate,
    ...Predicate[],
  ]
  if (others.length === 0) return first
  return (value, run) => {
    if (first(value, run)) return true
    for (const other of others) if (other(value, run)) return true
    return false
  }
}

function compileTerm(term: Term, column: Column, pointer: string, binder: Binder): Predicate {
  switch (term.form) {
    case 'equals': {
      const wanted = term.value
      return (value) => value === wanted
    }
    case 'compare':
    case 'range': {
      const { from, to } = toInterval(term)
      return (value) => (value as number) >= from && (value as number) <= to
    }
    case 'in_list': {
      const list = binder.bindList(term.list_key, pointer)
      return (value, run) => run.isListed(list, formatValue(value, column))
    }
    case 'not': {
      const passes = compileTerms(term.terms, column, pointer, binder)
      return (value, run) => !passes(value, run)
    }
  }
}

/** All of them hold. */
export function compileConjunction(conditions: readonly BoundCondition[]): ConditionPredicate {
  const asked = conditions.map(({ holds }) => holds).filter((holds) => holds !== undefined)
  const [first, second] = asked
  if (!first) return () => true
  if (!second) return first
  if (asked.length === 2) return (run) => first(run) && second(run)
  return (run) => {
    for (const holds of asked) if (!holds(run)) return false
    return true
  }
}
