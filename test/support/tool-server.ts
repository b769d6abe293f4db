/** A tool server on the loopback. It behaves well in both eras of the protocol until a test replaces one of its answers. */
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { defaultEgressSettings, type EgressSettings } from '#kernel/egress/settings.ts'

export interface RpcMessage {
  readonly id?: unknown
  readonly method: string
  readonly params?: Readonly<Record<string, unknown>>
}

/** A result, or anything that HTTP can carry. */
export type ToolReply =
  | { readonly result: unknown }
  | { readonly error: unknown }
  | {
      readonly status?: number
      readonly type?: string
      readonly headers?: Readonly<Record<string, string | readonly string[]>>
      readonly body: string | Buffer
    }
  /** Writes the response itself. */
  | { readonly write: (response: http.ServerResponse, request: http.IncomingMessage) => void }

export const lookupTool = {
  name: 'lookup_company',
  title: 'Look up a company',
  description: 'Gives the entry of a company in the register.',
  inputSchema: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'] },
  outputSchema: {
    type: 'object',
    properties: { meta: { type: 'object' }, result: { type: 'object', required: ['items'] } },
    required: ['meta', 'result'],
  },
  annotations: { readOnlyHint: true },
}

export class ToolTestServer {
  readonly messages: (RpcMessage & { readonly headers: http.IncomingHttpHeaders })[] = []
  /** Requests that were not POST: nobody should make any. */
  readonly others: string[] = []
  readonly url: string
  readonly port: number
  readonly egress: EgressSettings
  era: 'modern' | 'legacy' = 'modern'
  tools: readonly unknown[] = [lookupTool]
  /** The structured content of a result. */
  content: (args: Readonly<Record<string, unknown>>) => unknown = ({ number }) => ({
    meta: { source: 'registry.example', updated_at: new Date().toISOString() },
    result: { items: [{ number, name: 'Example Trading Ltd', status: 'active', address: { country: 'GB' } }] },
  })
  /** Replaces the answer to a message; undefined: as usual. */
  replace: (message: RpcMessage) => ToolReply | undefined = () => undefined
  readonly #server: http.Server

  private constructor(server: http.Server) {
    this.#server = server
    this.port = (server.address() as AddressInfo).port
    this.url = `http://127.0.0.1:${this.port}/mcp`
    this.egress = { ...defaultEgressSettings, exempt: { address: '127.0.0.1', port: this.port } }
  }

  static async start(): Promise<ToolTestServer> {
    const server = http.createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const started = new ToolTestServer(server)
    server.on('request', (request, response) => void started.#answer(request, response))
    return started
  }

  reset(): void {
    this.messages.length = 0
    this.others.length = 0
    this.era = 'modern'
    this.tools = [lookupTool]
    this.replace = () => undefined
  }

  /** How often a tool was called. */
  get calls(): number {
    return this.messages.filter(({ method }) => method === 'tools/call').length
  }

  async #answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (request.method !== 'POST') this.others.push(`${request.method} ${request.url}`)
    const message = JSON.parse(Buffer.concat(chunks).toString('utf8') || '{"method":""}') as RpcMessage
    this.messages.push({ ...message, headers: request.headers })
    const reply = this.replace(message) ?? this.#usual(message)
    if ('write' in reply) return reply.write(response, request)
    if ('body' in reply) {
      const { status = 200, type = 'application/json', headers = {}, body } = reply
      response.writeHead(status, { ...(headers as http.OutgoingHttpHeaders), 'content-type': type })
      return void response.end(body)
    }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...reply }))
  }

  #usual({ method, params }: RpcMessage): ToolReply {
    const complete = this.era === 'modern' ? { resultType: 'complete' } : {}
    const cached = this.era === 'modern' ? { ttlMs: 300_000, cacheScope: 'private' } : {}
    const capabilities = { tools: { listChanged: true } }
    const serverInfo = { name: 'acme', version: '3' }
    switch (method) {
      case 'server/discover':
        return this.era === 'legacy'
          ? { error: { code: -32601, message: 'Method not found' } }
          : { result: { ...complete, ...cached, supportedVersions: ['2026-07-28'], capabilities, serverInfo } }
      case 'initialize':
        return { result: { protocolVersion: '2025-11-25', capabilities, serverInfo } }
      case 'tools/list':
        return { result: { ...complete, ...cached, tools: this.tools } }
      case 'tools/call': {
        const structuredContent = this.content((params?.['arguments'] ?? {}) as Record<string, unknown>)
        return { result: { ...complete, content: [], structuredContent } }
      }
      default:
        return { status: 202, body: '' }
    }
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }
}
