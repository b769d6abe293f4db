/** Turns records of a file, inline items and subjects into input rows with their findings, without I/O. */
import type { Input, Inputs } from '#decision/model.ts'
import type { SubjectRow } from '#modules/subjects/index.ts'
import type { Entry, Batch as Read, Reject, SourceLocation } from '#registry/adapter.ts'

/** A fault of an item: in its inputs, in its row of the file, or in the subject it names. */
export interface ItemFinding {
  readonly code: string
  /** JSON Pointer into the inputs; empty for the whole item. */
  readonly pointer: string
  readonly message: string
  /** Line of the file. */
  readonly column?: string
}

/** One item before it is decided. */
export interface InputRow {
  readonly seq: number
  readonly line: number | null
  readonly subject_id: string | null
  readonly external_id: string | null
  /** Null when the row is too faulty to decide on. */
  readonly inputs: Inputs | null
  readonly findings: readonly ItemFinding[]
  /** The subject, where it is known already. */
  readonly subject?: SubjectRow
}

export interface InlineItem {
  readonly subject_id?: string
  readonly external_id?: string
  readonly inputs?: Readonly<Record<string, unknown>>
}

export interface Mapping {
  readonly external_id?: string
  readonly inputs?: readonly { readonly column: string; readonly input: string }[]
}

export interface FileOptions {
  readonly format: 'csv' | 'ndjson'
  readonly mapping: Mapping
  readonly delimiter?: string
  readonly encoding?: string
}

export const EXTERNAL_ID = 'external_id'
const MAX_EXTERNAL_ID = 200
const MAX_INPUT_CHARS = 16_384

const toPointer = (name: string): string => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

/**
 * Options of the format's adapter. A table without a mapped column is refused as a whole: a typing error in a column name must
 * not turn every value into its default.
 */
export function buildAdapterOptions({ format, mapping, delimiter, encoding }: FileOptions): Record<string, unknown> {
  // The encoding is not guessed, because a wrong guess could not be reported.
  const shared = { encoding: encoding ?? 'utf-8' }
  if (format === 'ndjson') return shared
  const subject = { column: mapping.external_id ?? EXTERNAL_ID, optional: mapping.external_id === undefined }
  const names = [...new Set(mapping.inputs?.map(({ column }) => column))].filter((name) => name !== subject.column)
  const columns = [{ ...subject, pointer: toPointer(subject.column) }, ...names.map(toColumn)]
  return { ...shared, ...(delimiter !== undefined && { delimiter }), ...(mapping.inputs && { columns }) }
}
const toColumn = (column: string) => ({ column, pointer: toPointer(column), optional: false })

/** Groups faults by record: a rejected record may have several. */
export const countRecords = ({ entries, rejects }: Read): number =>
  entries.length + new Set(rejects.map(({ at }) => at.row)).size

/** Records of a file in order, numbered from `from` on. */
export function toRows(read: Read, from: number, options: FileOptions, declared: readonly Input[]): InputRow[] {
  const rejected = new Map<number, Reject[]>()
  for (const reject of read.rejects) rejected.set(reject.at.row, [...(rejected.get(reject.at.row) ?? []), reject])
  const records = [
    ...[...rejected.values()].map((rejects) => ({ at: (rejects[0] as Reject).at, rejects, entry: null })),
    ...read.entries.map(({ entry, at }) => ({ at, rejects: null, entry })),
  ].sort((a, b) => a.at.row - b.at.row)
  const types = new Map(declared.map((input) => [input.name, input.type]))
  return records.map(({ at, rejects, entry }, n) => {
    const seq = from + n + 1
    return rejects ? toUnreadableRow(seq, at, rejects) : toRow({ seq, at }, entry as Entry, options, types)
  })
}

const toUnreadableRow = (seq: number, { line }: SourceLocation, rejects: readonly Reject[]): InputRow => ({
  seq,
  line: line ?? null,
  subject_id: null,
  external_id: null,
  inputs: null,
  findings: rejects.map(({ code, pointer, message, at }) => ({
    code,
    pointer,
    message,
    ...(at.column !== undefined && { column: at.column }),
  })),
})

type Types = ReadonlyMap<string, Input['type']>

function toRow(
  { seq, at }: { readonly seq: number; readonly at: SourceLocation },
  entry: Entry,
  { format, mapping }: FileOptions,
  types: Types,
): InputRow {
  const named = mapping.external_id ?? EXTERNAL_ID
  const pairs = mapping.inputs ?? Object.keys(entry).flatMap((name) => (name === named ? [] : [toInputMapping(name)]))
  const inputs = Object.fromEntries(
    pairs.flatMap(({ column, input }) => {
      if (!Object.hasOwn(entry, column)) return []
      const value = entry[column]
      return [[input, format === 'csv' ? parseCell(value as string, types.get(input)) : value]]
    }),
  )
  return checkRow({
    seq,
    line: at.line ?? null,
    subject_id: null,
    external_id: Object.hasOwn(entry, named) ? entry[named] : null,
    inputs,
  })
}
const toInputMapping = (name: string) => ({ column: name, input: name })

/** Converts the text of a cell to the declared type; text that does not convert stays, and the engine reports it. */
export function parseCell(text: string, type: Input['type'] | undefined): unknown {
  if (type === 'integer') return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : text
  if (type === 'boolean') return /^(true|false)$/i.test(text) ? text.toLowerCase() === 'true' : text
  if (type === 'list') return text.split('|').map((item) => item.trim())
  return text
}

/** An item that came with the request; null where its subject was erased since. */
export const toInlineRow = (item: InlineItem | null, seq: number): InputRow => {
  if (item === null) {
    const findings = [fault('erased', 'The subject of this item was erased.')]
    return { seq, line: null, subject_id: null, external_id: null, inputs: null, findings }
  }
  const { subject_id, external_id, inputs } = item
  return checkRow({
    seq,
    line: null,
    subject_id: subject_id ?? null,
    external_id: external_id ?? null,
    inputs: inputs ?? {},
  })
}

export const toSubjectRow = (subject: SubjectRow, seq: number): InputRow => ({
  seq,
  line: null,
  subject_id: subject.subject_id,
  external_id: subject.external_id,
  inputs: {},
  findings: [],
  subject,
})

/** U+0000 and lone surrogates as JSON.stringify escapes them; PostgreSQL cannot store either. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/

/** Inputs that cannot be stored exactly are refused, because the decision could not be explained later. */
function checkRow(given: Omit<InputRow, 'findings' | 'external_id'> & { readonly external_id: unknown }): InputRow {
  const { external_id, inputs } = given
  const findings: ItemFinding[] = []
  const isName = external_id === null || isExternalId(external_id)
  if (!isName) {
    findings.push(fault('external_id_invalid', `The external id must be a text of 1 to ${MAX_EXTERNAL_ID} characters.`))
  }
  const text = JSON.stringify(inputs)
  if (text.length > MAX_INPUT_CHARS) {
    findings.push(fault('inputs_too_large', `The inputs are longer than ${MAX_INPUT_CHARS} characters.`))
  }
  if (UNSTORABLE.test(text)) {
    findings.push(fault('content_unstorable', 'The inputs hold U+0000 or half of a character, which cannot be kept.'))
  }
  const kept = { ...given, external_id: isName ? (external_id as string | null) : null, findings }
  return findings.length > 0 ? { ...kept, inputs: null } : kept
}

const fault = (code: string, message: string): ItemFinding => ({ code, pointer: '', message })

const isExternalId = (value: unknown): value is string =>
  typeof value === 'string' &&
  value !== '' &&
  value.length <= MAX_EXTERNAL_ID &&
  !UNSTORABLE.test(JSON.stringify(value))
