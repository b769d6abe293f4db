/** Rules of bulk files, without I/O: what a row must hold to become a subject, and how rows are counted. */
import { findSchemaErrors, findUnstorableText } from '#kernel/http/validation.ts'
import type { ProblemError } from '#kernel/problem.ts'
import type { Batch, Entry, Reject, SourceLocation } from '#registry/adapter.ts'
import { NewSubject } from '../records/schema.ts'
import { findAttributesFault } from '../records/subject-content.ts'
import type { SubjectInput } from '../records/upsert-subjects.ts'

export interface RowCounts {
  readonly rows: number
  readonly created: number
  readonly changed: number
  readonly unchanged: number
  readonly rejected: number
  /** Faults of all rejected rows; one row may have several. */
  readonly faults: number
}
export const NO_COUNTS: RowCounts = { rows: 0, created: 0, changed: 0, unchanged: 0, rejected: 0, faults: 0 }

/** One row of the file: its content, or all its faults. */
export interface BulkItem {
  readonly at: SourceLocation
  readonly subject?: SubjectInput
  readonly rejects?: readonly Reject[]
}

const codes: Readonly<Record<string, string>> = {
  required: 'value_missing',
  additionalProperties: 'member_unknown',
}

const toReject = (at: SourceLocation, { pointer, keyword, detail }: ProblemError): Reject => {
  const member = pointer.slice(1)
  return {
    code: codes[keyword ?? ''] ?? 'value_invalid',
    pointer: member,
    at,
    message: `${member === '' ? 'The row' : `"${member.slice(1).replaceAll('/', '.')}"`} ${detail}.`,
    excerpt: null,
  }
}

const PREFIX = 'attributes.'

const members: readonly string[] = Object.keys(NewSubject.properties)
const ATTRIBUTE_NAME = /^[A-Za-z][A-Za-z0-9_]*$/

/**
 * Tables have no nested members: columns named `attributes.x` hold the attributes, and so do other columns named like an input,
 * as in a file for a batch. A column that is there with and without the prefix is left to be refused.
 */
function nestAttributes(entry: Entry, isTable: boolean): Entry {
  const toAttribute = (name: string): string | null => {
    if (name.startsWith(PREFIX)) return name === PREFIX ? null : name.slice(PREFIX.length)
    const isInput = isTable && !members.includes(name) && ATTRIBUTE_NAME.test(name) && !(`${PREFIX}${name}` in entry)
    return isInput ? name : null
  }
  const attributes: [string, unknown][] = []
  const rest: [string, unknown][] = []
  for (const [name, value] of Object.entries(entry)) {
    const attribute = toAttribute(name)
    if (attribute === null) rest.push([name, value])
    else attributes.push([attribute, value])
  }
  if (attributes.length === 0) return entry
  const { attributes: mapped, ...others } = Object.fromEntries(rest) as Entry
  return { ...others, attributes: { ...(mapped as Entry | undefined), ...Object.fromEntries(attributes) } }
}

function readItem(entry: Entry, at: SourceLocation, isTable: boolean): BulkItem {
  const value = nestAttributes(entry, isTable)
  const faults = [...findSchemaErrors('body', NewSubject, value), ...findUnstorableText(NewSubject, value)]
  const oversize =
    faults.length === 0 ? findAttributesFault((value as { attributes?: Record<string, unknown> }).attributes) : null
  if (oversize !== null) faults.push({ in: 'body', pointer: '#/attributes', detail: oversize })
  if (faults.length > 0) return { at, rejects: faults.map((fault) => toReject(at, fault)) }
  return { at, subject: value as unknown as SubjectInput }
}

/** The rows of a batch, rejected ones first. Deterministic, so that a resumed job counts the same rows. */
export function toItems({ entries, rejects }: Batch, isTable: boolean): BulkItem[] {
  const rejected = new Map<number, Reject[]>()
  for (const reject of rejects) rejected.set(reject.at.row, [...(rejected.get(reject.at.row) ?? []), reject])
  return [
    ...[...rejected.values()].map((faults) => ({ at: (faults[0] as Reject).at, rejects: faults })),
    ...entries.map(({ entry, at }) => readItem(entry, at, isTable)),
  ]
}

/** Counts rows without parsing them. */
export const countRows = ({ entries, rejects }: Batch): number =>
  entries.length + new Set(rejects.map(({ at }) => at.row)).size

export const toDuplicateReject = (at: SourceLocation, external_id: string, first_row: number): Reject => ({
  code: 'duplicate_external_id',
  pointer: '/external_id',
  at,
  message: `The external id was used in row ${first_row} already.`,
  excerpt: external_id,
})

export const toOffboardedReject = (at: SourceLocation, external_id: string): Reject => ({
  code: 'subject_offboarded',
  pointer: '',
  at,
  message: 'The subject is offboarded; its record stays as it was.',
  excerpt: external_id,
})
