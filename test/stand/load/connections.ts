/** Kept connections on plain sockets: an HTTP client would cost more than the server it loads. Reads only what the API sends. */
import net from 'node:net'

export interface SocketReply {
  /** 0 when the connection ended before a whole answer came; `head` then says how. */
  readonly status: number
  readonly head: string
  readonly body: Buffer
}

interface Conversation {
  readonly socket: net.Socket
  received: Buffer
  settle: ((reply: SocketReply) => void) | undefined
}

interface Waiting {
  readonly text: string
  readonly settle: (reply: SocketReply) => void
}

const lost = (how: string): SocketReply => ({ status: 0, head: how, body: Buffer.alloc(0) })

export class Connections {
  readonly #port: number
  readonly #most: number
  readonly #idle: Conversation[] = []
  readonly #waiting: Waiting[] = []
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
      this.#say(this.#connect(), requestText('GET /health', undefined), ({ status }) => resolve(status === 200)),
    )
  }

  /** Over an idle connection, a new one, or the first that becomes free. */
  ask(text: string, settle: (reply: SocketReply) => void): void {
    const conversation = this.#idle.pop() ?? (this.#opened.size < this.#most ? this.#connect() : undefined)
    if (conversation) this.#say(conversation, text, settle)
    else this.#waiting.push({ text, settle })
  }

  close(): void {
    for (const socket of this.#opened) socket.destroy()
  }

  #takeWaiting(): Waiting | undefined {
    const next = this.#waiting[this.#next]
    if (next) this.#next++
    if (this.#next === this.#waiting.length) this.#next = this.#waiting.length = 0
    return next
  }

  #connect(): Conversation {
    const socket = net.connect(this.#port, '127.0.0.1').setNoDelay(true)
    const conversation: Conversation = { socket, received: Buffer.alloc(0), settle: undefined }
    this.#opened.add(socket)
    socket.on('data', (chunk: Buffer) => this.#read(conversation, chunk))
    let how = 'closed'
    socket.on('error', (error: NodeJS.ErrnoException) => {
      how = error.code ?? error.message
    })
    socket.once('close', () => {
      this.#opened.delete(socket)
      const at = this.#idle.indexOf(conversation)
      if (at >= 0) this.#idle.splice(at, 1)
      conversation.settle?.(lost(how))
    })
    return conversation
  }

  #say(conversation: Conversation, text: string, settle: (reply: SocketReply) => void): void {
    conversation.settle = settle
    conversation.socket.write(text)
  }

  #read(conversation: Conversation, chunk: Buffer): void {
    conversation.received = conversation.received.length === 0 ? chunk : Buffer.concat([conversation.received, chunk])
    const reply = parse(conversation.received)
    if (!reply) return
    conversation.received = Buffer.alloc(0)
    const { settle } = conversation
    conversation.settle = undefined
    const next = this.#takeWaiting()
    if (next) this.#say(conversation, next.text, next.settle)
    else this.#idle.push(conversation)
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

export const requestText = (at: string, token: string | undefined, body?: string): string =>
  [
    `${at.replace(' ', ' /api')} HTTP/1.1`,
    'host: stand',
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${Buffer.byteLength(body)}`]),
    '',
    body ?? '',
  ].join('\r\n')
