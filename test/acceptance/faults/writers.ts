/**
 * Clients that write without end and repeat with the same Idempotency-Key until they are answered, as a careful client does.
 * They record what was acknowledged; it is compared with the database afterwards.
 */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { KeepAliveClient, type WireReply } from '#test/support/keep-alive-client.ts'
import type { KillableDatabase } from './killable-database.ts'

export type WriteKind = 'user' | 'api_key' | 'upload'

export interface AcknowledgedWrite {
  readonly kind: WriteKind
  readonly tenant_id: string
  /** The email, key name or file name: unique, and chosen by the client. */
  readonly name: string
  /** As answered; null where the answer held a secret and could not be repeated. */
  readonly id: string | null
  readonly sha256: string | null
}

export interface WritersOptions {
  readonly database: KillableDatabase
  readonly bases: readonly string[]
  readonly count: number
  readonly random: (below: number) => number
  /** Whether a connection may break; where the service itself never dies it may not. */
  readonly mayDisconnect: boolean
}

const UPLOAD_MAX_BYTES = 2_500_000
const READ_EVERY = 4
const MAX_REPORTED = 5

interface WriteRequest {
  readonly kind: WriteKind
  readonly name: string
  readonly url: string
  readonly media_type: string
  readonly body: Buffer
  readonly sha256: string | null
}

export class Writers {
  readonly acknowledged: AcknowledgedWrite[] = []
  readonly statuses = new Map<string, number>()
  /** Answers nobody should have got, a few of them in words. */
  readonly unexpected: string[] = []
  #disconnects = 0
  #retries = 0
  readonly #inFlight = new Map<string, number>()
  #isWriting = true
  readonly #options: WritersOptions
  readonly #clients: readonly KeepAliveClient[]
  readonly #running: Promise<unknown>

  constructor(options: WritersOptions) {
    this.#options = options
    this.#clients = options.bases.map((base) => new KeepAliveClient(base, options.count))
    this.#running = Promise.all(Array.from({ length: options.count }, (_, n) => this.#write(n)))
  }

  /** Requests that were cut off by the death of a process. */
  get disconnects(): number {
    return this.#disconnects
  }
  get retries(): number {
    return this.#retries
  }
  /** Requests that a service is working on now. */
  countInFlight(base: string): number {
    return this.#inFlight.get(base) ?? 0
  }

  /** Everybody finishes what they began, however often it has to be repeated. */
  async finish(): Promise<void> {
    this.#isWriting = false
    await this.#running
    for (const client of this.#clients) client.close()
  }

  async #write(writer: number): Promise<void> {
    const { database, random } = this.#options
    for (let n = 0; this.#isWriting; n++) {
      const tenant = database.tenants[random(database.tenants.length)] as KillableDatabase['tenants'][number]
      const request = this.#buildRequest(`${writer}-${n}-${randomUUID()}@acceptance.example`)
      const id = await this.#sendUntilAnswered(request, tenant.token)
      if (id === undefined) continue
      this.acknowledged.push({ ...request, tenant_id: tenant.tenant_id, id })
      if (n % READ_EVERY === 0) await this.#read(tenant.token)
    }
  }

  #buildRequest(name: string): WriteRequest {
    const { random } = this.#options
    const json = (kind: WriteKind, url: string, content: object): WriteRequest => ({
      ...{ kind, name, url, media_type: 'application/json', sha256: null },
      body: Buffer.from(JSON.stringify(content)),
    })
    const chance = random(10)
    if (chance < 5) return json('user', '/api/users', { name: 'Ada', email: name, roles: ['viewer'] })
    if (chance < 8) return json('api_key', '/api/api-keys', { name, roles: ['service'] })
    const body = Buffer.alloc(1 + random(random(3) === 0 ? UPLOAD_MAX_BYTES : 60_000), random(256))
    const sha256 = createHash('sha256').update(body).digest('hex')
    const url = `/api/uploads?file_name=${encodeURIComponent(name)}`
    return { kind: 'upload', name, url, media_type: 'application/octet-stream', body, sha256 }
  }

  /** The id that was answered; undefined when the answer was one nobody should get. */
  async #sendUntilAnswered(request: WriteRequest, token: string): Promise<string | null | undefined> {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': request.media_type,
      'idempotency-key': randomUUID(),
    }
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) this.#retries++
      const reply = await this.#send('POST', request.url, headers, request.body)
      const verdict = this.#classify(reply)
      if (verdict === 'done') return parseId(reply.text)
      if (verdict === 'done before') return null
      if (verdict === 'wrong') return undefined
      await sleep(50 + this.#options.random(150))
    }
  }

  async #read(token: string): Promise<void> {
    this.#classify(await this.#send('GET', '/api/users?limit=20', { authorization: `Bearer ${token}` }))
  }

  async #send(method: string, url: string, headers: Record<string, string>, body?: Buffer): Promise<WireReply> {
    const chosen = this.#options.random(this.#clients.length)
    const base = this.#options.bases[chosen] as string
    this.#inFlight.set(base, this.countInFlight(base) + 1)
    try {
      return await (this.#clients[chosen] as KeepAliveClient).send({ method, url, headers, body })
    } finally {
      this.#inFlight.set(base, this.countInFlight(base) - 1)
    }
  }

  #classify({ status, headers, text, complete }: WireReply): 'done' | 'done before' | 'again' | 'wrong' {
    const success = headers['idempotency-replayed'] === 'true' ? `${status} replayed` : String(status)
    const code = !complete ? 'broken' : status < 300 ? success : `${status} ${parseProblemCode(text)}`
    this.statuses.set(code, (this.statuses.get(code) ?? 0) + 1)
    if (!complete) {
      this.#disconnects++
      if (this.#options.mayDisconnect) return 'again'
    } else if (status < 300) return 'done'
    else if (code === '409 idempotency_not_replayable') return 'done before'
    else if (code === '409 idempotency_in_progress' || status === 429) return 'again'
    else if (status === 503 && /^[1-9]\d*$/.test(String(headers['retry-after']))) return 'again'
    if (this.unexpected.length < MAX_REPORTED) this.unexpected.push(`${code}: ${text.slice(0, 300)}`)
    return 'wrong'
  }
}

function parseProblemCode(text: string): string {
  try {
    return String((JSON.parse(text) as { code?: unknown }).code)
  } catch {
    return 'unreadable'
  }
}

function parseId(text: string): string {
  const made = JSON.parse(text) as { user_id?: string; upload_id?: string; key?: { key_id: string } }
  return (made.user_id ?? made.upload_id ?? made.key?.key_id) as string
}
