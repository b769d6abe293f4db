/**
 * An HTTP proxy in front of the real server that answers the first requests with scripted faults and forwards the
 * others.
 */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface ProxiedRequest {
  readonly method: string
  readonly path: string
  readonly at_ms: number
  readonly headers: IncomingMessage['headers']
}
/** Instead of passing a request on. `lose` passes it on, lets it take effect, and breaks the connection instead of answering. */
export type ProxyFault =
  | 'none'
  | 'hang_up'
  | 'lose'
  | { status: number; headers?: Record<string, string>; body?: string }

export async function startFaultyProxy(target: string) {
  const seen: ProxiedRequest[] = []
  let faults: ProxyFault[] = []

  const forward = async (request: IncomingMessage, body: Buffer): Promise<Response> => {
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(
        ([name]) => !/^(host|connection|content-length|transfer-encoding)$/.test(name),
      ),
    ) as Record<string, string>
    const init = { method: request.method as string, headers, ...(body.length > 0 && { body: new Uint8Array(body) }) }
    return fetch(`${target}${request.url}`, init)
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    seen.push({
      method: request.method as string,
      path: request.url as string,
      at_ms: performance.now(),
      headers: request.headers,
    })
    const trouble = faults.shift()
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    if (trouble === 'hang_up') return void request.socket.destroy()
    if (typeof trouble === 'object') return void response.writeHead(trouble.status, trouble.headers).end(trouble.body)
    const passed = await forward(request, Buffer.concat(chunks))
    const body = Buffer.from(await passed.arrayBuffer())
    if (trouble === 'lose') return void request.socket.destroy()
    const headers = [...passed.headers].filter(
      ([name]) => !/^(connection|content-length|keep-alive|transfer-)/.test(name),
    )
    response.writeHead(passed.status, Object.fromEntries(headers)).end(body)
  }

  const server = http.createServer((request, response) => {
    answer(request, response).catch(() => request.socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    /** What the next requests meet, in order. */
    expect: (...next: ProxyFault[]) => {
      seen.length = 0
      faults = next
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
