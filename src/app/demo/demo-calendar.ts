/** Turns "days ago" of the demo data into instants within the time in which the seeded lists are in force. */
const DAY_MS = 86_400_000
const SPAN_DAYS = 366
const NIGHT_HOUR_MS = 2 * 3_600_000

export class DemoCalendar {
  readonly #now_ms: number
  readonly #midnight_ms: number
  /** Below 1 where the seeded lists are in force for less than a year: the history is compressed, and its order is kept. */
  readonly #scale: number

  constructor(now_ms: number, in_force_since_ms: number) {
    this.#now_ms = now_ms
    this.#midnight_ms = Math.floor(now_ms / DAY_MS) * DAY_MS
    this.#scale = Math.min(1, (this.#midnight_ms - in_force_since_ms) / (SPAN_DAYS * DAY_MS))
    if (this.#scale <= 0) {
      throw new Error(
        `The seeded lists are in force from ${new Date(in_force_since_ms).toISOString()} on; check the clock.`,
      )
    }
  }

  toInstant(days_ago: number, minutes = 0): string {
    return new Date(this.#midnight_ms - days_ago * this.#scale * DAY_MS + minutes * 60_000).toISOString()
  }

  /** The last 02:00 UTC that has passed. */
  toLastNight(): string {
    const night_ms = this.#midnight_ms + NIGHT_HOUR_MS
    return new Date(night_ms < this.#now_ms ? night_ms : night_ms - DAY_MS).toISOString()
  }

  toExpiry(days_ahead: number): string {
    return new Date(this.#now_ms + days_ahead * DAY_MS).toISOString()
  }
}
