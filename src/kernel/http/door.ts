/**
 * Refuses requests before the router sees them, for a fraction of what an ordinary refusal costs: everybody while the
 * database is so far behind that they would wait in vain, and callers who go on far beyond their limit.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Refusal } from '../limits.ts'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { Problem, type ProblemCode, problemBody } from '../problem.ts'
import { createSampler, readRequestId, securityHeaders } from './envelope.ts'
import { problemHeaders } from './problem-reply.ts'
import { hasBody } from './request-body.ts'

export interface Door {
  readonly isFull: () => boolean
  readonly floodOf: (request: IncomingMessage) => Refusal | undefined
  /** Called for every request that has a body, refused ones included: their bodies arrive all the same. */
  readonly onBody: (request: IncomingMessage) => void
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'request'>
}

const TOLD_PER_SECOND = 1
const PROBES = '/api/health'
/** Stands where the id of the request will. */
const ID = '00000000-0000-0000-0000-000000000000'

/** The answer to a problem, but for what differs from one request to the next. */
function prepare(code: ProblemCode, why: string) {
  const problem = new Problem(code)
  const { 'retry-after': advice, ...rest } = problemHeaders(problem)
  return {
    status: problem.status,
    advice: advice as string,
    headers: Object.entries({ ...securityHeaders, ...rest }).flat(),
    pieces: JSON.stringify(problemBody(problem, ID)).split(ID),
    why,
  }
}
const behind = prepare('overloaded', 'requests are refused unseen: the database is behind')
const flood = prepare('rate_limited', 'requests are refused unseen: a tenant goes on far beyond its limit')

/** To be called once the server has its listener for requests: that one is asked when there is room. */
export function guardDoor(server: Server, { isFull, floodOf, onBody, log, metrics }: Door): void {
  const [handle] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]
  const whenBehind = { ...behind, sample: createSampler(TOLD_PER_SECOND) }
  const inFlood = { ...flood, sample: createSampler(TOLD_PER_SECOND) }

  const refuse = (
    request: IncomingMessage,
    response: ServerResponse,
    kind: typeof whenBehind,
    refusal?: Refusal,
  ): void => {
    const request_id = readRequestId(request.headers['x-request-id'])
    const body = kind.pieces.join(request_id)
    const advice = refusal ? String(Math.max(1, refusal.retry_after_s)) : kind.advice
    const headers = [...kind.headers, 'retry-after', advice, 'x-request-id', request_id]
    for (const name in refusal?.headers) headers.push(name, refusal.headers[name] as string)
    headers.push('content-length', String(body.length))
    response.writeHead(kind.status, headers)
    response.end(body)
    metrics.request(request.method as string, 'unmatched', kind.status, 0)
    const told = kind.sample()
    if (told) log.warn({ refused: told.left_out + 1 }, kind.why)
  }

  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (hasBody(request)) onBody(request)
    if (isRefusable(request)) {
      if (isFull()) return refuse(request, response, whenBehind)
      const refusal = floodOf(request)
      if (refusal) return refuse(request, response, inFlood, refusal)
    }
    handle(request, response)
  })
}

/** Probes ask whether the process lives, pages need no database, and a browser elsewhere must be allowed to read the answer. */
function isRefusable({ url = '', headers: { origin } }: IncomingMessage): boolean {
  return url.startsWith('/api/') && !url.startsWith(PROBES) && origin === undefined
}
