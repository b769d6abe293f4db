/**
 * The problems of the OpenAPI document: which codes an operation can answer, and the responses that describe them. Operations
 * with the same codes share one response, and every code has one example.
 */
import { hasFreeFormParts } from './http/validation.ts'
import { Problem, type ProblemCode, problems } from './problem.ts'
import { toProblemBody } from './problem-body.ts'
import type { Route } from './route.ts'

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
  // The stored answer was about a subject that was erased since.
  'erased',
]

/** Every problem code of an operation: declared ones and those its options imply. Tests enforce that there are no others. */
export function listProblemCodes(route: Route): ReadonlySet<ProblemCode> {
  const codes = new Set<ProblemCode>([...commonCodes, ...route.problems])
  const add = (more: readonly ProblemCode[]) => {
    for (const code of more) codes.add(code)
  }
  if (route.access !== 'public') add(authenticationCodes)
  if (route.access === 'protocol') add(['origin_not_allowed'])
  if (route.method !== 'GET') add(bodyCodes)
  if (route.body && hasFreeFormParts(route.body)) add(['content_unstorable'])
  if (route.method === 'POST' && route.access === 'tenant') add(idempotencyCodes)
  if (isRevisionedChange(route)) add(['precondition_failed', 'revision_stale'])
  if (route.governed || route.proposes) add(['approvers_missing'])
  if (route.needs === 'provider') add(['provider_credential_missing'])
  if (route.executes === 'plugin') add(['plugin_invalid', 'plugin_failed'])
  if (route.governed?.breakGlass) add(['person_required'])
  if ((route.uses as readonly string[]).includes('encryption')) add(['content_corrupt', 'erased'])
  if ((route.query as { properties?: Json } | undefined)?.properties?.['cursor']) add(['cursor_not_found'])
  return codes
}

/** A creation has no revision to compare with. */
export const isRevisionedChange = (route: Route): boolean =>
  route.revisioned === true && route.method !== 'GET' && route.reply[0] !== 201

export const problemSchema: Json = {
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

/** Members of a recorded problem beside those that the catalogue gives. */
export type ProblemExamples = Readonly<Partial<Record<ProblemCode, Readonly<Record<string, unknown>>>>>

const EXAMPLE_REQUEST_ID = '0190d7a0-5b1c-7c3e-9f2a-1b2c3d4e5f60'

function buildProblemExamples(recorded: ProblemExamples): Json {
  const codes = Object.keys(problems) as ProblemCode[]
  const toExample = (code: ProblemCode): Json => ({
    summary: problems[code].title,
    value: toProblemBody(new Problem(code, { members: recorded[code] ?? {} }), EXAMPLE_REQUEST_ID),
  })
  return Object.fromEntries(codes.map((code) => [code, toExample(code)]))
}

/** Collects the distinct problem responses. Without recorded examples the responses carry none. */
export function createProblemResponses(recorded: ProblemExamples | undefined) {
  const responses: Json = {}
  const names = new Map<string, string>()
  const getReference = (status: number, codes: readonly ProblemCode[]): Json => {
    const key = `${status} ${[...codes].sort().join()}`
    let name = names.get(key)
    if (name === undefined) {
      const variant = [...names.keys()].filter((known) => known.startsWith(`${status} `)).length + 1
      name = `Problem${status}${variant === 1 ? '' : `Variant${variant}`}`
      names.set(key, name)
      responses[name] = buildResponse(codes, recorded !== undefined)
    }
    return { $ref: `#/components/responses/${name}` }
  }
  return {
    responses,
    examples: recorded ? buildProblemExamples(recorded) : {},
    /** One response per status, by the codes of the operation that have it. */
    build(route: Route): Map<number, Json> {
      const byStatus = groupByStatus(listProblemCodes(route))
      return new Map([...byStatus].map(([status, codes]) => [status, getReference(status, codes)]))
    },
    /** The same response written out, for an operation that adds a media type to it. */
    expand(route: Route, status: number): Json | undefined {
      const codes = groupByStatus(listProblemCodes(route)).get(status)
      return codes && buildResponse(codes, recorded !== undefined)
    },
  }
}

function groupByStatus(codes: Iterable<ProblemCode>): Map<number, ProblemCode[]> {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const { status } = problems[code]
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}

function buildResponse(codes: readonly ProblemCode[], hasExamples: boolean): Json {
  const examples = codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
    content: {
      'application/problem+json': {
        schema: { $ref: '#/components/schemas/Problem' },
        ...(hasExamples && { examples: Object.fromEntries(examples) }),
      },
    },
  }
}
