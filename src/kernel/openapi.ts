/**
 * The OpenAPI 3.1 document, generated from the declarations that the server runs. Headers that would make generated requests
 * fail by design (If-Match, Idempotency-Key …) are described in prose.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Module } from './module.ts'
import { orderOperations, orderTags, type TagGroup } from './openapi-order.ts'
import { createProblemResponses, isRevisionedChange, type ProblemExamples, problemSchema } from './openapi-problems.ts'
import { ChangeRequestView } from './request/approval.ts'
import { isStreamReply, type Route, type StreamReply } from './route.ts'
import { DefinitionFamily, type TSchema } from './schema.ts'

type Json = Record<string, unknown>

/** A request that succeeded, and the reply to it: JSON as such, text and events shortened. */
export interface OperationExample {
  readonly body?: unknown
  readonly reply?: unknown
}

export interface ApiExamples {
  /** By operationId. */
  readonly operations: Readonly<Record<string, OperationExample>>
  readonly problems: ProblemExamples
}

export interface OpenapiOptions {
  readonly modules: readonly Module[]
  readonly version: string
  readonly server_url: string | null
  readonly groups?: readonly TagGroup[]
  readonly examples?: ApiExamples
}

/** What the parts of one document share. */
interface DocumentContext {
  readonly visit: (schema: TSchema) => Json
  readonly problems: ReturnType<typeof createProblemResponses>
  readonly examples: ApiExamples | undefined
}

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
  if (route.starts)
    lines.push(
      'Starts long work: poll the job named by Location until its state is terminal. ' +
        'Answers 429 `concurrency_limited` while the tenant has as many unfinished jobs as its limit `heavy` allows.',
    )
  if (route.needs === 'provider')
    lines.push(
      'Needs a credential of the provider: answers 424 `provider_credential_missing`, before anything is stored, and names in ' +
        '`missing` every credential that is absent, disabled, expired or rejected.',
    )
  if (route.executes === 'plugin')
    lines.push(
      'May run a plugin: answers 503 `plugin_invalid` with every reason, or `plugin_failed`, and nothing is decided without the ' +
        'plugin or by another version of it. Neither is worth repeating: `retryable` is false and there is no `Retry-After`.',
    )
  if (route.secret_body)
    lines.push('The body holds a secret. It is encrypted at once; no answer, log line or record contains it.')
  if (route.uses.includes('threads'))
    lines.push('Computed in a worker thread: answers 429 or 503 with `Retry-After` while the threads are taken.')
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

/** The operation whose recorded reply stands for every change that waits for approval. */
const CHANGE_REQUEST_OPERATION = 'getChangeRequest'

const toExampleName = (operation: string, part: keyof OperationExample): string => `${operation}.${part}`

/** Refers to the component: documentation pages take seconds longer to load examples inside the operations. */
function toExamples(
  operation: string,
  part: keyof OperationExample,
  { examples }: DocumentContext,
): { examples?: Json } {
  if (examples?.operations[operation]?.[part] === undefined) return {}
  return { examples: { example: { $ref: `#/components/examples/${toExampleName(operation, part)}` } } }
}

/** The recorded examples of all operations as components. */
function buildExampleComponents(routes: readonly Route[], { operations }: ApiExamples): Json {
  const parts = ['body', 'reply'] as const
  const entries = routes.flatMap(({ id }) => parts.map((part) => [toExampleName(id, part), operations[id]?.[part]]))
  return Object.fromEntries(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, { value }]])))
}

const BINARY_TYPE = /^application\/(?:octet-stream|pdf|zip|vnd\..+)$/

function buildStreamSchema(type: string, description: string): Json {
  if (type === 'text/event-stream') return eventSchema
  const contentMediaType = type.split(';')[0] as string
  // A file has no example: its schema says what it is.
  return BINARY_TYPE.test(type)
    ? { type: 'string', format: 'binary', contentMediaType, description }
    : { type: 'string', contentMediaType }
}

function buildStreamContent({ media_types, description, examples }: StreamReply, recorded: Json): Json {
  // What was recorded was answered without asking for one of the other types.
  const getExample = (type: string, n: number): Json => {
    if (n === 0) return recorded
    return examples[type] === undefined ? {} : { examples: { example: { value: examples[type] } } }
  }
  const entries = media_types.map((type, n) => [
    type,
    { schema: buildStreamSchema(type, description), ...getExample(type, n) },
  ])
  return Object.fromEntries(entries)
}

function buildContent(route: Route, context: DocumentContext): Json | undefined {
  const [, schema] = route.reply
  const example = toExamples(route.id, 'reply', context)
  if (schema === null) return undefined
  if (isStreamReply(schema)) return buildStreamContent(schema, example)
  return { 'application/json': { schema: context.visit(schema), ...example } }
}

function buildResponses(route: Route, context: DocumentContext): Json {
  const [status, schema] = route.reply
  const responses: Json = {}
  const content = buildContent(route, context)
  responses[status] = {
    description: isStreamReply(schema) ? schema.description : status === 204 ? 'Done.' : route.summary,
    ...(content && { content }),
    ...buildLinks({ ...route.links, ...(route.starts && { getJob: { job_id: 'job_id' } }) }),
  }
  if (route.governed) {
    const example = toExamples(CHANGE_REQUEST_OPERATION, 'reply', context)
    responses[202] = {
      description:
        'Waiting for approval. Where its author proposed exactly this before and that request is open, it is that one, with ' +
        '`existing: true`.',
      content: { 'application/json': { schema: context.visit(ChangeRequestView), ...example } },
      ...buildLinks({ getChangeRequest: { cr_id: 'cr_id' }, withdrawChangeRequest: { cr_id: 'cr_id' } }),
    }
  }
  if ((route.revisioned || route.cacheable) && route.method === 'GET') responses[304] = { description: 'Unchanged.' }
  for (const [number, response] of context.problems.build(route)) responses[number] = response
  if (route.alternateStatus && content) {
    const problem = context.problems.expand(route, route.alternateStatus.status) as { content?: Json } | undefined
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

/** Pages that send requests offer the first example: one that succeeds for everybody comes before the recorded one. */
function toBodyExamples({ id, ready_body }: Route, context: DocumentContext): { examples?: Json } {
  const recorded = toExamples(id, 'body', context)
  if (!ready_body) return recorded
  const { summary, value, recorded_summary } = ready_body
  const named = Object.entries(recorded.examples ?? {}).map(([name, example]) => [
    name,
    { summary: recorded_summary, ...(example as Json) },
  ])
  return { examples: { ready: { summary, value }, ...Object.fromEntries(named) } }
}

function buildRequestBody(route: Route, context: DocumentContext): Json | undefined {
  if (route.body) {
    const content = { schema: context.visit(route.body), ...toBodyExamples(route, context) }
    return { required: true, content: { 'application/json': content } }
  }
  const example = toExamples(route.id, 'body', context)
  if (!route.bytes) return undefined
  return {
    required: true,
    description: route.bytes.description,
    content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' }, ...example } },
  }
}

function buildOperation(module: Module, route: Route, context: DocumentContext): Json {
  const parameters = buildParameters(route, context.visit)
  const body = buildRequestBody(route, context)
  return {
    operationId: route.id,
    summary: route.summary,
    description: describeRoute(route),
    tags: [module.name],
    ...(parameters.length > 0 && { parameters }),
    ...(body && { requestBody: body }),
    responses: buildResponses(route, context),
    security: route.access === 'tenant' ? [{ bearer: [] }] : [],
    ...(route.access === 'tenant' && { 'x-roles': route.roles, 'x-tx': route.tx }),
    ...(route.governed && { 'x-governed': route.governed.action }),
    ...(route.audited && { 'x-audited': true }),
    ...(route.needs && { 'x-needs': route.needs }),
    ...(route.executes && { 'x-executes': route.executes }),
    ...(route.secret_body && { 'x-secret-body': true }),
    ...(route.starts && { 'x-starts': route.starts }),
  }
}

/** States which families there are: the schema cannot list what modules declare. */
function documentFamilies(schemas: Json, modules: readonly Module[]): Json {
  const title = getTitle(DefinitionFamily) as string
  const families = modules.flatMap(({ definition_kinds = [] }) => definition_kinds.map(({ family }) => family))
  return title in schemas ? { ...schemas, [title]: { ...(schemas[title] as Json), examples: families } } : schemas
}

const INTRODUCTION =
  'With this API a bank keeps the policy of its compliance as versions (lists, risk matrices, rules), decides by it who is rated how and ' +
  'why, replays every decision exactly, works on alerts and investigations, and proves from a record who changed what. Everything that ' +
  'the console does is a call of this API.\n\n' +
  'A call needs a bearer token, which an API key or the identity provider gives. It sees the tenant of its token only; a row of another ' +
  'tenant is answered like a missing one. Errors are `application/problem+json`; the catalogue is at `/api/errors`. A list comes in pages: ' +
  'follow `next_cursor` until it is null. Long work is answered with 202 and a job to poll.\n\n' +
  'Every example was recorded from a real request; identifiers, times and hashes in it are replaced, long lists are cut.'

export function buildOpenapiDocument({ modules, version, server_url, groups = [], examples }: OpenapiOptions): Json {
  const { schemas, visit } = createComponents()
  const problems = createProblemResponses(examples?.problems)
  const context: DocumentContext = { visit, problems, examples }
  const paths: Record<string, Json> = {}
  const { tags, tagGroups } = orderTags(modules, groups)
  for (const { module, route } of orderOperations(modules, tags)) {
    const path = `/api${route.path.replace(/:([a-z_]+)/g, '{$1}')}`
    paths[path] ??= {}
    ;(paths[path] as Json)[route.method.toLowerCase()] = buildOperation(module, route, context)
  }
  const routes = modules.flatMap((module) => module.routes)
  return {
    openapi: '3.1.0',
    info: { title: 'Probity', version, summary: 'Multi-tenant compliance backend.', description: INTRODUCTION },
    servers: [{ url: server_url ?? '/' }],
    tags,
    ...(tagGroups.length > 0 && { 'x-tagGroups': tagGroups }),
    paths,
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' } },
      schemas: { ...documentFamilies(schemas, modules), Problem: problemSchema },
      responses: problems.responses,
      ...(examples && { examples: { ...problems.examples, ...buildExampleComponents(routes, examples) } }),
    },
  }
}
