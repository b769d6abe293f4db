/**
 * Refuses requests before the router sees them while the database is so far behind that they would wait in vain. It costs a
 * fraction of an ordinary refusal, so that under three times the load there is still time for what can be answered.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Log } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { Problem, problemBody } from '../problem.ts'
import { readRequestId, securityHeaders } from './envelope.ts'
import { problemHeaders } from './problem-reply.ts'

export interface Shedding {
  readonly isFull: () => boolean
  readonly log: Pick<Log, 'warn'>
  readonly metrics: Pick<Metrics, 'request'>
}

const TOLD_EVERY_MS = 1000
const PROBES = '/api/health'
/** Stands where the id of the request will. */
const ID = '00000000-0000-0000-0000-000000000000'

const problem = new Problem('overloaded')
const headers = Object.entries({ ...securityHeaders, ...problemHeaders(problem) }).flat()
const pieces = JSON.stringify(problemBody(problem, ID)).split(ID)

/** To be called once the server has its listener for requests: that one is asked when there is room. */
export function shedLoad(server: Server, { isFull, log, metrics }: Shedding): void {
  const [handle] = server.listeners('request') as [(request: IncomingMessage, response: ServerResponse) => void]
  let refused = 0
  let told_ms = Number.NEGATIVE_INFINITY

  const tell = (): void => {
    refused++
    if (performance.now() - told_ms < TOLD_EVERY_MS) return
    told_ms = performance.now()
    log.warn({ refused }, 'requests are refused unseen: the database is behind')
    refused = 0
  }

  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (!isFull() || !isSheddable(request)) return handle(request, response)
    const request_id = readRequestId(request.headers['x-request-id'])
    const body = pieces.join(request_id)
    response.writeHead(problem.status, [...headers, 'x-request-id', request_id, 'content-length', String(body.length)])
    response.end(body)
    metrics.request(request.method as string, 'unmatched', problem.status, 0)
    tell()
  })
}

/** Probes ask whether the process lives, pages need no database, and a browser elsewhere must be allowed to read the answer. */
function isSheddable({ url = '', headers: { origin } }: IncomingMessage): boolean {
  return url.startsWith('/api/') && !url.startsWith(PROBES) && origin === undefined
}
