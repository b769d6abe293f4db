/**
 * Hands entries on as records are mapped: one by one, or joined where several records make one entry. Joined entries are held until
 * the source ends, within a limit, unless their records follow each other.
 */
import type { Batch, Entry, SourceLocation } from '../adapter.ts'
import { formatPointer } from '../content/json-pointer.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import type { Mapping } from './mapping.ts'
import type { EntryRules } from './mapping-options.ts'
import { mergeEntries, parseTarget, type Target } from './mapping-targets.ts'
import type { BatchBuilder } from './pending.ts'

const MAX_HELD_ROWS = 1_000_000
/** Of the entries as JSON. A thread that reads a source has 256 MiB for everything. */
const MAX_HELD_CHARS = 32 * 1024 * 1024

interface Group {
  readonly entry: Entry
  readonly at: SourceLocation
}

export class MappedRecords<R> {
  private readonly mapping: Mapping<R>
  private readonly out: BatchBuilder
  private readonly by: readonly Target[] | undefined
  private readonly is_adjacent: boolean
  private readonly groups = new Map<string, Group>()
  private rows = 0
  private entries = 0
  private held_rows = 0
  private held_chars = 0

  constructor(mapping: Mapping<R>, { group_rows }: EntryRules<unknown>, out: BatchBuilder) {
    this.mapping = mapping
    this.out = out
    this.by = group_rows?.by.map(parseTarget)
    this.is_adjacent = group_rows?.adjacent ?? false
  }

  /** Whether records are held, so that nothing may come for long. */
  get isHolding(): boolean {
    return this.by !== undefined
  }

  add(record: R, at: SourceLocation): void {
    const mapped = this.mapping.map(record, at)
    if (Array.isArray(mapped)) this.out.reject(...mapped)
    else if (this.by === undefined) this.out.add(mapped, at)
    else this.join(mapped, at, this.by)
  }

  /** What is held, once the source has ended. */
  *finish(): Generator<Batch, void, undefined> {
    yield* this.emitAll()
    if (this.rows > this.entries) {
      this.out.warn('rows_grouped', `${this.rows} rows were joined to ${this.entries} entries.`)
    }
    yield* this.out.rest()
  }

  private join(entry: Entry, at: SourceLocation, by: readonly Target[]): void {
    const values = by.map((target) => target.find(entry))
    const missing = by[values.findIndex((value) => value === undefined || value === '')]
    if (missing) {
      const pointer = formatPointer(missing.steps)
      this.out.reject(reject('value_missing', `${pointer} is empty, but rows are joined by it.`, at, null, pointer))
      return
    }
    const key = JSON.stringify(values)
    const group = this.groups.get(key)
    if (group === undefined) {
      if (this.is_adjacent) for (const _ of this.emitAll());
      this.groups.set(key, { entry, at })
      this.hold(entry, at)
      return
    }
    const conflicts = mergeEntries(group.entry, entry)
    if (conflicts.length === 0) this.hold(entry, at)
    for (const { pointer, found } of conflicts) {
      const message = `${pointer} is not what it is in ${placeOf(group.at)}, which belongs to the same entry.`
      this.out.reject(reject('value_ambiguous', message, at, String(found), pointer))
    }
  }

  private hold(entry: Entry, at: SourceLocation): void {
    this.rows++
    this.held_rows++
    this.held_chars += JSON.stringify(entry).length
    if (this.held_rows <= MAX_HELD_ROWS && this.held_chars <= MAX_HELD_CHARS) return
    const advice = 'Sort them by the members they are joined by, and set group_rows.adjacent.'
    refuseSource('source_too_large', `There are more rows than can be held to be joined. ${advice}`, at)
  }

  private *emitAll(): Generator<Batch, void, undefined> {
    for (const { entry, at } of this.groups.values()) {
      this.entries++
      const missing = this.mapping.complete(entry, at)
      if (missing.length > 0) this.out.reject(...missing)
      else this.out.add(entry, at)
      if (!this.is_adjacent && this.out.full) yield this.out.take()
    }
    this.groups.clear()
    this.held_rows = 0
    this.held_chars = 0
  }
}

const placeOf = ({ line, row }: SourceLocation): string => (line === undefined ? `row ${row}` : `line ${line}`)
