/** Reads the declared facts of a record, in the form that inputs of matrices have. */
import { compileInput, type InputReader, type InputValue } from '#decision/engine-1/inputs.ts'
import type { Input } from '#decision/model.ts'
import { parsePointer } from '#registry/content/json-pointer.ts'
import type { Contract, Fact, Violation } from './model.ts'

export interface CompiledFact {
  readonly fact: Fact
  readonly steps: readonly string[]
  readonly reader: InputReader
}

export const ANY_ELEMENT = '*'

export function toInput({ at: _a, required: _r, personal: _p, ...input }: Fact): Input {
  return { title: input.name, ...input }
}

export const compileFacts = ({ facts }: Pick<Contract, 'facts'>): readonly CompiledFact[] =>
  facts.map((fact) => ({ fact, steps: parsePointer(fact.at), reader: compileInput(toInput(fact)) }))

/** Every value at the steps from `from` on; `*` is any element of an array. Nulls and absent members are left out. */
function collectValues(value: unknown, steps: readonly string[], from: number, into: unknown[]): void {
  const step = steps[from]
  if (step === undefined) {
    if (value === undefined || value === null) return
    if (Array.isArray(value)) into.push(...value)
    else into.push(value)
    return
  }
  if (step === ANY_ELEMENT && Array.isArray(value)) {
    for (const item of value) collectValues(item, steps, from + 1, into)
    return
  }
  const member = readMember(value, step)
  if (member !== undefined) collectValues(member, steps, from + 1, into)
}

/** Own members only, where an object could inherit one of this name. */
function readMember(value: unknown, step: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined
  if (step in Object.prototype && !Object.hasOwn(value, step)) return undefined
  return (value as Readonly<Record<string, unknown>>)[step]
}

function readPath(record: unknown, steps: readonly string[]): unknown {
  let value = record
  for (let index = 0; index < steps.length && value !== undefined; index++) {
    value = readMember(value, steps[index] as string)
  }
  return value
}

const INTEGER = /^-?(?:0|[1-9]\d{0,15})$/

/** Payloads write decimals as numbers, and XML writes everything as text. */
function toInputForm({ type }: Fact, value: unknown): unknown {
  if (type === 'decimal' && typeof value === 'number') return String(value)
  if (typeof value !== 'string') return value
  if (type === 'integer' && INTEGER.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}

export interface ReadFacts {
  readonly values: Record<string, unknown>
  readonly violations: Omit<Violation, 'record_index'>[]
}

/** The facts that the record has; a required one that is missing or one that cannot be read is a violation. */
export function readFacts(facts: readonly CompiledFact[], record: unknown): ReadFacts {
  const values: Record<string, unknown> = {}
  const violations: ReadFacts['violations'] = []
  for (const { fact, steps, reader } of facts) {
    const value = fact.type === 'list' ? readList(record, steps) : toInputForm(fact, readPath(record, steps))
    if (value === undefined || value === null) {
      if (fact.required) violations.push(refuse(fact, 'fact_missing', fact.at, `the fact ${fact.name}`))
    } else if (reader.read(value) === undefined) {
      violations.push(refuse(fact, 'fact_unreadable', fact.at, describeFactType(fact)))
    } else values[fact.name] = value
  }
  return { values, violations }
}

const refuse = (fact: Fact, code: string, pointer: string, expected: string) => ({
  code,
  pointer,
  keyword: 'fact',
  expected: expected || fact.name,
})

/** Undefined when the record has none of the members, so that an absent list differs from an empty one. */
function readList(record: unknown, steps: readonly string[]): unknown {
  const found: unknown[] = []
  collectValues(record, steps, 0, found)
  return found.length > 0 || hasContainer(record, steps) ? found : undefined
}

function hasContainer(record: unknown, steps: readonly string[]): boolean {
  const star = steps.indexOf(ANY_ELEMENT)
  return Array.isArray(readPath(record, star < 0 ? steps : steps.slice(0, star)))
}

const TYPE_WORDS = {
  enum: 'one of the values of the fact',
  integer: 'a whole number',
  decimal: 'a decimal number',
  boolean: 'true or false',
  date: 'a date such as 2024-01-31',
  string: 'a text',
  list: 'a list of texts',
} as const

export function describeFactType(fact: Fact): string {
  const { type, minimum, maximum } = fact
  const from = minimum === undefined ? '' : ` from ${minimum}`
  const to = maximum === undefined ? '' : ` to ${maximum}`
  const digits = type === 'decimal' ? ` with at most ${fact.scale ?? 2} digits after the point` : ''
  return `${TYPE_WORDS[type]}${digits}${from}${to}`
}

/** The values in the form that tests use; facts of one record always fit, since they were read before. */
export const toInputValue = ({ reader }: CompiledFact, value: unknown): InputValue | undefined => reader.read(value)
