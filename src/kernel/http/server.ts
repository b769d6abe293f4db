/**
 * The HTTP server: mounts every declared route and keeps the fixed order of evaluation (405, 401, 429, 403, 406, 415, 413,
 * 400, 422, then the handler). Handlers never see Fastify; whatever goes wrong leaves as problem+json.
 */
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { toAlarmReason } from '../alarm.ts'
import type { Kernel } from '../kernel.ts'
import { LinkedList } from '../linked-list.ts'
import { logRequest } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { listProblemCodes } from '../openapi.ts'
import { fail, Problem, type ProblemError, toProblemBody } from '../problem.ts'
import { decodeQuery, parseQueryString } from '../query-string.ts'
import { readIdempotencyKey } from '../request/idempotency.ts'
import { isStreamReply, type RequestMetadata, type Route } from '../route.ts'
import { toJsonPointer } from '../strict-json.ts'
import {
  type AuthenticatedCaller,
  type AuthenticatorOptions,
  assertAcceptable,
  assertRole,
  createAuthenticator,
} from './authentication.ts'
import { installBodyParsers, JSON_LIMIT_BYTES } from './body-parsers.ts'
import { createDispatch, type DispatchResult, type RequestInputs } from './dispatch.ts'
import { LazyAbortController } from './lazy-abort-controller.ts'
import { installLoadShedding } from './load-shedding.ts'
import { createMethodGuard, type MountedRoute, toUrls } from './method-guard.ts'
import { toProblem, toProblemHeaders } from './problem-reply.ts'
import {
  assertSupportedEncoding,
  BodyLimiter,
  type BodyLimits,
  type BodyRate,
  hasBody,
  SlowBodyDetector,
  STREAM_BUFFER_BYTES,
} from './request-body.ts'
import { getRequestContext, type RequestContext, startProcessing } from './request-context.ts'
import {
  assertSingleHeaders,
  type Cors,
  continueTrace,
  createBaseHeaders,
  createClientErrorHandler,
  readRequestId,
} from './response-headers.ts'
import { failValidation, findSchemaErrors, findUnstorableText } from './validation.ts'

export interface ServerOptions {
  readonly kernel: Kernel
  readonly authentication: AuthenticatorOptions
  readonly metrics: Metrics
  readonly strict: boolean
  readonly cors: Cors
  /** How many proxies in front are trusted to name the client's address. */
  readonly trusted_proxies: number
  /** So many wait for the database that whoever comes now would wait in vain. */
  readonly isOverloaded: () => boolean
  readonly body_limits?: BodyLimits | undefined
  readonly body_rate?: BodyRate | undefined
  readonly onRequestFinished?: (facts: {
    tenant_id: string
    principal: string
    operation: string
    status: number
  }) => void
  /** Registers what is not part of the API: the console and the documentation's scripts. */
  readonly assets?: (app: FastifyInstance) => Promise<NotFoundFallback>
}

/** Answers a request no route matched, for example with the console's page; false when it does not. */
export type NotFoundFallback = (request: FastifyRequest, reply: FastifyReply) => boolean

/** Node's 511 overflows in a burst, and whoever is dropped there, of any tenant, tries again only a second later. */
const CONNECTION_BACKLOG = 4096

export interface HttpServer {
  readonly app: FastifyInstance
  /** Every method and URL the router answers, assets included. */
  readonly mountedRoutes: readonly MountedRoute[]
  /** From now on readiness says 503 and connections are closed after their answer. */
  drain(): void
  readonly isDraining: boolean
  /** How many request bodies are being received. */
  readonly receivingBodies: number
  listen(port: number, host: string): Promise<number>
  close(): Promise<void>
}

export async function createServer(options: ServerOptions): Promise<HttpServer> {
  const { kernel, metrics, strict } = options
  const { authenticate: admit, findFloodRefusal: floodOf } = createAuthenticator(options.authentication)
  const { dispatch, dispatchPublic } = createDispatch({
    kernel,
    fingerprint_key: kernel.integrity.current('idempotency-fingerprint'),
    strict_replies: strict,
  })
  const handleClientError = createClientErrorHandler(kernel.log)
  const setBaseHeaders = createBaseHeaders(options.cors)
  const mountedRoutes: MountedRoute[] = []
  const activeRequests = new LinkedList<LazyAbortController>()
  const bodyLimiter = new BodyLimiter(options.body_limits)
  const slowBodyDetector = new SlowBodyDetector(options.body_rate)
  let isDraining = false

  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    bodyLimit: JSON_LIMIT_BYTES,
    // A body may take as long as it needs, if it comes steadily: BodyWatch sees to that.
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    trustProxy: options.trusted_proxies > 0 && ((_address: string, hop: number) => hop < options.trusted_proxies),
    // As long as the headers may be: how long an identifier may be is the schema's to say, in its turn.
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: false, querystringParser: () => ({}) },
    // Node would refuse a missing Host with an empty answer, and look for slow requests only every 30 s.
    http: { requireHostHeader: false, connectionsCheckingInterval: 1000 },
    genReqId: (raw) => readRequestId(raw.headers['x-request-id']),
    clientErrorHandler: handleClientError,
    frameworkErrors: (error, request, reply) => {
      startRequest(request as FastifyRequest, reply as unknown as FastifyReply)
      void sendProblem(request as FastifyRequest, reply as unknown as FastifyReply, error)
    },
  })
  app.decorateRequest('requestContext', null)
  app.server.headersTimeout = 10_000
  // An expectation we do not know may be ignored; Node's own answer would be a 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket) => handleClientError({ code: 'METHOD' }, socket))

  /** Asked for with the answer and not before: a process may be told to leave while a request is being worked on. */
  const connectionCloseHeader = (): Record<string, string> => (isDraining ? { connection: 'close' } : {})

  function sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
    let problem = toProblem(error)
    const { requestContext: visit } = request
    if (strict && visit?.route && !listProblemCodes(visit.route).has(problem.code)) {
      error = new Error(`${visit.route.id} answered the undeclared problem ${problem.code}`, { cause: error })
      problem = new Problem('internal')
    }
    if (problem.code === 'internal') {
      const facts = { err: error, request_id: request.id, operation: visit?.route?.id }
      kernel.raiseAlarm(toAlarmReason(error), facts, 'internal error')
    }
    if (visit) visit.code = problem.code
    return reply
      .status(problem.status)
      .headers({ ...visit?.headers, ...connectionCloseHeader(), ...toProblemHeaders(problem) })
      .serializer((text: unknown) => text as string)
      .send(JSON.stringify(toProblemBody(problem, request.id)))
  }

  app.setErrorHandler((error, request, reply) => sendProblem(request, reply, error))
  let fallback: NotFoundFallback = () => false
  app.setNotFoundHandler((request, reply) => (fallback(request, reply) ? reply : fail('not_found')))

  function startRequest(request: FastifyRequest, reply: FastifyReply): void {
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
      abortNode: activeRequests.add(new LazyAbortController()),
    }
    request.requestContext = context
    setBaseHeaders(request.headers.origin, reply)
    reply.header('x-request-id', request.id)
    if (trace) reply.header('traceparent', trace.traceparent)
    reply.raw.once('close', () => finishRequest(request, reply, context))
  }

  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) mountedRoutes.push({ method: name, url })
  })
  app.addHook('onRequest', (request, reply, done) => {
    startRequest(request, reply)
    assertSingleHeaders(request.raw)
    const path = (request.url.split('?', 1)[0] as string) || '/'
    if (request.is404 && options.cors.handlePreflight(request, reply)) return
    guardMethod(request.method, path, !request.is404)
    // Before its body is looked at: whatever was sent, there is nobody here to read it.
    if (request.is404 && request.method !== 'GET') fail('not_found')
    done()
  })

  function finishRequest(request: FastifyRequest, reply: FastifyReply, context: RequestContext): void {
    if (!reply.raw.writableEnded) context.abortNode.value.abort()
    activeRequests.remove(context.abortNode)
    context.bodyReservation?.release()
    if (context.is_in_flight) kernel.limits.releaseInFlight((context.caller as AuthenticatedCaller).actor.tenant_id)
    const duration_ms = performance.now() - context.started_ms
    // The caller went away before the answer was complete.
    const status = reply.raw.writableEnded ? reply.statusCode : 499
    const template = context.route ? `/api${context.route.path}` : 'unmatched'
    metrics.observeRequest(request.method, template, status, duration_ms / 1000)
    if (context.tenant_id && context.principal && context.route) {
      options.onRequestFinished?.({
        tenant_id: context.tenant_id,
        principal: context.principal,
        operation: context.route.id,
        status,
      })
    }
    logRequest(kernel.log, {
      request_id: request.id,
      method: request.method,
      route: template,
      operation: context.route?.id,
      tenant_id: context.tenant_id,
      principal: context.principal,
      status,
      code: context.code,
      duration_ms: Math.round(duration_ms * 100) / 100,
      trace_id: context.trace_id,
      client: context.client,
    })
  }

  installBodyParsers(app, kernel.limits)
  for (const route of kernel.routes) for (const url of toUrls(route)) mountRoute(route, url)
  if (options.assets) fallback = await options.assets(app)
  await app.ready()
  installLoadShedding(app.server, {
    isOverloaded: () => !isDraining && options.isOverloaded(),
    findFloodRefusal: ({ headers, socket }) => (isDraining ? undefined : floodOf(headers.authorization, socket)),
    onBody: (request) => slowBodyDetector.track(request),
    log: kernel.log,
    metrics,
  })
  const guardMethod = createMethodGuard(mountedRoutes)

  function mountRoute(route: Route, url: string): void {
    const mediaTypes = isStreamReply(route.reply[1])
      ? route.reply[1].media_types.map((type) => type.split(';')[0] as string)
      : ['application/json']
    const hasParameters = url.includes(':')
    const takesBody = route.method !== 'GET'
    const admitCaller = (request: FastifyRequest, context: RequestContext, caller: AuthenticatedCaller): void => {
      const { tenant_id, principal } = caller.actor
      context.tenant_id = tenant_id
      context.principal = principal
      context.headers = kernel.limits.takePrincipal(tenant_id, principal, caller.tenantStatus)
      assertRole(route, caller.actor)
      context.caller = caller
      if (!takesBody || !hasBody(request.raw)) {
        kernel.limits.acquireInFlight(tenant_id, caller.tenantStatus)
        context.is_in_flight = true
        return
      }
      // Its slot among the requests in flight is taken when the body is complete; without one free now it need not be sent.
      kernel.limits.assertInFlightCapacity(tenant_id, caller.tenantStatus)
      startReceiving(context, `p:${tenant_id}:${principal}`, tenant_id)
    }
    const startReceiving = (context: RequestContext, principal: string, tenant: string | null): void => {
      context.bodyReservation = bodyLimiter.acquire(principal, tenant)
      if (route.bytes) context.bodyReservation.addBytes(STREAM_BUFFER_BYTES)
    }
    const assertReadableRequest = ({ headers, raw }: FastifyRequest): void => {
      assertAcceptable(headers.accept, mediaTypes)
      if (takesBody && hasBody(raw)) assertSupportedEncoding(raw)
    }
    app.route({
      method: route.method,
      url,
      onRequest: (request, _reply, done) => {
        // To the router `/users/` is `/users/:user_id` with nothing for the name; to everybody else it is no path of ours.
        if (hasParameters && Object.values(request.params as object).includes('')) fail('not_found')
        const context = getRequestContext(request)
        context.route = route
        if (route.access === 'tenant') {
          const caller = admit(request.headers.authorization, request.raw.socket, context.client)
          if (caller instanceof Promise) {
            caller
              .then((caller) => {
                admitCaller(request, context, caller)
                assertReadableRequest(request)
              })
              .then(() => done(), done)
            return
          }
          admitCaller(request, context, caller)
        } else if (!route.unlimited) {
          context.headers = kernel.limits.takeAnonymous(context.client)
          if (takesBody && hasBody(request.raw)) startReceiving(context, `a:${context.client}`, null)
        }
        assertReadableRequest(request)
        done()
      },
      handler: async (request, reply) => {
        const context = getRequestContext(request)
        startProcessing(context, kernel.limits)
        const key = route.method === 'POST' ? readIdempotencyKey(request.headers['idempotency-key']) : undefined
        const inputs = readInputs(route, request, context)
        const outcome = context.caller
          ? await dispatch(route, context.caller.actor, inputs, key)
          : await dispatchPublic(route, inputs)
        reply.headers(context.headers).headers(connectionCloseHeader())
        return send(route, request, reply, outcome)
      },
    })
  }

  return {
    app,
    mountedRoutes,
    drain: () => {
      isDraining = true
    },
    get isDraining() {
      return isDraining
    },
    get receivingBodies() {
      return bodyLimiter.count
    },
    listen: async (port, host) => {
      await app.listen({ port, host, backlog: CONNECTION_BACKLOG })
      return (app.server.address() as AddressInfo).port
    },
    close: async () => {
      isDraining = true
      // Whoever only waits for something to happen is told to stop waiting; everybody else finishes.
      for (const { value: abort } of activeRequests) abort.abort()
      // To Node a connection that has not asked anything yet is not idle: it would be waited for without end.
      const sweep = setInterval(() => activeRequests.size === 0 && app.server.closeAllConnections(), 20)
      await app.close().finally(() => clearInterval(sweep))
      slowBodyDetector.close()
    },
  }
}

function send(route: Route, request: FastifyRequest, reply: FastifyReply, outcome: DispatchResult): FastifyReply {
  reply.status(outcome.status).headers(outcome.headers)
  if ('stream' in outcome) return reply.send(Readable.from(outcome.stream))
  const etag = outcome.headers['etag']
  if (route.method === 'GET' && etag !== undefined && matchesEtag(request.headers['if-none-match'], etag)) {
    return reply.status(304).send()
  }
  if (outcome.body === undefined) return reply.send()
  const next = route.method === 'GET' && route.query ? buildNextLink(request, outcome.body) : undefined
  if (next) reply.header('link', next)
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((text: unknown) => text as string)
    .send(outcome.body)
}

const CURSOR_TAIL = /"next_cursor":"([A-Za-z0-9_.~-]+)"\}$/

function buildNextLink(request: FastifyRequest, body: string): string | undefined {
  const cursor = CURSOR_TAIL.exec(body.slice(-1200))?.[1]
  if (cursor === undefined) return undefined
  const url = new URL(request.url, 'http://any')
  url.searchParams.set('cursor', cursor)
  return `<${url.pathname}${url.search}>; rel="next"`
}

const parseEtags = (header: string): readonly string[] | '*' =>
  header.trim() === '*' ? '*' : header.split(',').map((part) => part.trim())

/** If-None-Match compares weakly: W/ makes no difference. If-Match compares strongly, so there it does. */
function matchesEtag(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const given = parseEtags(header)
  return given === '*' || given.some((tag) => tag.replace(/^W\//, '') === etag)
}

const NO_BODY = 'must be left out: this operation takes no body, not even an empty object'

/** What cannot be read (400) comes before what can be read and is not valid (422), wherever in the request it stands. */
function readInputs(
  route: Route,
  request: FastifyRequest,
  { abortNode: abort, client }: RequestContext,
): RequestInputs {
  const { url, body } = request
  const raw = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  const query = route.query ? decodeQuery(route.query as never, raw) : undefined
  const [unknown] = route.query || raw === '' ? [] : parseQueryString(raw).keys()
  if (route.body && body === undefined) fail('malformed_request', 'A JSON body is required.')
  const faults: ProblemError[] = []
  if (route.params) faults.push(...findSchemaErrors('path', route.params, request.params))
  if (route.query) faults.push(...findSchemaErrors('query', route.query, query))
  if (unknown !== undefined) {
    faults.push({ in: 'query', pointer: toJsonPointer([unknown]), detail: 'is not a known parameter here' })
  }
  if (route.body) faults.push(...findSchemaErrors('body', route.body, body))
  else if (body !== undefined && !route.bytes) {
    faults.push({ in: 'body', pointer: '#', detail: NO_BODY })
  }
  if (faults.length > 0) failValidation(faults)
  const unstorable = route.body ? findUnstorableText(route.body, body) : []
  if (unstorable.length > 0) fail('content_unstorable', { errors: unstorable })
  const ifMatch = request.headers['if-match']
  const facts: RequestMetadata = {
    id: request.id,
    get signal() {
      return abort.value.signal
    },
    if_match: ifMatch === undefined ? undefined : parseEtags(ifMatch),
    address: client,
    stream: route.bytes ? (body as Readable | undefined) : undefined,
  }
  // A plain object: the router's own has a prototype, and a fingerprint is taken of plain values only.
  const params = { ...(request.params as Record<string, string>) }
  return { params, query, body: route.bytes ? undefined : body, request: facts }
}
