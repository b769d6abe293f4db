/**
 * Sends generated requests to a listening server and judges every answer by the published document: nothing above 499, no
 * undocumented status, no body of another shape, no status that does not belong to what was sent.
 */

import { ApiContract } from '#test/support/contract.ts'
import { type GeneratedRequest, GeneratedRequests } from '#test/support/generated-requests.ts'
import { KeepAliveClient } from '#test/support/keep-alive-client.ts'
import { SeededRandom } from '#test/support/seeded-random.ts'

export interface GeneratedRunOptions {
  readonly base: string
  readonly document: object
  /** Callers; all of them hold every role, so that no role check refuses a request. */
  readonly tokens: readonly string[]
  readonly seed: number
  readonly valid: number
  readonly invalid: number
  readonly at_once: number
  /** The server trusts one proxy: each request may then name an address of its own. */
  readonly own_addresses: boolean
  readonly onProgress?: (sent: number) => void
}

export interface Finding {
  readonly what: string
  readonly kind: string
  readonly operation: string
  readonly request: string
  readonly status: number
  readonly answer: string
}

const MAX_FINDINGS = 20
/** So many, and the rest would say nothing new. */
const MAX_FAULTS = 1000
const POOL_SIZE = 200

/** Identifiers and cursors out of answers, for later requests to use. */
class SeenValues {
  readonly #pools = new Map<string, string[]>()
  readonly #random: SeededRandom

  constructor(random: SeededRandom) {
    this.#random = random
  }

  readonly pick = (name: string): string | undefined => {
    const pool = this.#pools.get(name)
    return pool && this.#random.pick(pool)
  }

  addFrom(value: unknown, depth = 0): void {
    if (typeof value !== 'object' || value === null || depth > 4) return
    for (const [name, part] of Object.entries(value)) {
      // The policy names the actions it can govern; only those are of use in a rule.
      if (name === 'actions' && Array.isArray(part)) for (const action of part) this.#add('action', String(action))
      else if (typeof part !== 'string') this.addFrom(part, depth + 1)
      // Its own token is the one thing the run must not take back.
      else if (name === 'token_id') continue
      else if (name === 'next_cursor') this.#add('cursor', part)
      else if (name === 'code') this.#add(name, part)
      else if (/_id$/.test(name) && /^[0-9a-f-]{36}$/.test(part)) this.#add(name, part)
      else if (name === 'resource') this.#addResource(part)
    }
  }

  /** A job names what it concerns by its path: `/audit/exports/<id>` holds an export_id. */
  #addResource(path: string): void {
    const [, plural, id] = /([a-z-]+)\/([0-9a-f-]{36})$/.exec(path) ?? []
    if (id === undefined || plural === undefined) return
    this.#add(plural === 'verify' ? 'verification_id' : `${plural.replace(/s$/, '')}_id`, id)
  }

  #add(name: string, value: string): void {
    const pool = this.#pools.get(name) ?? []
    if (pool.length < POOL_SIZE) pool.push(value)
    else pool[this.#random.below(POOL_SIZE)] = value
    this.#pools.set(name, pool)
  }
}

export async function runGeneratedRequests(options: GeneratedRunOptions) {
  const { valid, invalid, at_once } = options
  const random = new SeededRandom(options.seed)
  const contract = new ApiContract(options.document)
  const memory = new SeenValues(random)
  const requests = new GeneratedRequests(contract, random, memory.pick)
  const client = new KeepAliveClient(options.base, at_once)
  const statuses: Record<string, number> = {}
  const operations = new Set<string>()
  const succeeded = new Set<string>()
  const findings: Finding[] = []
  /** How often each operation answered wrongly, and with what. */
  const faulty: Record<string, number> = {}
  let faults = 0
  let sent = 0

  const findFault = (request: GeneratedRequest, status: number, mediaType: string, text: string): string | null => {
    if (status === 0) return 'the connection ended without an answer'
    if (status >= 500) return 'a failure of the server'
    if (!request.isExpected(status)) return 'a status that does not belong to the request'
    // HEAD has no body by definition; everything else is held to the document.
    return request.method === 'HEAD' ? null : contract.faultOf(request.operation, status, mediaType, text)
  }

  const sendRequest = async (request: GeneratedRequest): Promise<void> => {
    const authorization =
      request.token === 'none'
        ? {}
        : { authorization: `Bearer ${request.token === 'bad' ? `ey${random.hex(40)}` : random.pick(options.tokens)}` }
    const address = options.own_addresses ? { 'x-forwarded-for': randomAddress(random) } : {}
    const { method, url, body } = request
    const reply = await client.send({
      method,
      url,
      body,
      headers: { ...authorization, ...address, ...request.headers },
    })
    const group = request.kind === 'valid' ? 'valid' : 'invalid'
    statuses[`${group} ${reply.status}`] = (statuses[`${group} ${reply.status}`] ?? 0) + 1
    operations.add(request.operation.id)
    const mediaType = String(reply.headers['content-type'] ?? '')
    const what = findFault(request, reply.status, mediaType, reply.text)
    if (what !== null) {
      const place = `${request.operation.id}: ${reply.status} to ${request.kind}`
      faulty[place] = (faulty[place] ?? 0) + 1
      faults++
    }
    if (what !== null && faults <= MAX_FINDINGS) {
      const asked = `${method} ${url} ${String(body ?? '').slice(0, 300)}`
      const { status, text } = reply
      findings.push({
        what,
        kind: request.kind,
        operation: request.operation.id,
        request: asked,
        status,
        answer: text.slice(0, 400),
      })
    }
    if (reply.status < 300 && reply.status >= 200) {
      succeeded.add(request.operation.id)
      if (mediaType.startsWith('application/json') && reply.text.length < 100_000)
        memory.addFrom(JSON.parse(reply.text))
    }
  }

  const total = valid + invalid
  const runClient = async () => {
    while (sent < total && faults < MAX_FAULTS) {
      const number = sent++
      // Both kinds throughout, in the wanted proportion.
      const isValid = Math.floor(((number + 1) * valid) / total) > Math.floor((number * valid) / total)
      await sendRequest(isValid ? requests.valid() : requests.invalid())
      if (number % 10_000 === 9999) options.onProgress?.(number + 1)
    }
  }
  try {
    await Promise.all(Array.from({ length: at_once }, runClient))
  } finally {
    client.close()
  }
  const never_well = contract.operations.map(({ id }) => id).filter((id) => !succeeded.has(id))
  return {
    seed: options.seed,
    valid,
    invalid,
    sent,
    operations: operations.size,
    never_well,
    statuses,
    faults,
    faulty,
    findings,
  }
}

const randomAddress = (random: SeededRandom): string =>
  `10.${random.below(256)}.${random.below(256)}.${random.between(1, 254)}`
