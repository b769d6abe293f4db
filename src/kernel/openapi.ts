/**
 * The OpenAPI 3.1 document, generated from the declarations that the server runs. Headers that would make generated requests
 * fail by design (If-Match, Idempotency-Key …) are described in prose.
 */

import { isDeepStrictEqual } from 'node:util'
import { hasFreeFormParts } from './http/validation.ts'
import type { Module } from './module.ts'
import { type ProblemCode, problems } from './problem.ts'
import { ChangeRequestView } from './request/approval.ts'
import { isStreamReply, type Route } from './route.ts'
import type { TSchema } from './schema.ts'

type Json = Record<string, unknown>

const commonCodes: readonly ProblemCode[] = [
  'malformed_request',
  'validation_failed',
  'rate_limited',
  'internal',
  'dependency_unavailable',
  'overloaded',
  'shutting_down',
  'not_acceptable',
  'headers_too_large',
  'request_timeout',
  'method_not_allowed',
]
const authenticationCodes: readonly ProblemCode[] = [
  'token_missing',
  'token_invalid',
  'token_expired',
  'token_revoked',
  'tenant_context_missing',
  'tenant_suspended',
  'role_required',
  'concurrency_limited',
]
const bodyCodes: readonly ProblemCode[] = ['too_large', 'media_type_unsupported']
const idempotencyCodes: readonly ProblemCode[] = [
  'idempotency_in_progress',
  'idempotency_key_reused',
  'idempotency_not_replayable',
]

/** Every problem code of an operation: declared ones and those its options imply. Tests enforce that there are no others. */
export function listProblemCodes(route: Route): ReadonlySet<ProblemCode> {
  const codes = new Set<ProblemCode>([...commonCodes, ...route.problems])
  const add = (more: readonly ProblemCode[]) => {
    for (const code of more) codes.add(code)
  }
  if (route.access === 'tenant') add(authenticationCodes)
  if (route.method !== 'GET') add(bodyCodes)
  if (route.body && hasFreeFormParts(route.body)) add(['content_unstorable'])
  if (route.method === 'POST' && route.access === 'tenant') add(idempotencyCodes)
  if (isRevisionedChange(route)) add(['precondition_failed', 'revision_stale'])
  if (route.governed || route.proposes) add(['approvers_missing'])
  if (route.governed?.breakGlass) add(['person_required'])
  if ((route.query as { properties?: Json } | undefined)?.properties?.['cursor']) add(['cursor_not_found'])
  return codes
}

/** A creation has no revision to compare with. */
const isRevisionedChange = (route: Route): boolean =>
  route.revisioned === true && route.method !== 'GET' && route.reply[0] !== 201

const getTitle = (schema: TSchema): string | undefined => (schema as { title?: string }).title

/** Keywords whose value is data, not a schema. */
const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'examples'])

/** States that an object without declared members is open: generators of clients otherwise read it as an empty object. */
function declareFreeForm(schema: Json): Json {
  const isObject = schema['type'] === 'object' || (Array.isArray(schema['type']) && schema['type'].includes('object'))
  const isDeclared = ['properties', 'patternProperties', 'additionalProperties'].some((keyword) => keyword in schema)
  return isObject && !isDeclared ? { ...schema, additionalProperties: true } : schema
}

/** Schemas with a title become components; all others are inlined. */
function createComponents() {
  const schemas: Json = {}
  const visitMembers = (members: object): Json =>
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, visit(schema)]))
  const visitKeyword = (keyword: string, value: unknown): unknown => {
    if (dataKeywords.has(keyword)) return value
    return keyword === 'properties' ? visitMembers(value as object) : visit(value)
  }
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit)
    if (typeof value !== 'object' || value === null) return value
    const name = getTitle(value as TSchema)
    const copy = declareFreeForm(
      Object.fromEntries(Object.entries(value).map(([keyword, part]) => [keyword, visitKeyword(keyword, part)])),
    )
    if (name === undefined || !/^[A-Z][A-Za-z]+$/.test(name)) return copy
    if (schemas[name] && !isDeepStrictEqual(schemas[name], copy)) {
      throw new Error(`two different schemas have the title ${name}`)
    }
    schemas[name] = copy
    return { $ref: `#/components/schemas/${name}` }
  }
  return { schemas, visit: (schema: TSchema) => visit(JSON.parse(JSON.stringify(schema))) as Json }
}

function buildParameters(route: Route, visit: (schema: TSchema) => Json): Json[] {
  const list = (part: 'path' | 'query', schema: TSchema | undefined): Json[] => {
    const { properties = {}, required = [] } = (schema ?? {}) as {
      properties?: Record<string, TSchema>
      required?: string[]
    }
    return Object.entries(properties).map(([name, property]) => {
      const { description, ...rest } = visit(property) as { description?: string }
      return {
        name,
        in: part,
        required: part === 'path' || required.includes(name),
        ...(description && { description }),
        schema: rest,
      }
    })
  }
  return [...list('path', route.params), ...list('query', route.query)]
}

function describeRoute(route: Route): string {
  const lines = [route.description ?? '']
  if (route.access === 'tenant') lines.push(`Roles: ${route.roles.join(', ')}.`)
  if (route.governed)
    lines.push(
      `Governed as \`${route.governed.action}\`: where the tenant's approval policy asks for approvers, the answer is 202 with a change request.`,
    )
  if (route.starts) lines.push('Starts long work: poll the job named by Location until its state is terminal.')
  if (route.method === 'POST' && route.access === 'tenant') lines.push('Send `Idempotency-Key` to make retries safe.')
  if ((route.revisioned || route.cacheable) && route.method === 'GET')
    lines.push('Carries a strong ETag; `If-None-Match` gives 304.')
  if (isRevisionedChange(route))
    lines.push('`If-Match` with the ETag refuses the change (412) when the resource has moved.')
  return lines.filter(Boolean).join('\n\n')
}

/** A stream of events is described by the schema of one event. */
const eventSchema: Json = {
  type: 'object',
  required: ['data'],
  properties: {
    event: { type: 'string' },
    id: { type: 'string' },
    data: { type: 'string', contentMediaType: 'application/json' },
  },
}

function buildResponses(route: Route, visit: (schema: TSchema) => Json): Json {
  const [status, schema] = route.reply
  const responses: Json = {}
  const content =
    schema === null
      ? undefined
      : isStreamReply(schema)
        ? Object.fromEntries(
            schema.media_types.map((type) => [
              type,
              { schema: type === 'text/event-stream' ? eventSchema : { type: 'string' } },
            ]),
          )
        : { 'application/json': { schema: visit(schema) } }
  responses[status] = {
    description: isStreamReply(schema) ? schema.description : status === 204 ? 'Done.' : route.summary,
    ...(content && { content }),
    ...buildLinks({ ...route.links, ...(route.starts && { getJob: { job_id: 'job_id' } }) }),
  }
  if (route.governed) {
    responses[202] = {
      description: 'Waiting for approval.',
      content: { 'application/json': { schema: visit(ChangeRequestView) } },
      ...buildLinks({ getChangeRequest: { cr_id: 'cr_id' }, withdrawChangeRequest: { cr_id: 'cr_id' } }),
    }
  }
  if ((route.revisioned || route.cacheable) && route.method === 'GET') responses[304] = { description: 'Unchanged.' }
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of listProblemCodes(route))
    byStatus.set(problems[code].status, [...(byStatus.get(problems[code].status) ?? []), code])
  for (const [number, codes] of [...byStatus].sort(([a], [b]) => a - b)) {
    responses[number] = {
      description: codes.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
      content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
    }
  }
  if (route.alternateStatus && content) {
    const problem = responses[route.alternateStatus.status] as { content?: Json } | undefined
    responses[route.alternateStatus.status] = {
      description: route.summary,
      ...problem,
      content: { ...problem?.content, ...content },
    }
  }
  return responses
}

function buildLinks(links: NonNullable<Route['links']>): { links?: Json } {
  const named = Object.entries(links).map(([operationId, parameters]) => {
    const from = Object.entries(parameters).map(([to, member]) => [to, `$response.body#/${member}`])
    return [operationId, { operationId, parameters: Object.fromEntries(from) }]
  })
  return named.length > 0 ? { links: Object.fromEntries(named) } : {}
}

function buildOperation(module: Module, route: Route, visit: (schema: TSchema) => Json): Json {
  const parameters = buildParameters(route, visit)
  const body = route.body
    ? { required: true, content: { 'application/json': { schema: visit(route.body) } } }
    : route.bytes
      ? {
          required: true,
          description: route.bytes.description,
          content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
        }
      : undefined
  return {
    operationId: route.id,
    summary: route.summary,
    description: describeRoute(route),
    tags: [module.name],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: buildResponses(route, visit),
    security: route.access === 'tenant' ? [{ bearer: [] }] : [],
    ...(route.access === 'tenant' && { 'x-roles': route.roles, 'x-tx': route.tx }),
    ...(route.governed && { 'x-governed': route.governed.action }),
    ...(route.audited && { 'x-audited': true }),
    ...(route.starts && { 'x-starts': route.starts }),
    ...(route.limit && { 'x-limit': route.limit }),
  }
}

const problemSchema: Json = {
  title: 'Problem',
  type: 'object',
  description: 'RFC 9457 problem details. `code` is stable; `detail` says what to do.',
  required: ['type', 'title', 'status', 'code', 'detail', 'instance', 'request_id', 'retryable'],
  properties: {
    type: { type: 'string' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    code: { type: 'string', enum: Object.keys(problems) },
    detail: { type: 'string' },
    instance: { type: 'string' },
    request_id: { type: 'string' },
    retryable: { type: 'boolean' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['in', 'pointer', 'detail'],
        properties: {
          in: { type: 'string', enum: ['body', 'query', 'path', 'header'] },
          pointer: { type: 'string' },
          detail: { type: 'string' },
          keyword: { type: 'string' },
          instancePath: { type: 'string' },
        },
      },
    },
  },
}

export function buildOpenapiDocument(modules: readonly Module[], version: string, serverUrl: string | null): Json {
  const { schemas, visit } = createComponents()
  const paths: Record<string, Json> = {}
  for (const module of modules) {
    for (const route of module.routes) {
      const path = `/api${route.path.replace(/:([a-z_]+)/g, '{$1}')}`
      paths[path] ??= {}
      ;(paths[path] as Json)[route.method.toLowerCase()] = buildOperation(module, route, visit)
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Probity',
      version,
      summary: 'Multi-tenant compliance backend.',
      description:
        'Every authenticated route is scoped to the tenant in the bearer token; a row of another tenant is answered like a missing one. ' +
        'Errors are `application/problem+json`; the catalogue is at `/api/errors`. Lists are keyset pages: follow `next_cursor`. ' +
        'Long work answers 202 with a job to poll.',
    },
    servers: [{ url: serverUrl ?? '/' }],
    tags: modules
      .filter(({ routes }) => routes.length > 0)
      .map(({ name, summary }) => ({ name, description: summary })),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { ...schemas, Problem: problemSchema },
    },
  }
}
