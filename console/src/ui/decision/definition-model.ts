/** The parts of a definition. A draft may be any JSON, so every part may be missing. Pure. */
import { toWords } from '../format.ts'
import { formatPoints } from '../points.ts'

export interface ListValue {
  readonly list_key: string
  readonly key: string
  readonly field: string
}
export type Value = number | string | boolean | ListValue

export type InputType = 'enum' | 'integer' | 'decimal' | 'boolean' | 'date' | 'string' | 'list'
export interface Input {
  readonly name: string
  readonly title: string
  readonly type: InputType
  readonly description?: string
  readonly unit?: string
  readonly scale?: number
  readonly values?: readonly string[]
  readonly one_of?: { readonly list_key: string; readonly field?: string }
  readonly minimum?: number | string
  readonly maximum?: number | string
  readonly max_items?: number
  readonly default?: unknown
  /** The fact of a source contract that gives the value. */
  readonly from?: { readonly contract_key: string; readonly fact: string }
}

export interface TableRow {
  readonly key: string
  readonly when: readonly string[]
  readonly then: readonly Value[]
  readonly reason_code?: string
  readonly reason?: string
}
export interface Table {
  readonly hit_policy: string
  readonly collect?: string
  readonly priorities?: readonly Value[]
  readonly columns: readonly string[]
  readonly outputs: readonly { readonly name: string; readonly title?: string }[]
  readonly rows: readonly TableRow[]
  readonly otherwise?: { readonly then: readonly Value[]; readonly reason_code?: string; readonly reason: string }
}

export type OnMissing = 'fail' | { readonly default: Value; readonly reason: string }
export interface Factor {
  readonly key: string
  readonly title: string
  readonly form: 'lookup' | 'table' | 'presence' | 'score_map' | 'plugin'
  readonly weight_bps?: number | ListValue
  readonly reason?: string
  readonly reason_code?: string
  readonly list_key?: string
  readonly inputs?: readonly string[]
  readonly input?: string
  readonly field?: string
  readonly on_missing?: OnMissing
  readonly table?: Table
  readonly count?: boolean
  readonly present?: Value
  readonly absent?: Value
  readonly at_most?: Value
  readonly scores?: Readonly<Record<string, Value>>
  readonly plugin_key?: string
  /** The scores that a plugin may give, both ends included. */
  readonly score_min_bps?: number
  readonly score_max_bps?: number
}
export interface Trigger {
  readonly key: string
  readonly title: string
  readonly when: readonly { readonly of: string; readonly test: string }[]
  readonly floor_band?: string
  readonly required_actions?: readonly string[]
  readonly reason_code: string
  readonly reason: string
}
export interface Bands {
  readonly list_key: string
  readonly band_field: string
  readonly from_field: string
  readonly to_field: string
}
export interface Definition {
  readonly inputs?: readonly Input[]
  readonly factors?: readonly Factor[]
  readonly aggregation?: string
  readonly bands?: Bands
  readonly triggers?: readonly Trigger[]
  readonly table?: Table
  readonly required_actions?: readonly string[]
  readonly reason_code?: string
  readonly reason?: string
}

/** Reads a JSON object as a definition and drops parts of the wrong type. */
export function parseDefinition(text: Readonly<Record<string, unknown>>): Definition {
  const arrays = ['inputs', 'factors', 'triggers', 'required_actions']
  return Object.fromEntries(
    Object.entries(text).filter(([name, value]) => !arrays.includes(name) || Array.isArray(value)),
  )
}

export const isListValue = (value: unknown): value is ListValue =>
  typeof value === 'object' && value !== null && 'list_key' in value

/** `score_bps` → `score`: the unit is shown elsewhere. */
export const formatFieldName = (field: string): string => toWords(field.replace(/_bps$/, ''))

export const formatPolicyValue = (value: Value | undefined): string =>
  isListValue(value)
    ? `the ${formatFieldName(value.field)} of ${value.key} in ${value.list_key}`
    : typeof value === 'number'
      ? formatPoints(value)
      : String(value ?? '–')

export const aggregationTexts: Readonly<Record<string, string>> = {
  weighted_sum: 'Weighted sum of the factor scores',
  sum: 'Sum of the factor scores',
  max: 'Highest factor score',
}

/** A share that is stored in basis points, as percent: 3850 → 38.5 %. Scores and limits are shown as points. */
export const formatPercent = (bps: number): string =>
  `${(bps / 100).toLocaleString('en', { maximumFractionDigits: 2 })} %`

/** Builds a JSON pointer from names and indexes. */
export const toPointer = (...steps: readonly (string | number)[]): string =>
  steps.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
