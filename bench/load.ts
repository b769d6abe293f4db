/**
 * The load generator, a process of its own: a closed loop over keep-alive connections on plain sockets, since an HTTP client
 * would cost more than the servers it measures. Reads its order from the command line and prints one JSON result.
 */
import net from 'node:net'
import { type LoadOrder, type LoadResult, UNIQUE } from './request.ts'

let sent = 0
const prefix = `${Date.now().toString(36)}-${process.pid}-`
const nextUnique = (): string => prefix + String(sent++).padStart(UNIQUE.length - prefix.length, '0')

function pen(request: string): () => string | Buffer {
  const parts = request.split(UNIQUE)
  if (parts.length === 1) {
    const bytes = Buffer.from(request)
    return () => bytes
  }
  return () => parts.join(nextUnique())
}

/** How many bytes the first answer in `bytes` has, or 0 while it is incomplete. */
function answerLength(bytes: Buffer): number {
  const head = bytes.indexOf('\r\n\r\n')
  if (head < 0) return 0
  const fields = bytes.toString('latin1', 0, head).toLowerCase()
  const declared = /\r\ncontent-length: *(\d+)/.exec(fields)
  if (declared) {
    const end = head + 4 + Number(declared[1])
    return bytes.length >= end ? end : 0
  }
  if (!fields.includes('transfer-encoding: chunked')) return head + 4
  const end = bytes.indexOf('\r\n0\r\n\r\n', head)
  return end < 0 ? 0 : end + 7
}

function run(order: LoadOrder): Promise<LoadResult> {
  const latencies_ms: number[] = []
  const unexpected: Record<string, number> = {}
  const status = Buffer.from(`HTTP/1.1 ${order.expected_status} `)
  const from_ms = performance.now() + order.warmup_ms
  const until_ms = from_ms + order.duration_ms
  const sockets: net.Socket[] = []

  const converse = (request: string) =>
    new Promise<void>((resolve, reject) => {
      const write = pen(request)
      const socket = net.connect(order.port, '127.0.0.1').setNoDelay(true)
      sockets.push(socket)
      let received: Buffer = Buffer.alloc(0)
      let asked_ms = 0
      const ask = () => {
        asked_ms = performance.now()
        socket.write(write())
      }
      socket.once('connect', ask)
      socket.on('data', (chunk: Buffer) => {
        received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
        const length = answerLength(received)
        if (length === 0) return
        const now_ms = performance.now()
        if (now_ms >= until_ms) return resolve()
        if (now_ms >= from_ms) {
          if (status.compare(received, 0, status.length) === 0) latencies_ms.push(now_ms - asked_ms)
          else {
            const other = received.toString('latin1', 9, 12)
            unexpected[other] = (unexpected[other] ?? 0) + 1
          }
        }
        received = received.length === length ? Buffer.alloc(0) : received.subarray(length)
        ask()
      })
      socket.once('error', reject)
      socket.once('close', () => reject(new Error('the server closed a connection under load')))
    })

  const conversations = Array.from({ length: order.connections }, (_, n) =>
    converse(order.requests[n % order.requests.length] as string),
  )
  return Promise.all(conversations)
    .finally(() => {
      for (const socket of sockets) socket.destroy()
    })
    .then(() => {
      const sorted = Float64Array.from(latencies_ms).sort()
      const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
      return {
        per_second: sorted.length / (order.duration_ms / 1000),
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        answers: sorted.length,
        unexpected,
      }
    })
}

const result = await run(JSON.parse(process.argv[2] as string) as LoadOrder)
process.stdout.write(JSON.stringify(result))
