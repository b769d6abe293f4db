/**
 * N1, N2 and PF1, `npm run acceptance -- egress`: random spellings of private addresses and random answers of a name server against
 * listeners that count connections, then every way in which a provider fails, with the limits of production and memory measured.
 */
import { createEgress, type Egress, type EgressRequest } from '#kernel/egress/egress.ts'
import { EgressFailed } from '#kernel/egress/faults.ts'
import { defaultEgressSettings } from '#kernel/egress/settings.ts'
import { faultyAnswers, startFaultyProvider } from '../support/faulty-provider.ts'
import { startCountingListeners } from '../support/listeners.ts'
import { runFaultTest } from './faults/fault-test.ts'

const MIB = 1024 * 1024
const MAX_GROWTH_BYTES = 64 * MIB
/** Of a capability. */
const TIMEOUT_MS = 15_000
const privatePrefixes = ['127', '10', '192.168', '172.16', '169.254', '100.64', '0']
const goodPaths =
  /^\/(ok|headers|gzip|brotli|deflate|raw-deflate|empty-gzip|informational|html|not-found|too-many|close|longer-than-declared)$/

type Random = (below: number) => number

function randomPrivateAddress(random: Random): number[] {
  const prefix = (privatePrefixes[random(privatePrefixes.length)] as string).split('.').map(Number)
  while (prefix.length < 4) prefix.push(random(256))
  return prefix
}

/** One of the ways in which URL parsers and resolvers read an IPv4 address. */
function spell(bytes: readonly number[], random: Random): string {
  const [a = 0, b = 0, c = 0, d = 0] = bytes
  const value = ((a << 24) | (b << 16) | (c << 8) | d) >>> 0
  const low = ((c << 8) | d).toString(16)
  const high = ((a << 8) | b).toString(16)
  const part = (byte: number) =>
    [String(byte), `0${byte.toString(8)}`, `0x${byte.toString(16)}`, String(byte).replaceAll(/\d/g, toCircled)][
      random(4)
    ]
  const spellings = [
    bytes.join('.'),
    String(value),
    `0x${value.toString(16)}`,
    `0${value.toString(8)}`,
    bytes.map(part).join('.'),
    bytes.join('。'),
    `${a}.${b}.${(c << 8) | d}`,
    `${a}.${(b << 16) | (c << 8) | d}`,
    `${bytes.join('.')}.`,
    `[::ffff:${bytes.join('.')}]`,
    `[::ffff:${high}:${low}]`,
    `[::${bytes.join('.')}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::]`,
    `[2001:0:${high}:${low}::1]`,
    `[::ffff:0:${high}:${low}]`,
    `name-${random(1e6)}.test`,
  ]
  return spellings[random(spellings.length)] as string
}

const toCircled = (digit: string): string => (digit === '0' ? '⓪' : String.fromCodePoint(0x245f + Number(digit)))

const createRequest = (url: string, change: Partial<EgressRequest> = {}): EgressRequest => ({
  pool_key: 'acceptance',
  url,
  method: 'GET',
  headers: {},
  allowed_hosts: URL.canParse(url) ? [new URL(url).hostname] : [],
  timeout_ms: TIMEOUT_MS,
  max_bytes: 2 * MIB,
  ...change,
})

async function ask(egress: Egress, request: EgressRequest): Promise<string> {
  try {
    return `answered ${(await egress.request(request)).status}`
  } catch (error) {
    return error instanceof EgressFailed ? error.fault : String(error)
  }
}

await runFaultTest('egress', { urls: 20_000, rounds: 20 }, async ({ counts, random, signal, say }) => {
  const listeners = await startCountingListeners()
  const provider = await startFaultyProvider()
  const guarded = createEgress({
    settings: { ...defaultEgressSettings, exempt: { address: '192.0.2.1', port: listeners.port } },
    resolve: async () => Array.from({ length: 1 + random(5) }, () => randomPrivateAddress(random).join('.')),
  })
  const open = createEgress({
    settings: { ...defaultEgressSettings, exempt: { address: '127.0.0.1', port: provider.port } },
  })
  const outcomes: Record<string, string> = {}
  const wrong: string[] = []
  let urls = 0
  let growth_bytes = 0
  try {
    for (; urls < counts.urls && !signal.aborted; urls++) {
      const scheme = random(10) === 0 ? 'http' : 'https'
      const port = random(4) === 0 ? '' : `:${listeners.port}`
      const url = `${scheme}://${spell(randomPrivateAddress(random), random)}${port}/`
      const outcome = await ask(guarded, createRequest(url))
      if (outcome !== 'egress_refused') wrong.push(`${url}: ${outcome}`)
    }
    say(`${urls} URLs, ${listeners.connections.length} connections`)
    for (let round = 0; round < counts.rounds && !signal.aborted; round++) {
      for (const path of Object.keys(faultyAnswers)) {
        const before_bytes = process.memoryUsage().rss
        const started_ms = performance.now()
        const outcome = await ask(open, createRequest(`http://127.0.0.1:${provider.port}${path}`))
        const took_ms = performance.now() - started_ms
        growth_bytes = Math.max(growth_bytes, process.memoryUsage().rss - before_bytes)
        outcomes[path] ??= outcome
        const isGood = goodPaths.test(path)
        if (outcome !== outcomes[path] || isGood !== outcome.startsWith('answered') || took_ms > TIMEOUT_MS + 2000) {
          wrong.push(`${path}: ${outcome} after ${Math.round(took_ms)} ms`)
        }
      }
      say(`round ${round + 1}`)
    }
    const { connections } = listeners
    const passed = wrong.length === 0 && connections.length === 0 && growth_bytes <= MAX_GROWTH_BYTES
    return { urls, connections: connections.length, wrong: wrong.slice(0, 20), outcomes, growth_bytes, passed }
  } finally {
    await Promise.all([guarded.close(), open.close(), listeners.close(), provider.close()])
  }
})
