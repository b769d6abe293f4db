/** What the server knows of one request while it is being worked on. */
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
  /** Its address, read at once: once the connection has ended nobody knows it any more. */
  client: string
  trace_id: string | undefined
  tenant_id: string | undefined
  principal: string | undefined
  caller: AuthenticatedCaller | undefined
  /** Its place among the bodies being received, until the body is complete. */
  bodyReservation: BodyReservation | undefined
  /** Whether it counts among the tenant's requests in flight. */
  is_in_flight: boolean
  /** RateLimit headers, for whatever the answer will be. */
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
 * The request is complete and is worked on from now on: it leaves the bodies being received and counts among the tenant's
 * requests in flight. A streamed body is worked on while it is received, so it stays where it is.
 */
export function startProcessing(context: RequestContext, limits: Limits): void {
  if (context.is_in_flight || context.route?.bytes) return
  context.bodyReservation?.release()
  if (!context.caller) return
  limits.acquireInFlight(context.caller.actor.tenant_id, context.caller.tenantStatus)
  context.is_in_flight = true
}
