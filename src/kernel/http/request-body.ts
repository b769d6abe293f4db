/**
 * Limits request bodies: how many and how many bytes are received at once, per caller, per tenant and per process, and at which
 * minimum rate. A body slower than that is answered 408 and its connection closed. Time in which the server itself does not read
 * is not counted.
 */
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { LinkedList, type Node } from '../linked-list.ts'
import { fail, failWithoutStack, Problem } from '../problem.ts'

export interface BodyLimit {
  readonly count: number
  readonly bytes: number
}
export interface BodyLimits {
  readonly principal: BodyLimit
  readonly tenant: BodyLimit
  readonly process: BodyLimit
}
const MIB = 1024 * 1024
/** A principal may send as many bodies at once as its tenant may have requests in flight. */
export const defaultBodyLimits: BodyLimits = {
  principal: { count: 64, bytes: 32 * MIB },
  tenant: { count: 256, bytes: 64 * MIB },
  process: { count: 1024, bytes: 256 * MIB },
}
/** What a streamed upload holds in memory. */
export const STREAM_BUFFER_BYTES = 2 * MIB

/** As Apache's mod_reqtimeout: this long for the first bytes, and a second more for each 500 bytes. */
const GRACE_MS = 20_000
const MIN_BYTES_PER_S = 500
const SWEEP_EVERY_MS = 1000

/** Event of a request whose body arrives too slowly, for the code that reads it. */
export const SLOW_BODY = 'slow-body'

/** Whether a request announces a body. Called for every request, so it reads two headers only. */
export const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] !== undefined && headers['content-length'] !== '0')

interface BodyUsage {
  count: number
  bytes: number
}

/** A reservation for one body. Released exactly once, when the body is complete or abandoned. */
export class BodyReservation {
  readonly #usages: readonly (readonly [BodyUsage, BodyLimit])[]
  readonly #refusal: BodyLimitCode
  readonly #onRelease: () => void
  #bytes = 0
  #isReleased = false

  constructor(held: readonly (readonly [BodyUsage, BodyLimit])[], refusal: BodyLimitCode, onLeave: () => void) {
    this.#usages = held
    this.#refusal = refusal
    this.#onRelease = onLeave
    for (const [each] of held) each.count++
  }

  /** Counts bytes that are held in memory; fails when they are too many for the caller (429) or the process (503). */
  addBytes(bytes: number): void {
    if (this.#isReleased) return
    this.#usages.forEach(([each, limit], index) => {
      if (each.bytes + bytes > limit.bytes)
        failTooManyBodies(index === this.#usages.length - 1 ? 'overloaded' : this.#refusal)
    })
    this.#bytes += bytes
    for (const [each] of this.#usages) each.bytes += bytes
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    for (const [each] of this.#usages) {
      each.count--
      each.bytes -= this.#bytes
    }
    this.#onRelease()
  }
}

/** Whose limit was reached: that of a tenant, an address or the process. */
type BodyLimitCode = 'concurrency_limited' | 'rate_limited' | 'overloaded'

const failTooManyBodies = (code: BodyLimitCode): never =>
  failWithoutStack(code, {
    detail: 'Too many request bodies are being received at once. Finish sending some first.',
    retry_after_s: 1,
  })

export class BodyLimiter {
  readonly #limits: BodyLimits
  readonly #process: BodyUsage = { count: 0, bytes: 0 }
  readonly #usageByKey = new Map<string, BodyUsage>()

  constructor(limits: BodyLimits = defaultBodyLimits) {
    this.#limits = limits
  }

  get count(): number {
    return this.#process.count
  }

  /** Keys with a reservation, for tests of leaks. */
  get keys(): number {
    return this.#usageByKey.size
  }

  countFor(key: string): number {
    return this.#usageByKey.get(key)?.count ?? 0
  }

  /** `tenant` is null for a caller known by its address only. */
  acquire(principal: string, tenant: string | null): BodyReservation {
    const keys = tenant === null ? [principal] : [principal, tenant]
    const refusal = tenant === null ? 'rate_limited' : 'concurrency_limited'
    const limits = [this.#limits.principal, this.#limits.tenant]
    keys.forEach((key, index) => {
      if (this.countFor(key) >= (limits[index] as BodyLimit).count) failTooManyBodies(refusal)
    })
    if (this.#process.count >= this.#limits.process.count) failTooManyBodies('overloaded')
    const held = keys.map((key, index): readonly [BodyUsage, BodyLimit] => {
      const each = this.#usageByKey.get(key) ?? { count: 0, bytes: 0 }
      this.#usageByKey.set(key, each)
      return [each, limits[index] as BodyLimit]
    })
    return new BodyReservation([...held, [this.#process, this.#limits.process]], refusal, () => {
      for (const key of keys) if (this.countFor(key) === 0) this.#usageByKey.delete(key)
    })
  }
}

interface TrackedBody {
  readonly request: IncomingMessage
  readonly first_byte: number
  /** How long the server has waited for the client. */
  waited_ms: number
}

export interface BodyRate {
  readonly grace_ms: number
  readonly min_bytes_per_s: number
}

/** Checks all incomplete bodies every second: one timer for all, and no work per chunk. */
export class SlowBodyDetector {
  readonly #tracked = new LinkedList<TrackedBody>()
  readonly #rate: BodyRate
  readonly #timer: NodeJS.Timeout
  #swept_ms = performance.now()

  constructor(rate: BodyRate = { grace_ms: GRACE_MS, min_bytes_per_s: MIN_BYTES_PER_S }) {
    this.#rate = rate
    this.#timer = setInterval(() => this.sweep(), SWEEP_EVERY_MS)
    this.#timer.unref()
  }

  get size(): number {
    return this.#tracked.size
  }

  /** Until the body is complete or the connection closed. */
  track(request: IncomingMessage): void {
    const first_byte = request.socket.bytesRead
    const node: Node<TrackedBody> = this.#tracked.add({ request, first_byte, waited_ms: 0 })
    request.once('close', () => this.#tracked.remove(node))
  }

  sweep(): void {
    const now_ms = performance.now()
    const passed_ms = now_ms - this.#swept_ms
    this.#swept_ms = now_ms
    for (const node of [...this.#tracked]) {
      const { value: watched } = node
      const { request, first_byte } = watched
      // A request that was answered before its body was complete does not report the end of its connection.
      if (request.socket.destroyed) {
        this.#tracked.remove(node)
        continue
      }
      // Bytes that arrived and are not read yet are a delay of the server, not of the client.
      if (request.readableLength > 0 || request.complete) continue
      watched.waited_ms += passed_ms
      const bytes = request.socket.bytesRead - first_byte
      const allowed_ms = this.#rate.grace_ms + (bytes / this.#rate.min_bytes_per_s) * 1000
      // The reader of the body answers; where there is none, the connection is closed.
      if (watched.waited_ms > allowed_ms && !request.emit(SLOW_BODY)) request.socket.destroy()
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

const slowBodyProblem = (): Problem => new Problem('request_timeout', 'The request body was sent too slowly.')

/** Makes a slow body an error of its stream, which the reader throws; until somebody reads, the next sweep tries again. */
export function failOnSlowBody(stream: Readable): void {
  stream.on(SLOW_BODY, () => {
    if (stream.listenerCount('error') > 0) stream.emit('error', slowBodyProblem())
  })
}

/** Reads a whole body of at most `max_bytes`, counting the bytes that are held. */
export function readBody(
  stream: IncomingMessage,
  {
    max_bytes,
    receiving: reservation,
  }: { readonly max_bytes: number; readonly receiving: BodyReservation | undefined },
  done: (error: Error | null, bytes?: Buffer) => void,
): void {
  const header = stream.headers['content-length']
  const declared_bytes = header === undefined ? undefined : Number(header)
  if (declared_bytes !== undefined && declared_bytes > max_bytes) {
    done(new Problem('too_large'))
    return
  }
  const chunks: Buffer[] = []
  let received_bytes = 0
  const end = (error: Error | null): void => {
    stream.off('data', onData).off('end', onEnd).off('error', onError).off(SLOW_BODY, onSlow)
    if (error) done(error)
    else done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, received_bytes))
  }
  const onData = (chunk: Buffer): void => {
    received_bytes += chunk.length
    if (received_bytes > max_bytes) {
      end(new Problem('too_large'))
      return
    }
    try {
      reservation?.addBytes(chunk.length)
    } catch (error) {
      end(error as Problem)
      return
    }
    chunks.push(chunk)
  }
  const onEnd = (): void => {
    const isWhole = declared_bytes === undefined || declared_bytes === received_bytes
    end(isWhole ? null : new Problem('malformed_request', 'The body is not as long as Content-Length says.'))
  }
  const onError = (error: Error): void => end(error)
  const onSlow = (): void => end(slowBodyProblem())
  stream.on('data', onData).on('end', onEnd).on('error', onError).on(SLOW_BODY, onSlow)
}

const CODED_CHUNKS = /,\s*chunked\s*$/i
const CHARSET = /;\s*charset\s*=\s*"?([^";\s]*)/i

/** 415 for an unsupported content coding or character set, 400 for an unsupported transfer coding. */
export function assertSupportedEncoding({ headers }: IncomingMessage): void {
  const encoding = headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    fail('media_type_unsupported', {
      detail: 'Send the body without Content-Encoding; an upload may itself be a compressed file.',
      headers: { 'accept-encoding': 'identity' },
    })
  }
  // Node's parser decodes chunks and leaves other codings; where the last one is not chunked it refuses the request itself.
  if (CODED_CHUNKS.test(headers['transfer-encoding'] ?? '')) {
    fail('malformed_request', 'The only transfer coding that is understood is chunked.')
  }
  const charset = CHARSET.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase()
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') {
    fail('media_type_unsupported', 'JSON is read as UTF-8, and bytes are stored as they are: name no other charset.')
  }
}
