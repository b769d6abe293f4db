/**
 * Clients that write without end and repeat with the same Idempotency-Key until they are answered, as a careful client does.
 * They remember what was acknowledged; `judge` compares that with what is there.
 */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { KeepAliveClient, type WireReply } from '../../support/keep-alive-client.ts'
import type { House } from './house.ts'

export type Kind = 'user' | 'api_key' | 'upload'

export interface Acknowledged {
  readonly kind: Kind
  readonly tenant_id: string
  /** The email, key name or file name: unique, and chosen by the client. */
  readonly name: string
  /** As answered; null where the answer held a secret and could not be repeated. */
  readonly id: string | null
  readonly sha256: string | null
}

export interface WritersOptions {
  readonly house: House
  readonly bases: readonly string[]
  readonly count: number
  readonly random: (below: number) => number
  /** Whether a connection may break; where the service itself never dies it may not. */
  readonly breaks: boolean
}

const UPLOAD_MAX_BYTES = 2_500_000
const READS_EVERY = 4
const SHOWN_WRONG = 5

interface Order {
  readonly kind: Kind
  readonly name: string
  readonly url: string
  readonly media_type: string
  readonly body: Buffer
  readonly sha256: string | null
}

export class Writers {
  readonly acknowledged: Acknowledged[] = []
  readonly statuses = new Map<string, number>()
  /** Answers nobody should have got, a few of them in words. */
  readonly wrong: string[] = []
  #broken = 0
  #repeated = 0
  readonly #open = new Map<string, number>()
  #writing = true
  readonly #options: WritersOptions
  readonly #clients: readonly KeepAliveClient[]
  readonly #running: Promise<unknown>

  constructor(options: WritersOptions) {
    this.#options = options
    this.#clients = options.bases.map((base) => new KeepAliveClient(base, options.count))
    this.#running = Promise.all(Array.from({ length: options.count }, (_, n) => this.#write(n)))
  }

  /** Requests that were cut off by the death of a process. */
  get broken(): number {
    return this.#broken
  }
  get repeated(): number {
    return this.#repeated
  }
  /** Requests that a service is working on now. */
  openAt(base: string): number {
    return this.#open.get(base) ?? 0
  }

  /** Everybody finishes what they began, however often it has to be repeated. */
  async finish(): Promise<void> {
    this.#writing = false
    await this.#running
    for (const client of this.#clients) client.close()
  }

  async #write(writer: number): Promise<void> {
    const { house, random } = this.#options
    for (let n = 0; this.#writing; n++) {
      const tenant = house.tenants[random(house.tenants.length)] as House['tenants'][number]
      const order = this.#order(`${writer}-${n}-${randomUUID()}@stand.example`)
      const id = await this.#until(order, tenant.token)
      if (id === undefined) continue
      this.acknowledged.push({ ...order, tenant_id: tenant.tenant_id, id })
      if (n % READS_EVERY === 0) await this.#read(tenant.token)
    }
  }

  #order(name: string): Order {
    const { random } = this.#options
    const json = (kind: Kind, url: string, content: object): Order => ({
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
  async #until(order: Order, token: string): Promise<string | null | undefined> {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': order.media_type,
      'idempotency-key': randomUUID(),
    }
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) this.#repeated++
      const reply = await this.#send('POST', order.url, headers, order.body)
      const verdict = this.#judge(reply)
      if (verdict === 'done') return idIn(reply.text)
      if (verdict === 'done before') return null
      if (verdict === 'wrong') return undefined
      await sleep(50 + this.#options.random(150))
    }
  }

  async #read(token: string): Promise<void> {
    this.#judge(await this.#send('GET', '/api/users?limit=20', { authorization: `Bearer ${token}` }))
  }

  async #send(method: string, url: string, headers: Record<string, string>, body?: Buffer): Promise<WireReply> {
    const chosen = this.#options.random(this.#clients.length)
    const base = this.#options.bases[chosen] as string
    this.#open.set(base, this.openAt(base) + 1)
    try {
      return await (this.#clients[chosen] as KeepAliveClient).send({ method, url, headers, body })
    } finally {
      this.#open.set(base, this.openAt(base) - 1)
    }
  }

  #judge({ status, headers, text, complete }: WireReply): 'done' | 'done before' | 'again' | 'wrong' {
    const success = headers['idempotency-replayed'] === 'true' ? `${status} replayed` : String(status)
    const code = !complete ? 'broken' : status < 300 ? success : `${status} ${codeIn(text)}`
    this.statuses.set(code, (this.statuses.get(code) ?? 0) + 1)
    if (!complete) {
      this.#broken++
      if (this.#options.breaks) return 'again'
    } else if (status < 300) return 'done'
    else if (code === '409 idempotency_not_replayable') return 'done before'
    else if (code === '409 idempotency_in_progress' || status === 429) return 'again'
    else if (status === 503 && /^[1-9]\d*$/.test(String(headers['retry-after']))) return 'again'
    if (this.wrong.length < SHOWN_WRONG) this.wrong.push(`${code}: ${text.slice(0, 300)}`)
    return 'wrong'
  }
}

function codeIn(text: string): string {
  try {
    return String((JSON.parse(text) as { code?: unknown }).code)
  } catch {
    return 'unreadable'
  }
}

function idIn(text: string): string {
  const made = JSON.parse(text) as { user_id?: string; upload_id?: string; key?: { key_id: string } }
  return (made.user_id ?? made.upload_id ?? made.key?.key_id) as string
}
