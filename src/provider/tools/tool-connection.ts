/**
 * One short conversation with a tool server over streamable HTTP: negotiate a version, list the tools or call one, end. The SDK speaks
 * the protocol; every request goes through the given exchange, and of each response it sees only the message that answers its
 * request. Nothing that a server could ask of a client is declared: no sampling, no roots, no elicitation. Resources and prompts are
 * never read, no stream is kept open, and no address that a server names is ever asked, those of OAuth discovery included.
 */
import type { Client } from '@modelcontextprotocol/client'
import { EgressFailed } from '#kernel/egress/faults.ts'
import { getMediaType, type ProviderResponse } from '../classify-response.ts'
import type { ToolDefinition } from './tool-definition.ts'
import { MAX_TOOLS } from './tool-definition.ts'
import { type ToolFault, ToolServerFailed } from './tool-faults.ts'
import { findResponse, isJsonObject, type JsonObject } from './tool-messages.ts'

/** Of all pages of the list together. */
export const MAX_LIST_BYTES = 2 * 1024 * 1024
export const MAX_RESULT_BYTES = 1024 * 1024
const MAX_SMALL_BYTES = 256 * 1024
const MAX_PAGES = 20

export interface ToolRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  readonly timeout_ms: number
  readonly max_bytes: number
  /** It is the call of a tool, which may have an effect. */
  readonly is_call: boolean
}

/** Sends a request to the URL of the server, with its credential. Rejects with EgressFailed. */
export type ToolExchange = (request: ToolRequest) => Promise<ProviderResponse>

export interface ToolServerInfo {
  readonly protocol_version: string | null
  /** As the server names itself; data. */
  readonly name: string | null
  readonly version: string | null
}

export interface ListedTools {
  readonly server: ToolServerInfo
  readonly tools: readonly unknown[]
  /** How long the server says that the list holds; null: it does not say. */
  readonly ttl_ms: number | null
}

export interface ConnectionOptions {
  readonly url: string
  readonly exchange: ToolExchange
  /** For the whole conversation. */
  readonly timeout_ms: number
}

export async function listServerTools(options: ConnectionOptions): Promise<ListedTools> {
  return withConnection(options, async ({ client, session }) => {
    const tools: unknown[] = []
    const cursors = new Set<string>()
    let ttl_ms: number | null = null
    let cursor: string | undefined
    for (let page = 1; ; page++) {
      const result = await session.ask(() =>
        client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, session.limits),
      )
      const listed = result['tools']
      tools.push(...(Array.isArray(listed) ? listed : []))
      if (tools.length > MAX_TOOLS) throw new ToolServerFailed('too_many_tools')
      ttl_ms = getShorter(ttl_ms, result['ttlMs'])
      const next = result['nextCursor']
      if (typeof next !== 'string') return { server: getServerInfo(client), tools, ttl_ms }
      if (cursors.has(next)) throw new ToolServerFailed('cursor_repeated')
      if (page === MAX_PAGES) throw new ToolServerFailed('too_many_pages')
      cursors.add(next)
      cursor = next
    }
  })
}

/** The structured content of the result, as JSON text. Whether it fits the output schema is not judged here. */
export async function callServerTool(
  options: ConnectionOptions,
  tool: ToolDefinition,
  args: JsonObject,
): Promise<{ readonly content: string; readonly http_status: number }> {
  return withConnection(options, async ({ client, session }) => {
    const params = { name: tool.name, arguments: args as Record<string, unknown> }
    // Parameters that the pinned definition wants in headers are sent there too.
    const toolDefinition = { ...tool, inputSchema: tool.inputSchema, outputSchema: undefined } as never
    const result = await session.ask(() => client.callTool(params, { ...session.limits, toolDefinition }))
    if (result['isError'] === true) throw new ToolServerFailed('tool_error')
    const content = result['structuredContent']
    if (!isJsonObject(content)) throw new ToolServerFailed('content_missing')
    return { content: JSON.stringify(content), http_status: session.http_status }
  })
}

interface Connection {
  readonly client: Client
  readonly session: Session
}

async function withConnection<T>(options: ConnectionOptions, body: (connection: Connection) => Promise<T>): Promise<T> {
  // Loaded by the first conversation: it takes longer than most commands run.
  const sdk = await import('@modelcontextprotocol/client')
  const session = new Session(options)
  const client = new sdk.Client(
    { name: 'probity', version: '1' },
    {
      capabilities: {},
      versionNegotiation: { mode: 'auto' },
      // Schemas of a server are never compiled in this process: a thread with limits judges results.
      jsonSchemaValidator: {
        getValidator: () => (input: unknown) => ({ valid: true, data: input as never, errorMessage: undefined }),
      },
      inputRequired: { autoFulfill: false },
    },
  )
  const transport = new sdk.StreamableHTTPClientTransport(new URL(options.url), {
    fetch: (_url, init) => session.exchange(init ?? {}),
    reconnectionOptions: {
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 0,
    },
    onInsufficientScope: 'throw',
  })
  try {
    await session.negotiate(() => client.connect(transport, session.limits))
    return await body({ client, session })
  } catch (error) {
    const failed = error instanceof ToolServerFailed ? error : new ToolServerFailed('result_invalid')
    failed.call_sent = session.call_sent
    throw failed
  } finally {
    await client.close().catch(() => {})
  }
}

/** What is known of a conversation apart from the SDK: the last message as it came, and why a request failed. */
class Session {
  call_sent = false
  http_status = 200
  readonly #options: ConnectionOptions
  readonly #deadline_ms: number
  #list_bytes = MAX_LIST_BYTES
  #failure: ToolServerFailed | undefined
  #last: JsonObject | undefined

  constructor(options: ConnectionOptions) {
    this.#options = options
    this.#deadline_ms = performance.now() + options.timeout_ms
  }

  /** The exchange ends a request first, so that the reason is its own. */
  get limits(): { readonly timeout: number } {
    return { timeout: this.#remaining_ms + 5_000 }
  }

  get #remaining_ms(): number {
    return Math.max(1, Math.round(this.#deadline_ms - performance.now()))
  }

  async negotiate(connect: () => Promise<void>): Promise<void> {
    try {
      await connect()
    } catch {
      throw this.#failure ?? new ToolServerFailed('negotiation_failed')
    }
  }

  /** The result as the server sent it; the SDK has checked its form. */
  async ask(request: () => Promise<unknown>): Promise<JsonObject> {
    this.#last = undefined
    let is_refused = false
    try {
      await request()
    } catch {
      is_refused = true
    }
    if (this.#failure) throw this.#failure
    const message = this.#last as JsonObject | undefined
    if (message && 'error' in message) throw new ToolServerFailed('protocol_error')
    const result = message?.['result']
    if (isJsonObject(result) && result['resultType'] === 'input_required') throw new ToolServerFailed('input_required')
    if (is_refused || !isJsonObject(result)) throw new ToolServerFailed('result_invalid')
    return result
  }

  async exchange(init: RequestInit): Promise<Response> {
    // A stream that the server would keep open, or the end of a session: neither is needed.
    if (init.method !== 'POST') return new Response(null, { status: 405 })
    const text = String(init.body)
    const { id, method } = JSON.parse(text) as { id?: unknown; method?: unknown }
    try {
      return await this.#send(init, text, { id, method })
    } catch (error) {
      this.#failure ??= toFailure(error)
      throw this.#failure
    }
  }

  async #send(init: RequestInit, text: string, { id, method }: { id?: unknown; method?: unknown }): Promise<Response> {
    const is_call = method === 'tools/call'
    const response = await this.#request({
      headers: pickHeaders(new Headers(init.headers)),
      body: Buffer.from(text),
      timeout_ms: this.#remaining_ms,
      max_bytes: is_call ? MAX_RESULT_BYTES : method === 'tools/list' ? Math.max(1, this.#list_bytes) : MAX_SMALL_BYTES,
      is_call,
    })
    const { status, headers, body } = response
    this.http_status = status
    if (method === 'tools/list') this.#list_bytes -= body.length
    const fault = getStatusFault(status)
    if (fault) throw new ToolServerFailed(fault, { http_status: status, retry_after: headers['retry-after'] })
    // A server of an earlier revision refuses what it does not know with such a status: the SDK decides what it means.
    if (status >= 400) {
      if (method !== 'server/discover') throw new ToolServerFailed('status_unexpected', { http_status: status })
      return new Response(body.subarray(0, MAX_SMALL_BYTES), { status, headers: JSON_TYPE })
    }
    if (id === undefined) return new Response(null, { status: 202 })
    this.#last = findResponse(getMediaType(headers), body, id)
    const session_id = headers['mcp-session-id']
    return new Response(JSON.stringify(this.#last), {
      headers: { ...JSON_TYPE, ...(isSessionId(session_id) && { 'mcp-session-id': session_id }) },
    })
  }

  async #request(request: ToolRequest): Promise<ProviderResponse> {
    if (request.is_call) this.call_sent = true
    try {
      return await this.#options.exchange(request)
    } catch (error) {
      if (request.is_call && error instanceof EgressFailed) this.call_sent = error.sent
      throw error
    }
  }
}

const JSON_TYPE = { 'content-type': 'application/json' }

function toFailure(error: unknown): ToolServerFailed {
  if (error instanceof ToolServerFailed) return error
  if (error instanceof EgressFailed) return new ToolServerFailed(error.fault)
  throw error
}

function getStatusFault(status: number): ToolFault | null {
  if (status === 401 || status === 403) return 'unauthorized'
  if (status === 429) return 'rate_limited'
  return status >= 500 || (status >= 300 && status < 400) ? 'status_unexpected' : null
}

/** Headers of the protocol. Those that authenticate are added by the exchange. */
function pickHeaders(headers: Headers): Record<string, string> {
  const picked = [...headers].filter(
    ([name]) => name === 'accept' || name === 'content-type' || name.startsWith('mcp-'),
  )
  return Object.fromEntries(picked)
}

/** Visible ASCII, as the protocol prescribes. */
const isSessionId = (value: string | undefined): value is string =>
  value !== undefined && /^[\x21-\x7e]{1,256}$/.test(value)

const getShorter = (known: number | null, value: unknown): number | null => {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0) return known
  return known === null ? value : Math.min(known, value)
}

function getServerInfo(client: Client): ToolServerInfo {
  const { name, version } = client.getServerVersion() ?? {}
  const cut = (value: unknown) => (typeof value === 'string' && value !== '' ? value.slice(0, 200) : null)
  return { protocol_version: cut(client.getNegotiatedProtocolVersion()), name: cut(name), version: cut(version) }
}
