/**
 * The condition forms of decision table cells, with examples formatted by the engine, so that the documentation always
 * parses.
 */
import { PLACEHOLDERS } from '#decision/engine-1/sentence-template.ts'
import { type Column, printTest, toColumn, type UnboundTerm, type UnboundTest } from '#decision/engine-1/unary.ts'
import type { HitPolicy, InputType } from '#decision/model.ts'

const toExampleColumn = (type: InputType): Column => toColumn({ name: 'example', title: 'Example', type })
const ORDERED: readonly InputType[] = ['integer', 'decimal', 'date']
const ALL: readonly InputType[] = ['enum', 'integer', 'decimal', 'boolean', 'date', 'string', 'list']
const TEXTS: readonly InputType[] = ['enum', 'string', 'list']

const formatExample = (terms: readonly UnboundTerm[], type: InputType): string => {
  const test: UnboundTest = { form: 'terms', terms }
  return printTest(test, toExampleColumn(type))
}

const limit = { list_key: 'transaction-monitoring-thresholds', key: 'cash-structuring|retail' }

export const conditionForms = [
  {
    form: 'any',
    example: printTest({ form: 'any' }, toExampleColumn('string')),
    meaning: 'Anything.',
    input_types: ALL,
  },
  {
    form: 'equals',
    example: formatExample([{ form: 'equals', value: 'retail' }], 'string'),
    meaning: 'Exactly this value; of a list, when an item is.',
    input_types: ALL,
  },
  {
    form: 'terms',
    example: formatExample(
      [
        { form: 'equals', value: 'retail' },
        { form: 'equals', value: 'corporate' },
      ],
      'string',
    ),
    meaning: 'One of these.',
    input_types: ALL,
  },
  {
    form: 'compare',
    example: formatExample([{ form: 'compare', sign: '>=', value: 100_000 }], 'decimal'),
    meaning: 'Less than, at most, more than or at least: <, <=, >, >=.',
    input_types: ORDERED,
  },
  {
    form: 'range',
    example: formatExample([{ form: 'range', from: 0, from_included: true, to: 365, to_included: false }], 'integer'),
    meaning: 'Between two bounds; a square bracket includes the bound, a round one excludes it.',
    input_types: ORDERED,
  },
  {
    form: 'in_list',
    example: formatExample([{ form: 'in_list', list_key: 'eu-high-risk-third-countries' }], 'enum'),
    meaning: 'The value is a key of the list, in the version in force.',
    input_types: TEXTS,
  },
  {
    form: 'list_value',
    example: formatExample(
      [{ form: 'compare', sign: '>=', value: { ...limit, field: 'transaction_count' } }],
      'integer',
    ),
    meaning:
      'A value from a list, wherever a literal is allowed: the field of the entry with this key, in the ' +
      'version in force. Keys and fields with other characters than letters, digits, - _ . : | are written in double quotes.',
    input_types: ALL,
  },
  {
    form: 'list_value_minor',
    example: formatExample(
      [{ form: 'compare', sign: '<', value: { ...limit, field: 'amount_minor', minor: true } }],
      'decimal',
    ),
    meaning:
      'The same where the list counts the smallest unit as a whole number: 900000 is 9000.00 in a column with two ' +
      'digits. Without minor(…) a decimal is text in the list, such as "9000.00".',
    input_types: ['decimal'] as const,
  },
  {
    form: 'not',
    example: formatExample([{ form: 'not', terms: [{ form: 'equals', value: 'retail' }] }], 'string'),
    meaning: 'None of the conditions in the brackets.',
    input_types: ALL,
  },
]

const policies: Readonly<Record<HitPolicy, string>> = {
  unique: 'At most one row may fire; publishing proves it.',
  any: 'Several rows may fire if they give the same.',
  first: 'The first row that fires counts.',
  priority: 'Of the rows that fire, the one whose output comes first among the priorities.',
  collect: 'All rows that fire count: their sum, least, greatest or number, or all outputs in order.',
}
export const hitPolicies = Object.entries(policies).map(([hit_policy, meaning]) => ({ hit_policy, meaning }))

const meanings: Readonly<Record<keyof typeof PLACEHOLDERS, string>> = {
  input: 'Titles of the inputs that were read.',
  value: 'Their values.',
  score_bps: 'The score, in basis points.',
  list_key: 'The list that was read.',
}
export const placeholders = (Object.keys(PLACEHOLDERS) as (keyof typeof PLACEHOLDERS)[]).map((word) => ({
  word,
  meaning: meanings[word],
}))

/** Derives a key from a name in a file; `taken` prevents duplicates within one import. */
export function createRuleKey(name: string, prefix: string, taken: Set<string>): string {
  const slug = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  const base = `${prefix}${slug || 'rule'}`.slice(0, 90).replace(/-+$/, '')
  let key = base
  for (let n = 2; taken.has(key); n++) key = `${base}-${n}`
  taken.add(key)
  return key
}
