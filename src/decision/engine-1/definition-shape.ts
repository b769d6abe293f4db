/** The shape of every part of a definition, with its limits. check.ts checks names, references and tests. */
import { isObject, isPointer } from '#registry/content/json-pointer.ts'
import {
  anything,
  boolean,
  findStorageFault,
  formatForMessage,
  integer,
  listOf,
  object,
  oneOf,
  recordOf,
  type Shape,
  tagged,
  text,
} from './shape.ts'
import { LIST_KEY, MAX_ENTRY_KEY_CHARS, MAX_FIELD_CHARS } from './unary-parser.ts'

export const MAX_SCORE_BPS = 10_000
export const MAX_INPUTS = 100
export const MAX_FACTORS = 50
export const MAX_TRIGGERS = 100
export const MAX_ROWS = 2000
export const MAX_COLUMNS = 50
export const MAX_SCALE = 10
export const MAX_ITEMS = 1000
const MAX_VALUES = 2000

const Title = text(200)
const Reason = text(1000)
const ListKey = text(100, LIST_KEY, 'the key of a list: small letters, digits, "-" and "_"')
const ContractKey = text(100, LIST_KEY, 'the key of a source contract: small letters, digits, "-" and "_"')
const Key = text(60, /^[a-z][a-z0-9_-]*$/, 'a key: small letters, digits, "-" and "_", at most 60, a letter first')
const Name = text(60, /^[A-Za-z][A-Za-z0-9_]*$/, 'a name: letters, digits and "_", at most 60, a letter first')
const RowKey = text(100, /^[A-Za-z0-9][A-Za-z0-9_.-]*$/, 'a key: letters, digits, "-", "_" and ".", at most 100')
const ReasonCode = text(60, /^[A-Z][A-Z0-9_]*$/, 'a reason code: capital letters, digits and "_"')
const Action = text(60, /^[a-z][a-z0-9_-]*$/, 'the name of an action: small letters, digits, "-" and "_"')
const Reference = text(
  70,
  /^(?:factor\.[a-z][a-z0-9_-]*|[A-Za-z][A-Za-z0-9_]*)$/,
  'the name of an input, or factor.<key>',
)
const EntryKey = text(MAX_ENTRY_KEY_CHARS)
/** Surrounding spaces are ignored; the parser checks the length. */
const Test: Shape = (value, pointer, findings) => {
  const fault =
    typeof value === 'string' ? findStorageFault(value.trim()) : `This must be a test, not ${formatForMessage(value)}.`
  if (fault) findings.error('shape_invalid', pointer, fault)
  return !fault
}

const Field: Shape = (value, pointer, findings) => {
  if (!text(MAX_FIELD_CHARS)(value, pointer, findings)) return false
  if (!(value as string).startsWith('/') || isPointer(value as string)) return true
  findings.error('shape_invalid', pointer, 'A field is the name of a member, or a JSON pointer.')
  return false
}

const ListValue = object({ list_key: ListKey, key: EntryKey, field: Field })
/** A number that JSON writes exactly, a text, true or false, or a value from a list. */
const Value: Shape = (value, pointer, findings) => {
  if (isObject(value)) return ListValue(value, pointer, findings)
  if (typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return true
  if (typeof value === 'string') return value === '' || text(500)(value, pointer, findings)
  findings.error(
    'shape_invalid',
    pointer,
    `This must be a number, a text, true, false or a value of a list, not ${formatForMessage(value)}.`,
  )
  return false
}
const Weight: Shape = (value, pointer, findings) =>
  isObject(value) ? ListValue(value, pointer, findings) : integer(0, MAX_SCORE_BPS)(value, pointer, findings)
const OnMissing: Shape = (value, pointer, findings) => {
  if (value === 'fail') return true
  if (isObject(value)) return object({ default: Value, reason: Reason })(value, pointer, findings)
  findings.error(
    'shape_invalid',
    pointer,
    `This must be "fail", or a default with its reason, not ${formatForMessage(value)}.`,
  )
  return false
}
const Bound: Shape = (value, pointer, findings) => {
  if (typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'string' && value.length <= 40)
    return true
  findings.error(
    'shape_invalid',
    pointer,
    `This must be a whole number, or a decimal or date as text, not ${formatForMessage(value)}.`,
  )
  return false
}

export const InputShape = object(
  { name: Name, title: Title, type: oneOf('enum', 'integer', 'decimal', 'boolean', 'date', 'string', 'list') },
  {
    description: text(2000),
    unit: text(40),
    scale: integer(0, MAX_SCALE),
    values: listOf(text(200), 1, MAX_VALUES),
    one_of: object({ list_key: ListKey }, { field: Field }),
    from: object({ contract_key: ContractKey, fact: Name }),
    minimum: Bound,
    maximum: Bound,
    max_items: integer(1, MAX_ITEMS),
    default: anything,
  },
)

const RowShape = object(
  { key: RowKey, when: listOf(Test, 0, MAX_COLUMNS), then: listOf(Value, 0, 20) },
  { reason_code: ReasonCode, reason: Reason },
)
export const TableShape = object(
  {
    hit_policy: oneOf('unique', 'any', 'first', 'priority', 'collect'),
    columns: listOf(Reference, 1, MAX_COLUMNS),
    outputs: listOf(object({ name: Name }, { title: Title }), 0, 20),
    rows: listOf(RowShape, 1, MAX_ROWS),
  },
  {
    collect: oneOf('sum', 'min', 'max', 'count'),
    priorities: listOf(Value, 1, 200),
    otherwise: object({ then: listOf(Value, 0, 20), reason: Reason }, { reason_code: ReasonCode }),
  },
)

/** Members of every form of factors: required ones, and others. */
export const factorMembers = { key: Key, title: Title, form: anything }
export const optionalFactorMembers = { weight_bps: Weight, reason: Reason, reason_code: ReasonCode }
export const factorForms = {
  lookup: object(
    { ...factorMembers, list_key: ListKey, inputs: listOf(Name, 1, 5), field: Field, on_missing: OnMissing },
    optionalFactorMembers,
  ),
  table: object({ ...factorMembers, table: TableShape }, optionalFactorMembers),
  presence: object(
    { ...factorMembers, list_key: ListKey, input: Name, present: Value, absent: Value },
    { ...optionalFactorMembers, count: boolean, at_most: Value },
  ),
  score_map: object(
    { ...factorMembers, input: Name, scores: recordOf(text(200), Value, MAX_VALUES), on_missing: OnMissing },
    optionalFactorMembers,
  ),
}
export const FactorShape = tagged('form', factorForms)

export const TriggerShape = object(
  {
    key: Key,
    title: Title,
    when: listOf(object({ of: Reference, test: Test }), 1, 20),
    reason_code: ReasonCode,
    reason: Reason,
  },
  { floor_band: text(200), required_actions: listOf(Action, 0, 20) },
)

export const BandsShape = object({ list_key: ListKey, band_field: Field, from_field: Field, to_field: Field })
export const AggregationShape = oneOf('weighted_sum', 'sum', 'max')
export const ActionsShape = listOf(Action, 0, 20)
export const ReasonShape = Reason
export const ReasonCodeShape = ReasonCode
export const NameShape = Name
