/** Asks an HTTP proxy for a tunnel (RFC 9110, CONNECT) and reads its answer. */
import { isIPv6, type Socket } from 'node:net'

const MAX_ANSWER_BYTES = 16 * 1024
const END_OF_HEADERS = '\r\n\r\n'

export interface TunnelRequest {
  readonly host: string
  readonly port: number
  readonly authorization: string | null
  readonly signal: AbortSignal
}

/** The socket, ready for the first byte to the host. Rejects when the proxy refuses; the socket is destroyed then. */
export function openTunnel(socket: Socket, request: TunnelRequest): Promise<Socket> {
  const { signal } = request
  return new Promise((resolve, reject) => {
    const received: Buffer[] = []
    const finish = () => {
      signal.removeEventListener('abort', onFailure)
      socket.removeListener('data', onData)
      socket.removeListener('error', onFailure)
      socket.removeListener('close', onFailure)
    }
    const onFailure = () => {
      finish()
      socket.on('error', () => {}).destroy()
      reject(new Error('the proxy opened no tunnel'))
    }
    const onData = (chunk: Buffer) => {
      received.push(chunk)
      const answer = Buffer.concat(received).toString('latin1')
      const end = answer.indexOf(END_OF_HEADERS)
      if (end < 0) {
        if (answer.length > MAX_ANSWER_BYTES) onFailure()
        return
      }
      // The host speaks second: bytes behind the answer come from the proxy itself.
      const isOpen = /^HTTP\/1\.[01] 2\d\d /.test(answer) && end + END_OF_HEADERS.length === answer.length
      if (!isOpen) return onFailure()
      finish()
      socket.pause()
      resolve(socket)
    }
    if (signal.aborted) return onFailure()
    signal.addEventListener('abort', onFailure, { once: true })
    socket.on('data', onData).once('error', onFailure).once('close', onFailure)
    socket.write(formatConnect(request))
  })
}

function formatConnect({ host, port, authorization }: TunnelRequest): string {
  const authority = `${isIPv6(host) ? `[${host}]` : host}:${port}`
  const lines = [`CONNECT ${authority} HTTP/1.1`, `Host: ${authority}`]
  if (authorization !== null) lines.push(`Proxy-Authorization: ${authorization}`)
  return `${lines.join('\r\n')}${END_OF_HEADERS}`
}
