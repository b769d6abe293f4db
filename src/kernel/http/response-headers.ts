/**
 * Headers of every response, request and trace ids, CORS for listed origins, and responses to requests that never reached the
 * router.
 */
import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Log } from '../log.ts'
import { fail, Problem, type ProblemCode } from '../problem.ts'
import { toProblemBody } from '../problem-body.ts'
import { isUuid, uuidv7 } from '../uuid.ts'

export const securityHeaders: Readonly<Record<string, string>> = {
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'cross-origin-resource-policy': 'same-origin',
}

const UNDASHED = /^([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})$/

/**
 * A caller's id is used when it is a UUID, so that it fits the problem's `instance`; also without dashes, as nginx and others
 * write it.
 */
export function readRequestId(header: string | string[] | undefined): string {
  if (typeof header !== 'string') return uuidv7()
  const given = header.toLowerCase().replace(UNDASHED, '$1-$2-$3-$4-$5')
  return isUuid(given) ? given : uuidv7()
}

/** Node would use the first of two such headers; a proxy in front may have used the second. */
export function assertSingleHeaders({ rawHeaders, httpVersion }: IncomingMessage): void {
  let hosts = 0
  let authorizations = 0
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
    else if (name.length === 13 && name.toLowerCase() === 'authorization') authorizations++
  }
  if (hosts === 0 && httpVersion === '1.1') fail('malformed_request', 'HTTP/1.1 needs a Host header.')
  if (hosts > 1) fail('malformed_request', 'Send one Host header.')
  if (authorizations > 1) fail('malformed_request', 'Send one Authorization header.')
}

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Same trace, our own span. */
export function continueTrace(
  header: string | string[] | undefined,
): { trace_id: string; traceparent: string } | undefined {
  const match = typeof header === 'string' ? TRACEPARENT.exec(header) : null
  if (!match || /^0+$/.test(match[1] as string)) return undefined
  const trace_id = match[1] as string
  return { trace_id, traceparent: `00-${trace_id}-${randomBytes(8).toString('hex')}-${match[3]}` }
}

export interface Cors {
  allows(origin: string | undefined): boolean
  /** Answers a preflight of a listed origin; false when the request is none. */
  handlePreflight(request: FastifyRequest, reply: FastifyReply): boolean
}

export function createCors(origins: readonly string[]): Cors {
  const listed = new Set(origins)
  const allows = (origin: string | undefined): boolean => origin !== undefined && listed.has(origin)
  return {
    allows,
    handlePreflight: (request, reply) => {
      if (request.method !== 'OPTIONS' || !allows(request.headers.origin)) return false
      if (request.headers['access-control-request-method'] === undefined) return false
      void reply
        .status(204)
        .headers({
          'access-control-allow-methods': 'GET, POST, PUT, PATCH, DELETE',
          'access-control-allow-headers':
            'authorization, content-type, idempotency-key, if-match, if-none-match, x-request-id, traceparent',
          'access-control-max-age': '600',
        })
        .send()
      return true
    },
  }
}

export function createBaseHeaders(cors: Cors) {
  return (origin: string | undefined, reply: FastifyReply): void => {
    reply.headers(securityHeaders)
    if (!cors.allows(origin)) return
    reply.headers({
      'access-control-allow-origin': origin as string,
      'access-control-expose-headers':
        'location, retry-after, etag, link, ratelimit, ratelimit-policy, x-request-id, idempotency-replayed, content-disposition',
      vary: 'origin',
      'cross-origin-resource-policy': 'cross-origin',
    })
  }
}

const clientErrorCodes: Readonly<Record<string, ProblemCode>> = {
  HPE_HEADER_OVERFLOW: 'headers_too_large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request_timeout',
  METHOD: 'method_not_allowed',
}

const LOGS_PER_SECOND = 10

/** Allows so many log lines per second and counts those left out: a flood of invalid requests must not flood the log. */
export function createLogSampler(per_second: number, now_ms: () => number = () => performance.now()) {
  let second_ms = Number.NEGATIVE_INFINITY
  let count = 0
  let left_out = 0
  return (): { readonly left_out: number } | undefined => {
    const at_ms = now_ms()
    if (at_ms - second_ms >= 1000) {
      second_ms = at_ms
      count = 0
    }
    if (++count > per_second) {
      left_out++
      return undefined
    }
    const before = left_out
    left_out = 0
    return { left_out: before }
  }
}

/** Invalid HTTP, too large headers, CONNECT: no route is reached, so the response is written by hand. */
export function createClientErrorHandler(log: Pick<Log, 'warn'>) {
  const sample = createLogSampler(LOGS_PER_SECOND)
  return (error: { readonly code?: string }, socket: Duplex): void => {
    const client = (socket as Socket).remoteAddress
    const refused = writeRawProblem(error, socket)
    const sampled = refused && sample()
    if (sampled) log.warn({ ...refused, client, ...sampled }, 'rejected malformed HTTP')
  }
}

function writeRawProblem(
  error: { readonly code?: string },
  socket: Duplex,
): { readonly request_id: string; readonly code: string } | undefined {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return undefined
  }
  const code = clientErrorCodes[error.code ?? '']
  const problem = code ? new Problem(code) : new Problem('malformed_request', 'This is not well-formed HTTP/1.1.')
  const request_id = uuidv7()
  const body = JSON.stringify(toProblemBody(problem, request_id))
  const lines = [
    `HTTP/1.1 ${problem.status} Refused`,
    'content-type: application/problem+json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
    `x-request-id: ${request_id}`,
    ...(problem.status === 405 ? ['allow: GET, POST, PUT, PATCH, DELETE'] : []),
    'connection: close',
  ]
  // The server closes the connection: otherwise a half-read upload would stay open as long as the client likes.
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy())
  return { request_id, code: problem.code }
}
