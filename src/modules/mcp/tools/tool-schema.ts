/**
 * Schemas of tools, made from those of their operations: one flat object of arguments without references, and a reply cut to what
 * a model needs of it. Both are weaker than the originals, which the kernel enforces.
 */
import type { Route, ToolMark } from '#kernel/route.ts'

export type Json = Readonly<Record<string, unknown>>
export interface ObjectSchema extends Json {
  readonly type: 'object'
  readonly properties: Readonly<Record<string, Json>>
  readonly required?: readonly string[]
}

/** Results of tools hold fewer items than pages of the API: a model reads all of them. */
export const MAX_ITEMS = 50
/** Levels of a reply that its schema describes: members of the reply, and of the items of a page. */
const OUTPUT_DEPTH = 1
const PAGE_DEPTH = 2
/** More levels than any argument has, and those whose members are explained. */
const INPUT_DEPTH = 100
const DESCRIBED_LEVELS = 1

type Part = 'params' | 'query' | 'body'
const PARTS: readonly Part[] = ['params', 'query', 'body']

export interface Argument {
  readonly part: Part
  /** The name of the member in the request. */
  readonly member: string
  readonly schema: Json
  readonly is_required: boolean
}

/** Arguments by the names that callers use. Two members of the same name would be one argument, so that is an error. */
export function listArguments(route: Route, mark: ToolMark): ReadonlyMap<string, Argument> {
  const found = new Map<string, Argument>()
  for (const part of PARTS) {
    const { properties = {}, required = [] } = (route[part] ?? {}) as unknown as Partial<ObjectSchema>
    for (const [member, schema] of Object.entries(properties)) {
      if (mark.omit?.includes(member)) continue
      const name = mark.rename?.[member] ?? member
      if (found.has(name)) throw new Error(`tool ${mark.name}: two arguments are called ${name}`)
      found.set(name, { part, member, schema, is_required: required.includes(member) })
    }
  }
  return found
}

/** Whether repeating a call could repeat its effect. */
export const takesIdempotencyKey = (route: Route): boolean =>
  route.method === 'POST' && !route.stores_nothing && route.tx !== 'one' && route.tx !== 'read'

export function buildInputSchema(route: Route, mark: ToolMark): ObjectSchema {
  const properties: Record<string, Json> = {}
  const required: string[] = []
  for (const [name, { schema, member, is_required }] of listArguments(route, mark)) {
    properties[name] = condense(schema, { depth: INPUT_DEPTH, isInput: true })
    if (member === 'limit') properties[name] = { type: 'integer', maximum: MAX_ITEMS }
    if (is_required) required.push(name)
  }
  if (mark.confirm) {
    properties['confirm'] = {
      type: 'string',
      description: `Repeat ${mark.confirm} to confirm. Clients that can ask a person leave it out.`,
    }
  }
  if (takesIdempotencyKey(route)) {
    properties['idempotency_key'] = {
      type: 'string',
      description: 'Any text of your own; a repeated call with it has no second effect.',
    }
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
}

const JOB_HANDLE: ObjectSchema = {
  type: 'object',
  properties: {
    job_id: { type: 'string' },
    state: { type: 'string' },
    poll_after_s: { type: 'integer', description: 'Then ask get_job.' },
  },
  required: ['job_id', 'state', 'poll_after_s'],
}

export function buildOutputSchema(route: Route): ObjectSchema {
  if (route.starts) return JOB_HANDLE
  const reply = route.reply[1] as unknown as ObjectSchema
  const depth = 'items' in reply.properties ? PAGE_DEPTH : OUTPUT_DEPTH
  return condense(reply, { depth, isInput: false }) as ObjectSchema
}

interface Condensing {
  readonly depth: number
  readonly isInput: boolean
}

/** Bookkeeping that schemas leave out; replies have it all the same. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'created_by',
  'updated_at',
  'updated_by',
  'revision',
  'restriction_id',
  'is_restricted',
  'engine',
  'is_test',
  'template_version',
  'locale',
  'time_zone',
  'queue_key',
  'seals',
  'review_every_days',
  'stale_after_days',
  'versions_total',
  'pending',
])

/** A pattern or a length helps no model; the problem of a refused call names them. */
const COPIED_IN_INPUT = ['type', 'enum', 'const', 'required', 'format', 'maximum', 'default', 'description']

/** No limit that anybody could meet, the form of ids that are only copied, and texts deep inside an argument. */
const isNoise = (name: string, value: unknown, depth: number): boolean =>
  value === Number.MAX_SAFE_INTEGER ||
  (name === 'format' && value === 'uuid') ||
  (name === 'description' && depth < INPUT_DEPTH - DESCRIBED_LEVELS)

function condense(schema: Json, { depth, isInput }: Condensing): Json {
  const inner = { depth: depth - 1, isInput }
  const kept: Record<string, unknown> = {}
  for (const name of isInput ? COPIED_IN_INPUT : ['type']) {
    if (name in schema && !isNoise(name, schema[name], depth)) kept[name] = schema[name]
  }
  const { properties, items, additionalProperties: rest } = schema as Record<string, Json | undefined>
  for (const name of ['anyOf', 'oneOf', 'allOf']) {
    const alternatives = schema[name] as readonly Json[] | undefined
    if (alternatives) kept[name] = alternatives.map((one) => condense(one, { depth, isInput }))
  }
  if (properties && depth <= 0) return { type: schema['type'] ?? 'object' }
  if (properties) {
    const members = Object.entries(properties as Readonly<Record<string, Json>>).filter(
      ([name]) => isInput || !LEFT_OUT.has(name),
    )
    kept['properties'] = Object.fromEntries(members.map(([name, one]) => [name, condense(one, inner)]))
  }
  const item = items && condense(items, properties ? inner : { depth, isInput })
  // Of an array in a reply it is enough that it is one, unless its items are described.
  if (item && (isInput || item['properties'])) kept['items'] = item
  if (typeof rest === 'object' && isInput) kept['additionalProperties'] = condense(rest, inner)
  return kept
}
