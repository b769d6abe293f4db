/** Reads and validates the parts of a request that its route declares. */
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { fail, type ProblemError } from '../problem.ts'
import { decodeQuery, parseQueryString } from '../query-string.ts'
import type { RequestMetadata, Route } from '../route.ts'
import { toJsonPointer } from '../strict-json.ts'
import { uuidv7 } from '../uuid.ts'
import type { RequestInputs } from './dispatch.ts'
import type { RequestContext } from './request-context.ts'
import { failValidation, findSchemaErrors, findUnstorableText } from './validation.ts'

export const parseEtags = (header: string): readonly string[] | '*' =>
  header.trim() === '*' ? '*' : header.split(',').map((part) => part.trim())

const NO_BODY = 'must be left out: this operation takes no body, not even an empty object'

/** 422 with every fault of the parts, or 400 for text that cannot be stored. Fills in declared defaults. */
export function assertValidInputs(
  route: Route,
  { params, query, body }: Pick<RequestInputs, 'params' | 'query' | 'body'>,
  unknownParameter?: string,
): void {
  const faults: ProblemError[] = []
  if (route.params) faults.push(...findSchemaErrors('path', route.params, params))
  if (route.query) faults.push(...findSchemaErrors('query', route.query, query))
  if (unknownParameter !== undefined) {
    const pointer = toJsonPointer([unknownParameter])
    faults.push({ in: 'query', pointer, detail: 'is not a known parameter here' })
  }
  if (route.body) faults.push(...findSchemaErrors('body', route.body, body))
  else if (body !== undefined && !route.bytes) {
    faults.push({ in: 'body', pointer: '#', detail: NO_BODY })
  }
  if (faults.length > 0) failValidation(faults)
  const unstorable = route.body ? findUnstorableText(route.body, body) : []
  if (unstorable.length > 0) fail('content_unstorable', { errors: unstorable })
}

/** What cannot be parsed (400) is reported before what is parsed and invalid (422), in whichever part of the request it is. */
export function readInputs(route: Route, request: FastifyRequest, context: RequestContext): RequestInputs {
  const { url, body } = request
  const raw = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  const query = route.query ? decodeQuery(route.query, raw) : undefined
  const [unknown] = route.query || raw === '' ? [] : parseQueryString(raw).keys()
  if (route.body && body === undefined) fail('malformed_request', 'A JSON body is required.')
  assertValidInputs(route, { params: request.params, query, body }, unknown)
  const facts = readMetadata(request, context)
  // A plain object: that of the router has a prototype, and a fingerprint is computed from plain values only.
  const params = { ...(request.params as Record<string, string>) }
  return { params, query, body: route.bytes ? undefined : body, request: facts }
}

export function readMetadata(
  request: FastifyRequest,
  { route, abortNode: abort, client }: RequestContext,
): RequestMetadata {
  const ifMatch = request.headers['if-match']
  let new_id: string | undefined
  return {
    id: request.id,
    get new_id() {
      new_id ??= uuidv7()
      return new_id
    },
    get signal() {
      return abort.value.signal
    },
    if_match: ifMatch === undefined ? undefined : parseEtags(ifMatch),
    address: client,
    stream: route?.bytes ? (request.body as Readable | undefined) : undefined,
  }
}
