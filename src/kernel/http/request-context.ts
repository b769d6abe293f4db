/** State of one request while it is processed. */
import type { FastifyRequest } from 'fastify'
import type { Limits } from '../limits.ts'
import type { Node } from '../linked-list.ts'
import type { Route } from '../route.ts'
import type { AuthenticatedCaller } from './authentication.ts'
import type { LazyAbortController } from './lazy-abort-controller.ts'
import type { BodyReservation } from './request-body.ts'

export interface RequestContext {
  route: Route | undefined
  code: string | undefined
  started_ms: number
  /** Address of the client, read early: it is unknown once the connection has closed. */
  client: string
  trace_id: string | undefined
  tenant_id: string | undefined
  principal: string | undefined
  caller: AuthenticatedCaller | undefined
  /** Reservation of its body, until the body is complete. */
  bodyReservation: BodyReservation | undefined
  /** Whether it counts as one of the tenant's requests in flight. */
  is_in_flight: boolean
  /** RateLimit headers, sent with every response. */
  headers: Record<string, string>
  readonly abortNode: Node<LazyAbortController>
}
declare module 'fastify' {
  interface FastifyRequest {
    requestContext: RequestContext | null
  }
}
export const getRequestContext = (request: FastifyRequest): RequestContext => request.requestContext as RequestContext

/**
 * Called when the request is complete: its body reservation is released and it counts as one of the tenant's requests in flight.
 * A streamed body is processed while it is received, so it keeps its reservation.
 */
export function startProcessing(context: RequestContext, limits: Limits): void {
  if (context.is_in_flight || context.route?.bytes) return
  context.bodyReservation?.release()
  if (!context.caller) return
  limits.acquireInFlight(context.caller.actor.tenant_id, context.caller.tenantStatus)
  context.is_in_flight = true
}
