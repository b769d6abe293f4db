/** A provider on the loopback that counts every request it receives, by path and by idempotency key, and answers as the test says. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { defaultEgressSettings, type EgressSettings } from '#kernel/egress/settings.ts'

export interface ReceivedRequest {
  readonly received_at: Date
  readonly method: string
  readonly path: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

export interface ProviderReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Closes the connection instead of answering. */
  readonly reset?: true
  /** Waits for it before answering. */
  readonly after?: Promise<unknown>
}

/** A payload that the seeded contract `company-registry` admits. */
export const createRegistryPayload = (number: string, country = 'GB') => ({
  meta: { source: 'registry.example', updated_at: new Date().toISOString() },
  result: { items: [{ number, name: 'Example Trading Ltd', status: 'active', address: { country } }] },
})

/** Finds every company. */
export const respondFromRegistry = ({ path }: Pick<ReceivedRequest, 'path'>) => ({
  body: createRegistryPayload(path.split('/').at(-1) ?? ''),
})

export class CountingProvider {
  readonly requests: ReceivedRequest[] = []
  readonly port: number
  readonly egress: EgressSettings
  respond: (request: ReceivedRequest) => ProviderReply = respondFromRegistry
  readonly #server: http.Server

  private constructor(server: http.Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.egress = { ...defaultEgressSettings, exempt: { address: '127.0.0.1', port: this.port } }
  }

  static async start(): Promise<CountingProvider> {
    const server = http.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const provider = new CountingProvider(server)
    server.on('request', (request, response) => void provider.#answer(request, response))
    return provider
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    const received_at = new Date()
    let isComplete = true
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // The client died while it sent the request: it counts, and no client waits for an answer.
      isComplete = false
    }
    const received = {
      received_at,
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString('utf8'),
    }
    this.requests.push(received)
    if (!isComplete) return
    const { status = 200, headers, body, reset, after } = this.respond(received)
    await after
    if (reset) return void request.socket.destroy()
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(body === undefined ? '{}' : typeof body === 'string' ? body : JSON.stringify(body))
  }

  /** Requests for this path, the token endpoint apart. */
  count(path: string): number {
    return this.requests.filter((request) => request.path === path).length
  }

  /** From now on connections are refused. */
  async stopListening(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }

  /** At the same port as before. */
  startListening(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(this.port, '127.0.0.1', resolve))
  }

  async close(): Promise<void> {
    if (this.#server.listening) await this.stopListening()
  }

  /** A manifest that asks this server. */
  createManifest(capability: object = {}, change: object = {}) {
    return {
      kind: 'http',
      title: 'Company registry',
      capabilities: {
        'company.lookup': {
          contract_key: 'company-registry',
          input: {
            type: 'object',
            additionalProperties: false,
            required: ['number'],
            properties: { number: { type: 'string', minLength: 1, maxLength: 40 } },
          },
          safe: true,
          request: {
            method: 'GET',
            url: `http://127.0.0.1:${this.port}/companies/{input.number}`,
            headers: { accept: 'application/json' },
          },
          response: { ok: [200], not_found: [404], media_types: ['application/json'], max_bytes: 1_048_576 },
          retry: { on: [429, 502, 503, 504, 'timeout', 'reset'], attempts: 3, base_ms: 1, max_ms: 5 },
          // The first request of a process loads the client within it, on machines that may be busy.
          timeout_ms: 10_000,
          cost: { amount: '0.40', currency: 'EUR' },
          ...capability,
        },
      },
      auth: { kind: 'header', name: 'x-api-key', value: '{credential.api_key}' },
      credential: { members: [{ name: 'api_key', secret: true, max: 200 }] },
      hosts: ['127.0.0.1'],
      test: { capability: 'company.lookup', input: { number: '00000006' } },
      ...change,
    }
  }
}
