/**
 * Collects the rows of one import: validates and stages entries, records rejects and warnings, and computes the totals. It yields
 * outputs of bounded size.
 */
import type { Batch, Entry, ReadEntry, Reject, SourceFile, SourceLocation, Warning } from '../adapter.ts'
import { entryHash } from '../content/hashes.ts'
import { DuplicateKey } from '../content/merkle.ts'
import type { RootBuilder } from '../content/merkle-root.ts'
import { MIN_TREE_ENTRIES } from '../content/stored-tree.ts'
import { findArrayMembers, MemberTally } from '../types/array-members.ts'
import { type CompiledType, compileType, type EntryFault } from '../types/compile-type.ts'
import { createListCheck } from '../types/list-rules.ts'
import { CopyRows, copyTreeRow } from './copy-rows.ts'
import type { CutReason, ImportOutput, ImportRequest } from './import-messages.ts'
import { CHANGED_AND_REMOVED, duplicateKey, RemovedCharacters, SeenKeys } from './key-report.ts'
import { NameLanguage } from './name-language.ts'
import { createExcerptReader, createPrivacy } from './personal-members.ts'
import { getRemovalKey, RemovalMarker } from './removal-marker.ts'
import { FillCount, RejectTally } from './tallies.ts'

const ROWS_BYTES = 256 * 1024
const REJECTS_AT_ONCE = 500
const KEYS_AT_ONCE = 1000
const MAX_WARNINGS = 200
const MAX_FILES = 200

export class RowCollector {
  private readonly request: ImportRequest
  private readonly content: RootBuilder
  private readonly type: CompiledType
  private readonly privacy
  private readonly rules
  private readonly marker: RemovalMarker | null
  private readonly tally = new RejectTally()
  private readonly fill: FillCount
  private readonly excerpt
  private readonly members: MemberTally
  private readonly warnings: Warning[]
  private readonly doubts: Warning[] = []
  private readonly files: SourceFile[] = []
  private readonly preview_entries: ReadEntry[] = []
  private readonly staged = new CopyRows(2 * ROWS_BYTES)
  private readonly removed = new RemovedCharacters()
  private readonly language: NameLanguage
  private readonly seen: SeenKeys | null
  private rejects: Reject[] = []
  private keys: [string, string | null][] = []
  private accepted = 0
  /** Accepted entries and rejected places beyond the first of their record. */
  private surplus = 0
  private unstaged_bytes = 0
  private last_key = ''
  private is_ordered = true
  private is_contradictory = false

  constructor(request: ImportRequest, content: RootBuilder, remarks: readonly Warning[]) {
    this.request = request
    this.content = content
    const { type, delta } = request
    this.type = compileType(type)
    this.privacy = createPrivacy(request)
    this.rules = delta ? null : createListCheck(type)
    this.marker = delta?.marker ? new RemovalMarker(delta.marker, type) : null
    this.fill = new FillCount(request.filled)
    this.excerpt = createExcerptReader(type)
    this.members = new MemberTally(findArrayMembers(type))
    this.warnings = [...remarks]
    this.language = new NameLanguage(type)
    // An import finds duplicate keys among its staged rows; a preview stages none.
    this.seen = request.preview === undefined || type.key_pointers.length === 0 ? null : new SeenKeys()
  }

  /** Number of rows read so far. */
  get rows(): number {
    return this.accepted + this.tally.rows - this.surplus
  }

  add(batch: Batch): void {
    const before = this.rows
    for (const reject of batch.rejects) this.reject(reject)
    for (const warning of batch.warnings) {
      if (warning.closes_guard) this.doubts.push(warning)
      else if (this.warnings.length < MAX_WARNINGS) this.warnings.push(warning)
    }
    for (const file of batch.files) if (this.files.length < MAX_FILES) this.files.push(file)
    for (const { entry, at } of batch.entries) {
      const is_removal = this.marker?.take(entry) === true
      this.privacy.apply(entry)
      if (is_removal) this.addRemoval(entry, at)
      else this.addEntry(entry, at)
    }
    if (batch.several_per_row) this.surplus += this.rows - before - countPlaces(batch)
  }

  /** Outputs that have reached their size. */
  *takeFull(): Generator<ImportOutput> {
    yield* this.takeOutputs(ROWS_BYTES, KEYS_AT_ONCE, REJECTS_AT_ONCE)
  }

  /** Checks the list as a whole, and yields the remaining outputs and the totals. `cut`: why reading ended early. */
  *finish(cut: CutReason | null): Generator<ImportOutput> {
    const { content, doubts, request, staged, tally } = this
    const { accepted, rows } = this
    this.checkWhole(cut)
    yield* this.takeOutputs(1, 1, 1)
    if (this.preview_entries.length > 0) yield { kind: 'preview', entries: this.preview_entries, rows }
    const tree = this.isPublishable() && !this.is_contradictory ? finishTree(content) : null
    yield {
      kind: 'end',
      totals: {
        rows,
        accepted,
        rejected: tally.rows,
        data_bytes: staged.data_bytes + this.unstaged_bytes,
        reject_totals: tally.totals(),
        filled: this.fill.counts,
        warnings: [...doubts, ...this.warnings].slice(0, MAX_WARNINGS),
        doubts,
        files: this.files,
        members: this.members.counts,
        is_ordered: this.is_ordered,
        cut,
        root: tree?.root ?? null,
        nodes: tree?.nodes ?? null,
      },
    }
    if (tree && !request.delta && accepted >= MIN_TREE_ENTRIES) yield* treeRows(content)
  }

  private reject(reject: Reject): void {
    // Refused even when bad rows are left out, since the intended meaning is unknown.
    if (reject.code === CHANGED_AND_REMOVED) this.is_contradictory = true
    this.tally.add(reject)
    this.rejects.push(reject)
  }

  /** After a reject no version is published unless bad rows are left out, so nothing more is staged. */
  private isPublishable(): boolean {
    return this.request.preview === undefined && (!this.request.strict || this.tally.total === 0)
  }

  private addRemoval(entry: Entry, at: SourceLocation): void {
    const key = getRemovalKey(this.type, entry)
    if (typeof key !== 'string') {
      this.reject({ ...key, at, excerpt: this.excerpt(entry, key.pointer) })
      return
    }
    const first_row = this.seen?.add(key, at.row)
    if (first_row !== undefined) {
      this.reject(duplicateKey(key, first_row, at))
      return
    }
    this.accepted++
    if (this.request.preview !== undefined) this.keys.push([key, null])
    else if (this.isPublishable()) this.content.addDigest(key, this.staged.remove(key, at.row, at.line))
  }

  private addEntry(entry: Entry, at: SourceLocation): void {
    const { request } = this
    const prepared = this.type.read(entry)
    if (Array.isArray(prepared)) {
      for (const fault of prepared as EntryFault[]) {
        this.reject({ ...fault, at, excerpt: this.excerpt(entry, fault.pointer) })
      }
      return
    }
    const stored = prepared as Exclude<typeof prepared, readonly EntryFault[]>
    if (stored.removed) this.removed.add(stored.key, stored.removed, at)
    const first_row = this.seen?.add(stored.key, at.row)
    if (first_row !== undefined) {
      this.reject(duplicateKey(stored.key, first_row, at))
      return
    }
    this.accepted++
    if (stored.key <= this.last_key) this.is_ordered = false
    this.last_key = stored.key
    this.rules?.add(stored.key, entry)
    this.fill.feed(entry)
    this.members.feed(stored.entry)
    this.language.add(entry)
    if (this.preview_entries.length < (request.preview ?? 0)) {
      this.preview_entries.push({ entry: JSON.parse(stored.text) as Entry, at })
    }
    if (request.delta && request.preview !== undefined) this.keys.push([stored.key, entryHash(stored.text)])
    if (this.isPublishable()) {
      this.content.addDigest(stored.key, this.staged.put(stored.key, stored.text, at.row, at.line))
    } else this.unstaged_bytes += Buffer.byteLength(stored.text)
  }

  private *takeOutputs(min_bytes: number, min_keys: number, min_rejects: number): Generator<ImportOutput> {
    const { rows } = this
    if (this.staged.length >= min_bytes) yield { kind: 'rows', bytes: this.staged.take(), rows }
    if (this.keys.length >= min_keys) {
      yield { kind: 'keys', keys: this.keys, rows }
      this.keys = []
    }
    if (this.rejects.length >= min_rejects) {
      yield { kind: 'rejects', items: this.rejects, rows }
      this.rejects = []
    }
  }

  /** A source that was not read to its end cannot be checked as a whole list. */
  private checkWhole(cut: CutReason | null): void {
    const { removed, seen, language, warnings } = this
    if (!cut) this.doubts.push(...(this.marker?.warnings() ?? []))
    warnings.unshift(...removed.warnings(), ...(seen?.warnings() ?? []), ...language.warnings())
    for (const pointer of cut ? [] : this.privacy.unmet()) {
      const message = `Nothing was dropped or hashed at ${pointer}: no row has such a member.`
      warnings.unshift({ code: 'personal_unmet', message })
    }
    for (const fault of cut || !this.rules ? [] : this.rules.finish()) {
      this.reject({ code: fault.code, pointer: fault.pointer, message: fault.message, at: { row: 0 }, excerpt: null })
    }
  }
}

const countPlaces = ({ entries, rejects }: Batch): number =>
  new Set([...entries, ...rejects].map(({ at }) => at.row)).size

/** Duplicate keys are found, with their locations, among the staged rows. */
function finishTree(content: RootBuilder): ReturnType<RootBuilder['finish']> | null {
  try {
    return content.finish()
  } catch (error) {
    if (error instanceof DuplicateKey) return null
    throw error
  }
}

function* treeRows(content: RootBuilder): Generator<ImportOutput> {
  let rows: Buffer[] = []
  let size_bytes = 0
  const take = (): ImportOutput => {
    const bytes = new Uint8Array(Buffer.concat(rows))
    rows = []
    size_bytes = 0
    return { kind: 'tree', bytes }
  }
  for (const block of content.blocks()) {
    const row = copyTreeRow(block)
    rows.push(row)
    size_bytes += row.length
    if (size_bytes >= ROWS_BYTES) yield take()
  }
  if (rows.length > 0) yield take()
}
