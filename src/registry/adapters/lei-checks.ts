/** Verifies the check digits of LEIs: a record with an invalid LEI is rejected, other invalid LEIs are counted. */
import type { SourceLocation } from '../adapter.ts'
import { reject } from '../formats/fault.ts'
import type { BatchBuilder } from './batch-builder.ts'
import { findLeiFault } from './lei.ts'

export class LeiChecks {
  private readonly out: BatchBuilder
  private wrong = 0
  private first: SourceLocation | undefined

  constructor(out: BatchBuilder) {
    this.out = out
  }

  /** Whether the identifier of a record is valid; rejects the record otherwise. */
  isKey(lei: string | undefined, column: string, pointer: string, at: SourceLocation): boolean {
    const fault = lei === undefined ? 'is empty' : findLeiFault(lei)
    if (fault === null) return true
    const code = lei === undefined ? 'value_missing' : 'value_unreadable'
    this.out.reject(reject(code, `"${column}" ${fault}.`, { ...at, column }, lei ?? null, pointer))
    return false
  }

  look(lei: string | undefined, at: SourceLocation): void {
    if (lei === undefined || findLeiFault(lei) === null) return
    this.wrong++
    this.first ??= at
  }

  conclude(): void {
    if (this.wrong === 0) return
    const message = `${this.wrong} LEIs inside records are wrong by their check digits; they were kept as published.`
    this.out.warn('lei_invalid', message, this.first)
  }
}
