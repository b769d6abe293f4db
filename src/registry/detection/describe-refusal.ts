/** Says why no adapter reads a file, and what to do about it. */
import { adapters } from '../adapters/index.ts'
import { baseName } from '../formats/archive-files.ts'
import { explainDocument, findJsonFault } from '../formats/json-record.ts'
import type { RefusedGuess } from './damaged-file.ts'
import type { Candidate, DetectionRequest } from './detection.ts'
import { MAX_COLUMNS } from './infer-type.ts'
import { SAMPLE_BYTES, type Sample, type SampleContent } from './sample.ts'
import type { TableGuess } from './table-guess.ts'

interface FailedGuesses {
  /** The file was refused as a whole. */
  readonly refused: readonly RefusedGuess[]
  /** Every entry was rejected. */
  readonly emptied: readonly Candidate[]
}

const OFAC_FILE = /^(?:sdn|alt|add|sdn_comments|cons_prim|cons_alt|cons_add|cons_comments)\.(?:csv|pip|del)$/i

/** OFAC publishes a list as four files, of which only the parties can be read alone. */
export function describeRefusal(
  { content, is_whole }: Sample,
  { refused, emptied }: FailedGuesses,
  { file_name, type_key }: DetectionRequest,
): string | null {
  if (content.family === 'archive') {
    const isOfac = content.members.some((name) => OFAC_FILE.test(baseName(name)))
    return (isOfac && refused[0]?.fault.message) || 'Upload the one file that holds the list.'
  }
  if (OFAC_FILE.test(file_name ?? '')) {
    return 'This is one file of an OFAC list. Upload all files of the list in one zip archive.'
  }
  if (content.family === 'xml') {
    return 'No publisher is known whose lists look like this. Convert it to CSV, JSON or an .xlsx workbook.'
  }
  const tables = listTables(content)
  if (tables.length > 0 && tables.every(({ rows }) => rows.length === 0)) return describeMissingRows(content, is_whole)
  const widest = Math.max(0, ...tables.map(({ header }) => header.length))
  if (widest > MAX_COLUMNS) {
    const limit = `A type is inferred for up to ${MAX_COLUMNS} columns.`
    return `The table has ${widest.toLocaleString('en')} columns. ${limit} Remove columns, or create a type first.`
  }
  const json = content.family === 'json' || content.family === 'ndjson' ? describeJson(content, is_whole) : null
  if (json !== null) return json
  if (type_key !== null) return `No entry fits the type ${type_key}.${quoteReject(emptied)}`
  const general = refused.find(({ guess }) => !guess.adapter.target_type)
  if (general) return general.fault.message
  const unread = quoteReject(emptied)
  if (unread !== '') return `No entry of it could be read.${unread}`
  if (content.family === 'json' || content.family === 'ndjson')
    return `No entry of it has members that can be read. ${RECORDS}.`
  if (widest < 2)
    return 'It looks like text, not like a list of codes or names. Upload a table, JSON, XML or an .xlsx workbook.'
  return 'No column tells its entries apart: a key is a column of text or whole numbers that every row fills. Add one, or create a type first.'
}

const listTables = (content: SampleContent): readonly TableGuess[] =>
  content.family === 'delimited'
    ? [content.table]
    : content.family === 'workbook'
      ? content.sheets.map(({ table }) => table)
      : []

const SAMPLE_KIB = SAMPLE_BYTES / 1024

/** Only the names of columns were read. */
function describeMissingRows(content: SampleContent, is_whole: boolean): string {
  if (content.family !== 'delimited') return 'It has names of columns and no entries.'
  const { table, fault, bytes } = content
  if (is_whole) return fault ?? 'It has names of columns and no entries.'
  const open = /^The quote opened at line \d+/.exec(fault ?? '')?.[0]
  const first = table.header_row?.line ?? table.header_line
  const line = bytes.includes('\n') ? first + 1 : first
  const what = open ? `${open} is not closed` : `The row that begins at line ${line} does not end`
  const hint = open ? 'Close the quote' : 'A line end is probably missing; add it'
  return `${what} in the first ${SAMPLE_KIB} KiB of the file, which is all that is looked at. ${hint}, or choose the adapter and the type of the list yourself.`
}

const RECORDS =
  'Entries are read from an array of objects, such as [{"code": "A", "name": "Alpha"}], at most three levels deep'

/** Null: records were found, and nothing is wrong with the text. */
function describeJson({ family, guess, text }: SampleContent & { family: 'json' | 'ndjson' }, is_whole: boolean) {
  const fault = family === 'json' ? findFault(text, is_whole) : undefined
  if (fault !== undefined) return fault
  if (guess !== null) return null
  if (!is_whole) return `No entries were found in the first ${SAMPLE_KIB} KiB of it. ${RECORDS}.`
  return /[\w"]/.test(text.replaceAll(/"(?:[^"\\]|\\.)*"\s*:/g, ''))
    ? `No entries were found in it. ${RECORDS}.`
    : 'It has no entries. Upload a file with at least one.'
}

/** The beginning of a document ends too early, which is no fault of it. */
function findFault(text: string, is_whole: boolean): string | undefined {
  if (is_whole) return explainDocument(text)
  const found = findJsonFault(text)
  return found === undefined || found.cut ? undefined : found.fault.message
}

/** A publisher's adapter would speak of members that the file does not claim to have. */
function quoteReject(emptied: readonly Candidate[]): string {
  const reject = emptied.find(
    ({ adapter_key, first_reject }) => first_reject !== null && adapters.get(adapter_key)?.target_type === null,
  )?.first_reject
  return reject ? ` Row ${reject.at.row.toLocaleString('en')}: ${reject.message}` : ''
}
