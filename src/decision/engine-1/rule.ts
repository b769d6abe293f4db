/** A rule bound to lists: it hits when a row of its table fires. */
import type { Bound, Decision, Definition, Explanation, Finding } from '../model.ts'
import type { Binder } from './binder.ts'
import type { WrittenLayout } from './layout.ts'
import { withLists } from './list-values.ts'
import { bindInputs, defaultSentences, explainInputs } from './reading.ts'
import { Run } from './run.ts'
import { sentenceOf } from './sentences.ts'
import { bindTable, type Hit } from './table.ts'

export function bindRule(
  definition: Extract<Definition, { family: 'rule' }>,
  layout: WrittenLayout,
  binder: Binder,
): Bound | readonly Finding[] {
  const readInputs = bindInputs(layout, binder)
  const parsed = layout.tables.get('/table')
  if (!parsed) throw new Error('A rule has a table')
  const sentence = (text: string) => sentenceOf(text, layout, parsed.subjects)
  const table = bindTable(parsed, binder, binder.value.bind(binder), sentence)
  if (binder.findings.list.length > 0) return binder.findings.list
  const names = definition.table.outputs.map(({ name }) => name)
  const reason = sentence(definition.reason)
  const { required_actions = [], reason_code } = definition

  /** What is given, and why, in sentences. */
  const conclude = (given: Hit | undefined, run: Run) => {
    const outputs: Record<string, unknown> = {}
    names.forEach((name, n) => {
      if (given) outputs[name] = given.gives[n]
    })
    const hit = given !== undefined && given.rows.length > 0
    if (hit) run.addCode(reason_code)
    const rows: Explanation['rows'] = (given?.rows ?? []).map((row) => {
      run.addCode(row.reason_code)
      const reason = row.reason ? withLists(row.reason(run), row.by_lists) : row.by_lists
      return { key: row.key, reason, reason_code: row.reason_code }
    })
    const summary = hit
      ? [`The rule hits: ${reason(run)}`, ...rows.flatMap((row) => row.reason ?? [])]
      : ['The rule does not hit.']
    if (given && !hit && table.otherwise) {
      run.addCode(table.otherwise.reason_code)
      summary.push(table.otherwise.reason(run))
    }
    return { hit, outputs, rows, summary }
  }

  return {
    decide(inputs, lists): Decision {
      const run = readInputs(inputs, lists)
      if (!(run instanceof Run)) return { ok: false, findings: run }
      const given = table.decide(run)
      if (given === null) return { ok: false, findings: run.findings }
      const { hit, outputs, rows, summary } = conclude(given, run)
      return {
        ok: true,
        outcome: {
          family: 'rule',
          hit,
          outputs,
          required_actions: hit ? required_actions : [],
          reason_codes: run.reason_codes,
        },
        explanation: {
          inputs: explainInputs(layout, run),
          factors: [],
          triggers: [],
          rows,
          summary: [...defaultSentences(layout, run), ...summary],
        },
        used: run.distinctUsed(),
      }
    },
  }
}
