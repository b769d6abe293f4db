/** A decision table bound to lists: which rows fire, and the result under the hit policy. */
import type { CollectOperator, HitPolicy, UsedEntry } from '../model.ts'
import type { Binder, BoundValue } from './binder.ts'
import type { ParsedTable, Subject } from './layout.ts'
import { formatListsSentence } from './list-operands.ts'
import type { Run } from './run.ts'
import { formatScaled, parseScaled } from './scalars.ts'
import type { Sentence } from './sentence-template.ts'
import { formatForMessage } from './shape.ts'
import type { ListOperand, Scalar } from './unary.ts'
import { type ConditionPredicate, compileCondition, compileConjunction } from './unary-conditions.ts'

const FEW_ROWS = 5

export interface BoundRow {
  readonly key: string
  readonly keys: readonly [string]
  readonly gives: readonly Scalar[]
  readonly used: readonly UsedEntry[]
  readonly reason: Sentence<Run> | null
  readonly reason_code: string | null
  /** List values its tests were compared with. */
  readonly compared: readonly UsedEntry[]
  /** The same as a sentence. */
  readonly by_lists: string | null
  readonly holds: ConditionPredicate
  /** This row and no other. */
  readonly alone: Hit
  /** With the hit policy `priority`: lower takes precedence. */
  readonly rank: number
  /** With `collect`: the output as an operand. */
  readonly amount: number
}

/** The result of a table, and the rows that gave it. */
export interface Hit {
  readonly rows: readonly BoundRow[]
  readonly gives: readonly (Scalar | readonly Scalar[])[]
}

/** The result when no row fires. */
export interface Otherwise extends Hit {
  readonly rows: readonly []
  readonly used: readonly UsedEntry[]
  readonly reason: Sentence<Run>
  readonly reason_code: string | null
}

export interface BoundTable {
  readonly otherwise: Otherwise | null
  /** Undefined: no row fires and there is no `otherwise`. Null: a fault, which is stored in the run. */
  decide(run: Run): Hit | null | undefined
}

/** Compiles a sentence of this table. */
export type CompileSentence = (text: string, subjects: readonly Subject[]) => Sentence<Run>
type BindValue = (value: ParsedTable['rows'][number]['row']['then'][number], pointer: string) => BoundValue

export function bindTable(
  parsed: ParsedTable<ListOperand>,
  binder: Binder,
  bindValue: BindValue,
  sentence: CompileSentence,
): BoundTable {
  const { table, pointer, subjects } = parsed
  const ranks = table.priorities?.map((value, n) => binder.bindValue(value, `${pointer}/priorities/${n}`))
  const values = parsed.rows.map(({ row }, index) =>
    row.then.map((value, n) => bindValue(value, `${pointer}/rows/${index}/then/${n}`)),
  )
  const collector = createCollector(
    values.map(([first]) => first?.value),
    table.collect,
    pointer,
    binder,
  )
  const rows = parsed.rows.map(({ row, tests }, index): BoundRow => {
    const at = `${pointer}/rows/${index}`
    const given = values[index] as BoundValue[]
    const gives = given.map(({ value }) => value)
    const rank = ranks ? ranks.findIndex(({ value }) => value === gives[0]) : 0
    if (rank === -1) {
      binder.findings.error(
        'priority_missing',
        `${at}/then/0`,
        `${formatForMessage(gives[0])} is not among the priorities.`,
      )
    }
    const conditions = tests.map((test, n) =>
      compileCondition({ subject: subjects[n] as Subject, test }, `${at}/when/${n}`, binder),
    )
    const alone = { rows: [] as BoundRow[], gives }
    const bound: BoundRow = {
      key: row.key,
      keys: [row.key],
      gives,
      used: given.flatMap(({ used }) => used ?? []),
      reason: row.reason === undefined ? null : sentence(row.reason, subjects),
      reason_code: row.reason_code ?? null,
      compared: conditions.flatMap(({ used }) => used),
      by_lists: formatListsSentence(conditions.map(({ words }) => words)),
      holds: compileConjunction(conditions),
      rank,
      amount: collector.amounts[index] ?? 0,
      alone,
    }
    alone.rows.push(bound)
    return bound
  })
  const used = ranks?.flatMap((rank) => rank.used ?? []) ?? []
  const policy = policies[table.hit_policy](rows, pointer, collector.combine)
  const otherwise = bindOtherwise(parsed, bindValue, sentence)
  return {
    otherwise,
    decide(run) {
      run.recordUsed(used)
      const hit = policy(run)
      if (hit) for (const row of hit.rows) run.recordUsed(row.used)
      if (hit !== undefined || !otherwise) return hit
      run.recordUsed(otherwise.used)
      return otherwise
    },
  }
}

function bindOtherwise(
  { table, pointer, subjects }: ParsedTable<ListOperand>,
  bindValue: BindValue,
  sentence: CompileSentence,
): Otherwise | null {
  const { otherwise } = table
  if (!otherwise) return null
  const values = otherwise.then.map((value, n) => bindValue(value, `${pointer}/otherwise/then/${n}`))
  return {
    rows: [],
    gives: values.map(({ value }) => value),
    used: values.flatMap(({ used }) => used ?? []),
    reason: sentence(otherwise.reason, subjects),
    reason_code: otherwise.reason_code ?? null,
  }
}

type Policy = (run: Run) => Hit | null | undefined
type Combine = (fired: readonly BoundRow[]) => Hit['gives']

const filterFiring = (rows: readonly BoundRow[], run: Run): BoundRow[] => rows.filter((row) => row.holds(run))

/** The first few keys, to bound the message. */
function formatKeys(rows: readonly BoundRow[]): string {
  const some = rows.slice(0, FEW_ROWS).map(({ key }) => `"${key}"`)
  return rows.length > FEW_ROWS ? `${some.join(', ')} and ${rows.length - FEW_ROWS} more` : some.join(', ')
}

const policies: Record<HitPolicy, (rows: readonly BoundRow[], pointer: string, combine: Combine) => Policy> = {
  first: (rows) => (run) => {
    for (const row of rows) if (row.holds(run)) return row.alone
    return undefined
  },
  unique: (rows, pointer) => (run) => {
    let found: BoundRow | undefined
    for (const row of rows) {
      if (!row.holds(run)) continue
      if (!found) found = row
      else {
        const message = `Only one row may fire, but these do: ${formatKeys(filterFiring(rows, run))}.`
        return run.fail('several_rows_fire', pointer, message)
      }
    }
    return found?.alone
  },
  any: (rows, pointer) => (run) => {
    const fired = filterFiring(rows, run)
    const [first] = fired
    if (!first) return undefined
    if (fired.every(({ gives }) => gives.every((value, n) => value === first.gives[n]))) {
      return { rows: fired, gives: first.gives }
    }
    const message = `Rows that fire together must give the same, but these differ: ${formatKeys(fired)}.`
    return run.fail('any_rows_differ', pointer, message)
  },
  priority: (rows) => (run) => {
    let found: BoundRow | undefined
    for (const row of rows) if ((!found || row.rank < found.rank) && row.holds(run)) found = row
    return found?.alone
  },
  collect: (rows, _pointer, combine) => (run) => {
    const fired = filterFiring(rows, run)
    return fired.length === 0 ? undefined : { rows: fired, gives: combine(fired) }
  },
}

interface Collector {
  /** The output of each row as an operand. */
  readonly amounts: readonly number[]
  readonly combine: Combine
}

/** Combines the outputs of all rows that fire. Sums are of integers, so they are exact. */
function createCollector(
  firsts: readonly (Scalar | undefined)[],
  collect: CollectOperator | undefined,
  pointer: string,
  binder: Binder,
): Collector {
  if (!collect) {
    return {
      amounts: [],
      combine: (fired) => (fired[0] as BoundRow).gives.map((_, n) => fired.map((row) => row.gives[n] as Scalar)),
    }
  }
  if (collect === 'count') return { amounts: [], combine: (fired) => [fired.length] }
  const refuse = (index: number, message: string) =>
    binder.findings.error('not_a_number', `${pointer}/rows/${index}/then/0`, message)
  firsts.forEach((value, index) => {
    if (typeof value !== 'number')
      refuse(index, `To build a ${collect}, this must be a number, not ${formatForMessage(value)}.`)
  })
  if (collect !== 'sum') {
    const better = collect === 'min' ? Math.min : Math.max
    return {
      amounts: firsts.map(Number),
      combine: (fired) => [fired.reduce((best, { amount }) => better(best, amount), (fired[0] as BoundRow).amount)],
    }
  }
  const scale = Math.max(...firsts.map((value) => /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0))
  const amounts = firsts.map((value, index) => {
    const amount = typeof value === 'number' ? parseScaled(String(value), scale) : 0
    if (amount === undefined) refuse(index, `${formatForMessage(value)} cannot be summed exactly.`)
    return amount ?? 0
  })
  if (!Number.isSafeInteger(amounts.reduce((sum, amount) => sum + Math.abs(amount), 0))) {
    binder.findings.error('sum_too_large', pointer, 'All rows together may give more than can be summed exactly.')
  }
  return {
    amounts,
    combine: (fired) => [
      Number(
        formatScaled(
          fired.reduce((sum, { amount }) => sum + amount, 0),
          scale,
        ),
      ),
    ],
  }
}
