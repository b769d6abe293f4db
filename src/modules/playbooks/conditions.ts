/**
 * Conditions of steps and outcomes: unary tests of decision tables over facts about the subject. What cannot be decided, because a
 * fact is absent or a list is not in force, never leaves a step out.
 */
import { buildAtoms, NotAnalysable, passesTest } from '#decision/analysis/atoms.ts'
import { Binder } from '#decision/engine-1/binder.ts'
import { compileInput, type InputValue } from '#decision/engine-1/inputs.ts'
import { bindTest } from '#decision/engine-1/list-operands.ts'
import { Run } from '#decision/engine-1/run.ts'
import { findListKeys, findOperands, toColumn, type UnaryTest, type UnboundTest } from '#decision/engine-1/unary.ts'
import { compileCondition } from '#decision/engine-1/unary-conditions.ts'
import { isTestFault, parseTest } from '#decision/engine-1/unary-parser.ts'
import type { BoundLists, Finding, Input } from '#decision/model.ts'
import { appendStep } from '#provider/findings.ts'
import { type Playbook, type PlaybookCondition, subjectTypes } from './model.ts'

/** Facts that every subject has and that conditions may test. Inputs of providers may also read `name` and `external_id`. */
const testedFacts: readonly Input[] = [
  { name: 'subject_type', title: 'Type of subject', type: 'enum', values: subjectTypes },
  { name: 'segment', title: 'Segment', type: 'string' },
]
export const subjectFacts: readonly string[] = ['subject_type', 'segment', 'name', 'external_id']

export type Facts = ReadonlyMap<string, Input>

export const listFacts = ({ facts }: Pick<Playbook, 'facts'>): Facts =>
  new Map([...facts, ...testedFacts].map((fact) => [fact.name, fact]))

export interface ParsedTest {
  readonly fact: string
  readonly test: UnboundTest
  readonly pointer: string
}

/** The tests of one condition; faults are added to `findings`. */
export function parseCondition(
  when: PlaybookCondition | null,
  facts: Facts,
  pointer: string,
  findings: Finding[],
): ParsedTest[] {
  return Object.entries(when ?? {}).flatMap(([name, text]): ParsedTest[] => {
    const at = appendStep(pointer, name)
    const add = (code: string, message: string): ParsedTest[] => {
      findings.push({ code, pointer: at, message, severity: 'error' })
      return []
    }
    const fact = facts.get(name)
    if (!fact) return add('fact_undeclared', `There is no fact "${name}": declare it in "facts".`)
    const test = parseTest(text, toColumn(fact))
    return isTestFault(test) ? add(test.code, test.message) : [{ fact: name, test, pointer: at }]
  })
}

/** Places at which tests read lists. */
export const listTestedLists = (tests: readonly ParsedTest[]) =>
  tests.flatMap(({ test, pointer }) => [
    ...findListKeys(test).map((list_key) => ({ list_key, pointer, key: null, field: null })),
    ...findOperands(test).map(({ list_key, key, field }) => ({ list_key, pointer, key, field })),
  ])

const toSubject = (fact: Input) => ({ reference: fact.name, title: fact.title, slot: 0, column: toColumn(fact) })

/**
 * Whether some subject passes all tests, for subjects of these types. True where a list is too large or not in force: nothing is
 * shown then.
 */
export function isSatisfiable(
  tests: readonly ParsedTest[],
  facts: Facts,
  lists: BoundLists,
  subject_types: readonly string[],
): boolean {
  const names = new Set(tests.map(({ fact }) => fact))
  return [...names].every((name) => {
    const declared = facts.get(name) as Input
    const fact = name === 'subject_type' ? { ...declared, values: subject_types } : declared
    const own = tests.filter((test) => test.fact === name)
    try {
      return hasPassingValue(own, fact, lists)
    } catch (error) {
      if (error instanceof NotAnalysable) return true
      throw error
    }
  })
}

function hasPassingValue(tests: readonly ParsedTest[], fact: Input, lists: BoundLists): boolean {
  const binder = new Binder(lists)
  const subject = toSubject(fact)
  const bound = tests.map(({ test, pointer }): UnaryTest => bindTest({ subject, test }, pointer, binder).test)
  if (binder.findings.count > 0) return true
  const list_keys = [...new Set(bound.flatMap((test) => findListKeys(test)))]
  if (fact.one_of) list_keys.push(fact.one_of.list_key)
  const { column } = subject
  const atoms = buildAtoms(fact, { tests: bound, list_keys, named: [] }, lists)
  const passes = (test: UnaryTest, value: (typeof atoms)[number]['value']) => passesTest(test, value, column, lists)
  // Each test on a list of values may be passed by another item.
  if (column.many) return bound.every((test) => atoms.some(({ value }) => passes(test, value)))
  return atoms.some(({ value }) => bound.every((test) => passes(test, value)))
}

/**
 * Whether every subject whose facts are known passes one of the conditions. Only what depends on one fact is examined; false where it
 * depends on several, true where a list is too large or not in force.
 */
export function coverEverySubject(
  conditions: readonly (readonly ParsedTest[])[],
  facts: Facts,
  lists: BoundLists,
): boolean {
  const paths = conditions.map((tests) => tests.filter(({ fact }) => fact !== 'subject_type'))
  if (paths.some((tests) => tests.length === 0)) return true
  const [name, ...others] = new Set(paths.flat().map(({ fact }) => fact))
  const fact = facts.get(name as string) as Input
  const subject = toSubject(fact)
  if (others.length > 0 || subject.column.many) return false
  const binder = new Binder(lists)
  const bound = paths.map((tests) =>
    tests.map(({ test, pointer }): UnaryTest => bindTest({ subject, test }, pointer, binder).test),
  )
  if (binder.findings.count > 0) return true
  const list_keys = [...new Set(bound.flat().flatMap((test) => findListKeys(test)))]
  if (fact.one_of) list_keys.push(fact.one_of.list_key)
  try {
    return buildAtoms(fact, { tests: bound.flat(), list_keys, named: [] }, lists).every(({ value }) =>
      bound.some((tests) => tests.every((test) => passesTest(test, value, subject.column, lists))),
    )
  } catch (error) {
    if (error instanceof NotAnalysable) return true
    throw error
  }
}

/** What conditions and inputs of providers read of a subject. */
export interface SubjectContent {
  readonly subject_type: string
  readonly name: string
  readonly external_id: string | null
  readonly segment: string | null
  readonly attributes: Readonly<Record<string, unknown>>
}

/** The facts of a subject as it has them: declared ones are its attributes. Absent ones take their default, or are left out. */
export function readSubjectFacts({ facts }: Pick<Playbook, 'facts'>, subject: SubjectContent): Map<string, unknown> {
  const values = new Map<string, unknown>()
  for (const fact of facts) {
    const given = Object.hasOwn(subject.attributes, fact.name) ? subject.attributes[fact.name] : undefined
    const value = compileInput(fact).read(given) === undefined ? fact.default : given
    if (value !== undefined) values.set(fact.name, value)
  }
  const { subject_type, name, external_id, segment } = subject
  for (const [key, value] of Object.entries({ subject_type, name, external_id, segment })) {
    if (value !== null) values.set(key, value)
  }
  return values
}

/** False only where a known fact fails its test. */
export function mayHold(
  tests: readonly ParsedTest[],
  facts: Facts,
  values: ReadonlyMap<string, unknown>,
  lists: BoundLists,
): boolean {
  return tests.every(({ fact: name, test, pointer }) => {
    const fact = facts.get(name) as Input
    const value = compileInput(fact).read(values.get(name))
    if (value === undefined) return true
    const binder = new Binder(lists)
    const { holds } = compileCondition({ subject: toSubject(fact), test }, pointer, binder)
    return binder.findings.count > 0 || !holds || holds(createRun(value, lists))
  })
}

function createRun(value: InputValue, lists: BoundLists): Run {
  const run = new Run(1, lists)
  run.values[0] = value
  return run
}
