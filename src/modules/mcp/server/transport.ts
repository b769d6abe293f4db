/**
 * Carries messages between an HTTP exchange and servers of the Model Context Protocol. It serves both eras of the protocol and
 * keeps nothing between two messages: every message gets a server of its own.
 */
import { createMcpHandler, type Server } from '@modelcontextprotocol/server'
import type { ProtocolReply } from '#kernel/declare-route.ts'
import { answerSingleRequest, isSingleRequest } from './single-exchange.ts'

export interface Message {
  readonly message: unknown
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly signal: AbortSignal
}

export type Era = 'legacy' | 'modern'

/** Of an older revision; newer ones have no batches. Each call in it counts against the limits. */
const MAX_BATCH = 10
/** Headers that the protocol reads. Tokens are never passed on. */
const READ_HEADERS = ['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name']
const INVALID_REQUEST = -32_600
const METHOD_NOT_FOUND = -32_601

export class ProtocolTransport<C> {
  readonly #max_subscriptions: number
  readonly #createServer: (context: C, era: Era) => Server
  readonly #answer: ReturnType<typeof createMcpHandler>['fetch']

  /** Tells open subscriptions what changed. */
  readonly notify: ReturnType<typeof createMcpHandler>['notify']

  /** `max_subscriptions`: how many streams may wait for changes; none where nothing changes while a client listens. */
  constructor(createServer: (context: C, era: Era) => Server, max_subscriptions = 0) {
    this.#max_subscriptions = max_subscriptions
    this.#createServer = createServer
    const handler = createMcpHandler(({ authInfo, era }) => createServer(authInfo?.extra?.['context'] as C, era), {
      legacy: 'stateless',
      responseMode: 'auto',
      maxSubscriptions: max_subscriptions,
    })
    this.#answer = handler.fetch
    this.notify = handler.notify
  }

  async handle({ message, headers, signal }: Message, context: C): Promise<ProtocolReply> {
    if (Array.isArray(message)) {
      const fault = findBatchFault(message)
      if (fault !== undefined) return toError(fault)
    }
    if (this.#max_subscriptions === 0 && isSubscription(message))
      return toError('Method not found', METHOD_NOT_FOUND, message)
    const picked = pickHeaders(headers)
    if (isSingleRequest(message, picked)) {
      return answerSingleRequest(this.#createServer(context, 'legacy'), message, signal)
    }
    const request = new Request('http://localhost/api/mcp', { method: 'POST', headers: picked, body: '', signal })
    const authInfo = { token: '', clientId: '', scopes: [], extra: { context } }
    const response = await this.#answer(request, { authInfo, parsedBody: message })
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') ?? false
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: isStream ? (response.body as unknown as AsyncIterable<Uint8Array>) : (await response.text()) || undefined,
    }
  }
}

/** The library answers a batch only when every request in it is answered: refuses what would leave one unanswered. */
function findBatchFault(batch: readonly unknown[]): string | undefined {
  if (batch.length === 0 || batch.length > MAX_BATCH) return `A batch holds 1 to ${MAX_BATCH} messages.`
  const messages = batch.map((one) => (one ?? {}) as { id?: unknown; method?: unknown })
  // Each POST is independent, so a cancellation could only concern a request of the same batch.
  if (messages.some(({ method }) => method === 'notifications/cancelled'))
    return 'A batch must not contain notifications/cancelled.'
  const ids = messages.flatMap(({ id, method }) => (id === undefined || method === undefined ? [] : [id]))
  return new Set(ids).size < ids.length ? 'Request ids must be unique within a batch.' : undefined
}

function pickHeaders(headers: Message['headers']): Record<string, string> {
  const picked: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && (READ_HEADERS.includes(name) || name.startsWith('mcp-param-')))
      picked[name] = value
  }
  return picked
}

interface Listen {
  readonly id: unknown
}
const isSubscription = (message: unknown): message is Listen =>
  (message as { method?: unknown } | null)?.method === 'subscriptions/listen'

const toError = (text: string, code = INVALID_REQUEST, { id }: Listen = { id: null }): ProtocolReply => ({
  status: code === METHOD_NOT_FOUND ? 404 : 400,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ jsonrpc: '2.0', id, error: { code, message: text } }),
})
