/**
 * The part of JSON Schema by which plugins declare inputs, outputs and configuration. It is interpreted and takes time linear in
 * the value, so that the process itself can check values by schemas that tenants wrote. Only patterns are compiled, each once for
 * as long as its schema is in memory.
 */
import { isDeepStrictEqual } from 'node:util'
import { isTitleText } from '#kernel/schema.ts'
import { formatPointer, isObject } from '../content/json-pointer.ts'
import { compilePattern, findPatternFault, type Matcher } from './pattern.ts'
import { findSchemaLimitFault, type ValueFault } from './value-schema-limits.ts'

export type { ValueFault }

export const SCHEMA_TYPES = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'] as const
type SchemaType = (typeof SCHEMA_TYPES)[number]

export interface ValueSchema {
  readonly type?: SchemaType | readonly SchemaType[]
  readonly title?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Readonly<Record<string, ValueSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | ValueSchema
  readonly items?: ValueSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
}

const MAX_FAULTS = 20

type KeywordCheck = (value: unknown) => string | null

const isCount: KeywordCheck = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? null : 'must be a whole number of at least 0'
const isNumber: KeywordCheck = (value) => (Number.isFinite(value) ? null : 'must be a number')
const isText: KeywordCheck = (value) => {
  if (typeof value !== 'string') return 'must be a text'
  return value === '' || isTitleText(value)
    ? null
    : 'must be visible, without characters that change the direction of text'
}
const isAny: KeywordCheck = () => null
const isTexts: KeywordCheck = (value) =>
  Array.isArray(value) && value.every((each) => typeof each === 'string') ? null : 'must be a list of names'

const keywords: Readonly<Record<keyof ValueSchema, KeywordCheck>> = {
  type: (value) => {
    const types = Array.isArray(value) ? value : [value]
    const isShort = types.length > 0 && types.length <= SCHEMA_TYPES.length
    const isKnown = isShort && types.every((type) => SCHEMA_TYPES.includes(type))
    return isKnown ? null : `must be one of ${SCHEMA_TYPES.join(', ')}`
  },
  title: isText,
  description: isText,
  default: isAny,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? null : 'must be a list with at least one value'),
  const: isAny,
  properties: (value) => (isObject(value) ? null : 'must be an object of schemas'),
  required: isTexts,
  additionalProperties: (value) =>
    typeof value === 'boolean' || isObject(value) ? null : 'must be true, false or a schema',
  items: (value) => (isObject(value) ? null : 'must be a schema'),
  minItems: isCount,
  maxItems: isCount,
  minLength: isCount,
  maxLength: isCount,
  pattern: (value) => (typeof value === 'string' ? findPatternFault(value) : 'must be a text'),
  minimum: isNumber,
  maximum: isNumber,
}

/** Everything in a schema that cannot be used, with its place. A schema beyond a limit is not looked at further. */
export function findSchemaFaults(schema: unknown): ValueFault[] {
  const beyond = findSchemaLimitFault(schema)
  if (beyond) return [beyond]
  const faults: ValueFault[] = []
  const check = (value: unknown, path: readonly (string | number)[]): void => {
    if (faults.length >= MAX_FAULTS) return
    if (!isObject(value)) {
      faults.push({ pointer: formatPointer(path), message: 'A schema is an object.' })
      return
    }
    for (const [name, member] of Object.entries(value)) {
      if (faults.length >= MAX_FAULTS) return
      const keyword = Object.hasOwn(keywords, name) ? keywords[name as keyof ValueSchema] : undefined
      const fault = keyword ? keyword(member) : 'is not available in the schema of a plugin'
      if (fault !== null) faults.push({ pointer: formatPointer([...path, name]), message: `"${name}" ${fault}.` })
    }
    if (isObject(value['properties'])) {
      for (const [name, member] of Object.entries(value['properties'])) check(member, [...path, 'properties', name])
    }
    if (isObject(value['items'])) check(value['items'], [...path, 'items'])
    if (isObject(value['additionalProperties'])) check(value['additionalProperties'], [...path, 'additionalProperties'])
  }
  check(schema, [])
  return faults.slice(0, MAX_FAULTS)
}

/** Where a value does not fit a schema that has no faults. */
export function findValueFaults(schema: ValueSchema, value: unknown): ValueFault[] {
  const report = new FaultReport()
  checkValue(schema, value, [], report)
  return report.faults
}

/** The value with the defaults that the schema gives for members it lacks. */
export function fillDefaults(schema: ValueSchema, value: unknown): unknown {
  if (!isObject(value)) return value
  const filled: Record<string, unknown> = { ...value }
  for (const [name, member] of Object.entries(schema.properties ?? {})) {
    if (!isObject(member)) continue
    if (!Object.hasOwn(filled, name) && Object.hasOwn(member, 'default')) {
      Object.defineProperty(filled, name, { value: member.default, ...PLAIN_MEMBER })
    }
    if (Object.hasOwn(filled, name)) {
      Object.defineProperty(filled, name, { value: fillDefaults(member, filled[name]), ...PLAIN_MEMBER })
    }
  }
  return filled
}
/** Unlike an assignment, it also defines a member with the name `__proto__`. */
const PLAIN_MEMBER = { writable: true, enumerable: true, configurable: true } as const

type Path = readonly (string | number)[]

/** The first faults. What comes after them is not checked, so that a value with many faults takes no longer than one without. */
class FaultReport {
  readonly faults: ValueFault[] = []

  get isFull(): boolean {
    return this.faults.length >= MAX_FAULTS
  }

  add(path: Path, message: string): void {
    if (!this.isFull) this.faults.push({ pointer: formatPointer(path), message })
  }
}

/** Checks of one schema that take long to prepare: made when the first value needs them. */
interface PreparedChecks {
  matcher?: Matcher
  values?: ReadonlySet<unknown>
}

const preparedChecks = new WeakMap<ValueSchema, PreparedChecks>()

function getPrepared(schema: ValueSchema): PreparedChecks {
  const known = preparedChecks.get(schema)
  if (known) return known
  const prepared: PreparedChecks = {}
  preparedChecks.set(schema, prepared)
  return prepared
}

function getMatcher(schema: ValueSchema, pattern: string): Matcher {
  const prepared = getPrepared(schema)
  prepared.matcher ??= compilePattern(pattern)
  return prepared.matcher
}

function isInEnum(schema: ValueSchema, listed: readonly unknown[], value: unknown): boolean {
  const prepared = getPrepared(schema)
  prepared.values ??= new Set(listed.map(toComparable))
  return prepared.values.has(toComparable(value))
}

/** A Set compares objects by identity, so their text stands for them. A quotation mark tells texts apart from it. */
function toComparable(value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' && value !== null ? toSortedJson(value) : value
}

/** The same text for equal values, whatever the order of their members. */
function toSortedJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toSortedJson).join()}]`
  if (!isObject(value)) return JSON.stringify(value)
  const names = Object.keys(value).sort()
  return `{${names.map((name) => `${JSON.stringify(name)}:${toSortedJson(value[name])}`).join()}}`
}

function checkValue(schema: ValueSchema, value: unknown, path: Path, report: FaultReport): void {
  if (report.isFull) return
  const types = schema.type === undefined ? null : [schema.type].flat()
  if (types && !types.some((type) => isOfType(type as SchemaType, value))) {
    report.add(path, `must be of type ${types.join(' or ')}`)
    return
  }
  if (schema.enum && !isInEnum(schema, schema.enum, value)) {
    report.add(path, `must be one of ${clip(JSON.stringify(schema.enum))}`)
  }
  if (Object.hasOwn(schema, 'const') && !isDeepStrictEqual(schema.const, value)) {
    report.add(path, `must be ${clip(JSON.stringify(schema.const))}`)
  }
  if (typeof value === 'string') checkText(schema, value, path, report)
  else if (typeof value === 'number') checkNumber(schema, value, path, report)
  else if (Array.isArray(value)) checkArray(schema, value, path, report)
  else if (isObject(value)) checkObject(schema, value, path, report)
}

const clip = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}…` : text)

function isOfType(type: SchemaType, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'object') return isObject(value)
  if (type === 'integer') return Number.isInteger(value)
  return typeof value === type
}

function checkText(schema: ValueSchema, value: string, path: Path, report: FaultReport): void {
  const { minLength, maxLength, pattern } = schema
  const length = minLength === undefined && maxLength === undefined ? 0 : [...value].length
  if (minLength !== undefined && length < minLength) report.add(path, `must have at least ${minLength} characters`)
  if (maxLength !== undefined && length > maxLength) report.add(path, `must have at most ${maxLength} characters`)
  if (pattern !== undefined && !getMatcher(schema, pattern).test(value)) {
    report.add(path, `must match ${clip(pattern)}`)
  }
}

function checkNumber({ minimum, maximum }: ValueSchema, value: number, path: Path, report: FaultReport): void {
  if (minimum !== undefined && value < minimum) report.add(path, `must be at least ${minimum}`)
  if (maximum !== undefined && value > maximum) report.add(path, `must be at most ${maximum}`)
}

function checkArray({ minItems, maxItems, items }: ValueSchema, value: unknown[], path: Path, report: FaultReport) {
  if (minItems !== undefined && value.length < minItems) report.add(path, `must have at least ${minItems} items`)
  if (maxItems !== undefined && value.length > maxItems) report.add(path, `must have at most ${maxItems} items`)
  if (!items) return
  for (const [index, each] of value.entries()) {
    if (report.isFull) return
    checkValue(items, each, [...path, index], report)
  }
}

function checkObject(schema: ValueSchema, value: Record<string, unknown>, path: Path, report: FaultReport): void {
  const { properties = {}, required = [], additionalProperties = true } = schema
  for (const name of required) {
    if (report.isFull) return
    if (!Object.hasOwn(value, name)) report.add([...path, name], 'is required')
  }
  for (const [name, member] of Object.entries(value)) {
    if (report.isFull) return
    const known = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (known) checkValue(known, member, [...path, name], report)
    else if (additionalProperties === false) report.add([...path, name], 'is not declared')
    else if (additionalProperties !== true) checkValue(additionalProperties, member, [...path, name], report)
  }
}
