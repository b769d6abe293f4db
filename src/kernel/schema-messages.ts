/** What a fault by a schema says to the person who wrote the value: neither regular expressions nor words of JSON Schema. */
import type { ErrorObject } from 'ajv/dist/2020.js'
import { patternHints } from './schema.ts'

type Fault = Pick<ErrorObject, 'keyword' | 'params'>

const count = (limit: unknown, noun: string): string => `${limit} ${noun}${limit === 1 ? '' : 's'}`

const limits: Readonly<Record<string, (limit: unknown) => string>> = {
  minLength: (limit) => (limit === 1 ? 'must not be empty' : `must have at least ${count(limit, 'character')}`),
  maxLength: (limit) => `must have at most ${count(limit, 'character')}`,
  minItems: (limit) => `must have at least ${count(limit, 'item')}`,
  maxItems: (limit) => `must have at most ${count(limit, 'item')}`,
  minProperties: (limit) => `must have at least ${count(limit, 'member')}`,
  maxProperties: (limit) => `must have at most ${count(limit, 'member')}`,
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
}

const typeNames: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

/** Undefined where the message of the validator is as good. */
export function describeLimit({ keyword, params }: Fault): string | undefined {
  if (keyword === 'pattern') return patternHints.get(String(params['pattern']))
  if (keyword === 'uniqueItems') return 'must not have the same item twice'
  return limits[keyword]?.(params['limit'])
}

/** A sentence for the author of a definition, and the pointer to its place. */
export function describeSchemaFault(error: ErrorObject): readonly [pointer: string, message: string] {
  const { keyword, instancePath, params } = error
  const name = String(params['additionalProperty'] ?? params['missingProperty'])
  const member = `${instancePath}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
  if (keyword === 'additionalProperties') return [member, 'This member does not exist here.']
  if (keyword === 'required') return [member, 'This member is required.']
  if (keyword === 'enum')
    return [instancePath, `This must be one of ${(params['allowedValues'] as unknown[]).join(', ')}.`]
  return [instancePath, `This ${describeLimit(error) ?? describeOther(error)}.`]
}

function describeOther({ keyword, params, message }: ErrorObject): string {
  if (keyword === 'pattern') return 'does not have the form that is expected here'
  if (keyword !== 'type') return message ?? 'is not valid'
  const names = [params['type']].flat().map((type) => typeNames[String(type)] ?? String(type))
  return `must be ${names.join(' or ')}`
}

/** An empty text breaks a pattern too: one of both faults is enough. */
export const omitImplied = <E extends Pick<ErrorObject, 'keyword' | 'instancePath'>>(errors: readonly E[]): E[] => {
  const empty = new Set(errors.filter(({ keyword }) => keyword === 'minLength').map(({ instancePath }) => instancePath))
  return errors.filter(({ keyword, instancePath }) => keyword !== 'pattern' || !empty.has(instancePath))
}
