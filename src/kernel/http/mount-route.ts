/** Mounts one declared route: authentication, limits and role before the body is read, then validation, dispatch and reply. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Kernel } from '../kernel.ts'
import { fail } from '../problem.ts'
import { readIdempotencyKey } from '../request/idempotency.ts'
import { isStreamReply, type Route } from '../route.ts'
import { type AuthenticatedCaller, type Authenticator, assertAcceptable, assertRole } from './authentication.ts'
import { assertDemoCaller } from './demo-caller.ts'
import type { Dispatcher } from './dispatch.ts'
import { assertOwnOrigin } from './origin-guard.ts'
import { assertSupportedEncoding, type BodyLimiter, hasBody, STREAM_BUFFER_BYTES } from './request-body.ts'
import { getRequestContext, type RequestContext, startProcessing } from './request-context.ts'
import { readInputs, readMetadata } from './request-inputs.ts'
import type { RequestLifecycle } from './request-lifecycle.ts'
import type { Cors } from './response-headers.ts'
import { sendProtocolReply, sendReply } from './send-reply.ts'

export interface RouteServices {
  readonly kernel: Pick<Kernel, 'limits' | 'demoSignIn' | 'public_url'>
  readonly authenticator: Authenticator
  readonly bodyLimiter: BodyLimiter
  readonly dispatcher: Dispatcher
  readonly lifecycle: RequestLifecycle
  readonly cors: Pick<Cors, 'allows'>
  readonly assertServable: (tenant_id: string) => void
}

export function mountRoute(app: FastifyInstance, route: Route, url: string, services: RouteServices): void {
  const { dispatcher, lifecycle } = services
  const { limits } = services.kernel
  const admission = new RouteAdmission(route, services)
  const hasParameters = url.includes(':')
  app.route({
    method: route.method,
    url,
    onRequest: (request, _reply, done) => {
      // The router matches `/users/` as `/users/:user_id` with an empty parameter; there is no such path.
      if (hasParameters && Object.values(request.params as object).includes('')) fail('not_found')
      const context = getRequestContext(request)
      context.route = route
      const pending = admission.admit(request, context)
      if (pending) pending.then(() => done(), done)
      else done()
    },
    handler: async (request, reply) => {
      const context = getRequestContext(request)
      startProcessing(context, limits)
      if (route.access === 'protocol') {
        const answer = await dispatcher.dispatchProtocol(route, {
          actor: (context.caller as AuthenticatedCaller).actor,
          message: request.body,
          headers: request.headers,
          request: readMetadata(request, context),
        })
        reply.headers(context.headers).headers(lifecycle.getConnectionHeader())
        return sendProtocolReply(reply, answer)
      }
      const key = route.method === 'POST' ? readIdempotencyKey(request.headers['idempotency-key']) : undefined
      const inputs = readInputs(route, request, context)
      const result = context.caller
        ? await dispatcher.dispatch(route, context.caller.actor, inputs, { idempotencyKey: key })
        : await dispatcher.dispatchPublic(route, inputs)
      reply.headers(context.headers).headers(lifecycle.getConnectionHeader())
      return sendReply(route, request, reply, result)
    },
  })
}

/** Who may send a request to this route, in the fixed order of checks: 401, 429, 403, 406, 415. */
class RouteAdmission {
  readonly #route: Route
  readonly #services: RouteServices
  readonly #mediaTypes: readonly string[]
  readonly #takesBody: boolean

  constructor(route: Route, services: RouteServices) {
    this.#route = route
    this.#services = services
    const [, reply] = route.reply
    this.#mediaTypes = isStreamReply(reply)
      ? reply.media_types.map((type) => type.split(';')[0] as string)
      : ['application/json']
    this.#takesBody = route.method !== 'GET'
  }

  /** Returns a promise only when it has to wait, which is rare: an await for each request is measurable. */
  admit(request: FastifyRequest, context: RequestContext): Promise<void> | undefined {
    if (this.#route.access === 'public') {
      this.#admitAnonymous(request, context)
      return undefined
    }
    if (this.#route.access === 'protocol') {
      assertOwnOrigin(request.headers, this.#services.kernel.public_url, this.#services.cors)
    }
    const { authorization } = request.headers
    const caller = this.#services.authenticator.authenticate(authorization, request.raw.socket, context.client)
    if (caller instanceof Promise) return caller.then((loaded) => this.#admitCaller(request, context, loaded))
    this.#admitCaller(request, context, caller)
    return undefined
  }

  #admitAnonymous(request: FastifyRequest, context: RequestContext): void {
    const { limits, demoSignIn, public_url } = this.#services.kernel
    if (!this.#route.unlimited) {
      context.headers = limits.takeAnonymous(context.client)
      if (this.#expectsBody(request)) this.#startReceiving(context, `a:${context.client}`, null)
    }
    if (this.#route.demo_only && demoSignIn) assertDemoCaller(request.headers, demoSignIn, public_url)
    this.#assertReadable(request)
  }

  #admitCaller(request: FastifyRequest, context: RequestContext, caller: AuthenticatedCaller): void {
    const { limits } = this.#services.kernel
    const { actor, tenantStatus } = caller
    const { tenant_id, principal } = actor
    context.tenant_id = tenant_id
    context.principal = principal
    context.headers = limits.takePrincipal(tenant_id, principal, tenantStatus)
    if (this.#route.access === 'protocol') limits.assertToolCallAllowed(tenant_id, principal, tenantStatus)
    else if (caller.isForTools) fail('token_invalid', 'This token is for the tool protocol at /api/mcp only.')
    assertRole(this.#route, actor)
    this.#services.assertServable(tenant_id)
    context.caller = caller
    if (this.#expectsBody(request)) {
      // The request counts as in flight when its body is complete; without capacity now the body need not be sent.
      limits.assertInFlightCapacity(tenant_id, tenantStatus)
      this.#startReceiving(context, `p:${tenant_id}:${principal}`, tenant_id)
    } else {
      limits.acquireInFlight(tenant_id, tenantStatus)
      context.is_in_flight = true
    }
    this.#assertReadable(request)
  }

  #expectsBody({ raw }: FastifyRequest): boolean {
    return this.#takesBody && hasBody(raw)
  }

  #startReceiving(context: RequestContext, principal: string, tenant: string | null): void {
    context.bodyReservation = this.#services.bodyLimiter.acquire(principal, tenant)
    if (this.#route.bytes) context.bodyReservation.addBytes(STREAM_BUFFER_BYTES)
  }

  #assertReadable(request: FastifyRequest): void {
    assertAcceptable(request.headers.accept, this.#mediaTypes)
    if (this.#expectsBody(request)) assertSupportedEncoding(request.raw)
  }
}
