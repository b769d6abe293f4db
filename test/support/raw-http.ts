/** HTTP written by hand: for requests no client library would send, and answers read as the bytes they are. */
import net from 'node:net'

export interface RawReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends the text and reads until the server closes; ask for `Connection: close` where it would otherwise stay open. */
export function sendRaw(base: string, text: string | Buffer): Promise<RawReply> {
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname)
    const chunks: Buffer[] = []
    socket.on('data', (chunk) => chunks.push(chunk))
    // A server that refuses a large request may close before all of it was sent; what it answered still counts.
    socket.on('error', (error) => (chunks.length === 0 ? reject(error) : undefined))
    socket.on('close', () => resolve(parse(Buffer.concat(chunks).toString('latin1'))))
    socket.write(text)
  })
}

export const formatRequest = (first: string, headers: Readonly<Record<string, string>> = {}): string =>
  [
    first,
    ...Object.entries({ Host: 'probity', Connection: 'close', ...headers }).map(([k, v]) => `${k}: ${v}`),
    '',
    '',
  ].join('\r\n')

function parse(text: string): RawReply {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  return { status: Number(first.split(' ')[1]), headers, body: text.slice(end + 4) }
}
