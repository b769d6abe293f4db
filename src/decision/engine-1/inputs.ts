/**
 * Parses the inputs of a decision: each declared input is converted to the form of its column, or its fault is reported. Values
 * allowed by a list are checked where lists are bound.
 */
import { escapeStep } from '#registry/content/json-pointer.ts'
import type { Finding, Input, Inputs } from '../model.ts'
import { MAX_ITEMS } from './definition-shape.ts'
import { formatDate, formatScaled, parseDate, parseScaled } from './scalars.ts'
import { formatForMessage, isStorable, MAX_FINDINGS, toStorable } from './shape.ts'
import { type Column, type Scalar, toColumn } from './unary.ts'

export const MAX_INPUT_CHARS = 2000

/** A value in the form that tests use; an array for an input of type list. */
export type InputValue = Scalar | readonly string[]

export interface InputReader {
  readonly input: Input
  readonly column: Column
  /** The given value; undefined when absent. */
  getRaw(inputs: Inputs): unknown
  /** Undefined: the value is invalid, and `explain` reports why. */
  read(value: unknown): InputValue | undefined
  explain(value: unknown): Finding[]
  /** The default; undefined when the input is required. */
  readonly fallback: InputValue | undefined
}

type Fault = Pick<Finding, 'code' | 'message'>

export function compileInput(input: Input): InputReader {
  const column = toColumn(input)
  const pointer = `/${escapeStep(input.name)}`
  const single = compileSingle(input, column)
  const finding = ({ code, message }: Fault, at: string): Finding => ({
    code,
    pointer: at,
    message: `${input.title}: ${message}`,
    severity: 'error',
  })
  const most = input.max_items ?? MAX_ITEMS

  const explain = (value: unknown): Finding[] => {
    if (!column.many) return [finding(describeFault(input, column, value), pointer)]
    if (!Array.isArray(value)) {
      return [finding({ code: 'input_type', message: `a list is expected, not ${formatForMessage(value)}.` }, pointer)]
    }
    if (value.length > most) {
      const message = `at most ${most} items are allowed; there are ${value.length}.`
      return [finding({ code: 'input_not_allowed', message }, pointer)]
    }
    return value.flatMap((item, index) =>
      single(item) === undefined ? [finding(describeFault(input, column, item), `${pointer}/${index}`)] : [],
    )
  }
  const read = column.many
    ? (value: unknown) =>
        Array.isArray(value) && value.length <= most && value.every((item) => single(item) !== undefined)
          ? (value as string[])
          : undefined
    : single
  const fallback = input.default === undefined ? undefined : read(input.default)
  return { input, column, getRaw: createMemberReader(input.name), read, explain, fallback }
}

/** Checks own members only for names that every object inherits. */
const createMemberReader = (name: string): InputReader['getRaw'] =>
  name in Object.prototype
    ? (inputs) => (Object.hasOwn(inputs, name) ? inputs[name] : undefined)
    : (inputs) => inputs[name]

/** Reads one value; for a list, one item of it. */
function compileSingle(input: Input, { kind, scale, values }: Column): (value: unknown) => Scalar | undefined {
  if (kind === 'boolean') return (value) => (typeof value === 'boolean' ? value : undefined)
  if (kind === 'text') {
    if (values) {
      const allowed = new Set<unknown>(values)
      return (value) => (allowed.has(value) ? (value as string) : undefined)
    }
    return (value) =>
      typeof value === 'string' && value.length <= MAX_INPUT_CHARS && isStorable(value) ? value : undefined
  }
  const parse = getParser(kind, scale)
  const low = input.minimum === undefined ? Number.NEGATIVE_INFINITY : (parse(input.minimum) as number)
  const high = input.maximum === undefined ? Number.POSITIVE_INFINITY : (parse(input.maximum) as number)
  return (value) => {
    const held = parse(value)
    return held !== undefined && held >= low && held <= high ? held : undefined
  }
}

/** Parses API values: integers are numbers, decimals and dates are texts. */
export function getParser(kind: 'integer' | 'decimal' | 'date', scale: number): (value: unknown) => number | undefined {
  if (kind === 'integer') {
    // Adding 0 converts -0 to 0.
    return (value) => (Number.isSafeInteger(value) ? (value as number) + 0 : undefined)
  }
  return kind === 'date'
    ? (value) => (typeof value === 'string' ? parseDate(value) : undefined)
    : (value) => (typeof value === 'string' ? parseScaled(value, scale) : undefined)
}

const EXPECTED_TEXTS = {
  text: 'a text',
  boolean: 'true or false',
  integer: 'a whole number',
  date: 'a date such as "2024-01-31"',
} as const

function describeFault(input: Input, column: Column, value: unknown): Fault {
  const { kind, scale, values } = column
  const wanted =
    kind === 'decimal' ? `a number as text with at most ${scale} digits after the point` : EXPECTED_TEXTS[kind]
  if (kind === 'text' && typeof value === 'string') {
    if (values)
      return { code: 'input_not_allowed', message: `${formatForMessage(value)} is not one of the allowed values.` }
    const message = `the text holds what cannot be stored, or has more than ${MAX_INPUT_CHARS} characters.`
    return { code: 'input_type', message }
  }
  if (kind === 'text' || kind === 'boolean' || getParser(kind, scale)(value) === undefined) {
    return { code: 'input_type', message: `${wanted} is expected, not ${formatForMessage(value)}.` }
  }
  const from = input.minimum === undefined ? '' : ` from ${input.minimum}`
  const to = input.maximum === undefined ? '' : ` to ${input.maximum}`
  return { code: 'input_not_allowed', message: `${formatForMessage(value)} is outside what is allowed,${from}${to}.` }
}

/** Faults of the inputs alone: unknown, missing, of the wrong type, not allowed. */
export function findInputFaults(readers: readonly InputReader[], inputs: Inputs): Finding[] {
  const known = new Set(readers.map(({ input }) => input.name))
  const unknown = Object.keys(inputs)
    .filter((name) => !known.has(name))
    .map((name): Finding => {
      const message = `There is no input ${formatForMessage(name)}.`
      return { code: 'input_unknown', pointer: toStorable(`/${escapeStep(name)}`), message, severity: 'error' }
    })
  const faults = readers.flatMap((reader) => {
    const { input, fallback } = reader
    const value = reader.getRaw(inputs)
    if (value !== undefined) return reader.read(value) === undefined ? reader.explain(value) : []
    if (fallback !== undefined) return []
    const message = `${input.title}: this input is missing.`
    return [{ code: 'input_missing', pointer: `/${input.name}`, message, severity: 'error' } satisfies Finding]
  })
  return [...faults, ...unknown].slice(0, MAX_FINDINGS)
}

/** The text of a value, for sentences and for keys of entries. */
export function formatValue(value: Scalar, { kind, scale }: Column): string {
  if (typeof value === 'string') return value
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  return kind === 'date' ? formatDate(value) : formatScaled(value, scale)
}

export const formatForSentence = (held: InputValue, column: Column): string => {
  if (typeof held !== 'object') return formatValue(held, column)
  return held.length === 0 ? 'nothing' : held.join(', ')
}
