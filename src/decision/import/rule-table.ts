/**
 * Converts a foreign decision table to a rule: names, types of inputs, rows. The result has passed the check of the engine; a table
 * without exact equivalent is refused as a whole, with the place of the first reason.
 */
import { engine1 } from '../engine-1/engine.ts'
import type {
  CollectOperator,
  DecisionRow,
  DecisionTable,
  HitPolicy,
  Input,
  PolicyValue,
  RuleDefinition,
} from '../model.ts'
import type { ImportedCell, LiteralKind } from './cell.ts'
import {
  excerpt,
  type ImportedRule,
  type ImportFindings,
  NameAllocator,
  UnsupportedConstruct,
} from './import-result.ts'

export interface ForeignColumn {
  /** The input expression in the file. */
  readonly title: string
  readonly place: string
  /** Undefined when the file has none; then the cells determine it. */
  readonly kind?: LiteralKind | undefined
  readonly many?: boolean | undefined
  readonly values?: readonly string[] | undefined
  readonly minimum?: string | undefined
  readonly maximum?: string | undefined
}

export interface ForeignTable {
  readonly name: string
  readonly place: string
  readonly hit_policy: HitPolicy
  readonly collect?: CollectOperator | undefined
  readonly priorities?: readonly PolicyValue[] | undefined
  readonly columns: readonly ForeignColumn[]
  readonly outputs: readonly string[]
  readonly rows: readonly {
    readonly place: string
    readonly cells: readonly ImportedCell[]
    readonly then: readonly PolicyValue[]
    readonly reason?: string | undefined
  }[]
  readonly otherwise?: readonly PolicyValue[] | undefined
}

/** Minimum number of digits after the decimal point of a numeric column. */
const USUAL_SCALE = 6
/** Numbers are integers with at most so many digits; literals of a column stay a factor of a thousand below the maximum. */
const HELD_DIGITS = 15
const HEADROOM_DIGITS = 3

export function toImportedRule(table: ForeignTable, findings: ImportFindings): ImportedRule {
  assertUniqueColumns(table.columns)
  const names = new NameAllocator()
  const inputs = table.columns.map((column, i) => toInput(column, i, table, names))
  const used = inputs.map((input) => input !== null)
  table.columns.forEach((column, i) => {
    if (used[i]) return
    findings.warn('column_unused', column.place, `No row tests ${excerpt(column.title)}; the column was left out.`)
  })
  const outputs = toOutputs(table)
  const definition: RuleDefinition = {
    inputs: inputs.filter((input) => input !== null),
    table: {
      hit_policy: table.hit_policy,
      ...(table.collect && { collect: table.collect }),
      ...(table.priorities && { priorities: table.priorities }),
      columns: inputs.flatMap((input) => (input ? [input.name] : [])),
      outputs,
      rows: table.rows.map((row, i) => toDecisionRow(row, i, used)),
      ...(table.otherwise && { otherwise: { then: table.otherwise, reason: 'No row applies.' } }),
    },
    reason_code: toReasonCode(table.name),
    reason: escapeBraces(`A row of ${excerpt(table.name)} applies.`),
  }
  const [fault] = engine1.check(definition, 'rule').filter(({ severity }) => severity === 'error')
  if (fault) throw new UnsupportedConstruct(fault.code, locateFault(fault.pointer, table), fault.message)
  inputs.forEach((input, i) => {
    if (input?.scale !== undefined) warnAboutPrecision(input, table.columns[i] as ForeignColumn, findings)
  })
  return { name: table.name, place: table.place, definition, reads: [], only_if: [] }
}

/** An input has one column; two columns cannot always be merged into one test. */
function assertUniqueColumns(columns: readonly ForeignColumn[]): void {
  const seen = new Set<string>()
  for (const { title, place } of columns) {
    if (seen.has(title)) {
      throw new UnsupportedConstruct('column_repeated', place, `${excerpt(title)} is the subject of two columns.`)
    }
    seen.add(title)
  }
}

/** Null for a column without type that no row tests. */
function toInput(column: ForeignColumn, index: number, table: ForeignTable, names: NameAllocator): Input | null {
  const cells = table.rows.map((row) => row.cells[index] as ImportedCell)
  const kinds = new Set(cells.flatMap((cell) => [...cell.kinds]))
  // A quoted date is a text, unless the column has type date.
  if (column.kind === 'date') kinds.delete('text')
  const [only] = kinds
  const kind = column.kind ?? only
  if (kind === undefined) return null
  const other = [...kinds].find((found) => found !== kind)
  if (other) {
    const message = `${excerpt(column.title)} is tested as ${kind} and as ${other}; a column has one type.`
    throw new UnsupportedConstruct('column_mixed', column.place, message)
  }
  // `score` is reserved by the engine.
  const base = {
    name: names.of(column.title === 'score' ? 'score_value' : column.title, 'input'),
    title: excerpt(column.title),
  }
  const limits = {
    ...(column.minimum !== undefined && { minimum: column.minimum }),
    ...(column.maximum !== undefined && { maximum: column.maximum }),
  }
  if (column.many) {
    if (kind !== 'text')
      throw new UnsupportedConstruct('list_type', column.place, 'Only lists of texts are taken over.')
    return { ...base, type: 'list', ...(column.values && { values: column.values }) }
  }
  switch (kind) {
    case 'text':
      return column.values ? { ...base, type: 'enum', values: column.values } : { ...base, type: 'string' }
    case 'number':
      return { ...base, type: 'decimal', scale: chooseScale(column, cells), ...limits }
    case 'date':
      return { ...base, type: 'date', ...limits }
    case 'boolean':
      return { ...base, type: 'boolean' }
  }
}

/** At least as many digits after the decimal point as any number of the column has; more when its magnitude allows. */
function chooseScale({ minimum = '0', maximum = '0' }: ForeignColumn, cells: readonly ImportedCell[]): number {
  const countDigits = (limit: string, part: 0 | 1) => limit.replace('-', '').split('.')[part]?.length ?? 0
  const written = Math.max(countDigits(minimum, 1), countDigits(maximum, 1), ...cells.map(({ scale }) => scale))
  const whole = Math.max(
    countDigits(minimum, 0),
    countDigits(maximum, 0),
    ...cells.map(({ whole_digits }) => whole_digits),
  )
  return Math.max(written, Math.min(USUAL_SCALE, HELD_DIGITS - whole - HEADROOM_DIGITS), 0)
}

/** Warns that a number with more digits than the column is refused, not rounded, when it is decided. */
function warnAboutPrecision({ title, scale = 0 }: Input, { place }: ForeignColumn, findings: ImportFindings): void {
  const largest = `${Number.MAX_SAFE_INTEGER}`.slice(0, -scale || undefined)
  const message =
    `${title} is read exactly with up to ${scale} digits after the point and up to ${largest} before it; ` +
    'a decision on a number with more is refused, not rounded. The scale of the input can be changed in the draft.'
  findings.warn('number_precision', place, message)
}

function toOutputs(table: ForeignTable): DecisionTable['outputs'] {
  const names = new NameAllocator()
  return table.outputs.map((title) => ({ name: names.of(title, 'output'), title: excerpt(title) || table.name }))
}

function toDecisionRow(row: ForeignTable['rows'][number], index: number, used: readonly boolean[]): DecisionRow {
  return {
    key: `row-${index + 1}`,
    when: row.cells.filter((_, i) => used[i]).map(({ test }) => test),
    then: row.then,
    ...(row.reason?.trim() && { reason: escapeBraces(row.reason) }),
  }
}

/** Braces would be placeholders. */
const escapeBraces = (text: string): string => text.trim().replaceAll('{', '(').replaceAll('}', ')').slice(0, 1000)

function toReasonCode(name: string): string {
  const code = name
    .normalize('NFKD')
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^[^A-Z]+|_+$/g, '')
    .slice(0, 60)
  return code || 'RULE'
}

/** The row in the file for a pointer of the engine; otherwise the table. */
function locateFault(pointer: string, table: ForeignTable): string {
  const row = /^\/table\/rows\/(\d+)/.exec(pointer)
  return (row && table.rows[Number(row[1])]?.place) ?? table.place
}
