/**
 * The import pipeline, from bytes to rows ready to be stored: read, drop or hash personal members, normalise, validate, key, hash.
 * It continues after bad rows, so that each is reported. It does not use the database.
 */
import { createHmac } from 'node:crypto'
import {
  type Adapter,
  type Entry,
  type ReadEntry,
  type Reject,
  type Source,
  SourceFault,
  type SourceFile,
  type Warning,
} from '../adapter.ts'
import { entryHash } from '../content/hashes.ts'
import { parsePointer, valueAt } from '../content/json-pointer.ts'
import { DuplicateKey } from '../content/merkle.ts'
import { RootBuilder } from '../content/merkle-root.ts'
import { MIN_TREE_ENTRIES } from '../content/stored-tree.ts'
import { peek } from '../formats/decode.ts'
import { refuseSource } from '../formats/fault.ts'
import { DETECTION_BYTES, findFormatMismatch } from '../formats/format-detection.ts'
import { findArrayMembers, MemberTally } from '../types/array-members.ts'
import { compileType, type EntryFault } from '../types/compile-type.ts'
import { createListCheck } from '../types/list-rules.ts'
import { CopyRows, copyTreeRow } from './copy-rows.ts'
import type { ImportOutput, ImportRequest } from './import-messages.ts'
import { CHANGED_AND_REMOVED, duplicateKey, RemovedCharacters, SeenKeys } from './key-report.ts'
import { NameLanguage } from './name-language.ts'
import { ControlledRead, type ReadControl } from './read-control.ts'
import { getRemovalKey, RemovalMarker } from './removal-marker.ts'
import { FillCount, RejectTally } from './tallies.ts'

const ROWS_BYTES = 256 * 1024
const REJECTS_AT_ONCE = 500
const KEYS_AT_ONCE = 1000
const MAX_WARNINGS = 200
const MAX_FILES = 200
const MAX_EXCERPT = 200

export async function* runImport(
  adapter: Adapter,
  source: Source,
  order: ImportRequest,
  beforeBatch?: ReadControl['beforeBatch'],
): AsyncGenerator<ImportOutput, void, undefined> {
  const { head, bytes, close } = await peek(source, DETECTION_BYTES)
  const misfit = findFormatMismatch(head.subarray(0, DETECTION_BYTES), adapter.media_types)
  const content = new RootBuilder()
  const control = new ControlledRead({ limits: order.preview_limits, ...(beforeBatch && { beforeBatch }) })
  try {
    if (misfit?.certain) refuseSource('another_format', misfit.sentence)
    const remarks = misfit ? [{ code: 'another_format', message: misfit.sentence }] : []
    // A delta may hold no rows; an empty download is broken.
    const may_be_empty = order.delta !== undefined && head.length > 0
    yield* readRows(adapter, bytes, order, content, control, { remarks, may_be_empty })
  } catch (error) {
    if (!misfit || misfit.certain || !(error instanceof SourceFault)) throw error
    throw new SourceFault(error.code, `${misfit.sentence} ${error.message}`, error.at)
  } finally {
    content.close()
    await close()
  }
}

async function* readRows(
  adapter: Adapter,
  source: Source,
  order: ImportRequest,
  content: RootBuilder,
  control: ControlledRead,
  { remarks, may_be_empty }: { readonly remarks: readonly Warning[]; readonly may_be_empty: boolean },
): AsyncGenerator<ImportOutput, void, undefined> {
  const type = compileType(order.type)
  const privacy = createPrivacy(order)
  const rules = order.delta ? null : createListCheck(order.type)
  const marker = order.delta?.marker ? new RemovalMarker(order.delta.marker, order.type) : null
  const tally = new RejectTally()
  const fill = new FillCount(order.filled)
  const excerpt = createExcerptReader(order.type)
  const members = new MemberTally(findArrayMembers(order.type))
  const warnings: Warning[] = [...remarks]
  const doubts: Warning[] = []
  const files: SourceFile[] = []
  const preview_entries: ReadEntry[] = []
  const staged = new CopyRows(2 * ROWS_BYTES)
  const removed = new RemovedCharacters()
  const language = new NameLanguage(order.type)
  // An import finds duplicate keys among its staged rows; a preview stages none.
  const seen = order.preview === undefined || order.type.key_pointers.length === 0 ? null : new SeenKeys()
  let rejects: Reject[] = []
  let keys: [string, string | null][] = []
  let accepted = 0
  let unstaged_bytes = 0
  let last_key = ''
  let is_ordered = true
  let is_contradictory = false

  const refuse = (reject: Reject) => {
    // Refused even when bad rows are left out, since the intended meaning is unknown.
    if (reject.code === CHANGED_AND_REMOVED) is_contradictory = true
    tally.add(reject)
    rejects.push(reject)
  }
  // After a reject no version is published unless bad rows are left out, so nothing more is staged.
  const isPublishable = () => order.preview === undefined && (!order.strict || tally.total === 0)

  const context = { key_pointers: order.type.key_pointers, removal: order.delta?.marker ?? null }
  for await (const batch of control.batches(adapter.read(source, order.options, order.file_name, context))) {
    for (const reject of batch.rejects) refuse(reject)
    for (const warning of batch.warnings) {
      if (warning.closes_guard) doubts.push(warning)
      else if (warnings.length < MAX_WARNINGS) warnings.push(warning)
    }
    for (const file of batch.files) if (files.length < MAX_FILES) files.push(file)
    for (const { entry, at } of batch.entries) {
      const is_removal = marker?.take(entry) === true
      privacy.apply(entry)
      if (is_removal) {
        const key = getRemovalKey(type, entry)
        const first_row = typeof key === 'string' ? seen?.add(key, at.row) : undefined
        if (typeof key !== 'string') refuse({ ...key, at, excerpt: excerpt(entry, key.pointer) })
        else if (first_row !== undefined) refuse(duplicateKey(key, first_row, at))
        else {
          accepted++
          if (order.preview !== undefined) keys.push([key, null])
          else if (isPublishable()) content.addDigest(key, staged.remove(key, at.row, at.line))
        }
        continue
      }
      const prepared = type.read(entry)
      if (Array.isArray(prepared)) {
        for (const fault of prepared as EntryFault[]) refuse({ ...fault, at, excerpt: excerpt(entry, fault.pointer) })
        continue
      }
      const stored = prepared as Exclude<typeof prepared, readonly EntryFault[]>
      if (stored.removed) removed.add(stored.key, stored.removed, at)
      const first_row = seen?.add(stored.key, at.row)
      if (first_row !== undefined) {
        refuse(duplicateKey(stored.key, first_row, at))
        continue
      }
      accepted++
      if (stored.key <= last_key) is_ordered = false
      last_key = stored.key
      rules?.add(stored.key, entry)
      fill.feed(entry)
      members.feed(stored.entry)
      language.add(entry)
      if (preview_entries.length < (order.preview ?? 0))
        preview_entries.push({ entry: JSON.parse(stored.text) as Entry, at })
      if (order.delta && order.preview !== undefined) keys.push([stored.key, entryHash(stored.text)])
      if (isPublishable()) content.addDigest(stored.key, staged.put(stored.key, stored.text, at.row, at.line))
      else unstaged_bytes += Buffer.byteLength(stored.text)
    }
    const rows = accepted + tally.rows
    if (staged.length >= ROWS_BYTES) yield { kind: 'rows', bytes: staged.take(), rows }
    if (keys.length >= KEYS_AT_ONCE) {
      yield { kind: 'keys', keys, rows }
      keys = []
    }
    if (rejects.length >= REJECTS_AT_ONCE) {
      yield { kind: 'rejects', items: rejects, rows }
      rejects = []
    }
  }
  const rows = accepted + tally.rows
  if (rows === 0 && !may_be_empty) {
    throw new SourceFault('empty_source', 'The source holds no rows at all; an empty file never replaces a list.')
  }
  // A source that was not read to its end cannot be checked as a whole list.
  const { cut } = control
  if (!cut) doubts.push(...(marker?.warnings() ?? []))
  warnings.unshift(...removed.warnings(), ...(seen?.warnings() ?? []), ...language.warnings())
  for (const pointer of cut ? [] : privacy.unmet()) {
    const message = `Nothing was dropped or hashed at ${pointer}: no row has such a member.`
    warnings.unshift({ code: 'personal_unmet', message })
  }
  for (const fault of cut || !rules ? [] : rules.finish()) {
    refuse({ code: fault.code, pointer: fault.pointer, message: fault.message, at: { row: 0 }, excerpt: null })
  }
  if (staged.length > 0) yield { kind: 'rows', bytes: staged.take(), rows }
  if (rejects.length > 0) yield { kind: 'rejects', items: rejects, rows }
  if (keys.length > 0) yield { kind: 'keys', keys, rows }
  if (preview_entries.length > 0) yield { kind: 'preview', entries: preview_entries, rows }
  const tree = isPublishable() && !is_contradictory ? finishTree(content) : null
  yield {
    kind: 'end',
    totals: {
      rows,
      accepted,
      rejected: tally.rows,
      data_bytes: staged.data_bytes + unstaged_bytes,
      reject_totals: tally.totals(),
      filled: fill.counts,
      warnings: [...doubts, ...warnings].slice(0, MAX_WARNINGS),
      doubts,
      files,
      members: members.counts,
      is_ordered,
      cut,
      root: tree?.root ?? null,
      nodes: tree?.nodes ?? null,
    },
  }
  if (tree && !order.delta && accepted >= MIN_TREE_ENTRIES) yield* treeRows(content)
}

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

interface Privacy {
  /** Removes or hashes personal members in place, before an entry is validated or stored. */
  apply(entry: Entry): void
  /** Pointers to drop or hash that matched no entry: most likely they are misspelt. */
  unmet(): string[]
}

function createPrivacy({ drop, hash, hash_key }: ImportRequest): Privacy {
  const unmet = new Set([...drop, ...hash])
  const orders = [
    ...drop.map((pointer) => ({ pointer, steps: parsePointer(pointer), change: remove })),
    ...hash.map((pointer) => ({ pointer, steps: parsePointer(pointer), change: hashWith(hash_key as Uint8Array) })),
  ]
  return {
    apply: (entry) => {
      for (const { pointer, steps, change } of orders) if (changeAt(entry, steps, 0, change)) unmet.delete(pointer)
    },
    unmet: () => [...unmet],
  }
}

type ChangeMember = (parent: Record<string, unknown>, name: string) => void

/** Returns whether anything was changed; `*` is every element of an array, visited from the end since elements may be removed. */
function changeAt(value: unknown, steps: readonly string[], at: number, change: ChangeMember): boolean {
  if (typeof value !== 'object' || value === null) return false
  const parent = value as Record<string, unknown>
  const step = steps[at] as string
  const isEach = step === '*' && Array.isArray(value)
  let met = false
  for (const name of isEach ? Object.keys(parent).reverse() : Object.hasOwn(parent, step) ? [step] : []) {
    const isLast = at === steps.length - 1
    if (isLast) change(parent, name)
    met = isLast || changeAt(parent[name], steps, at + 1, change) || met
  }
  return met
}

const remove: ChangeMember = (parent, name) => {
  if (Array.isArray(parent)) parent.splice(Number(name), 1)
  else delete parent[name]
}

const hashWith =
  (key: Uint8Array): ChangeMember =>
  (parent, name) => {
    const value = parent[name]
    if (value === undefined || value === null) return
    const text = typeof value === 'string' ? value.normalize('NFC').trim() : JSON.stringify(value)
    parent[name] = createHmac('sha256', key).update(text).digest('hex')
  }

/** The value of a member, shortened; never of a member with personal data. */
function createExcerptReader({ fields }: ImportRequest['type']): (entry: Entry, pointer: string) => string | null {
  const personal = new Set(Object.keys(fields).filter((pointer) => fields[pointer]?.personal))
  return (entry, pointer) => {
    const general = pointer.replace(/\/\d+(?=\/|$)/g, '/*')
    if (personal.size > 0 && (pointer === '' || personal.has(general))) return null
    const value = pointer === '' ? entry : valueAt(entry, parsePointer(pointer))
    if (value === undefined) return null
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return text.length > MAX_EXCERPT ? `${text.slice(0, MAX_EXCERPT)}…` : text
  }
}
