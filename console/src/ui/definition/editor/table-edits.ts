/** Edits of a decision table; each returns a new table. Pure. */
import type { Table, TableRow, Value } from '#console/ui/decision/definition-model.ts'

const withRow = (table: Table, place: number, change: (row: TableRow) => TableRow): Table => ({
  ...table,
  rows: table.rows.map((row, at) => (at === place ? change(row) : row)),
})
const replaceAt = <T>(items: readonly T[], place: number, item: T): T[] =>
  items.map((one, at) => (at === place ? item : one))
const removeAt = <T>(items: readonly T[], place: number): T[] => items.filter((_, at) => at !== place)

export const setTest = (table: Table, row: number, column: number, test: string): Table =>
  withRow(table, row, (one) => ({ ...one, when: replaceAt(one.when, column, test) }))

export const setOutput = (table: Table, row: number, output: number, value: Value): Table =>
  withRow(table, row, (one) => ({ ...one, then: replaceAt(one.then, output, value) }))

export const setKey = (table: Table, row: number, key: string): Table => withRow(table, row, (one) => ({ ...one, key }))

export const setReasonCode = (table: Table, row: number, code: string): Table =>
  withRow(table, row, ({ reason_code: _, ...one }) => (code === '' ? one : { ...one, reason_code: code }))

export const setReason = (table: Table, row: number, reason: string): Table =>
  withRow(table, row, ({ reason: _, ...one }) => (reason === '' ? one : { ...one, reason }))

/** A new row that matches everything, with an unused key. */
export function addRow(table: Table): Table {
  const taken = new Set(table.rows.map(({ key }) => key))
  let number = table.rows.length + 1
  while (taken.has(`row-${number}`)) number++
  const row = { key: `row-${number}`, when: table.columns.map(() => '-'), then: table.outputs.map(() => 0) }
  return { ...table, rows: [...table.rows, row] }
}

export const removeRow = (table: Table, row: number): Table => ({ ...table, rows: removeAt(table.rows, row) })

export function moveRow(table: Table, row: number, by: -1 | 1): Table {
  const other = row + by
  const [one, two] = [table.rows[row], table.rows[other]]
  if (!one || !two) return table
  return { ...table, rows: replaceAt(replaceAt(table.rows, row, two), other, one) }
}

export const addColumn = (table: Table, name: string): Table => ({
  ...table,
  columns: [...table.columns, name],
  rows: table.rows.map((row) => ({ ...row, when: [...row.when, '-'] })),
})

export const removeColumn = (table: Table, column: number): Table => ({
  ...table,
  columns: removeAt(table.columns, column),
  rows: table.rows.map((row) => ({ ...row, when: removeAt(row.when, column) })),
})

export function moveColumn(table: Table, column: number, by: -1 | 1): Table {
  const other = column + by
  if (table.columns[column] === undefined || table.columns[other] === undefined) return table
  const swapped = <T>(items: readonly T[]): T[] =>
    items.map((item, at) => (at === column ? (items[other] as T) : at === other ? (items[column] as T) : item))
  return {
    ...table,
    columns: swapped(table.columns),
    rows: table.rows.map((row) => ({ ...row, when: swapped(row.when) })),
  }
}

/** Changes the hit policy and removes members that the new policy does not have. */
export function setHitPolicy({ collect: _, priorities: __, ...table }: Table, hit_policy: string): Table {
  return { ...table, hit_policy, ...(hit_policy === 'priority' && { priorities: buildOutputs(table.rows) }) }
}

const buildOutputs = (rows: readonly TableRow[]): Value[] => {
  const distinct = new Map<string, Value>()
  for (const [first] of rows.map(({ then }) => then))
    if (first !== undefined) distinct.set(JSON.stringify(first), first)
  return [...distinct.values()]
}

type Otherwise = NonNullable<Table['otherwise']>

/** Changes or removes the default row. */
export function setOtherwise(table: Table, change: ((now: Otherwise) => Otherwise) | null): Table {
  const { otherwise, ...rest } = table
  if (change === null) return rest
  return { ...rest, otherwise: change(otherwise ?? { then: table.outputs.map(() => 0), reason: '' }) }
}

/** Reads a draft as a table; missing parts are empty. */
export function parseTable(raw: Partial<Table> | undefined): Table {
  const list = <T>(value: readonly T[] | undefined): readonly T[] => (Array.isArray(value) ? value : [])
  const columns = list(raw?.columns)
  const outputs = list(raw?.outputs)
  return {
    ...raw,
    hit_policy: raw?.hit_policy ?? 'first',
    columns,
    outputs,
    rows: list(raw?.rows).map((row) => ({
      ...row,
      key: String(row.key ?? ''),
      when: columns.map((_, place) => list(row.when)[place] ?? '-'),
      then: outputs.map((_, place) => list(row.then)[place] ?? 0),
    })),
    ...(raw?.otherwise && {
      otherwise: { ...raw.otherwise, then: outputs.map((_, place) => list(raw.otherwise?.then)[place] ?? 0) },
    }),
  }
}
