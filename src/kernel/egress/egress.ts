/**
 * The only way out: every request to another system passes here. It checks URL, host and every address, verifies TLS, follows no
 * redirect, and bounds time, bytes and connections. Whether a request is repeated is the caller's decision.
 */
import { createHash } from 'node:crypto'
import type { Pool } from 'undici'
import type { Log } from '../log.ts'
import { type ClientCertificate, openConnection } from './connect.ts'
import { Exchange, type ExchangeResponse } from './exchange.ts'
import { EgressFailed, type EgressFault, refuse } from './faults.ts'
import { isAllowedHeader, isHeaderValue } from './headers.ts'
import { ConnectionPools, type PoolLease } from './pools.ts'
import { createResolver, type ResolveName } from './resolve.ts'
import { defaultEgressSettings, type EgressSettings } from './settings.ts'
import { checkTarget, type Target } from './targets.ts'

export interface EgressRequest {
  /** Connections are reused within one key only. */
  readonly pool_key: string
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Buffer
  /** Of the manifest, exact names; the operator's list is applied as well. */
  readonly allowed_hosts: readonly string[]
  /** The URL comes from the operator's configuration: hosts and addresses are not checked. */
  readonly trust?: 'operator'
  readonly timeout_ms: number
  /** How long the response may take to begin; 5 s unless given. */
  readonly headers_timeout_ms?: number
  /** Of the body, before and after decompression. */
  readonly max_bytes: number
  readonly signal?: AbortSignal
  readonly client_certificate?: ClientCertificate
  /** A connection that was idle may be closed by the host just as the request is sent, which leaves its outcome unknown. */
  readonly fresh_connection?: boolean
}

export interface EgressResponse extends ExchangeResponse {
  readonly duration_ms: number
}

export interface Egress {
  /** Rejects with EgressFailed. */
  request(request: EgressRequest): Promise<EgressResponse>
  close(): Promise<void>
}

export type EgressOutcome = 'answered' | EgressFault

export interface EgressTiming {
  readonly connect_ms: number
  readonly headers_ms: number
  readonly idle_ms: number
}

export interface EgressOptions {
  readonly settings?: EgressSettings
  readonly log?: Pick<Log, 'warn'>
  readonly observe?: (outcome: EgressOutcome, duration_s: number) => void
  readonly resolve?: ResolveName
  readonly timing?: Partial<EgressTiming>
}

const DEFAULT_TIMING: EgressTiming = { connect_ms: 5_000, headers_ms: 5_000, idle_ms: 10_000 }
const KEEP_ALIVE_MS = 4_000
const KEEP_ALIVE_MAX_MS = 30_000
const MAX_HEADER_BYTES = 16 * 1024

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
export function createEgress(options: EgressOptions = {}): Egress {
  return new EgressClient(options)
}

class EgressClient implements Egress {
  readonly #settings: EgressSettings
  readonly #options: EgressOptions
  readonly #timing: EgressTiming
  readonly #resolve: ResolveName
  readonly #pools = new ConnectionPools()
  #isClosed = false

  constructor(options: EgressOptions) {
    this.#options = options
    this.#settings = options.settings ?? defaultEgressSettings
    this.#resolve = options.resolve ?? createResolver()
    this.#timing = { ...DEFAULT_TIMING, ...options.timing }
  }

  async request(request: EgressRequest): Promise<EgressResponse> {
    const started_ms = performance.now()
    try {
      const response = await this.#perform(request)
      this.#observe('answered', started_ms)
      return { ...response, duration_ms: Math.round(performance.now() - started_ms) }
    } catch (error) {
      if (!(error instanceof EgressFailed)) throw error
      this.#observe(error.fault, started_ms)
      if (error.fault === 'egress_refused') this.#logRefusal(request, error)
      throw error
    }
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.#pools.close()
  }

  async #perform(request: EgressRequest): Promise<ExchangeResponse> {
    const target = checkTarget(request, this.#settings)
    const headers = prepareHeaders(request)
    const exchange = new Exchange(request.max_bytes)
    // Unhandled until the lease below is there.
    exchange.response.catch(() => {})
    const stop = new AbortController()
    const end = (fault: EgressFault) => {
      exchange.fail(fault)
      stop.abort()
    }
    const onAbort = () => end('aborted')
    const timer = setTimeout(() => end('timeout'), request.timeout_ms)
    request.signal?.addEventListener('abort', onAbort, { once: true })
    if (request.signal?.aborted) onAbort()
    let lease: PoolLease | null = null
    try {
      // Loaded by the first request: it takes longer than most commands run.
      const { Pool } = await import('undici')
      if (this.#isClosed) end('aborted')
      else if (!stop.signal.aborted) {
        const create = () => this.#createPool(Pool, target, request)
        lease = await this.#pools.acquire(getPoolKey(target, request), create, stop.signal)
        if (lease) this.#dispatch(lease, { target, request, headers, exchange })
        else exchange.fail('overloaded')
      }
      return await exchange.response
    } finally {
      clearTimeout(timer)
      request.signal?.removeEventListener('abort', onAbort)
      lease?.release()
    }
  }

  #dispatch(
    { pool }: PoolLease,
    parts: { target: Target; request: EgressRequest; headers: Record<string, string>; exchange: Exchange },
  ): void {
    const { target, request, headers, exchange } = parts
    pool.dispatch(
      {
        path: target.path,
        method: request.method as 'GET',
        headers,
        body: request.body ?? null,
        ...this.#getLimits(request),
      },
      exchange,
    )
  }

  /** What the operator configures is bounded by the total time alone: a long poll has a silent first part. */
  #getLimits({ trust, timeout_ms, headers_timeout_ms }: EgressRequest): {
    headersTimeout: number
    bodyTimeout: number
  } {
    const { headers_ms, idle_ms } = this.#timing
    if (trust === 'operator') return { headersTimeout: timeout_ms, bodyTimeout: timeout_ms }
    return { headersTimeout: headers_timeout_ms ?? headers_ms, bodyTimeout: idle_ms }
  }

  #createPool(PoolClass: typeof Pool, target: Target, request: EgressRequest): Pool {
    const { client_certificate, fresh_connection } = request
    const connection = {
      target,
      settings: this.#settings,
      resolve: this.#resolve,
      connect_ms: this.#timing.connect_ms,
      ...(client_certificate && { client_certificate }),
    }
    return new PoolClass(target.origin, {
      connect: (_options, callback) => {
        openConnection(connection).then(
          (socket) => callback(null, socket),
          (error: Error) => callback(error, null),
        )
      },
      pipelining: fresh_connection ? 0 : 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX_MS,
      maxHeaderSize: MAX_HEADER_BYTES,
      allowH2: false,
    })
  }

  #observe(outcome: EgressOutcome, started_ms: number): void {
    this.#options.observe?.(outcome, (performance.now() - started_ms) / 1000)
  }

  #logRefusal({ url, pool_key }: EgressRequest, { reason }: EgressFailed): void {
    const host = URL.canParse(url) ? new URL(url).host.slice(0, 300) : null
    this.#options.log?.warn({ host, pool_key, reason }, 'refused an outbound request')
  }
}

function prepareHeaders({ method, headers }: EgressRequest): Record<string, string> {
  if (!methods.has(method)) refuse('request')
  const prepared: Record<string, string> = { 'accept-encoding': 'gzip, deflate, br', 'user-agent': 'probity' }
  for (const [name, value] of Object.entries(headers)) {
    if (!isAllowedHeader(name) || !isHeaderValue(value)) refuse('request')
    prepared[name.toLowerCase()] = value
  }
  return prepared
}

/** Everything that decides what a connection is good for. */
function getPoolKey({ origin, rule }: Target, request: EgressRequest): string {
  const { pool_key, client_certificate, fresh_connection = false } = request
  const certificate = client_certificate
    ? createHash('sha256').update(client_certificate.cert).update('\0').update(client_certificate.key).digest('hex')
    : ''
  return JSON.stringify([pool_key, origin, rule, certificate, fresh_connection])
}
