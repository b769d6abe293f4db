/**
 * Decodes a raw query string for a closed object schema. It converts only the canonical spelling of integers and booleans and
 * leaves everything else a string, so that the validator can report it.
 */

import { fail, type ProblemError } from './problem.ts'
import { toJsonPointer } from './strict-json.ts'

export const MAX_QUERY_PARAMETERS = 100

const INTEGER = /^-?(0|[1-9][0-9]*)$/
const UNENCODED = /[^!-~]/

/** The part of a JSON Schema object that decides how text is converted. */
export interface QuerySchema {
  readonly properties?: Readonly<Record<string, unknown>>
}

interface Parameter {
  readonly type?: unknown
  readonly items?: unknown
}

export function parseQueryString(raw: string): Map<string, string[]> {
  const parameters = new Map<string, string[]>()
  const pairs = raw.split('&').filter((pair) => pair !== '')
  if (pairs.length > MAX_QUERY_PARAMETERS) {
    refuse([{ name: [], detail: `There are more than ${MAX_QUERY_PARAMETERS} query parameters. Send fewer.` }])
  }
  for (const pair of pairs) {
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals), [])
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), [name])
    const values = parameters.get(name)
    if (values) values.push(value)
    else parameters.set(name, [value])
  }
  return parameters
}

export function decodeQuery(schema: QuerySchema, raw: string): Record<string, unknown> {
  // Without a prototype a parameter named __proto__ is an ordinary member, which the validator refuses.
  const query: Record<string, unknown> = Object.create(null)
  const repeated: QueryFault[] = []
  for (const [name, values] of parseQueryString(raw)) {
    const parameter = findParameter(schema, name)
    if (parameter?.type === 'array') {
      const items = parameter.items as Parameter | undefined
      query[name] = values.map((value) => convert(items?.type, value))
      continue
    }
    if (parameter && values.length > 1) {
      repeated.push({ name: [name], detail: 'The parameter appears more than once. Send it once.' })
    }
    query[name] = convert(parameter?.type, values[0] ?? '')
  }
  if (repeated.length > 0) refuse(repeated)
  return query
}

function findParameter({ properties }: QuerySchema, name: string): Parameter | undefined {
  return properties && Object.hasOwn(properties, name) ? (properties[name] as Parameter) : undefined
}

function convert(type: unknown, text: string): unknown {
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true'
  if (type === 'integer' && INTEGER.test(text)) {
    const value = Number(text)
    // Adding 0 turns -0 into 0.
    if (Number.isSafeInteger(value)) return value + 0
  }
  return text
}

function decode(text: string, name: readonly string[]): string {
  if (UNENCODED.test(text)) {
    refuse([{ name, detail: 'The query holds a character that must be percent-encoded as UTF-8.' }])
  }
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return refuse([{ name, detail: 'The query is not percent-encoded UTF-8. Write each % as %25 and encode again.' }])
  }
}

interface QueryFault {
  readonly name: readonly string[]
  readonly detail: string
}

function refuse(faults: readonly QueryFault[]): never {
  const errors: ProblemError[] = faults.map(({ name, detail }) => ({
    in: 'query',
    pointer: toJsonPointer(name),
    detail,
  }))
  const detail = faults[0]?.detail ?? ''
  fail('malformed_request', {
    detail: faults.length > 1 ? `${faults.length} parameters appear more than once.` : detail,
    errors,
  })
}
