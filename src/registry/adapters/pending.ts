/** What an adapter has read and not yet handed on. It keeps batches small; it decides nothing. */
import type { Batch, Entry, ReadEntry, Reject, SourceLocation, Warning } from '../adapter.ts'

export const MAX_BATCH_ENTRIES = 500

export class Pending {
  private entries: ReadEntry[] = []
  private rejects: Reject[] = []
  private warnings: Warning[] = []

  add(entry: Entry, at: SourceLocation): void {
    this.entries.push({ entry, at })
  }

  reject(...rejects: Reject[]): void {
    this.rejects.push(...rejects)
  }

  warn(code: string, message: string, at?: SourceLocation): void {
    this.warnings.push(at === undefined ? { code, message } : { code, message, at })
  }

  get full(): boolean {
    return this.entries.length >= MAX_BATCH_ENTRIES || this.rejects.length >= MAX_BATCH_ENTRIES
  }

  take(): Batch {
    const batch = { entries: this.entries, rejects: this.rejects, warnings: this.warnings }
    this.entries = []
    this.rejects = []
    this.warnings = []
    return batch
  }

  /** The last batch, if there is anything in it. */
  *rest(): Generator<Batch, void, undefined> {
    if (this.entries.length + this.rejects.length + this.warnings.length > 0) yield this.take()
  }
}
