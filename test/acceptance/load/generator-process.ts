/**
 * The load generator, a process of its own. Open loop: requests are sent when they are due, whether or not earlier ones
 * were answered, and latency counts from when a request was due. It reports how late it was itself, since a run in which
 * the generator was late says nothing about the server.
 */
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { SeededRandom } from '#test/support/seeded-random.ts'
import type { ChildService } from './child-processes.ts'
import { tenths } from './rounding.ts'
import { MARKER, MARKER_PREFIX } from './server-process.ts'
import { formatRequest, SocketPool, type SocketReply } from './socket-pool.ts'

/** Where a request may carry something that is different each time. */
export const UNIQUE_PLACEHOLDER = '{unique}'

export interface LoadTarget {
  readonly at: string
  readonly token: string
  readonly body?: string
  /** How often it is chosen, relative to the others. */
  readonly weight: number
  /** The tenant's own marker; any other in the answer is a foreign byte. */
  readonly marker: string
}
export interface LoadRequest {
  readonly port: number
  readonly seed: number
  readonly seconds: number
  /** Open loop: requests due in each second. Closed loop: 0, and `at_once` are always under way. */
  readonly per_second: number
  readonly at_once?: number
  readonly most_connections?: number
  /** Opened in advance, as by a proxy or a client that has been there for a while; others are opened when all are in use. */
  readonly kept_connections?: number
  /** The priority of a generator whose own latency does not matter, as long as it sends its load; the server has 0. */
  readonly nice?: number
  readonly targets: readonly LoadTarget[]
}
export interface Window {
  readonly ok: number
  /** Refused, failed or lost. */
  readonly bad: number
  readonly p99_ms: number
}
export interface LoadResult {
  readonly sent: number
  /** By status, or by how the connection was lost. */
  readonly statuses: Readonly<Record<string, number>>
  /** Answered well and soon while requests were still being sent. */
  readonly good_per_second: number
  /** Never answered at all. */
  readonly unanswered: number
  readonly p50_ms: number
  readonly p99_ms: number
  readonly max_ms: number
  /** Answers that held another tenant's marker. */
  readonly foreign: number
  /** 429 or 503 without Retry-After. */
  readonly refused_without_advice: number
  /** How late the generator itself was at worst. */
  readonly late_ms: number
  readonly connections: number
  /** Second by second, by when requests were due. */
  readonly windows: readonly Window[]
}

export type GeneratorProcess = ChildService<Awaited<ReturnType<typeof createGeneratorHandlers>>>

export const MAX_GENERATOR_LAG_MS = 50
/** An answer that takes longer than this after the last request is lost. */
const DRAIN_TIMEOUT_MS = 15_000
/** Nobody waits for an answer longer than this: later ones are not good. */
const GOOD_WITHIN_MS = 5000
/** By then every idle connection is open, or never will be. */
const OPEN_TIMEOUT_MS = 30_000

/** Its lateness is the run's own fault, so whoever measures goes first; the server keeps the default. */
const MEASURING_PRIORITY = -10

function setPriority(priority: number): void {
  try {
    os.setPriority(priority)
  } catch {
    // Only root may go first: without, a run is void where the machine is too busy.
  }
}

export async function createGeneratorHandlers() {
  setPriority(MEASURING_PRIORITY)
  const idle: SocketPool[] = []
  return {
    run: (request: LoadRequest): Promise<LoadResult> => run(request),
    /** Asks whether the server is alive every 100 ms, as an orchestrator does, on a new connection each time. Returns every latency, -1 for a failure. */
    probe: (request: { port: number; seconds: number }): Promise<number[]> => probe(request),
    /** Opens connections that have asked once and then say nothing. Gives how many are open. */
    hold: async (request: { port: number; connections: number; targets: readonly LoadTarget[] }): Promise<number> => {
      const held = new SocketPool(request.port, request.connections)
      idle.push(held)
      let answered = 0
      const opening: Promise<void>[] = []
      for (let n = 0; n < request.connections; n++) {
        opening.push(
          held.open().then((isOpen) => {
            if (isOpen) answered++
          }),
        )
        // Not all at once: a storm of connections is another matter.
        if (n % 100 === 99) await sleep(20)
      }
      await Promise.race([Promise.all(opening), sleep(OPEN_TIMEOUT_MS)])
      const waiters = new SocketPool(request.port, request.targets.length)
      idle.push(waiters)
      const pollAgain = (target: LoadTarget) => (reply?: SocketReply) => {
        // Lost: it was released, or the server is gone.
        if (reply?.status !== 0) waiters.ask(formatRequest(target.at, target.token), pollAgain(target))
      }
      for (const target of request.targets) pollAgain(target)()
      return answered
    },
    release: async (_: null) => {
      for (const connections of idle.splice(0)) connections.close()
    },
  }
}

async function probe({ port, seconds }: { port: number; seconds: number }): Promise<number[]> {
  const latencies: number[] = []
  const opened: SocketPool[] = []
  const text = 'GET /health HTTP/1.1\r\nhost: acceptance\r\n\r\n'
  for (let n = 0; n < seconds * 10; n++) {
    const asked_ms = performance.now()
    const connection = new SocketPool(port, 1)
    opened.push(connection)
    connection.ask(text, ({ status }) => {
      latencies.push(status === 200 ? performance.now() - asked_ms : -1)
      connection.close()
    })
    await sleep(100)
  }
  for (let n = 0; n < 50 && latencies.length < seconds * 10; n++) await sleep(100)
  for (const connection of opened) connection.close()
  while (latencies.length < seconds * 10) latencies.push(-1)
  return latencies
}

/** What was seen, added up as answers come. */
class Tally {
  readonly statuses: Record<string, number> = {}
  readonly #latencies: number[] = []
  readonly #windows: { latencies: number[]; bad: number }[] = []
  foreign = 0
  refused_without_advice = 0
  answered = 0
  good = 0

  count(reply: SocketReply, latency_ms: number, second: number, marker: string): void {
    this.answered++
    const outcome = reply.status === 0 ? reply.head : String(reply.status)
    this.statuses[outcome] = (this.statuses[outcome] ?? 0) + 1
    const window = this.#windows[second] ?? { latencies: [], bad: 0 }
    this.#windows[second] = window
    if (reply.status >= 200 && reply.status < 300) {
      if (latency_ms <= GOOD_WITHIN_MS) this.good++
      this.#latencies.push(latency_ms)
      window.latencies.push(latency_ms)
    } else if (reply.status === 0 || reply.status >= 429) window.bad++
    if ((reply.status === 429 || reply.status === 503) && !reply.head.includes('\r\nretry-after:')) {
      this.refused_without_advice++
    }
    // Most answers to a flood are refusals without any marker: those are not worth a text.
    if (!reply.body.includes(MARKER_PREFIX)) return
    for (const [found] of reply.body.toString('latin1').matchAll(MARKER)) if (found !== marker) this.foreign++
  }

  result() {
    const sorted = Float64Array.from(this.#latencies).sort()
    const windows = Array.from(this.#windows, (window) => ({
      ok: window?.latencies.length ?? 0,
      bad: window?.bad ?? 0,
      p99_ms: tenths(at(Float64Array.from(window?.latencies ?? []).sort(), 0.99)),
    }))
    return {
      statuses: this.statuses,
      p50_ms: tenths(at(sorted, 0.5)),
      p99_ms: tenths(at(sorted, 0.99)),
      max_ms: tenths(at(sorted, 1)),
      foreign: this.foreign,
      refused_without_advice: this.refused_without_advice,
      windows,
    }
  }
}

const at = (sorted: Float64Array, share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? 0

/** Chooses by weight; a binary search, since there may be thousands of targets and requests a second. */
function createWeightedChooser(targets: readonly LoadTarget[]): (random: SeededRandom) => LoadTarget {
  const sums = new Float64Array(targets.length)
  let total = 0
  for (const [place, { weight }] of targets.entries()) {
    total += weight
    sums[place] = total
  }
  return (random) => {
    const wanted = random.share() * total
    let [low, high] = [0, targets.length - 1]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((sums[middle] as number) > wanted) high = middle
      else low = middle + 1
    }
    return targets[low] as LoadTarget
  }
}

async function run(request: LoadRequest): Promise<LoadResult> {
  setPriority(request.nice ?? MEASURING_PRIORITY)
  const random = new SeededRandom(request.seed)
  const choose = createWeightedChooser(request.targets)
  const connections = new SocketPool(request.port, request.most_connections ?? 2000)
  await Promise.all(Array.from({ length: request.kept_connections ?? 0 }, () => connections.open()))
  const tally = new Tally()
  const prefix = `${process.pid.toString(36)}${Date.now().toString(36)}`
  const texts = new Map(request.targets.map((target) => [target, formatRequest(target.at, target.token, target.body)]))
  const started_ms = performance.now()
  const until_ms = started_ms + request.seconds * 1000
  let sent = 0
  let late_ms = 0

  const send = (due_ms: number, then: () => void) => {
    const target = choose(random)
    const second = Math.floor((due_ms - started_ms) / 1000)
    const unique = `${prefix}${(sent++).toString(36)}`
    const body = target.body?.replaceAll(UNIQUE_PLACEHOLDER, unique)
    const text =
      body === undefined || body === target.body
        ? (texts.get(target) as string)
        : formatRequest(target.at, target.token, body)
    connections.ask(text, (reply) => {
      tally.count(reply, performance.now() - due_ms, second, target.marker)
      then()
    })
  }

  if (request.per_second === 0) {
    const again = () => {
      const now_ms = performance.now()
      if (now_ms < until_ms) send(now_ms, again)
    }
    for (let n = 0; n < (request.at_once ?? 1); n++) again()
    await sleep(request.seconds * 1000)
  } else {
    // Independent callers: gaps are exponential, not even.
    const gap_ms = () => (-Math.log(1 - random.share()) * 1000) / request.per_second
    for (let due_ms = started_ms + gap_ms(); due_ms < until_ms; ) {
      const now_ms = performance.now()
      for (; due_ms <= now_ms && due_ms < until_ms; due_ms += gap_ms()) {
        late_ms = Math.max(late_ms, now_ms - due_ms)
        send(due_ms, () => {})
      }
      await sleep(1)
    }
  }
  const good_per_second = tenths(tally.good / ((performance.now() - started_ms) / 1000))
  for (let waited_ms = 0; tally.answered < sent && waited_ms < DRAIN_TIMEOUT_MS; waited_ms += 50) await sleep(50)
  const opened = connections.opened
  const result = tally.result()
  const unanswered = sent - tally.answered
  connections.close()
  return { sent, unanswered, good_per_second, ...result, late_ms: tenths(late_ms), connections: opened }
}
