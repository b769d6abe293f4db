/**
 * What happens to every request, whatever its route: it gets an id, base headers and an abort signal when it starts, every error
 * becomes a problem, and its end is logged and measured.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toAlarmReason } from '../alarm.ts'
import { getMetadataUrl } from '../auth/protected-resource.ts'
import type { Capabilities } from '../kernel.ts'
import { LinkedList } from '../linked-list.ts'
import { logRequest } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { listProblemCodes } from '../openapi-problems.ts'
import { Problem } from '../problem.ts'
import { toProblemBody } from '../problem-body.ts'
import type { AuthenticatedCaller } from './authentication.ts'
import { LazyAbortController } from './lazy-abort-controller.ts'
import { toJsonRpcError, toProblem, toProblemHeaders } from './problem-reply.ts'
import type { RequestContext } from './request-context.ts'
import { type Cors, continueTrace, createBaseHeaders } from './response-headers.ts'

/** What is known of a request of a tenant when it has ended. */
export interface FinishedRequest {
  readonly tenant_id: string
  readonly principal: string
  readonly operation: string
  readonly status: number
}

export interface LifecycleOptions {
  readonly kernel: Capabilities<'limits' | 'log' | 'raiseAlarm' | 'public_url'>
  readonly metrics: Metrics
  readonly cors: Cors
  /** A problem that its route does not declare is an internal error. */
  readonly strict: boolean
  readonly onRequestFinished?: (request: FinishedRequest) => void
}

export class RequestLifecycle {
  readonly #options: LifecycleOptions
  readonly #setBaseHeaders: ReturnType<typeof createBaseHeaders>
  readonly #active = new LinkedList<LazyAbortController>()
  isDraining = false

  constructor(options: LifecycleOptions) {
    this.#options = options
    this.#setBaseHeaders = createBaseHeaders(options.cors)
  }

  get activeCount(): number {
    return this.#active.size
  }

  abortAll(): void {
    for (const { value: abort } of this.#active) abort.abort()
  }

  /** Read when the response is sent: the process may have started to drain since the request arrived. */
  getConnectionHeader(): Record<string, string> {
    return this.isDraining ? { connection: 'close' } : {}
  }

  start(request: FastifyRequest, reply: FastifyReply): void {
    const trace = continueTrace(request.headers.traceparent)
    const context: RequestContext = {
      route: undefined,
      code: undefined,
      started_ms: performance.now(),
      client: request.ip,
      trace_id: trace?.trace_id,
      tenant_id: undefined,
      principal: undefined,
      caller: undefined,
      bodyReservation: undefined,
      is_in_flight: false,
      headers: {},
      abortNode: this.#active.add(new LazyAbortController()),
    }
    request.requestContext = context
    this.#setBaseHeaders(request.headers.origin, reply)
    reply.header('x-request-id', request.id)
    if (trace) reply.header('traceparent', trace.traceparent)
    reply.raw.once('close', () => this.#finish(request, reply, context))
  }

  sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
    const { strict, kernel } = this.#options
    const { requestContext: context } = request
    let problem = toProblem(error)
    let cause = error
    if (strict && context?.route && !listProblemCodes(context.route).has(problem.code)) {
      cause = new Error(`${context.route.id} answered the undeclared problem ${problem.code}`, { cause: error })
      problem = new Problem('internal')
    }
    if (problem.code === 'internal') {
      const facts = { err: cause, request_id: request.id, operation: context?.route?.id }
      kernel.raiseAlarm(toAlarmReason(cause), facts, 'internal error')
    }
    if (context) context.code = problem.code
    const isMessage = context?.route?.access === 'protocol'
    const body = toProblemBody(problem, request.id)
    return reply
      .status(problem.status)
      .headers({
        ...context?.headers,
        ...this.getConnectionHeader(),
        ...toProblemHeaders(problem, getMetadataUrl(kernel.public_url)),
        ...(isMessage && { 'content-type': 'application/json' }),
      })
      .serializer((text: unknown) => text as string)
      .send(JSON.stringify(isMessage ? toJsonRpcError(problem, body) : body))
  }

  #finish(request: FastifyRequest, reply: FastifyReply, context: RequestContext): void {
    const { kernel, metrics, onRequestFinished } = this.#options
    if (!reply.raw.writableEnded) context.abortNode.value.abort()
    this.#active.remove(context.abortNode)
    context.bodyReservation?.release()
    if (context.is_in_flight) kernel.limits.releaseInFlight((context.caller as AuthenticatedCaller).actor.tenant_id)
    const duration_ms = performance.now() - context.started_ms
    // 499: the client disconnected before the response was complete.
    const status = reply.raw.writableEnded ? reply.statusCode : 499
    const { route, tenant_id, principal, code, trace_id, client } = context
    const template = route ? `/api${route.path}` : 'unmatched'
    metrics.observeRequest(request.method, template, status, duration_ms / 1000)
    if (tenant_id && principal && route) onRequestFinished?.({ tenant_id, principal, operation: route.id, status })
    logRequest(kernel.log, {
      request_id: request.id,
      method: request.method,
      route: template,
      operation: route?.id,
      tenant_id,
      principal,
      status,
      code,
      duration_ms: Math.round(duration_ms * 100) / 100,
      trace_id,
      client,
    })
  }
}
