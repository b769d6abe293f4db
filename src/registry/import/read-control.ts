/** Controls how far and when a source is read, between batches: bounds rows and time of a preview, and pauses an import. */
import type { Batch } from '../adapter.ts'
import type { CutReason, ReadLimits } from './import-messages.ts'

export interface ReadControl {
  /** Called before each batch; waits while reading is paused. */
  readonly beforeBatch?: () => Promise<void> | undefined
  readonly limits?: ReadLimits | undefined
  readonly now_ms?: () => number
}

export class ControlledRead {
  /** Why the batches ended before the source did. */
  cut: CutReason | null = null
  readonly #control: ReadControl

  constructor(control: ReadControl) {
    this.#control = control
  }

  async *batches(source: AsyncIterable<Batch>): AsyncGenerator<Batch, void, undefined> {
    const { beforeBatch, limits, now_ms = () => performance.now() } = this.#control
    const until_ms = now_ms() + (limits?.time_limit_ms ?? Number.POSITIVE_INFINITY)
    let left = limits?.max_rows ?? Number.POSITIVE_INFINITY
    for await (const batch of source) {
      const paused = beforeBatch?.()
      if (paused) await paused
      const { entries, rejects } = batch
      // A record has an entry or rejects; one with several rejects counts as several, which only ends a preview earlier.
      const rows = entries.length + rejects.length
      if (rows > left) this.cut = 'rows'
      yield rows > left
        ? { ...batch, entries: entries.slice(0, left), rejects: rejects.slice(0, Math.max(0, left - entries.length)) }
        : batch
      left -= rows
      if (this.cut === null && now_ms() > until_ms) this.cut = 'time'
      if (this.cut !== null) return
    }
  }
}
