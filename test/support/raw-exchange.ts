/** One connection spoken to byte by byte: what was answered, and whether the other side closed it. */
import net from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}
export interface RawExchange {
  readonly answers: readonly RawResponse[]
  readonly text: string
  /** False when we gave up waiting: the server expects more. */
  readonly closed: boolean
}

export interface ExchangeOptions {
  /** Give up after that long without being closed. */
  readonly patience_ms?: number
  /** Pause between the pieces. */
  readonly pause_ms?: number
  /** Go away right after the last piece, without waiting for anything. */
  readonly leave?: boolean
}

export async function exchangeRaw(
  base: string,
  pieces: readonly (string | Buffer)[],
  options: ExchangeOptions = {},
): Promise<RawExchange> {
  const { hostname, port } = new URL(base)
  const socket = net.connect(Number(port), hostname)
  const chunks: Buffer[] = []
  let closed = false
  const gone = new Promise<void>((resolve) => {
    socket.once('close', () => {
      closed = true
      resolve()
    })
  })
  socket.on('data', (chunk) => chunks.push(chunk))
  // A server may close while we still write; what it answered before counts.
  socket.on('error', () => {})
  for (const [place, piece] of pieces.entries()) {
    if (place > 0 && options.pause_ms) await sleep(options.pause_ms)
    if (socket.destroyed) break
    await new Promise<void>((resolve) =>
      socket.write(typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece, () => resolve()),
    )
  }
  if (!options.leave) await Promise.race([gone, sleep(options.patience_ms ?? 20_000)])
  const wasClosed = closed
  socket.destroy()
  const text = Buffer.concat(chunks).toString('latin1')
  return { answers: parseResponses(text), text, closed: wasClosed }
}

/** Answers one after another, by their declared lengths; whatever follows a stream of chunks belongs to it. */
function parseResponses(text: string): RawResponse[] {
  const answers: RawResponse[] = []
  for (let at = 0; at < text.length; ) {
    const end = text.indexOf('\r\n\r\n', at)
    if (end < 0) break
    const [first = '', ...lines] = text.slice(at, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    const status = Number(first.split(' ')[1])
    const length = Number(headers['content-length'] ?? (status === 100 ? 0 : text.length))
    answers.push({ status, headers, body: text.slice(end + 4, end + 4 + length) })
    at = end + 4 + length
  }
  return answers
}
