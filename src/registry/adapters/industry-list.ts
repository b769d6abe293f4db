/** Collects the codes of a classification, since missing parents are known only at the end of the source. */
import type { Batch, Entry, SourceLocation } from '../adapter.ts'
import { refuseSource } from '../formats/fault.ts'
import type { BatchBuilder } from './batch-builder.ts'
import type { IndustryCode } from './industry-code.ts'

/** Ten times the size of the largest classification. */
const MAX_CODES = 50_000

type Code = { -readonly [K in keyof IndustryCode]: IndustryCode[K] }

export class IndustryList {
  private readonly codes: { readonly entry: Code; readonly at: SourceLocation }[] = []
  private readonly out: BatchBuilder

  constructor(out: BatchBuilder) {
    this.out = out
  }

  add(entry: Omit<Code, 'index_items' | 'cross_references'> & Partial<Code>, at: SourceLocation): void {
    if (this.codes.length === MAX_CODES) refuseSource('source_too_large', 'There are more codes than can be.', at)
    this.codes.push({ entry: { index_items: [], cross_references: [], ...entry }, at })
  }

  /** `parentOf` returns the parent code when the list does not state it. */
  *finish(
    parentOf?: (code: string, all: ReadonlySet<string>) => string | undefined,
  ): Generator<Batch, void, undefined> {
    const all = new Set(this.codes.map(({ entry }) => entry.code))
    const levels = new Set(this.codes.map(({ entry }) => entry.level))
    const orphans: { readonly entry: Code; readonly at: SourceLocation }[] = []
    for (const code of this.codes) {
      const { entry } = code
      const parent = entry.parent ?? parentOf?.(entry.code, all)
      if (parent !== undefined) entry.parent = parent
      // A list of a single level, such as all six-digit codes, has no parents.
      if (parent !== undefined && !all.has(parent) && levels.has(entry.level - 1)) orphans.push(code)
    }
    const [first] = orphans
    if (first) {
      const example = `${first.entry.code} belongs to ${first.entry.parent}`
      const message = `${orphans.length} codes belong to a code that is not on the list (${example}).`
      this.out.warnIncomplete('rows_orphaned', message, orphans.length, first.at)
    }
    for (const { entry, at } of this.codes) {
      this.out.add(entry as unknown as Entry, at)
      if (this.out.isFull) yield this.out.take()
    }
    yield* this.out.takeRest()
  }
}
