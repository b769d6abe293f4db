/** Findings about a decision table, each with example inputs. */
import type { Layout, ParsedTable } from '../engine-1/layout.ts'
import type { Scalar } from '../engine-1/unary.ts'
import type { BoundLists, DecisionTable, Finding, Inputs } from '../model.ts'
import type { ExampleFinder } from './examples.ts'
import { resolveValues } from './policy-values.ts'
import { countBoxes, MAX_BOXES, sweep } from './sweep.ts'
import { type Box, FaultFinder, type TableFaults } from './table-faults.ts'
import { buildTableSpace, toInputs } from './table-space.ts'
import type { Dimension } from './value-classes.ts'

export interface TableAnalysisInput {
  readonly parsed: ParsedTable
  readonly layout: Layout
  readonly lists: BoundLists
  readonly examples: ExampleFinder
  /** The table of a factor: its single output is a score, and a gap is a fault. In a rule a gap means no hit. */
  readonly scores: boolean
  readonly budget: Budget
}

/** Combinations that may still be enumerated for one definition. */
export interface Budget {
  boxes_left: number
}

/** Throws NotAnalysable. */
export function analyseTable(given: TableAnalysisInput): Finding[] {
  const { parsed, layout, lists, examples, scores, budget } = given
  const then = parsed.table.rows.map((row) => resolveValues(row.then, lists))
  const order = sortByPrecedence(parsed.table, then, lists)
  const ordered = { ...parsed, rows: order.map((row) => parsed.rows[row] as (typeof parsed.rows)[number]) }
  const space = buildTableSpace(
    ordered,
    { layout, lists, complete: examples.complete },
    Math.min(MAX_BOXES, budget.boxes_left),
  )
  budget.boxes_left -= countBoxes(space.dimensions)
  const finder = new FaultFinder(
    parsed.table,
    order.map((row) => then[row] as Scalar[]),
    scores,
  )
  sweep(space, finder.visit)
  return toFindings(given, space.dimensions, toDefinitionOrder(finder.getFaults(), order))
}

/** Rows in order of precedence: as written, or for `priority` by the rank of their first output. */
function sortByPrecedence(
  { rows, priorities = [] }: DecisionTable,
  then: readonly (readonly Scalar[])[],
  lists: BoundLists,
): number[] {
  const ranks = resolveValues(priorities, lists)
  const rank = (row: number): number => ranks.indexOf(then[row]?.[0] as Scalar)
  return rows.map((_, row) => row).sort((a, b) => rank(a) - rank(b) || a - b)
}

/** The same faults with the positions of rows in the definition. */
function toDefinitionOrder(faults: TableFaults, order: readonly number[]): TableFaults {
  const place = (row: number): number => order[row] as number
  return {
    ...faults,
    overlaps: faults.overlaps.map(({ rows: [a, b], box }) => ({ rows: [place(a), place(b)], box })),
    dead_rows: faults.dead_rows.map(({ row, fires }) => ({ row: place(row), fires })).sort((a, b) => a.row - b.row),
  }
}

function toFindings(given: TableAnalysisInput, dimensions: readonly Dimension[], faults: TableFaults): Finding[] {
  const { table, pointer } = given.parsed
  const name = (row: number): string => `"${table.rows[row]?.key}"`
  const shown = (box: Box, code: string): { at: string; example?: Inputs } => {
    const some = toInputs(dimensions, box)
    const of_table = (finding: Finding) =>
      finding.code === code && finding.pointer.startsWith(pointer.replace(/\/table$/, ''))
    return { at: describeInputs(some), ...given.examples.showing(some, of_table) }
  }
  const findings: Finding[] = []
  const add = (code: string, at: string, message: string, example?: Inputs) =>
    findings.push({ code, pointer: at, message, severity: 'error', ...(example && { example }) })

  if (faults.gap && !table.otherwise && given.scores) {
    const { at, example } = shown(faults.gap.box, 'no_row_fires')
    const others = faults.gap.boxes - 1
    const more = others > 0 ? ` The same holds for ${others} more combinations.` : ''
    add('table_gap', pointer, `No row fires for ${at}.${more}`, example)
  }
  if (!faults.gap && table.otherwise) {
    const message = 'Rows cover everything, so what is given otherwise is never given.'
    findings.push({ code: 'otherwise_never', pointer: `${pointer}/otherwise`, message, severity: 'warning' })
  }
  for (const { rows, box } of faults.overlaps) {
    const unique = table.hit_policy === 'unique'
    const { at, example } = shown(box, unique ? 'several_rows_fire' : 'any_rows_differ')
    const why = unique ? 'but only one row may' : 'but give different outputs'
    const message = `The rows ${name(rows[0])} and ${name(rows[1])} both fire for ${at}, ${why}.`
    add(unique ? 'rows_overlap' : 'rows_differ', `${pointer}/rows/${rows[1]}`, message, example)
  }
  if (faults.overlaps_omitted) add('rows_overlap', pointer, 'There are more overlapping rows than are listed here.')
  for (const { row, fires } of faults.dead_rows) {
    const why = fires ? 'wherever it fires, another row counts before it' : 'no allowed input passes all its tests'
    add('row_never', `${pointer}/rows/${row}`, `The row ${name(row)} never counts: ${why}.`)
  }
  if (faults.overflow) {
    const { at, example } = shown(faults.overflow.box, 'score_out_of_range')
    add(
      'score_out_of_range',
      pointer,
      `The rows together give ${faults.overflow.sum} for ${at}; a score ends at 10000.`,
      example,
    )
  }
  return findings
}

/** `country "DE", age 17`. */
export function describeInputs(inputs: Inputs): string {
  return Object.entries(inputs)
    .map(([name, value]) => `${name} ${JSON.stringify(value)}`)
    .join(', ')
}
