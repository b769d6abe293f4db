/** Identifiers: time-ordered UUIDv7 (RFC 9562), strictly rising within the process, and the test for a canonical UUID. */
import { createRandomPool } from './random-pool.ts'

/** Owner of the rows that every tenant may read. */
export const SYSTEM_TENANT = '00000000-0000-0000-0000-000000000000'

const CANONICAL = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const MAX_TIME_MS = 2 ** 48 - 1
const MAX_COUNTER = 2 ** 32 - 1
const takeRandom = createRandomPool(10, 400)

const bytes = Buffer.alloc(16)

/** The last millisecond used, and its counter. */
interface SequenceState {
  ms: number
  counter: number
}
const monotonic: SequenceState = { ms: -1, counter: 0 }
const exactTime: SequenceState = { ms: -1, counter: 0 }

export function isUuid(text: string): boolean {
  return CANONICAL.test(text)
}

/**
 * 48 bits of time, a counter of 32 bits (12 in rand_a, the first 20 of rand_b), 42 random bits. If the clock is set back or
 * does not move, or `now_ms` is earlier, the last millisecond continues.
 */
export function uuidv7(now_ms: number = Date.now()): string {
  const random = takeRandom()
  const time_ms = toWholeMs(now_ms)
  if (time_ms > monotonic.ms) restart(monotonic, time_ms, random)
  else if (monotonic.counter < MAX_COUNTER) monotonic.counter++
  else restart(monotonic, monotonic.ms + 1, random)
  return formatUuid(monotonic, random)
}

/** For exactly this time, even if the clock was set back, for rows that are searched by time; rising unless it was. */
export function uuidv7At(at_ms: number): string {
  const random = takeRandom()
  const time_ms = toWholeMs(at_ms)
  if (time_ms === exactTime.ms && exactTime.counter < MAX_COUNTER) exactTime.counter++
  else restart(exactTime, time_ms, random)
  return formatUuid(exactTime, random)
}

function toWholeMs(time_ms: number): number {
  if (!(time_ms >= 0 && time_ms <= MAX_TIME_MS)) throw new RangeError('The time of a UUIDv7 is 48 bits of milliseconds')
  return Math.floor(time_ms)
}

function formatUuid({ ms, counter }: SequenceState, random: Buffer): string {
  bytes.writeUIntBE(ms, 0, 6)
  bytes.writeUInt16BE(0x7000 | (counter >>> 20), 6)
  bytes.writeUInt16BE(0x8000 | ((counter >>> 6) & 0x3fff), 8)
  random.copy(bytes, 10, 0, 6)
  bytes.writeUInt8(((counter & 0x3f) << 2) | (bytes.readUInt8(10) & 0x03), 10)
  const hex = bytes.toString('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
}

/** The counter starts at a random value in its lower half, so that two thousand million more fit in a millisecond. */
function restart(last: SequenceState, time_ms: number, random: Buffer): void {
  last.ms = time_ms
  last.counter = random.readUInt32BE(6) >>> 1
}

/** The time in a version 7 UUID. */
export function getUuidTime_ms(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16)
}
