/** What the server knows of one request while it is being worked on. */
import type { FastifyRequest } from 'fastify'
import type { Limits } from '../limits.ts'
import type { Place } from '../line.ts'
import type { Route } from '../route.ts'
import type { Admission } from './admission.ts'
import type { LateAbort } from './late-abort.ts'
import type { ReceivingBody } from './request-body.ts'

export interface Visit {
  route: Route | undefined
  code: string | undefined
  started_ms: number
  /** Its address, read at once: once the connection has ended nobody knows it any more. */
  client: string
  trace_id: string | undefined
  tenant_id: string | undefined
  principal: string | undefined
  input: Admission | undefined
  /** Its place among the bodies being received, until the body is complete. */
  receiving: ReceivingBody | undefined
  /** Whether it counts among the tenant's requests in flight. */
  is_in_flight: boolean
  /** RateLimit headers, for whatever the answer will be. */
  headers: Record<string, string>
  readonly abort: Place<LateAbort>
}
declare module 'fastify' {
  interface FastifyRequest {
    visit: Visit | null
  }
}
export const visitOf = (request: FastifyRequest): Visit => request.visit as Visit

/**
 * The request is complete and is worked on from now on: it leaves the bodies being received and counts among the tenant's
 * requests in flight. A streamed body is worked on while it is received, so it stays where it is.
 */
export function startWork(visit: Visit, limits: Limits): void {
  if (visit.is_in_flight || visit.route?.bytes) return
  visit.receiving?.leave()
  if (!visit.input) return
  limits.enter(visit.input.actor.tenant_id, visit.input.standing)
  visit.is_in_flight = true
}
