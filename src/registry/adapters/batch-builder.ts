/** Collects what an adapter reads into small batches. */
import type { Batch, Entry, ReadEntry, Reject, SourceFile, SourceLocation, Warning } from '../adapter.ts'

export const MAX_BATCH_ENTRIES = 500

export class BatchBuilder {
  private entries: ReadEntry[] = []
  private rejects: Reject[] = []
  private warnings: Warning[] = []
  private files: SourceFile[] = []
  /** Count of all batches. */
  reject_count = 0

  add(entry: Entry, at: SourceLocation): void {
    this.entries.push({ entry, at })
  }

  reject(...rejects: Reject[]): void {
    this.rejects.push(...rejects)
    this.reject_count += rejects.length
  }

  warn(code: string, message: string, at?: SourceLocation): void {
    this.warnings.push(at === undefined ? { code, message } : { code, message, at })
  }

  /** Adds a warning that marks the source as most likely incomplete. */
  warnIncomplete(code: string, message: string, count: number, at?: SourceLocation): void {
    this.warnings.push({ code, message, count, closes_guard: true, ...(at && { at }) })
  }

  addFile(file: SourceFile): void {
    this.files.push(file)
  }

  get isFull(): boolean {
    return this.entries.length >= MAX_BATCH_ENTRIES || this.rejects.length >= MAX_BATCH_ENTRIES
  }

  take(): Batch {
    const batch = { entries: this.entries, rejects: this.rejects, warnings: this.warnings, files: this.files }
    this.entries = []
    this.rejects = []
    this.warnings = []
    this.files = []
    return batch
  }

  /** The last batch, unless it is empty. */
  *takeRest(): Generator<Batch, void, undefined> {
    const held = [this.entries, this.rejects, this.warnings, this.files]
    if (held.some(({ length }) => length > 0)) yield this.take()
  }
}
