/** Checks a decision table and scores without lists. */
import type { DecisionTable, PolicyValue } from '../model.ts'
import { checkSentence, checkTest, type DeclaredNames, type SentenceContext } from './check-parts.ts'
import { MAX_SCORE_BPS } from './definition-shape.ts'
import { type FindingCollector, formatForMessage } from './shape.ts'
import type { Column } from './unary.ts'

export interface TableContext extends SentenceContext {
  /** The single output is a score in basis points. */
  readonly scores: boolean
}

export function checkTable(
  table: DecisionTable,
  pointer: string,
  context: TableContext,
  findings: FindingCollector,
): void {
  const columns = checkColumns(table, pointer, context.names, findings)
  checkOutputs(table, pointer, context, findings)
  const keys = new Set<string>()
  table.rows.forEach((row, index) => {
    const at = `${pointer}/rows/${index}`
    if (keys.has(row.key)) findings.error('name_repeated', `${at}/key`, `The row "${row.key}" is repeated.`)
    keys.add(row.key)
    if (row.when.length !== columns.length) {
      const message = `There must be one test per column, ${columns.length}; there are ${row.when.length}.`
      findings.error('cells_wrong', `${at}/when`, message)
    } else {
      row.when.forEach((test, n) => {
        const column = columns[n]
        if (column) checkTest(test, { of: table.columns[n] as string, column }, `${at}/when/${n}`, findings)
      })
    }
    checkThen(row.then, `${at}/then`, { table, scores: context.scores }, findings)
    checkSentence(row.reason, `${at}/reason`, context, findings)
  })
  if (!table.otherwise) return
  const otherwise = { table, scores: context.scores, is_otherwise: true }
  checkThen(table.otherwise.then, `${pointer}/otherwise/then`, otherwise, findings)
  checkSentence(table.otherwise.reason, `${pointer}/otherwise/reason`, context, findings)
}

function checkColumns(
  table: DecisionTable,
  pointer: string,
  names: DeclaredNames,
  findings: FindingCollector,
): (Column | null)[] {
  return table.columns.map((reference, index) => {
    const at = `${pointer}/columns/${index}`
    if (table.columns.indexOf(reference) < index) {
      findings.error('name_repeated', at, `The column "${reference}" is repeated.`)
    }
    return names.column(reference, at, findings)
  })
}

function checkOutputs(
  table: DecisionTable,
  pointer: string,
  { scores }: TableContext,
  findings: FindingCollector,
): void {
  const { hit_policy, collect, priorities, outputs } = table
  const names = outputs.map(({ name }) => name)
  names.forEach((name, index) => {
    if (names.indexOf(name) < index) {
      findings.error('name_repeated', `${pointer}/outputs/${index}/name`, `The output "${name}" is declared twice.`)
    }
  })
  const refuse = (code: string, at: string, message: string) => findings.error(code, `${pointer}/${at}`, message)
  if (scores && outputs.length !== 1)
    refuse('outputs_wrong', 'outputs', 'The table of a factor has one output, the score.')
  if (collect && hit_policy !== 'collect') {
    refuse('member_useless', 'collect', '"collect" has a meaning only for the hit policy "collect".')
  }
  if (collect && outputs.length !== 1) {
    refuse('outputs_wrong', 'outputs', `"${collect}" needs exactly one output.`)
  }
  if (scores && hit_policy === 'collect' && !collect) {
    refuse('collect_missing', 'hit_policy', 'To give one score, "collect" must say how: sum, min, max or count.')
  }
  if (priorities && hit_policy !== 'priority') {
    refuse('member_useless', 'priorities', '"priorities" has a meaning only for the hit policy "priority".')
  }
  if (hit_policy !== 'priority') return
  if (!priorities) refuse('priorities_missing', 'hit_policy', 'The hit policy "priority" needs "priorities".')
  if (outputs.length === 0) refuse('outputs_wrong', 'outputs', 'The hit policy "priority" needs an output.')
}

interface ThenContext {
  readonly table: DecisionTable
  readonly scores: boolean
  readonly is_otherwise?: boolean
}

function checkThen(
  then: readonly PolicyValue[],
  pointer: string,
  { table, scores, is_otherwise = false }: ThenContext,
  findings: FindingCollector,
): void {
  const { outputs, priorities, collect } = table
  if (then.length !== outputs.length) {
    const message = `There must be one value per output, ${outputs.length}; there are ${then.length}.`
    findings.error('cells_wrong', pointer, message)
    return
  }
  // `count` accepts outputs of any type.
  if (scores && (collect !== 'count' || is_otherwise)) {
    then.forEach((value, index) => {
      checkScore(value, `${pointer}/${index}`, findings)
    })
  }
  const [first] = then
  const judged = priorities && !is_otherwise && first !== undefined && typeof first !== 'object'
  if (judged && priorities.every((value) => typeof value !== 'object') && !priorities.includes(first)) {
    findings.error('priority_missing', `${pointer}/0`, `${formatForMessage(first)} is not among the priorities.`)
  }
}

/** Checks a literal score; a score from a list is checked when the list is bound. */
export function checkScore(value: PolicyValue, pointer: string, findings: FindingCollector): void {
  if (typeof value === 'object') return
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    findings.error('not_a_score', pointer, `A score is a whole number of basis points, not ${formatForMessage(value)}.`)
  } else if (value < 0 || value > MAX_SCORE_BPS) {
    findings.error('score_out_of_range', pointer, `A score is from 0 to ${MAX_SCORE_BPS}, not ${value}.`)
  }
}
