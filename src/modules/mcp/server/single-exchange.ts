/**
 * One request of the older era of the protocol and what is sent for it, without the web streams of the library, which cost more
 * than most calls. A request that is answered at once gets one JSON document; one that sends other messages first gets a stream.
 */
import {
  classifyInboundRequest,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  isJsonContentType,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
  type Transport,
} from '@modelcontextprotocol/server'
import type { ProtocolReply } from '#kernel/declare-route.ts'

type Headers = Readonly<Record<string, string>>

const VERSION_HEADER = 'mcp-protocol-version'

/** Everything else, and what has to be refused, is answered by the library. */
export function isSingleRequest(message: unknown, headers: Headers): message is JSONRPCRequest {
  const { accept, [VERSION_HEADER]: version } = headers
  if (!accept?.includes('application/json') || !accept.includes('text/event-stream')) return false
  if (!isJsonContentType(headers['content-type'])) return false
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return false
  if (!isJSONRPCRequest(message)) return false
  const { [VERSION_HEADER]: protocolVersionHeader, 'mcp-method': mcpMethodHeader, 'mcp-name': mcpNameHeader } = headers
  const route = classifyInboundRequest({
    httpMethod: 'POST',
    body: message,
    ...(protocolVersionHeader !== undefined && { protocolVersionHeader }),
    ...(mcpMethodHeader !== undefined && { mcpMethodHeader }),
    ...(mcpNameHeader !== undefined && { mcpNameHeader }),
  })
  // A request that claims no revision, and is no handshake.
  return route.kind === 'legacy' && route.reason === 'no-claim'
}

export async function answerSingleRequest(
  server: Server,
  message: JSONRPCRequest,
  signal: AbortSignal,
): Promise<ProtocolReply> {
  const exchange = new SingleExchange(message.id)
  await server.connect(exchange)
  const close = () => void server.close()
  if (signal.aborted) close()
  else signal.addEventListener('abort', close, { once: true })
  exchange.onmessage?.(message)
  const first = await exchange.next()
  const isAnswered = first !== undefined && exchange.isAnswer(first)
  if (first !== undefined && !isAnswered) {
    return { status: 200, headers: { 'content-type': 'text/event-stream' }, body: exchange.stream(first, close) }
  }
  // An exchange that is answered holds nothing that has to be closed.
  signal.removeEventListener('abort', close)
  // Nobody is there any more to read an answer.
  if (!isAnswered) return { status: 499, headers: {}, body: undefined }
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(first) }
}

class SingleExchange implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: NonNullable<Transport['onmessage']>
  readonly #request_id: JSONRPCRequest['id']
  readonly #sent: JSONRPCMessage[] = []
  #isClosed = false
  #wake: () => void = () => {}

  constructor(request_id: JSONRPCRequest['id']) {
    this.#request_id = request_id
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) return
    this.#sent.push(message)
    this.#wake()
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#wake()
    this.onclose?.()
  }

  isAnswer(message: JSONRPCMessage): boolean {
    return (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) && message.id === this.#request_id
  }

  /** Undefined when the exchange ended. */
  async next(): Promise<JSONRPCMessage | undefined> {
    while (this.#sent.length === 0 && !this.#isClosed) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
    return this.#sent.shift()
  }

  async *stream(first: JSONRPCMessage, close: () => void): AsyncGenerator<Uint8Array> {
    try {
      for (let message: JSONRPCMessage | undefined = first; message; message = await this.next()) {
        yield Buffer.from(`event: message\ndata: ${JSON.stringify(message)}\n\n`)
        if (this.isAnswer(message)) return
      }
    } finally {
      close()
    }
  }
}
