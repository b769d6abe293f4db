/**
 * Requests made from the API document: valid ones, which fit every schema they touch, and invalid ones, which were broken
 * in one known way. Each says which statuses would be right; the contract's validator is asked before either claim is made.
 */

import type { ApiContract, Operation, Parameter } from './contract.ts'
import { type JsonSchema, type RecallValue, SchemaTooDeep, SchemaValues } from './schema-values.ts'
import type { SeededRandom } from './seeded-random.ts'

export interface GeneratedRequest {
  readonly operation: Operation
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string | Buffer | undefined
  readonly token: 'good' | 'none' | 'bad'
  /** What was broken, or `valid`. */
  readonly kind: string
  isExpected(status: number): boolean
}

interface Parts {
  readonly path: Record<string, string>
  readonly query: [name: string, text: string][]
  readonly body: unknown
}
type BrokenRequest = Partial<Pick<GeneratedRequest, 'method' | 'url' | 'headers' | 'body' | 'token'>> & {
  readonly statuses: readonly number[]
}
type Mutation = readonly [kind: string, make: () => BrokenRequest | undefined]

const TRIES = 60
const HEAVY_RARITY = 25
/** Never right for a request that fits the document; 401 only where credentials are the content. */
const unexpectedForValid = new Set([400, 405, 406, 408, 412, 413, 415, 422, 424, 429, 431])

const malformedBodies: readonly (string | Buffer)[] = [
  '{',
  '{"a":1,}',
  '{"a":1,"a":2}',
  '{"a":"\\ud800"}',
  '{"a":1e999}',
  '{"a":9007199254740993}',
  "{'a':1}",
  '\ufeff{}',
  '{}{}',
  'NaN',
  '['.repeat(70) + ']'.repeat(70),
  Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]),
  Buffer.from('{}', 'utf16le'),
]

export class GeneratedRequests {
  readonly #contract: ApiContract
  readonly #random: SeededRandom
  readonly #values: SchemaValues
  readonly #weightedOperations: readonly Operation[]

  constructor(contract: ApiContract, random: SeededRandom, seen: RecallValue) {
    this.#contract = contract
    this.#random = random
    this.#values = new SchemaValues(random, contract.components, seen)
    this.#weightedOperations = contract.operations.flatMap((operation) =>
      Array(operation.heavy ? 1 : HEAVY_RARITY).fill(operation),
    )
  }

  valid(): GeneratedRequest {
    const operation = this.#random.pick(this.#weightedOperations)
    const parts = this.#buildParts(operation)
    return {
      ...this.#buildRequest(operation, parts),
      kind: 'valid',
      isExpected: (status) => status < 500 && !unexpectedForValid.has(status) && (status !== 401 || operation.open),
    }
  }

  invalid(): GeneratedRequest {
    for (;;) {
      const operation = this.#random.pick(this.#weightedOperations)
      const parts = this.#buildParts(operation)
      const [kind, make] = this.#random.pick(this.#mutations(operation, parts))
      const broken = make()
      if (!broken) continue
      const { statuses, ...change } = broken
      const plain = this.#buildRequest(operation, parts)
      return {
        ...plain,
        ...change,
        headers: { ...plain.headers, ...change.headers },
        kind,
        isExpected: (status) => statuses.includes(status),
      }
    }
  }

  #buildParts(operation: Operation): Parts {
    const path: Record<string, string> = {}
    const query: [string, string][] = []
    for (const parameter of operation.parameters) {
      if (!parameter.required && this.#random.chance(0.5)) continue
      const value = this.#findValidValue(parameter.schema, parameter.name)
      if (parameter.in === 'path') path[parameter.name] = String(value)
      else for (const one of [value].flat()) query.push([parameter.name, String(one)])
    }
    return { path, query, body: operation.body && this.#findValidValue(operation.body, '') }
  }

  #findValidValue(schema: JsonSchema, name: string): unknown {
    for (let i = 0; i < TRIES; i++) {
      const value = this.#proposeValue(schema, name)
      if (value !== undefined && this.#contract.fits(schema, value)) return value
    }
    throw new Error(`no value was found for ${name || 'a body'}: ${JSON.stringify(schema).slice(0, 300)}`)
  }

  #proposeValue(schema: JsonSchema, name: string): unknown {
    try {
      return this.#values.validValue(schema, name)
    } catch (error) {
      if (error instanceof SchemaTooDeep) return undefined
      throw error
    }
  }

  #buildRequest(operation: Operation, parts: Parts) {
    const headers: Record<string, string> = {}
    const body = operation.bytes
      ? this.#random.hex(this.#random.below(200))
      : operation.body && JSON.stringify(parts.body)
    if (body !== undefined) headers['content-type'] = operation.bytes ? 'application/octet-stream' : 'application/json'
    if (operation.method === 'POST' && this.#random.chance(0.2)) headers['idempotency-key'] = this.#random.hex(16)
    return {
      operation,
      method: operation.method,
      url: buildUrl(operation, parts),
      headers,
      body,
      token: operation.open ? ('none' as const) : ('good' as const),
    }
  }

  #mutations(operation: Operation, parts: Parts): Mutation[] {
    const random = this.#random
    const own = [...operation.parameters]
    const ways: Mutation[] = [
      [
        'unknown parameter',
        () => ({ url: withQuery(operation, parts, `${random.pick(unknownNames)}=1`), statuses: [422] }),
      ],
      [
        'unreadable query',
        () => ({ url: withQuery(operation, parts, random.pick(malformedQueries)), statuses: [400] }),
      ],
      ['unknown method', () => ({ method: random.pick(otherMethods), body: undefined, statuses: [405] })],
      ['not acceptable', () => ({ headers: { accept: 'application/x-nothing' }, statuses: [406] })],
    ]
    if (!operation.open) {
      ways.push(
        ['no token', () => ({ token: 'none', statuses: [401] })],
        ['bad token', () => ({ token: 'bad', statuses: [401] })],
      )
    }
    for (const parameter of own)
      ways.push([`bad ${parameter.in} parameter`, () => this.#breakParameter(operation, parts, parameter)])
    for (const { name } of own.filter((one) => one.in === 'query' && one.schema.type !== 'array').slice(0, 1)) {
      const twice = `${name}=1&${name}=1`
      ways.push([
        'parameter twice',
        () => ({ url: `${buildUrl(operation, { ...parts, query: [] })}?${twice}`, statuses: [400] }),
      ])
    }
    return [...ways, ...this.#bodyMutations(operation, parts)]
  }

  #bodyMutations(operation: Operation, parts: Parts): Mutation[] {
    const random = this.#random
    const { body } = operation
    if (operation.method === 'GET') return []
    const json = { 'content-type': 'application/json' }
    if (operation.bytes) return [['JSON for bytes', () => ({ headers: json, body: '{}', statuses: [415] })]]
    const broken: Mutation = [
      'broken JSON',
      () => ({ headers: json, body: random.pick(malformedBodies), statuses: [400] }),
    ]
    if (!body) return [broken, ['body where none is taken', () => ({ headers: json, body: '{}', statuses: [422] })]]
    const spoiled: Mutation = [
      'spoiled body',
      () => {
        const value = this.#values.invalidValue(body, parts.body)
        return this.#contract.fits(body, value) ? undefined : { body: JSON.stringify(value), statuses: [422] }
      },
    ]
    return [
      broken,
      ...Array<Mutation>(6).fill(spoiled),
      ['no body', () => ({ headers: json, body: '', statuses: [400] })],
      ['other media type', () => ({ headers: { 'content-type': random.pick(otherTypes) }, statuses: [415] })],
    ]
  }

  #breakParameter(operation: Operation, parts: Parts, parameter: Parameter): BrokenRequest | undefined {
    const { name, schema } = parameter
    const proposed = this.#values.invalidValue(schema, this.#findValidValue(schema, name))
    const text = typeof proposed === 'object' ? JSON.stringify(proposed) : String(proposed)
    // Nothing at all between two slashes is another path, not a bad identifier.
    if (text === '' && parameter.in === 'path') return undefined
    if (schema.type === 'array' || this.#contract.fits(schema, decodeText(schema, text))) return undefined
    const changed =
      parameter.in === 'path'
        ? { ...parts, path: { ...parts.path, [name]: text } }
        : { ...parts, query: [...parts.query.filter(([other]) => other !== name), [name, text] as [string, string]] }
    return { url: buildUrl(operation, changed), statuses: [422] }
  }
}

const unknownNames = ['x', 'tenant_id', 'LIMIT', '__proto__', 'constructor', 'limit[]', '%F0%9F%98%80']
const malformedQueries = ['%zz', '%', 'x=%ff', '%ED%A0%80=1']
const otherMethods = ['OPTIONS', 'TRACE', 'PROPFIND', 'LOCK', 'HEAD']
const otherTypes = ['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'json', 'application/jsonx']

/** As text in a URL becomes a value: only the one spelling of an integer or a boolean is one. */
function decodeText(schema: JsonSchema, text: string): unknown {
  if (schema.type === 'integer') return /^-?(0|[1-9][0-9]*)$/.test(text) ? Number(text) : text
  if (schema.type === 'boolean') return text === 'true' ? true : text === 'false' ? false : text
  return text
}

function buildUrl(operation: Operation, { path, query }: Parts): string {
  const place = operation.path.replace(/\{([a-z0-9_]+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''))
  const text = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
  return text === '' ? place : `${place}?${text}`
}

function withQuery(operation: Operation, parts: Parts, more: string): string {
  const url = buildUrl(operation, parts)
  return `${url}${url.includes('?') ? '&' : '?'}${more}`
}
