/**
 * The load generator, a process of its own: a closed loop over keep-alive connections on plain sockets, since an HTTP client
 * would cost more than the servers it measures. Reads its order from the command line and prints one JSON result. Of several
 * servers only one is under load at a time, a slice of the whole each, in turns.
 */
import net from 'node:net'
import { type LoadOptions, type LoadResult, type LoadTarget, UNIQUE_PLACEHOLDER } from './load-protocol.ts'

const PAUSE_MS = 50

let sent = 0
const prefix = `${Date.now().toString(36)}-${process.pid}-`
const nextUnique = (): string => prefix + String(sent++).padStart(UNIQUE_PLACEHOLDER.length - prefix.length, '0')

function createRequestWriter(request: string): () => string | Buffer {
  const parts = request.split(UNIQUE_PLACEHOLDER)
  if (parts.length === 1) {
    const bytes = Buffer.from(request)
    return () => bytes
  }
  return () => parts.join(nextUnique())
}

/** How many bytes the first answer in `bytes` has, or 0 while it is incomplete. */
function responseLength(bytes: Buffer): number {
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

/** The open connections to one server, and what came back over them. */
class LoadConnections {
  readonly #ask: (() => void)[] = []
  readonly #sockets: net.Socket[] = []
  readonly #latencies_ms: number[] = []
  readonly #per_second: number[] = []
  readonly #unexpected: Record<string, number> = {}
  #measured_ms = 0
  #until_ms = 0
  #under_way = 0
  #ended = (): void => {}
  #failed = (_: Error): void => {}

  async connect(target: LoadTarget, connections: number): Promise<this> {
    const opened = Array.from({ length: connections }, (_, n) =>
      this.#open(target, target.requests[n % target.requests.length] as string),
    )
    await Promise.all(opened)
    return this
  }

  #open(target: LoadTarget, request: string): Promise<void> {
    const write = createRequestWriter(request)
    const status = Buffer.from(`HTTP/1.1 ${target.expected_status} `)
    const socket = net.connect(target.port, '127.0.0.1').setNoDelay(true)
    this.#sockets.push(socket)
    let received: Buffer = Buffer.alloc(0)
    let asked_ms = 0
    const ask = () => {
      asked_ms = performance.now()
      socket.write(write())
    }
    this.#ask.push(ask)
    socket.on('data', (chunk: Buffer) => {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const length = responseLength(received)
      if (length === 0) return
      const now_ms = performance.now()
      if (status.compare(received, 0, status.length) === 0) this.#latencies_ms.push(now_ms - asked_ms)
      else {
        const other = received.toString('latin1', 9, 12)
        this.#unexpected[other] = (this.#unexpected[other] ?? 0) + 1
      }
      received = received.length === length ? Buffer.alloc(0) : received.subarray(length)
      if (now_ms < this.#until_ms) ask()
      else if (--this.#under_way === 0) this.#ended()
    })
    socket.once('close', () => this.#failed(new Error('the server closed a connection under load')))
    return new Promise((resolve, reject) => {
      socket.once('connect', resolve)
      socket.once('error', reject)
    })
  }

  /** Until the last answer to what was asked in this time: nothing is left over for the next server to carry. */
  async load(duration_ms: number): Promise<void> {
    const before = this.#latencies_ms.length
    const from_ms = performance.now()
    this.#until_ms = from_ms + duration_ms
    this.#under_way = this.#ask.length
    await new Promise<void>((resolve, reject) => {
      this.#ended = resolve
      this.#failed = reject
      for (const ask of this.#ask) ask()
    })
    const took_ms = performance.now() - from_ms
    this.#measured_ms += took_ms
    this.#per_second.push(((this.#latencies_ms.length - before) / took_ms) * 1000)
  }

  /** What was measured so far does not count: it was warming up. */
  discard(): void {
    this.#latencies_ms.length = 0
    this.#per_second.length = 0
    this.#measured_ms = 0
  }

  get result(): LoadResult {
    const sorted = Float64Array.from(this.#latencies_ms).sort()
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
    return {
      per_second: (sorted.length / this.#measured_ms) * 1000,
      slices_per_second: this.#per_second,
      p50_ms: at(0.5),
      p99_ms: at(0.99),
      responses: sorted.length,
      unexpected: this.#unexpected,
    }
  }

  close(): void {
    this.#failed = () => {}
    for (const socket of this.#sockets) socket.destroy()
  }
}

const { targets, connections, warmup_ms, duration_ms, slices } = JSON.parse(process.argv[2] as string) as LoadOptions
const pools = await Promise.all(targets.map((target) => new LoadConnections().connect(target, connections)))
for (const pool of pools) {
  if (warmup_ms > 0) await pool.load(warmup_ms)
  pool.discard()
}
for (let slice = 0; slice < slices; slice++) {
  // There and back again, so that none of them is always the one after the other.
  for (const pool of slice % 2 === 0 ? pools : pools.toReversed()) {
    // What a server still does after its last answer, such as collecting garbage, is not for the other to carry.
    if (pools.length > 1) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    await pool.load(duration_ms / slices)
  }
}
for (const pool of pools) pool.close()
process.stdout.write(JSON.stringify(pools.map((pool) => pool.result)))
