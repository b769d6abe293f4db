/**
 * From a decision table as another tool writes it to a rule: names, types of the inputs, rows. What comes out has passed the
 * engine's own check; a table that has no exact counterpart is refused as a whole, with the place of the first reason.
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
  /** What the table reads, as the file says it. */
  readonly title: string
  readonly place: string
  /** Undefined where the file does not say: the cells decide. */
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

/** Digits after the point that a column of numbers gets where the file does not ask for more. */
const USUAL_SCALE = 6
/** Numbers are held as whole ones of so many digits; what a column compares with stays a thousand times below the largest. */
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

/** One input has one column here; two of them would have to become one test, which is not always one. */
function assertUniqueColumns(columns: readonly ForeignColumn[]): void {
  const seen = new Set<string>()
  for (const { title, place } of columns) {
    if (seen.has(title)) {
      throw new UnsupportedConstruct('column_repeated', place, `${excerpt(title)} is the subject of two columns.`)
    }
    seen.add(title)
  }
}

/** Null for a column whose type nobody says and no row tests. */
function toInput(column: ForeignColumn, index: number, table: ForeignTable, names: NameAllocator): Input | null {
  const cells = table.rows.map((row) => row.cells[index] as ImportedCell)
  const kinds = new Set(cells.flatMap((cell) => [...cell.kinds]))
  // A quoted date is a text to look at, and a date where the column is one.
  if (column.kind === 'date') kinds.delete('text')
  const [only] = kinds
  const kind = column.kind ?? only
  if (kind === undefined) return null
  const other = [...kinds].find((found) => found !== kind)
  if (other) {
    const message = `${excerpt(column.title)} is tested as ${kind} and as ${other}; a column has one type.`
    throw new UnsupportedConstruct('column_mixed', column.place, message)
  }
  // `score` is the engine's own word.
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

/** At least as many digits after the point as the file anywhere writes in this column; more where its numbers leave room. */
function chooseScale({ minimum = '0', maximum = '0' }: ForeignColumn, cells: readonly ImportedCell[]): number {
  const digitsOf = (limit: string, part: 0 | 1) => limit.replace('-', '').split('.')[part]?.length ?? 0
  const written = Math.max(digitsOf(minimum, 1), digitsOf(maximum, 1), ...cells.map(({ scale }) => scale))
  const whole = Math.max(digitsOf(minimum, 0), digitsOf(maximum, 0), ...cells.map(({ whole_digits }) => whole_digits))
  return Math.max(written, Math.min(USUAL_SCALE, HELD_DIGITS - whole - HEADROOM_DIGITS), 0)
}

/** Elsewhere a number may have any number of digits. Here one that has more is refused, never rounded, and that is said. */
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

/** Braces would be places to fill in. */
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

/** The row of the file behind a pointer of the engine; the table itself for everything else. */
function locateFault(pointer: string, table: ForeignTable): string {
  const row = /^\/table\/rows\/(\d+)/.exec(pointer)
  return (row && table.rows[Number(row[1])]?.place) ?? table.place
}
