/**
 * Codes and messages of refused sources and rejected records. Every code of a reader or an adapter is listed here, so that
 * documents and tests use one list.
 */
import { type Reject, SourceFault, type SourceLocation } from '../adapter.ts'

/** Why a source is refused. */
export const faultCodes = [
  'another_format',
  'archive_damaged',
  'archive_members',
  'column_duplicate',
  'column_missing',
  'doctype_refused',
  'empty_source',
  'encoding_invalid',
  'encoding_unknown',
  'expansion_limit',
  'layout_unknown',
  'not_well_formed',
  'record_too_long',
  'sheet_missing',
  'source_too_large',
  'truncated',
] as const
export type FaultCode = (typeof faultCodes)[number]

/** Why one record cannot become an entry. */
export const rejectCodes = [
  'cell_error',
  'column_extra',
  'column_lacking',
  'name_duplicate',
  'not_an_object',
  'not_well_formed',
  'quote_misplaced',
  'value_ambiguous',
  'value_missing',
  'value_unreadable',
] as const
export type RejectCode = (typeof rejectCodes)[number]

/** A longer record is malformed: an unclosed quote or a missing line end. */
export const MAX_RECORD_CHARS = 1_048_576
const MAX_EXCERPT_CHARS = 120

export function refuseSource(code: FaultCode, message: string, at?: SourceLocation): never {
  throw new SourceFault(code, message, at)
}

/** Location of a fault on a line that belongs to no record: row 0. */
export const onLine = (line: number): SourceLocation => ({ row: 0, line })

/** Five parameters: every adapter calls it, mostly with the first three or four. */
export function reject(
  code: RejectCode,
  message: string,
  at: SourceLocation,
  found: string | null = null,
  pointer = '',
): Reject {
  return { code, pointer, at, message, excerpt: found === null ? null : excerpt(found) }
}

export function excerpt(text: string): string {
  return text.length <= MAX_EXCERPT_CHARS ? text : `${text.slice(0, MAX_EXCERPT_CHARS - 1)}…`
}

export function recordTooLong(at: SourceLocation): never {
  const line = at.line === undefined ? '' : ` that begins at line ${at.line}`
  const hint = 'A closing quote, bracket or line end is probably missing.'
  refuseSource('record_too_long', `The record${line} is longer than ${MAX_RECORD_CHARS} characters. ${hint}`, at)
}
