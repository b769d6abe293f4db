/**
 * One import, from bytes to rows ready to be stored: read, drop or hash personal members, normalise, validate, key, hash.
 * It runs to the end whatever it meets, so that every bad row is named; it knows no database and stores nothing.
 */
import { createHmac } from 'node:crypto'
import {
  type Adapter,
  type Entry,
  type ReadEntry,
  type Reject,
  type Source,
  SourceFault,
  type Warning,
} from '../adapter.ts'
import { DuplicateKey } from '../content/merkle.ts'
import { RootBuilder } from '../content/merkle-root.ts'
import { parsePointer, valueAt } from '../content/pointer.ts'
import { compileType, type EntryFault } from '../types/compile.ts'
import { checkList } from '../types/list-rules.ts'
import { CopyRows } from './copy-text.ts'
import type { ImportOrder, ImportOutput } from './order.ts'
import { FillCount, RejectTally } from './tallies.ts'

const ROWS_BYTES = 256 * 1024
const REJECTS_AT_ONCE = 500
const MAX_WARNINGS = 200
const MAX_EXCERPT = 200

export async function* runImport(
  adapter: Adapter,
  source: Source,
  order: ImportOrder,
): AsyncGenerator<ImportOutput, void, undefined> {
  const content = new RootBuilder()
  try {
    yield* readRows(adapter, source, order, content)
  } finally {
    content.close()
  }
}

async function* readRows(
  adapter: Adapter,
  source: Source,
  order: ImportOrder,
  content: RootBuilder,
): AsyncGenerator<ImportOutput, void, undefined> {
  const type = compileType(order.type)
  const privacy = createPrivacy(order)
  const rules = checkList(order.type)
  const tally = new RejectTally()
  const fill = new FillCount(order.filled)
  const excerpt = createExcerpts(order.type)
  const warnings: Warning[] = []
  const shown: ReadEntry[] = []
  const staged = new CopyRows(2 * ROWS_BYTES)
  let rejects: Reject[] = []
  let accepted = 0
  let data_bytes = 0
  let last_key = ''
  let is_ordered = true

  const refuse = (reject: Reject) => {
    tally.add(reject)
    rejects.push(reject)
  }

  for await (const batch of adapter.read(source, order.options)) {
    for (const reject of batch.rejects) refuse(reject)
    for (const warning of batch.warnings) if (warnings.length < MAX_WARNINGS) warnings.push(warning)
    for (const { entry, at } of batch.entries) {
      privacy(entry)
      const prepared = type.prepare(entry)
      if (Array.isArray(prepared)) {
        for (const fault of prepared as EntryFault[]) refuse({ ...fault, at, excerpt: excerpt(entry, fault.pointer) })
        continue
      }
      const stored = prepared as Exclude<typeof prepared, readonly EntryFault[]>
      accepted++
      data_bytes += Buffer.byteLength(stored.text)
      content.addHash(stored.key, stored.hash)
      if (stored.key <= last_key) is_ordered = false
      last_key = stored.key
      rules.add(stored.key, entry)
      fill.feed(entry)
      if (order.preview !== undefined) {
        if (shown.length < order.preview) shown.push({ entry: JSON.parse(stored.text) as Entry, at })
        continue
      }
      // After a reject nothing will be published, unless rejects are left out: then there is no use in staging more.
      if (order.strict && tally.total > 0) continue
      staged.put(stored, at.row, at.line)
    }
    const rows = accepted + tally.rows
    if (staged.length >= ROWS_BYTES) yield { kind: 'rows', bytes: staged.take(), rows }
    if (rejects.length >= REJECTS_AT_ONCE) {
      yield { kind: 'rejects', items: rejects, rows }
      rejects = []
    }
  }
  const rows = accepted + tally.rows
  if (rows === 0) {
    throw new SourceFault('empty_source', 'The source holds no rows at all; an empty file never replaces a list.')
  }
  for (const fault of rules.finish()) {
    refuse({ code: fault.code, pointer: fault.pointer, message: fault.message, at: { row: 0 }, excerpt: null })
  }
  if (staged.length > 0) yield { kind: 'rows', bytes: staged.take(), rows }
  if (rejects.length > 0) yield { kind: 'rejects', items: rejects, rows }
  if (shown.length > 0) yield { kind: 'preview', entries: shown, rows }
  const publishable = !order.strict || tally.total === 0
  yield {
    kind: 'end',
    totals: {
      rows,
      accepted,
      rejected: tally.rows,
      data_bytes,
      reject_totals: tally.totals(),
      filled: fill.counts,
      warnings,
      is_ordered,
      root: publishable ? rootOf(content) : null,
    },
  }
}

/** Keys that repeat are found, with their places, where the rows are staged. */
function rootOf(content: RootBuilder): string | null {
  try {
    return content.finish()
  } catch (error) {
    if (error instanceof DuplicateKey) return null
    throw error
  }
}

/** Removes or hashes personal members in place, before anything is looked at or kept. */
function createPrivacy({ drop, hash, hash_key }: ImportOrder): (entry: Entry) => void {
  const dropped = drop.map(parsePointer)
  const hashed = hash.map(parsePointer)
  if (dropped.length === 0 && hashed.length === 0) return () => {}
  const parentOf = (entry: Entry, steps: readonly string[]) => {
    let parent: unknown = entry
    for (const step of steps.slice(0, -1)) {
      parent = typeof parent === 'object' && parent !== null ? (parent as Record<string, unknown>)[step] : undefined
    }
    return typeof parent === 'object' && parent !== null ? (parent as Record<string, unknown>) : undefined
  }
  return (entry) => {
    for (const steps of dropped) {
      const parent = parentOf(entry, steps)
      if (parent) delete parent[steps.at(-1) as string]
    }
    for (const steps of hashed) {
      const parent = parentOf(entry, steps)
      const name = steps.at(-1) as string
      if (!parent || parent[name] === undefined || parent[name] === null) continue
      const value = parent[name]
      const text = typeof value === 'string' ? value.normalize('NFC').trim() : JSON.stringify(value)
      parent[name] = createHmac('sha256', hash_key as Uint8Array)
        .update(text)
        .digest('hex')
    }
  }
}

/** What was found, shortened; never of a member that holds personal data. */
function createExcerpts({ fields }: ImportOrder['type']): (entry: Entry, pointer: string) => string | null {
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
