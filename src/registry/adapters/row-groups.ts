/**
 * Emits the entries of mapped records: one by one, or joined when several records form one entry. Joined entries are buffered until
 * the source ends, within a limit, unless their records follow each other.
 */
import type { Batch, Entry, EntryContext, Reject, SourceLocation } from '../adapter.ts'
import { formatPointer } from '../content/json-pointer.ts'
import { refuseSource, reject } from '../formats/fault.ts'
import { changedAndRemoved } from '../import/key-report.ts'
import { createRemovalTest } from '../import/removal-marker.ts'
import { normaliseKey } from '../types/text-rules.ts'
import type { BatchBuilder } from './batch-builder.ts'
import { type Mapping, RejectedRecord } from './mapping.ts'
import type { EntryRules } from './mapping-options.ts'
import { mergeEntries, parseTarget, type Target } from './mapping-targets.ts'

const MAX_HELD_ROWS = 1_000_000
/** Size of the entries as JSON. A thread that reads a source has 256 MiB in all. */
const MAX_HELD_CHARS = 32 * 1024 * 1024

interface Group {
  readonly key: string
  /** Joined from the rows that do not remove it. */
  readonly entry: Entry
  /** Location of its first row. */
  readonly at: SourceLocation
  /** The first of the rows that remove, for each key they name. */
  readonly removals: Map<string, { readonly entry: Entry; readonly at: SourceLocation }>
  /** Location of a row whose marker says that the entry stays. */
  kept_at: SourceLocation | undefined
  rows: number
  /** A row was rejected: the entry would be incomplete. */
  is_bad: boolean
}

export class MappedRecords<R> {
  private readonly mapping: Mapping<R>
  private readonly out: BatchBuilder
  private readonly by: readonly Target[] | undefined
  private readonly is_adjacent: boolean
  private readonly keys: readonly Target[]
  private readonly marker: Target | undefined
  private readonly isRemoval: (value: unknown) => boolean
  private readonly groups = new Map<string, Group>()
  /** Keys of dropped groups, when rows of one entry follow each other: a later row must not start the entry again. */
  private readonly left_out_keys = new Set<string>()
  private rows = 0
  private entries = 0
  private left_out = 0
  private first_left_out: SourceLocation | undefined
  private held_rows = 0
  private held_chars = 0
  /** Rejects of rows whose entry is known. */
  private assigned_rejects = 0

  constructor(
    mapping: Mapping<R>,
    { group_rows }: EntryRules<unknown>,
    out: BatchBuilder,
    { key_pointers, removal }: EntryContext = { key_pointers: [], removal: null },
  ) {
    this.mapping = mapping
    this.out = out
    this.by = group_rows?.by.map(parseTarget)
    this.is_adjacent = group_rows?.adjacent ?? false
    this.keys = [...new Set([...key_pointers, ...(group_rows?.by ?? [])])].map(parseTarget)
    this.marker = removal ? parseTarget(removal.pointer) : undefined
    this.isRemoval = removal ? createRemovalTest(removal) : () => false
  }

  /** Whether records are buffered, so that no batch may come for a long time. */
  get isHolding(): boolean {
    return this.by !== undefined
  }

  add(record: R, at: SourceLocation): void {
    const mapped = this.mapping.map(record, at)
    const is_rejected = mapped instanceof RejectedRecord
    const entry = is_rejected ? mapped.entry : mapped
    const marked = this.marker?.find(entry)
    const is_removal = marked !== undefined && this.isRemoval(marked)
    const rejects = !is_rejected ? [] : is_removal ? mapped.rejects.filter(this.isAboutKey) : mapped.rejects
    if (this.by !== undefined) this.join({ entry, at, rejects, marked, is_removal }, this.by)
    else if (rejects.length > 0) this.out.reject(...rejects)
    else this.out.add(entry, at)
  }

  /** Emits the buffered entries when the source has ended. */
  *finish(): Generator<Batch, void, undefined> {
    yield* this.emitAll()
    if (this.rows > this.entries) {
      this.out.warn('rows_grouped', `${this.rows} rows were joined to ${this.entries} entries.`)
    }
    if (this.first_left_out) {
      const what =
        this.left_out === 1
          ? '1 entry has a rejected row and is'
          : `${this.left_out} entries have rejected rows and are`
      this.out.warn(
        'entries_left_out',
        `${what} left out whole. The first begins in ${formatLocation(this.first_left_out)}.`,
        this.first_left_out,
      )
    }
    const unassigned = this.out.reject_count - this.assigned_rejects
    if (this.by !== undefined && unassigned > 0) {
      const rows = unassigned === 1 ? '1 rejected row does' : `${unassigned} rejected rows do`
      this.out.warnIncomplete(
        'rows_orphaned',
        `${rows} not say which entry they belong to; some entry may lack what they hold.`,
        unassigned,
      )
    }
    yield* this.out.takeRest()
  }

  /** Only the key of a removing row is used. */
  private readonly isAboutKey = ({ pointer }: Reject): boolean => this.keys.some((key) => key.pointer === pointer)

  private reject(...rejects: readonly Reject[]): void {
    this.assigned_rejects += rejects.length
    this.out.reject(...rejects)
  }

  private join(row: MappedRow, by: readonly Target[]): void {
    const { entry, at, rejects } = row
    const missing = by.find((target) => isBlank(toKeyForm(target.find(entry))))
    if (missing) {
      const pointer = formatPointer(missing.steps)
      const known = rejects.find((one) => one.pointer === pointer)
      this.out.reject(
        known ?? reject('value_missing', `${pointer} is empty, but rows are joined by it.`, at, null, pointer),
      )
      return
    }
    const key = JSON.stringify(by.map((target) => toKeyForm(target.find(entry))))
    let group = this.groups.get(key)
    if (group === undefined) {
      if (this.is_adjacent) for (const _ of this.emitAll());
      const is_bad = this.left_out_keys.has(key)
      group = { key, entry: {}, at, removals: new Map(), kept_at: undefined, rows: 0, is_bad }
      this.groups.set(key, group)
    }
    group.rows++
    this.hold(entry, at)
    if (rejects.length > 0) {
      group.is_bad = true
      this.reject(...rejects)
    }
    if (row.is_removal) {
      const removed = JSON.stringify(this.keys.map((target) => toKeyForm(target.find(entry))))
      if (!group.removals.has(removed)) group.removals.set(removed, { entry, at })
      return
    }
    if (row.marked !== undefined) group.kept_at ??= at
    // They are equal in canonical form, though perhaps not in spelling.
    for (const target of by) if (!isBlank(target.find(group.entry))) target.set(entry, target.find(group.entry))
    for (const { pointer, found } of mergeEntries(group.entry, entry)) {
      group.is_bad = true
      const message = `${pointer} is not what it is in ${formatLocation(group.at)}, which belongs to the same entry.`
      this.reject(reject('value_ambiguous', message, at, String(found), pointer))
    }
  }

  private hold(entry: Entry, at: SourceLocation): void {
    this.held_rows++
    this.held_chars += JSON.stringify(entry).length
    if (this.held_rows <= MAX_HELD_ROWS && this.held_chars <= MAX_HELD_CHARS) return
    const advice = 'Sort them by the members they are joined by, and set group_rows.adjacent.'
    refuseSource('source_too_large', `There are more rows than can be held to be joined. ${advice}`, at)
  }

  private *emitAll(): Generator<Batch, void, undefined> {
    for (const group of this.groups.values()) {
      this.emit(group)
      if (!this.is_adjacent && this.out.isFull) yield this.out.take()
    }
    this.groups.clear()
    this.held_rows = 0
    this.held_chars = 0
  }

  private emit(group: Group): void {
    const { entry, at, removals, kept_at } = group
    const [removal] = removals.values()
    if (removal && kept_at) {
      const key = (JSON.parse(group.key) as unknown[]).join('|')
      this.reject(changedAndRemoved(key, kept_at, `is removed in ${formatLocation(removal.at)}`))
      return
    }
    if (group.is_bad) {
      this.left_out++
      this.first_left_out ??= at
      if (this.is_adjacent) this.left_out_keys.add(group.key)
      if (this.left_out_keys.size > MAX_HELD_ROWS) {
        refuseSource('source_too_large', 'There are more entries with rejected rows than can be held.', at)
      }
      return
    }
    this.rows += group.rows
    this.entries += Math.max(1, removals.size)
    for (const one of removals.values()) this.out.add(one.entry, one.at)
    if (removal) return
    const missing = this.mapping.complete(entry, at)
    if (missing.length > 0) this.reject(...missing)
    else this.out.add(entry, at)
  }
}

interface MappedRow {
  readonly entry: Entry
  readonly at: SourceLocation
  readonly rejects: readonly Reject[]
  /** The value of the removal marker. */
  readonly marked: unknown
  readonly is_removal: boolean
}

const isBlank = (value: unknown): boolean => value === undefined || value === ''

/** Rows with equal keys belong together. */
const toKeyForm = (value: unknown): unknown => (typeof value === 'string' ? normaliseKey(value) : value)

const formatLocation = ({ line, row }: SourceLocation): string => (line === undefined ? `row ${row}` : `line ${line}`)
