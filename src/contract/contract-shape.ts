/** The shape of every part of a contract, with its limits. check-contract.ts checks names, pointers, schema and tests. */
import {
  anything,
  boolean,
  FindingCollector,
  formatForMessage,
  integer,
  listOf,
  object,
  oneOf,
  type Shape,
  text,
} from '#decision/engine-1/shape.ts'
import { LIST_KEY, MAX_FIELD_CHARS, MAX_TEST_CHARS } from '#decision/engine-1/unary-parser.ts'
import type { Finding } from '#decision/model.ts'
import { isObject, isPointer } from '#registry/content/json-pointer.ts'

export const MAX_FACTS = 200
export const MAX_CHECKS = 100
export const MAX_EXAMPLES = 50
/** The kernel's JSON scanner reads no more tokens than fit in about this size. */
export const MAX_PAYLOAD_BYTES = 8 * 1024 * 1024
export const MAX_PAYLOAD_RECORDS = 10_000
const MAX_POINTER_CHARS = 500

const Title = text(200)
const Name = text(60, /^[A-Za-z][A-Za-z0-9_]*$/, 'a name: letters, digits and "_", at most 60, a letter first')
const Key = text(60, /^[a-z][a-z0-9_-]*$/, 'a key: small letters, digits, "-" and "_", at most 60, a letter first')
const ListKey = text(100, LIST_KEY, 'the key of a list: small letters, digits, "-" and "_"')
const Instant = text(
  30,
  /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?Z$/,
  'an instant in UTC such as 2026-01-31T09:30:00Z',
)

const Pointer =
  (wanted: string, mayBeEmpty: boolean): Shape =>
  (value, pointer, findings) => {
    if (value === '' && mayBeEmpty) return true
    if (!text(MAX_POINTER_CHARS)(value, pointer, findings)) return false
    if (isPointer(value as string)) return true
    findings.error('shape_invalid', pointer, `This must be ${wanted}, not ${formatForMessage(value)}.`)
    return false
  }
const RecordPointer = Pointer('a JSON pointer into a record, such as /address/country', false)
const PayloadPointer = Pointer('a JSON pointer into the payload, such as /meta/source', false)
const Field: Shape = (value, pointer, findings) => {
  if (!text(MAX_FIELD_CHARS)(value, pointer, findings)) return false
  if (!(value as string).startsWith('/') || isPointer(value as string)) return true
  findings.error('shape_invalid', pointer, 'A field is the name of a member, or a JSON pointer.')
  return false
}
const Bound: Shape = (value, pointer, findings) => {
  if (typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'string' && value.length <= 40)
    return true
  const wanted = 'a whole number, or a decimal or date as text'
  findings.error('shape_invalid', pointer, `This must be ${wanted}, not ${formatForMessage(value)}.`)
  return false
}
const JsonSchema: Shape = (value, pointer, findings) => {
  if (isObject(value)) return true
  findings.error('shape_invalid', pointer, `This must be a JSON Schema, not ${formatForMessage(value)}.`)
  return false
}

const FactShape = object(
  { name: Name, at: RecordPointer, type: oneOf('enum', 'integer', 'decimal', 'boolean', 'date', 'string', 'list') },
  {
    title: Title,
    description: text(2000),
    unit: text(40),
    scale: integer(0, 10),
    values: listOf(text(200), 1, 2000),
    one_of: object({ list_key: ListKey }, { field: Field }),
    minimum: Bound,
    maximum: Bound,
    max_items: integer(1, 1000),
    required: boolean,
    personal: boolean,
  },
)
const CheckShape = object(
  {
    key: Key,
    when: listOf(object({ of: Name, test: text(MAX_TEST_CHARS) }), 1, 20),
    else: oneOf('quarantine', 'note'),
  },
  { title: Title },
)

export const ContractShape = object(
  {
    record: JsonSchema,
    records_at: Pointer('a JSON pointer to the list of records, or empty', true),
    facts: listOf(FactShape, 0, MAX_FACTS),
    examples: listOf(object({ payload: anything }, { received_at: Instant }), 1, MAX_EXAMPLES),
  },
  {
    capability: text(100, /^[a-z][a-z0-9_.-]*$/, 'a capability such as company.lookup'),
    max_records: integer(1, MAX_PAYLOAD_RECORDS),
    max_bytes: integer(1, MAX_PAYLOAD_BYTES),
    unknown_members: oneOf('note', 'refuse', 'drop'),
    partial: oneOf('record'),
    personal: listOf(object({ at: RecordPointer }, { guessed: boolean }), 0, 500),
    provenance: object(
      {},
      { source: PayloadPointer, as_of: PayloadPointer, required: listOf(oneOf('source', 'as_of'), 1, 2) },
    ),
    freshness: object({ max_age_s: integer(1, 10 * 366 * 86_400), measured_from: oneOf('as_of') }),
    checks: listOf(CheckShape, 0, MAX_CHECKS),
    counter_examples: listOf(
      object({ payload: anything, violates: listOf(Pointer('a JSON pointer', true), 1, 20) }, { received_at: Instant }),
      0,
      MAX_EXAMPLES,
    ),
  },
)

export function findShapeFindings(value: unknown): Finding[] {
  const findings = new FindingCollector()
  ContractShape(value, '', findings)
  return findings.list
}
