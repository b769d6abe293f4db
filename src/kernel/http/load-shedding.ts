/**
 * Refuses requests before the router sees them, for a fraction of the cost of an ordinary refusal: all of them while the
 * database is so overloaded that they would time out, and those of callers far beyond their limit.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { RateLimitRefusal } from '../limits.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { Problem, type ProblemCode } from '../problem.ts'
import { toProblemBody } from '../problem-body.ts'
import { toProblemHeaders } from './problem-reply.ts'
import { hasBody } from './request-body.ts'
import { createLogSampler, readRequestId, securityHeaders } from './response-headers.ts'

export interface LoadSheddingOptions {
  readonly isOverloaded: () => boolean
  readonly findFloodRefusal: (request: IncomingMessage) => RateLimitRefusal | undefined
  /** Called for every request that has a body, refused ones included, because their bodies arrive too. */
  readonly onBody: (request: IncomingMessage) => void
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'observeRequest'>
}

const LOGS_PER_SECOND = 1
const HEALTH_PATH = '/api/health'
/** Replaced by the id of the request. */
const PLACEHOLDER_ID = '00000000-0000-0000-0000-000000000000'

/** The response to a problem, except what differs between requests. */
function prepareResponse(code: ProblemCode, why: string) {
  const problem = new Problem(code)
  const { 'retry-after': advice, ...rest } = toProblemHeaders(problem)
  return {
    status: problem.status,
    advice: advice as string,
    headers: Object.entries({ ...securityHeaders, ...rest }).flat(),
    pieces: JSON.stringify(toProblemBody(problem, PLACEHOLDER_ID)).split(PLACEHOLDER_ID),
    why,
  }
}
const overloadResponse = prepareResponse('overloaded', 'shedding load: database queue is full')
const rateLimitResponse = prepareResponse('rate_limited', 'shedding load: callers are far beyond their rate limit')

/** Must be called after the server got its request listener, which handles what is not shed. */
export function installLoadShedding(
  server: Server,
  { isOverloaded, findFloodRefusal, onBody, log, metrics }: LoadSheddingOptions,
): void {
  const [handle] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]
  const overload = { ...overloadResponse, sample: createLogSampler(LOGS_PER_SECOND) }
  const rateLimitFlood = { ...rateLimitResponse, sample: createLogSampler(LOGS_PER_SECOND) }

  const shed = (
    request: IncomingMessage,
    response: ServerResponse,
    kind: typeof overload,
    refusal?: RateLimitRefusal,
  ): void => {
    const request_id = readRequestId(request.headers['x-request-id'])
    const body = kind.pieces.join(request_id)
    const retryAfter = refusal ? String(Math.max(1, refusal.retry_after_s)) : kind.advice
    const headers = [...kind.headers, 'retry-after', retryAfter, 'x-request-id', request_id]
    for (const name in refusal?.headers) headers.push(name, refusal.headers[name] as string)
    headers.push('content-length', String(body.length))
    response.writeHead(kind.status, headers)
    response.end(body)
    metrics.observeRequest(request.method as string, 'unmatched', kind.status, 0)
    const sampled = kind.sample()
    if (sampled) log.warn({ refused: sampled.left_out + 1 }, kind.why)
  }

  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (hasBody(request)) onBody(request)
    if (canBeShed(request)) {
      if (isOverloaded()) return shed(request, response, overload)
      const refusal = findFloodRefusal(request)
      if (refusal) return shed(request, response, rateLimitFlood, refusal)
    }
    handle(request, response)
  })
}

/** Not shed: health probes, pages that need no database, and requests with an `Origin` header, since other origins need CORS headers. */
function canBeShed({ url = '', headers: { origin } }: IncomingMessage): boolean {
  return url.startsWith('/api/') && !url.startsWith(HEALTH_PATH) && origin === undefined
}
