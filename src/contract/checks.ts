/**
 * Checks between facts of one record. A condition is a unary test of decision tables, or a comparison with another fact of the same
 * kind: `> incorporated_on`.
 */
import type { Binder } from '#decision/engine-1/binder.ts'
import type { InputValue } from '#decision/engine-1/inputs.ts'
import type { Subject } from '#decision/engine-1/layout.ts'
import { Run } from '#decision/engine-1/run.ts'
import type { FindingCollector } from '#decision/engine-1/shape.ts'
import { type Column, findListKeys, findOperands, type Scalar, type UnboundTest } from '#decision/engine-1/unary.ts'
import { compileCondition } from '#decision/engine-1/unary-conditions.ts'
import { isTestFault, parseTest } from '#decision/engine-1/unary-parser.ts'
import { type CompiledFact, compileFacts } from './facts.ts'
import type { Contract, ContractCheck } from './model.ts'

const SIGNS = ['<', '<=', '>', '>=', '='] as const
type ComparisonSign = (typeof SIGNS)[number]
const COMPARISON = /^(<=|>=|<|>|=)\s*([A-Za-z][A-Za-z0-9_]*)$/

interface FactComparison {
  readonly sign: ComparisonSign
  readonly other: string
}

/** The comparison with another fact, when the test is one. */
function parseComparison(test: string, facts: ReadonlyMap<string, CompiledFact>): FactComparison | null {
  const parts = COMPARISON.exec(test.trim())
  const [, sign, other] = parts ?? []
  return sign !== undefined && other !== undefined && facts.has(other) ? { sign: sign as ComparisonSign, other } : null
}

/** Names of the facts that the checks of a contract read. */
export function listCheckedFacts({ facts, checks = [] }: Pick<Contract, 'facts' | 'checks'>): Set<string> {
  const byName = new Map(compileFacts({ facts }).map((compiled) => [compiled.fact.name, compiled]))
  return new Set(
    checks.flatMap(({ when }) =>
      when.flatMap(({ of, test }) => [of, ...[parseComparison(test, byName)?.other ?? []].flat()]),
    ),
  )
}

export type ParsedCondition =
  | { readonly form: 'test'; readonly of: string; readonly test: UnboundTest }
  | { readonly form: 'compare'; readonly of: string; readonly sign: ComparisonSign; readonly other: string }

export interface ParsedCheck {
  readonly check: ContractCheck
  readonly conditions: readonly ParsedCondition[]
}

/** Parses one condition; a fault is added to `findings`. */
export function parseCondition(
  { of, test }: ContractCheck['when'][number],
  facts: ReadonlyMap<string, CompiledFact>,
  pointer: string,
  findings: FindingCollector,
): ParsedCondition | null {
  const fact = facts.get(of)
  if (!fact) {
    findings.error('fact_undeclared', `${pointer}/of`, `There is no fact "${of}".`)
    return null
  }
  const { column } = fact.reader
  const comparison = parseComparison(test, facts)
  if (comparison) {
    const other = (facts.get(comparison.other) as CompiledFact).reader.column
    if (isComparable(column, other, comparison.sign)) return { form: 'compare', of, ...comparison }
    const message = `"${of}" and "${comparison.other}" cannot be compared with "${comparison.sign}": both must be numbers with the same digits, or dates.`
    findings.error('test_type', `${pointer}/test`, message)
    return null
  }
  const parsed = parseTest(test, column)
  if (!isTestFault(parsed)) return { form: 'test', of, test: parsed }
  findings.error(parsed.code, `${pointer}/test`, parsed.message)
  return null
}

function isComparable(a: Column, b: Column, sign: ComparisonSign): boolean {
  if (a.many || b.many || a.kind !== b.kind || a.scale !== b.scale) return false
  return sign === '=' || (a.kind !== 'text' && a.kind !== 'boolean')
}

export interface CheckListReference {
  readonly list_key: string
  readonly key: string | null
  readonly field: string | null
}

/** The lists that a condition reads. */
export function findConditionLists(condition: ParsedCondition): CheckListReference[] {
  if (condition.form === 'compare') return []
  return [
    ...findListKeys(condition.test).map((list_key) => ({ list_key, key: null, field: null })),
    ...findOperands(condition.test).map(({ list_key, key, field }) => ({ list_key, key, field })),
  ]
}

/** Whether a check holds for the facts of one record; null when it does not apply, because a tested fact is absent. */
export type BoundCheck = (values: ReadonlyMap<string, InputValue>) => boolean | null

export function bindCheck(
  { check, conditions }: ParsedCheck,
  facts: ReadonlyMap<string, CompiledFact>,
  pointer: string,
  binder: Binder,
): BoundCheck {
  const bound = conditions.map((condition, index) =>
    condition.form === 'compare'
      ? compareFacts(condition)
      : bindTestCondition(condition, facts, `${pointer}/when/${index}/test`, binder),
  )
  const needed = new Set(conditions.flatMap((condition) => listTestedFacts(condition)))
  // Named here, so that a check without conditions, which the shape refuses, would never hold by accident.
  if (check.when.length === 0) return () => null
  return (values) => {
    for (const name of needed) if (!values.has(name)) return null
    return bound.every((holds) => holds(values))
  }
}

/** Names of the facts that a condition reads. */
export const listTestedFacts = (condition: ParsedCondition): string[] =>
  condition.form === 'compare' ? [condition.of, condition.other] : [condition.of]

function compareFacts({ of, sign, other }: Extract<ParsedCondition, { form: 'compare' }>) {
  return (values: ReadonlyMap<string, InputValue>): boolean => {
    const [left, right] = [values.get(of) as Scalar, values.get(other) as Scalar]
    switch (sign) {
      case '<':
        return left < right
      case '<=':
        return left <= right
      case '>':
        return left > right
      case '>=':
        return left >= right
      case '=':
        return left === right
    }
  }
}

function bindTestCondition(
  { of, test }: Extract<ParsedCondition, { form: 'test' }>,
  facts: ReadonlyMap<string, CompiledFact>,
  pointer: string,
  binder: Binder,
) {
  const { reader } = facts.get(of) as CompiledFact
  const subject: Subject = { reference: of, title: reader.input.title, slot: 0, column: reader.column }
  const { holds } = compileCondition({ subject, test }, pointer, binder)
  return (values: ReadonlyMap<string, InputValue>): boolean => {
    if (!holds) return true
    const run = new Run(1, undefined)
    run.values[0] = values.get(of) as InputValue
    return holds(run)
  }
}
