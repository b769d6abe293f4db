/** Kept connections on plain sockets: an HTTP client would cost more than the server it loads. Reads only what the API sends. */
import net from 'node:net'

export interface SocketReply {
  /** 0 when the connection ended before a whole answer came; `head` then says how. */
  readonly status: number
  readonly head: string
  readonly body: Buffer
}

interface PooledSocket {
  readonly socket: net.Socket
  received: Buffer
  settle: ((reply: SocketReply) => void) | undefined
}

interface QueuedRequest {
  readonly text: string
  readonly settle: (reply: SocketReply) => void
}

const lostReply = (how: string): SocketReply => ({ status: 0, head: how, body: Buffer.alloc(0) })

export class SocketPool {
  readonly #port: number
  readonly #most: number
  readonly #idle: PooledSocket[] = []
  readonly #waiting: QueuedRequest[] = []
  /** What comes before it has been sent: taking the first of a hundred thousand away would move all others. */
  #next = 0
  readonly #opened = new Set<net.Socket>()

  constructor(port: number, most: number) {
    this.#port = port
    this.#most = most
  }

  get opened(): number {
    return this.#opened.size
  }

  /** One more that is free. It has been used, so that the server has made whatever it makes for a connection; false where that failed. */
  open(): Promise<boolean> {
    return new Promise((resolve) =>
      this.#say(this.#connect(), formatRequest('GET /health', undefined), ({ status }) => resolve(status === 200)),
    )
  }

  /** Over an idle connection, a new one, or the first that becomes free. */
  ask(text: string, settle: (reply: SocketReply) => void): void {
    const pooled = this.#idle.pop() ?? (this.#opened.size < this.#most ? this.#connect() : undefined)
    if (pooled) this.#say(pooled, text, settle)
    else this.#waiting.push({ text, settle })
  }

  close(): void {
    for (const socket of this.#opened) socket.destroy()
  }

  #takeWaiting(): QueuedRequest | undefined {
    const next = this.#waiting[this.#next]
    if (next) this.#next++
    if (this.#next === this.#waiting.length) this.#next = this.#waiting.length = 0
    return next
  }

  #connect(): PooledSocket {
    const socket = net.connect(this.#port, '127.0.0.1').setNoDelay(true)
    const pooled: PooledSocket = { socket, received: Buffer.alloc(0), settle: undefined }
    this.#opened.add(socket)
    socket.on('data', (chunk: Buffer) => this.#read(pooled, chunk))
    let how = 'closed'
    socket.on('error', (error: NodeJS.ErrnoException) => {
      how = error.code ?? error.message
    })
    socket.once('close', () => {
      this.#opened.delete(socket)
      const at = this.#idle.indexOf(pooled)
      if (at >= 0) this.#idle.splice(at, 1)
      pooled.settle?.(lostReply(how))
    })
    return pooled
  }

  #say(pooled: PooledSocket, text: string, settle: (reply: SocketReply) => void): void {
    pooled.settle = settle
    pooled.socket.write(text)
  }

  #read(pooled: PooledSocket, chunk: Buffer): void {
    pooled.received = pooled.received.length === 0 ? chunk : Buffer.concat([pooled.received, chunk])
    const reply = parse(pooled.received)
    if (!reply) return
    pooled.received = Buffer.alloc(0)
    const { settle } = pooled
    pooled.settle = undefined
    const next = this.#takeWaiting()
    if (next) this.#say(pooled, next.text, next.settle)
    else this.#idle.push(pooled)
    settle?.(reply)
  }
}

/** The whole answer, or undefined while more is to come. Answers of the load are never chunked. */
function parse(bytes: Buffer): SocketReply | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = bytes.toString('latin1', 0, end).toLowerCase()
  const length = Number(/\r\ncontent-length: *(\d+)/.exec(head)?.[1] ?? 0)
  if (bytes.length < end + 4 + length) return undefined
  return { status: Number(head.slice(9, 12)), head, body: bytes.subarray(end + 4, end + 4 + length) }
}

export const formatRequest = (at: string, token: string | undefined, body?: string): string =>
  [
    `${at.replace(' ', ' /api')} HTTP/1.1`,
    'host: acceptance',
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
    '',
    body ?? '',
  ].join('\r\n')
