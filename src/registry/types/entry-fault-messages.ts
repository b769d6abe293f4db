/**
 * Converts validator errors to sentences for a compliance officer, with the field titles of the type. Values of personal fields are
 * never included.
 */
import { escapeStep, parsePointer, valueAt } from '../content/json-pointer.ts'
import { describePattern } from './pattern.ts'
import type { Fault } from './schema-limits.ts'
import { getKind, toFieldPointer } from './schema-tree.ts'
import type { ErrorObject } from './schema-validator.ts'
import type { FieldDefinition } from './type-definition.ts'

export type EntryFault = Fault

export const MAX_FAULTS = 100
const EXCERPT_CHARS = 60
const LISTED_VALUES = 12
/** U+0000 and lone surrogates: neither PostgreSQL nor canonical JSON accepts them. */
export const UNSTORABLE = /[\0\p{Surrogate}]/gu

/** The title of the member at a pointer: the declared one, or its name in words. */
export function getFieldTitle(pointer: string, fields: Readonly<Record<string, FieldDefinition>>): string {
  const steps = parsePointer(pointer)
  const field = fields[pointer] ?? fields[toFieldPointer(steps)]
  if (field) return field.title
  const last = steps.at(-1)
  if (last === undefined) return 'The entry'
  if (/^\d+$/.test(last))
    return `Item ${Number(last) + 1} of ${lowerFirst(getFieldTitle(getParentPointer(pointer), fields))}`
  const words = last.replaceAll(/[_-]+/g, ' ').trim()
  return words === '' ? `Member "${last}"` : words.charAt(0).toUpperCase() + words.slice(1)
}

const getParentPointer = (pointer: string): string => pointer.slice(0, pointer.lastIndexOf('/'))
const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** A value for a message, shortened; never one that is, contains, or is part of personal data. */
export function createExcerpt(
  value: unknown,
  pointer: string,
  fields: Readonly<Record<string, FieldDefinition>>,
): string | null {
  const at = toFieldPointer(parsePointer(pointer))
  const isPersonal = Object.entries(fields).some(
    ([name, field]) => field.personal && (`${at}/`.startsWith(`${name}/`) || `${name}/`.startsWith(`${at}/`)),
  )
  if (isPersonal || value === undefined) return null
  return shorten(JSON.stringify(value) ?? String(value))
}

export function toEntryFaults(
  errors: readonly ErrorObject[],
  entry: unknown,
  fields: Readonly<Record<string, FieldDefinition>>,
): EntryFault[] {
  const seen = new Set<string>()
  const faults: EntryFault[] = []
  for (const error of selectRelevantErrors(errors)) {
    const createFault = toEntryFault(error, entry, fields)
    const identity = `${createFault.pointer} ${createFault.message}`
    if (seen.has(identity)) continue
    seen.add(identity)
    faults.push(createFault)
    if (faults.length === MAX_FAULTS) break
  }
  return faults
}

/**
 * Of alternatives (anyOf, oneOf) only the intended one is relevant. When a single branch accepts a value of this kind its errors are
 * reported, otherwise only that none fits.
 */
export function selectRelevantErrors(errors: readonly ErrorObject[]): ErrorObject[] {
  const dropped = new Set<ErrorObject>()
  for (const choice of errors) {
    // The errors of `then` or `else` are reported too and are more specific.
    if (choice.keyword === 'if') dropped.add(choice)
    if ((choice.keyword !== 'anyOf' && choice.keyword !== 'oneOf') || dropped.has(choice)) continue
    const branches = new Map<string, ErrorObject[]>()
    for (const error of errors) {
      if (!error.schemaPath.startsWith(`${choice.schemaPath}/`)) continue
      if (!`${error.instancePath}/`.startsWith(`${choice.instancePath}/`)) continue
      const branch = error.schemaPath.slice(choice.schemaPath.length + 1).split('/', 1)[0] as string
      branches.set(branch, [...(branches.get(branch) ?? []), error])
    }
    const isOtherKind = (branch: ErrorObject[]) =>
      branch.some(({ keyword, instancePath }) => keyword === 'type' && instancePath === choice.instancePath)
    const meant = [...branches.values()].filter((branch) => !isOtherKind(branch))
    const reported = meant.length === 1 ? (meant[0] as ErrorObject[]) : [choice]
    for (const error of [choice, ...[...branches.values()].flat()]) if (!reported.includes(error)) dropped.add(error)
  }
  return errors.filter((error) => !dropped.has(error))
}

function toEntryFault(
  error: ErrorObject,
  entry: unknown,
  fields: Readonly<Record<string, FieldDefinition>>,
): EntryFault {
  const { keyword, params } = error
  const inside = (name: unknown): string => `${error.instancePath}/${escapeStep(String(name))}`
  const missing = params['missingProperty']
  if (keyword === 'required') {
    return fault('required', inside(missing), `${getFieldTitle(inside(missing), fields)} is missing.`)
  }
  if (keyword === 'dependentRequired') {
    const because = getFieldTitle(inside(params['property']), fields)
    const message = `${getFieldTitle(inside(missing), fields)} is missing; it is needed because ${because} is given.`
    return fault('required', inside(missing), message)
  }
  if (keyword === 'additionalProperties') {
    const name = String(params['additionalProperty'])
    return fault('unknown_member', inside(name.slice(0, 100)), `${quoteShortened(name)} is not a member of this type.`)
  }
  if (keyword === 'propertyNames') {
    const name = String(params['propertyName'])
    return fault('name_refused', inside(name.slice(0, 100)), `${quoteShortened(name)} is not an allowed member name.`)
  }
  const value = valueAt(entry, parsePointer(error.instancePath))
  const [code, demand] =
    error.propertyName === undefined
      ? describeDemand(error)
      : (['name_refused', 'has a member name that is not allowed'] as const)
  const found = createExcerpt(value, error.instancePath, fields)
  const ending = found === null || getKind(value) === 'object' ? '.' : `; found ${found}.`
  return fault(code, error.instancePath, `${getFieldTitle(error.instancePath, fields)} ${demand}${ending}`)
}

/** Pointers and messages are stored, so names must not contain characters that the database refuses. */
export const fault = (code: string, pointer: string, message: string): EntryFault => ({
  code,
  pointer: pointer.replaceAll(UNSTORABLE, '\ufffd'),
  message: message.replaceAll(UNSTORABLE, '\ufffd'),
})
const shorten = (text: string): string => (text.length > EXCERPT_CHARS ? `${text.slice(0, EXCERPT_CHARS)}…` : text)
const quoteShortened = (text: string): string => JSON.stringify(shorten(text))

const FORMAT_WORDS: Readonly<Record<string, string>> = {
  date: 'a date like 2026-03-31',
  time: 'a time with its zone, like 14:30:00Z',
  'date-time': 'a date and time with its zone, like 2026-03-31T14:30:00Z',
  duration: 'a duration like P30D',
  email: 'an e-mail address',
  hostname: 'a host name',
  ipv4: 'an IPv4 address',
  ipv6: 'an IPv6 address',
  uri: 'a web address with its scheme, like https://example.com',
  uuid: 'a UUID',
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  null: 'empty (null)',
  object: 'an object',
  array: 'a list',
}

const count = (limit: unknown, one: string): string => `${limit} ${limit === 1 ? one : `${one}s`}`

/** Code of the fault and the requirement of the schema, as the rest of a sentence. */
export function describeDemand({ keyword, params, message }: ErrorObject): readonly [code: string, demand: string] {
  const { limit } = params
  switch (keyword) {
    case 'type':
      return [
        'wrong_type',
        `must be ${[params['type']]
          .flat()
          .map((type) => KIND_WORDS[type] ?? type)
          .join(' or ')}`,
      ]
    case 'enum':
      return ['not_allowed', `must be ${formatAllowed(params['allowedValues'] as unknown[])}`]
    case 'const':
      return ['not_allowed', `must be ${JSON.stringify(params['allowedValue'])}`]
    case 'pattern': {
      const words = describePattern(String(params['pattern']))
      return ['wrong_form', words ? `must be ${words}` : `does not have the required form (${params['pattern']})`]
    }
    case 'format':
      return ['wrong_form', `must be ${FORMAT_WORDS[String(params['format'])] ?? `a valid ${params['format']}`}`]
    case 'minLength':
      return limit === 1
        ? ['too_short', 'must not be empty']
        : ['too_short', `must have at least ${count(limit, 'character')}`]
    case 'maxLength':
      return ['too_long', `must have at most ${count(limit, 'character')}`]
    case 'minimum':
      return ['too_small', `must be ${limit} or more`]
    case 'maximum':
      return ['too_large', `must be ${limit} or less`]
    case 'exclusiveMinimum':
      return ['too_small', `must be more than ${limit}`]
    case 'exclusiveMaximum':
      return ['too_large', `must be less than ${limit}`]
    case 'multipleOf':
      return ['not_multiple', `must be a multiple of ${params['multipleOf']}`]
    case 'minItems':
      return ['too_few_items', `must have at least ${count(limit, 'item')}`]
    case 'maxItems':
    case 'items':
      return ['too_many_items', `must have at most ${count(limit, 'item')}`]
    case 'uniqueItems': {
      const [first, second] = [Number(params['i']) + 1, Number(params['j']) + 1].sort((a, b) => a - b)
      return ['repeated_item', `must not repeat an item (items ${first} and ${second} are equal)`]
    }
    case 'minProperties':
      return ['too_few_members', `must have at least ${count(limit, 'member')}`]
    case 'maxProperties':
      return ['too_many_members', `must have at most ${count(limit, 'member')}`]
    case 'contains':
      return ['item_missing', `does not hold the items the type asks for (${params['minContains']} or more of them)`]
    case 'anyOf':
      return ['no_alternative', 'fits none of the forms the type allows']
    case 'oneOf':
      return params['passingSchemas']
        ? ['ambiguous', 'fits more than one form of the type']
        : ['no_alternative', 'fits none of the forms the type allows']
    case 'not':
      return ['forbidden', 'has a form that the type forbids']
    case 'false schema':
      return ['forbidden', 'is not allowed here']
    default:
      return ['invalid', message ?? 'is not valid']
  }
}

function formatAllowed(values: readonly unknown[]): string {
  const shown = values.slice(0, LISTED_VALUES).map((value) => JSON.stringify(value))
  if (values.length > LISTED_VALUES) return `one of ${shown.join(', ')} or ${values.length - LISTED_VALUES} others`
  return shown.length === 1 ? `${shown[0]}` : `one of ${shown.slice(0, -1).join(', ')} or ${shown.at(-1)}`
}
