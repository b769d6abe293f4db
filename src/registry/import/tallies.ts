/** Counters of an import: rejects by code, and how often a member has a value. */
import type { Entry, Reject } from '../adapter.ts'
import { parsePointer, valueAt } from '../content/json-pointer.ts'
import type { RejectTotal } from './import-messages.ts'

export class RejectTally {
  total = 0
  /** A row may have several faults; sources are read in order. */
  rows = 0
  #last_row = 0
  readonly #counts = new Map<string, { code: string; pointer: string; count: number }>()

  add({ code, pointer, at }: Reject): void {
    this.total++
    // Faults of the list as a whole have row 0.
    if (at.row > 0 && at.row !== this.#last_row) this.rows++
    this.#last_row = at.row
    const id = `${code} ${pointer}`
    const known = this.#counts.get(id)
    if (known) known.count++
    else this.#counts.set(id, { code, pointer, count: 1 })
  }

  totals(): RejectTotal[] {
    return [...this.#counts.values()].sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
  }
}

export class FillCount {
  readonly counts: Record<string, number> = {}
  readonly #steps: readonly (readonly [string, readonly string[]])[]

  constructor(pointers: readonly string[]) {
    this.#steps = pointers.map((pointer) => [pointer, parsePointer(pointer)] as const)
    for (const pointer of pointers) this.counts[pointer] = 0
  }

  feed(entry: Entry): void {
    for (const [pointer, steps] of this.#steps) {
      const value = valueAt(entry, steps)
      if (value === undefined || value === null || value === '') continue
      this.counts[pointer] = (this.counts[pointer] as number) + 1
    }
  }
}

export function countRejects(rejects: readonly Reject[]): RejectTotal[] {
  const tally = new RejectTally()
  for (const reject of rejects) tally.add(reject)
  return tally.totals()
}
