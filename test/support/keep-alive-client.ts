/** A plain HTTP client over kept connections that can say anything and reads the whole answer. */
import http from 'node:http'

export interface WireRequest {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
  /** Aborts the request, wherever it is, after that many milliseconds. */
  readonly abort_after_ms?: number
}
export interface WireReply {
  /** 0 when the connection ended before a status came. */
  readonly status: number
  readonly headers: http.IncomingHttpHeaders
  readonly text: string
  readonly complete: boolean
}

export class KeepAliveClient {
  readonly #agent: http.Agent
  readonly #base: URL

  constructor(base: string, connections: number) {
    this.#base = new URL(base)
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  }

  send({ method, url, headers, body, abort_after_ms }: WireRequest): Promise<WireReply> {
    return new Promise((resolve) => {
      const request = http.request({
        host: this.#base.hostname,
        port: this.#base.port,
        agent: this.#agent,
        method,
        path: url,
        headers: body === undefined ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) },
      })
      const timer = abort_after_ms === undefined ? undefined : setTimeout(() => request.destroy(), abort_after_ms)
      const chunks: Buffer[] = []
      let reply: http.IncomingMessage | undefined
      const settle = (complete: boolean) => {
        clearTimeout(timer)
        const text = Buffer.concat(chunks).toString('utf8')
        resolve({ status: reply?.statusCode ?? 0, headers: reply?.headers ?? {}, text, complete })
      }
      request.once('response', (incoming) => {
        reply = incoming
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.once('end', () => settle(true))
        incoming.once('error', () => settle(false))
      })
      request.once('error', () => settle(false))
      request.end(body)
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}
