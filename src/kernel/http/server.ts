/**
 * The HTTP server: mounts every declared route and keeps the fixed order of evaluation (405, 401, 429, 403, 406, 415, 413,
 * 400, 422, then the handler). Handlers never see Fastify; whatever goes wrong leaves as problem+json.
 */
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { alarmReasonOf } from '../alarm.ts'
import { pointerTo } from '../json-text.ts'
import type { Kernel } from '../kernel.ts'
import { Line } from '../line.ts'
import { logRequest } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import { codesOf } from '../openapi.ts'
import { fail, Problem, type ProblemError, problemBody } from '../problem.ts'
import { decodeQuery, splitQuery } from '../query-text.ts'
import { readIdempotencyKey } from '../request/idempotency.ts'
import { isStreamed, type RequestFacts, type Route } from '../route.ts'
import { type Admission, type AdmissionDeps, createAdmissions, expectAcceptable, expectRole } from './admission.ts'
import { installParsers, JSON_LIMIT_BYTES } from './body-parsers.ts'
import { createDispatch, type Inputs, type Outcome } from './dispatch.ts'
import { guardDoor } from './door.ts'
import { type Cors, createBaseHeaders, createRawAnswer, expectHeaders, readRequestId, traceOut } from './envelope.ts'
import { LateAbort } from './late-abort.ts'
import { createMethodGuard, type Mounted, urlsOf } from './method-guard.ts'
import { problemFrom, problemHeaders } from './problem-reply.ts'
import {
  type BodyLimits,
  type BodyRate,
  BodyWatch,
  expectPlainBody,
  hasBody,
  ReceivingBodies,
  STREAMED_BYTES,
} from './request-body.ts'
import { failValidation, faultsOf, unstorableIn } from './validation.ts'
import { startWork, type Visit, visitOf } from './visit.ts'

export interface ServerOptions {
  readonly kernel: Kernel
  readonly admission: AdmissionDeps
  readonly metrics: Metrics
  readonly strict: boolean
  readonly cors: Cors
  /** How many proxies in front are trusted to name the client's address. */
  readonly trusted_proxies: number
  /** So many wait for the database that whoever comes now would wait in vain. */
  readonly isFull: () => boolean
  readonly body_limits?: BodyLimits | undefined
  readonly body_rate?: BodyRate | undefined
  readonly onObserved?: (facts: { tenant_id: string; principal: string; operation: string; status: number }) => void
  /** Registers what is not part of the API: the console and the documentation's scripts. */
  readonly assets?: (app: FastifyInstance) => Promise<Fallback>
}

/** Answers a request no route matched, for example with the console's page; false when it does not. */
export type Fallback = (request: FastifyRequest, reply: FastifyReply) => boolean

/** Node's 511 overflows in a burst, and whoever is dropped there, of any tenant, tries again only a second later. */
const CONNECTION_BACKLOG = 4096

export interface HttpServer {
  readonly app: FastifyInstance
  /** Every method and URL the router answers, assets included. */
  readonly mounted: readonly Mounted[]
  /** From now on readiness says 503 and connections are closed after their answer. */
  drain(): void
  readonly draining: boolean
  /** How many request bodies are being received. */
  readonly receiving: number
  listen(port: number, host: string): Promise<number>
  close(): Promise<void>
}

export async function createServer(options: ServerOptions): Promise<HttpServer> {
  const { kernel, metrics, strict } = options
  const { admit, floodOf } = createAdmissions(options.admission)
  const { dispatch, dispatchPublic } = createDispatch({
    kernel,
    idempotency_key: kernel.integrity.current('idempotency-fingerprint'),
    strict_replies: strict,
  })
  const answerRaw = createRawAnswer(kernel.log)
  const baseHeaders = createBaseHeaders(options.cors)
  const mounted: Mounted[] = []
  const running = new Line<LateAbort>()
  const bodies = new ReceivingBodies(options.body_limits)
  const watch = new BodyWatch(options.body_rate)
  let draining = false

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
    clientErrorHandler: answerRaw,
    frameworkErrors: (error, request, reply) => {
      begin(request as FastifyRequest, reply as unknown as FastifyReply)
      void sendProblem(request as FastifyRequest, reply as unknown as FastifyReply, error)
    },
  })
  app.decorateRequest('visit', null)
  app.server.headersTimeout = 10_000
  // An expectation we do not know may be ignored; Node's own answer would be a 417 without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request, socket) => answerRaw({ code: 'METHOD' }, socket))

  /** Asked for with the answer and not before: a process may be told to leave while a request is being worked on. */
  const farewell = (): Record<string, string> => (draining ? { connection: 'close' } : {})

  function sendProblem(request: FastifyRequest, reply: FastifyReply, error: unknown): FastifyReply {
    let problem = problemFrom(error)
    const { visit } = request
    if (strict && visit?.route && !codesOf(visit.route).has(problem.code)) {
      error = new Error(`${visit.route.id} answered the undeclared problem ${problem.code}`, { cause: error })
      problem = new Problem('internal')
    }
    if (problem.code === 'internal') {
      const facts = { err: error, request_id: request.id, operation: visit?.route?.id }
      kernel.alarm(alarmReasonOf(error), facts, 'internal error')
    }
    if (visit) visit.code = problem.code
    return reply
      .status(problem.status)
      .headers({ ...visit?.headers, ...farewell(), ...problemHeaders(problem) })
      .serializer((text: unknown) => text as string)
      .send(JSON.stringify(problemBody(problem, request.id)))
  }

  app.setErrorHandler((error, request, reply) => sendProblem(request, reply, error))
  let fallback: Fallback = () => false
  app.setNotFoundHandler((request, reply) => (fallback(request, reply) ? reply : fail('not_found')))

  function begin(request: FastifyRequest, reply: FastifyReply): void {
    const trace = traceOut(request.headers.traceparent)
    const visit: Visit = {
      route: undefined,
      code: undefined,
      started_ms: performance.now(),
      client: request.ip,
      trace_id: trace?.trace_id,
      tenant_id: undefined,
      principal: undefined,
      input: undefined,
      receiving: undefined,
      is_in_flight: false,
      headers: {},
      abort: running.add(new LateAbort()),
    }
    request.visit = visit
    baseHeaders(request.headers.origin, reply)
    reply.header('x-request-id', request.id)
    if (trace) reply.header('traceparent', trace.traceparent)
    reply.raw.once('close', () => observe(request, reply, visit))
  }

  app.addHook('onRoute', ({ method, url }) => {
    for (const name of [method].flat()) mounted.push({ method: name, url })
  })
  app.addHook('onRequest', (request, reply, done) => {
    begin(request, reply)
    expectHeaders(request.raw)
    const path = (request.url.split('?', 1)[0] as string) || '/'
    if (request.is404 && options.cors.preflight(request, reply)) return
    guardMethod(request.method, path, !request.is404)
    // Before its body is looked at: whatever was sent, there is nobody here to read it.
    if (request.is404 && request.method !== 'GET') fail('not_found')
    done()
  })

  function observe(request: FastifyRequest, reply: FastifyReply, visit: Visit): void {
    if (!reply.raw.writableEnded) visit.abort.value.abort()
    running.remove(visit.abort)
    visit.receiving?.leave()
    if (visit.is_in_flight) kernel.limits.leave((visit.input as Admission).actor.tenant_id)
    const duration_ms = performance.now() - visit.started_ms
    // The caller went away before the answer was complete.
    const status = reply.raw.writableEnded ? reply.statusCode : 499
    const template = visit.route ? `/api${visit.route.path}` : 'unmatched'
    metrics.request(request.method, template, status, duration_ms / 1000)
    if (visit.tenant_id && visit.principal && visit.route) {
      options.onObserved?.({
        tenant_id: visit.tenant_id,
        principal: visit.principal,
        operation: visit.route.id,
        status,
      })
    }
    logRequest(kernel.log, {
      request_id: request.id,
      method: request.method,
      route: template,
      operation: visit.route?.id,
      tenant_id: visit.tenant_id,
      principal: visit.principal,
      status,
      code: visit.code,
      duration_ms: Math.round(duration_ms * 100) / 100,
      trace_id: visit.trace_id,
      client: visit.client,
    })
  }

  installParsers(app, kernel.limits)
  for (const route of kernel.routes) for (const url of urlsOf(route)) mount(route, url)
  if (options.assets) fallback = await options.assets(app)
  await app.ready()
  guardDoor(app.server, {
    isFull: () => !draining && options.isFull(),
    floodOf: ({ headers, socket }) => (draining ? undefined : floodOf(headers.authorization, socket)),
    onBody: (request) => watch.watch(request),
    log: kernel.log,
    metrics,
  })
  const guardMethod = createMethodGuard(mounted)

  function mount(route: Route, url: string): void {
    const mediaType = isStreamed(route.reply[1])
      ? (route.reply[1].media_type.split(';')[0] as string)
      : 'application/json'
    const hasParameters = url.includes(':')
    const takesBody = route.method !== 'GET'
    const enter = (request: FastifyRequest, visit: Visit, admitted: Admission): void => {
      const { tenant_id, principal } = admitted.actor
      visit.tenant_id = tenant_id
      visit.principal = principal
      visit.headers = kernel.limits.takePrincipal(tenant_id, principal, admitted.standing)
      expectRole(route, admitted.actor)
      visit.input = admitted
      if (!takesBody || !hasBody(request.raw)) {
        kernel.limits.enter(tenant_id, admitted.standing)
        visit.is_in_flight = true
        return
      }
      // Its slot among the requests in flight is taken when the body is complete; without one free now it need not be sent.
      kernel.limits.expectRoom(tenant_id, admitted.standing)
      startReceiving(visit, `p:${tenant_id}:${principal}`, tenant_id)
    }
    const startReceiving = (visit: Visit, principal: string, tenant: string | null): void => {
      visit.receiving = bodies.enter(principal, tenant)
      if (route.bytes) visit.receiving.hold(STREAMED_BYTES)
    }
    const expectReadable = ({ headers, raw }: FastifyRequest): void => {
      expectAcceptable(headers.accept, mediaType)
      if (takesBody && hasBody(raw)) expectPlainBody(raw)
    }
    app.route({
      method: route.method,
      url,
      onRequest: (request, _reply, done) => {
        // To the router `/users/` is `/users/:user_id` with nothing for the name; to everybody else it is no path of ours.
        if (hasParameters && Object.values(request.params as object).includes('')) fail('not_found')
        const visit = visitOf(request)
        visit.route = route
        if (route.access === 'tenant') {
          const admitted = admit(request.headers.authorization, request.raw.socket, visit.client)
          if (admitted instanceof Promise) {
            admitted
              .then((met) => {
                enter(request, visit, met)
                expectReadable(request)
              })
              .then(() => done(), done)
            return
          }
          enter(request, visit, admitted)
        } else if (!route.unlimited) {
          visit.headers = kernel.limits.takeAnonymous(visit.client)
          if (takesBody && hasBody(request.raw)) startReceiving(visit, `a:${visit.client}`, null)
        }
        expectReadable(request)
        done()
      },
      handler: async (request, reply) => {
        const visit = visitOf(request)
        startWork(visit, kernel.limits)
        const key = route.method === 'POST' ? readIdempotencyKey(request.headers['idempotency-key']) : undefined
        const inputs = readInputs(route, request, visit)
        const outcome = visit.input
          ? await dispatch(route, visit.input.actor, inputs, key)
          : await dispatchPublic(route, inputs)
        reply.headers(visit.headers).headers(farewell())
        return send(route, request, reply, outcome)
      },
    })
  }

  return {
    app,
    mounted,
    drain: () => {
      draining = true
    },
    get draining() {
      return draining
    },
    get receiving() {
      return bodies.count
    },
    listen: async (port, host) => {
      await app.listen({ port, host, backlog: CONNECTION_BACKLOG })
      return (app.server.address() as AddressInfo).port
    },
    close: async () => {
      draining = true
      // Whoever only waits for something to happen is told to stop waiting; everybody else finishes.
      for (const { value: abort } of running) abort.abort()
      // To Node a connection that has not asked anything yet is not idle: it would be waited for without end.
      const sweep = setInterval(() => running.size === 0 && app.server.closeAllConnections(), 20)
      await app.close().finally(() => clearInterval(sweep))
      watch.close()
    },
  }
}

function send(route: Route, request: FastifyRequest, reply: FastifyReply, outcome: Outcome): FastifyReply {
  reply.status(outcome.status).headers(outcome.headers)
  if ('stream' in outcome) return reply.send(Readable.from(outcome.stream))
  const etag = outcome.headers['etag']
  if (route.method === 'GET' && etag !== undefined && matches(request.headers['if-none-match'], etag)) {
    return reply.status(304).send()
  }
  if (outcome.body === undefined) return reply.send()
  const next = route.method === 'GET' && route.query ? nextLink(request, outcome.body) : undefined
  if (next) reply.header('link', next)
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .serializer((text: unknown) => text as string)
    .send(outcome.body)
}

const CURSOR_TAIL = /"next_cursor":"([A-Za-z0-9_.~-]+)"\}$/

function nextLink(request: FastifyRequest, body: string): string | undefined {
  const cursor = CURSOR_TAIL.exec(body.slice(-1200))?.[1]
  if (cursor === undefined) return undefined
  const url = new URL(request.url, 'http://any')
  url.searchParams.set('cursor', cursor)
  return `<${url.pathname}${url.search}>; rel="next"`
}

const etagsIn = (header: string): readonly string[] | '*' =>
  header.trim() === '*' ? '*' : header.split(',').map((part) => part.trim())

/** If-None-Match compares weakly: W/ makes no difference. If-Match compares strongly, so there it does. */
function matches(header: string | undefined, etag: string): boolean {
  if (header === undefined) return false
  const given = etagsIn(header)
  return given === '*' || given.some((tag) => tag.replace(/^W\//, '') === etag)
}

/** What cannot be read (400) comes before what can be read and is not valid (422), wherever in the request it stands. */
function readInputs(route: Route, request: FastifyRequest, { abort, client }: Visit): Inputs {
  const { url, body } = request
  const raw = url.includes('?') ? url.slice(url.indexOf('?') + 1) : ''
  const query = route.query ? decodeQuery(route.query as never, raw) : undefined
  const [unknown] = route.query || raw === '' ? [] : splitQuery(raw).keys()
  if (route.body && body === undefined) fail('malformed_request', 'A JSON body is required.')
  const faults: ProblemError[] = []
  if (route.params) faults.push(...faultsOf('path', route.params, request.params))
  if (route.query) faults.push(...faultsOf('query', route.query, query))
  if (unknown !== undefined) {
    faults.push({ in: 'query', pointer: pointerTo([unknown]), detail: 'is not a known parameter here' })
  }
  if (route.body) faults.push(...faultsOf('body', route.body, body))
  else if (body !== undefined && !route.bytes) {
    faults.push({ in: 'body', pointer: '#', detail: 'is not taken by this operation' })
  }
  if (faults.length > 0) failValidation(faults)
  const unstorable = route.body ? unstorableIn(route.body, body) : []
  if (unstorable.length > 0) fail('content_unstorable', { errors: unstorable })
  const ifMatch = request.headers['if-match']
  const facts: RequestFacts = {
    id: request.id,
    get signal() {
      return abort.value.signal
    },
    if_match: ifMatch === undefined ? undefined : etagsIn(ifMatch),
    address: client,
    stream: route.bytes ? (body as Readable | undefined) : undefined,
  }
  // A plain object: the router's own has a prototype, and a fingerprint is taken of plain values only.
  const params = { ...(request.params as Record<string, string>) }
  return { params, query, body: route.bytes ? undefined : body, request: facts }
}
