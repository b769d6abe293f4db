/**
 * The HTTP server: mounts every declared route. Checks run in a fixed order (405, 401, 429, 403, 406, 415, 413, 400, 422, then the
 * handler). Handlers never see Fastify; every error is sent as problem+json.
 */
import type { AddressInfo } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Kernel } from '../kernel.ts'
import type { Metrics } from '../metrics.ts'
import { fail } from '../problem.ts'
import { Authenticator, type AuthenticatorOptions } from './authentication.ts'
import { installBodyParsers, JSON_LIMIT_BYTES } from './body-parsers.ts'
import { Dispatcher } from './dispatch.ts'
import { installLoadShedding } from './load-shedding.ts'
import { createMethodGuard, type MountedRoute, toUrls } from './method-guard.ts'
import { mountRoute } from './mount-route.ts'
import { BodyLimiter, type BodyLimits, type BodyRate, SlowBodyDetector } from './request-body.ts'
import { type FinishedRequest, RequestLifecycle } from './request-lifecycle.ts'
import { assertSingleHeaders, type Cors, createClientErrorHandler, readRequestId } from './response-headers.ts'

export interface ServerOptions {
  readonly kernel: Kernel
  readonly authentication: AuthenticatorOptions
  readonly metrics: Metrics
  readonly strict: boolean
  readonly cors: Cors
  /** How many proxies in front are trusted to name the client's address. */
  readonly trusted_proxies: number
  /** Throws the problem with which every request of a tenant is refused. */
  readonly assertServable?: (tenant_id: string) => void
  /** So many requests wait for the database that one more would time out. */
  readonly isOverloaded: () => boolean
  readonly body_limits?: BodyLimits | undefined
  readonly body_rate?: BodyRate | undefined
  readonly onRequestFinished?: (request: FinishedRequest) => void
  /** Registers what is not part of the API: the console and the scripts of the documentation. */
  readonly assets?: (app: FastifyInstance) => Promise<NotFoundFallback>
}

/** Answers a request that no route matched, for example with the console's page; false when it does not. */
export type NotFoundFallback = (request: FastifyRequest, reply: FastifyReply) => boolean

/** Node's default of 511 overflows in a burst; a connection dropped there is retried by its client only a second later. */
const CONNECTION_BACKLOG = 4096
const HEADERS_TIMEOUT_MS = 10_000

export interface HttpServer {
  readonly app: FastifyInstance
  /** Every method and URL of the router, assets included. */
  readonly mountedRoutes: readonly MountedRoute[]
  /** From now on readiness is 503 and every connection is closed after its response. */
  drain(): void
  readonly isDraining: boolean
  /** How many request bodies are being received. */
  readonly receivingBodies: number
  listen(port: number, host: string): Promise<number>
  close(): Promise<void>
}

export async function createServer(options: ServerOptions): Promise<HttpServer> {
  const { kernel, metrics, strict } = options
  const lifecycle = new RequestLifecycle(options)
  const authenticator = new Authenticator(options.authentication)
  const bodyLimiter = new BodyLimiter(options.body_limits)
  const slowBodyDetector = new SlowBodyDetector(options.body_rate)
  const fingerprint_key = kernel.integrity.current('idempotency-fingerprint')
  const dispatcher = new Dispatcher({ kernel, fingerprint_key, strict_replies: strict })

  const app = createApp(options, lifecycle)
  const mountedRoutes: MountedRoute[] = []
  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) mountedRoutes.push({ method: name, url })
  })
  let guardMethod: ReturnType<typeof createMethodGuard>
  app.addHook('onRequest', (request, reply, done) => {
    lifecycle.start(request, reply)
    assertSingleHeaders(request.raw)
    const path = (request.url.split('?', 1)[0] as string) || '/'
    if (request.is404 && options.cors.handlePreflight(request, reply)) return
    guardMethod(request.method, path, !request.is404)
    // Before its body is read, which nobody needs.
    if (request.is404 && request.method !== 'GET') fail('not_found')
    done()
  })
  installBodyParsers(app, kernel.limits)
  const { cors, assertServable = () => {} } = options
  const services = { kernel, authenticator, bodyLimiter, dispatcher, lifecycle, cors, assertServable }
  const operations = kernel.routes.filter((route) => !route.demo_only || kernel.demoSignIn !== null)
  const routes = [...operations, ...kernel.modules.flatMap((module) => module.protocols ?? [])]
  for (const route of routes) for (const url of toUrls(route)) mountRoute(app, route, url, services)

  let fallback: NotFoundFallback = () => false
  app.setNotFoundHandler((request, reply) => (fallback(request, reply) ? reply : fail('not_found')))
  if (options.assets) fallback = await options.assets(app)
  await app.ready()
  guardMethod = createMethodGuard(mountedRoutes)
  installLoadShedding(app.server, {
    isOverloaded: () => !lifecycle.isDraining && options.isOverloaded(),
    findFloodRefusal: ({ headers, socket }) =>
      lifecycle.isDraining ? undefined : authenticator.findFloodRefusal(headers.authorization, socket),
    onBody: (request) => slowBodyDetector.track(request),
    log: kernel.log,
    metrics,
  })

  return {
    app,
    mountedRoutes,
    drain: () => {
      lifecycle.isDraining = true
    },
    get isDraining() {
      return lifecycle.isDraining
    },
    get receivingBodies() {
      return bodyLimiter.count
    },
    listen: async (port, host) => {
      await app.listen({ port, host, backlog: CONNECTION_BACKLOG })
      return (app.server.address() as AddressInfo).port
    },
    close: async () => {
      await closeApp(app, lifecycle)
      slowBodyDetector.close()
    },
  }
}

/** Fastify with the limits and error handling that every request gets, without routes. */
function createApp(options: ServerOptions, lifecycle: RequestLifecycle): FastifyInstance {
  const handleClientError = createClientErrorHandler(options.kernel.log)
  const app = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    bodyLimit: JSON_LIMIT_BYTES,
    // A body may take any time as long as bytes keep arriving; SlowBodyDetector enforces the rate.
    requestTimeout: 0,
    keepAliveTimeout: 72_000,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    trustProxy: options.trusted_proxies > 0 && ((_address: string, hop: number) => hop < options.trusted_proxies),
    // As long as the headers may be: the schema limits the length of an identifier, after the checks that come first.
    routerOptions: { maxParamLength: 16_384, ignoreTrailingSlash: false, querystringParser: () => ({}) },
    // Node would answer a missing Host with an empty 400, and check for slow requests only every 30 s.
    http: { requireHostHeader: false, connectionsCheckingInterval: 1000 },
    genReqId: (raw) => readRequestId(raw.headers['x-request-id']),
    clientErrorHandler: handleClientError,
    frameworkErrors: (error, request, reply) => {
      lifecycle.start(request as FastifyRequest, reply as unknown as FastifyReply)
      void lifecycle.sendProblem(request as FastifyRequest, reply as unknown as FastifyReply, error)
    },
  })
  app.decorateRequest('requestContext', null)
  app.setErrorHandler((error, request, reply) => lifecycle.sendProblem(request, reply, error))
  app.server.headersTimeout = HEADERS_TIMEOUT_MS
  // An unknown expectation may be ignored; Node would answer 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket) => handleClientError({ code: 'METHOD' }, socket))
  return app
}

/** Aborts requests that wait for an event, such as long polls; all others are completed first. */
async function closeApp(app: FastifyInstance, lifecycle: RequestLifecycle): Promise<void> {
  lifecycle.isDraining = true
  lifecycle.abortAll()
  // Node does not count a connection without a first request as idle, and would wait for it forever.
  const timer = setInterval(() => lifecycle.activeCount === 0 && app.server.closeAllConnections(), 20)
  await app.close().finally(() => clearInterval(timer))
}
