/** A rule bound to lists: it hits when a row of its table fires. */
import type { BoundDefinition, Decision, Definition, Explanation, Finding } from '../model.ts'
import type { Binder } from './binder.ts'
import { bindTable, type Hit } from './decision-table.ts'
import type { UnboundLayout } from './layout.ts'
import { appendListsSentence } from './list-operands.ts'
import { bindInputs, describeDefaults, explainInputs } from './read-inputs.ts'
import { Run } from './run.ts'
import { compileRunSentence } from './run-sentence.ts'

export function bindRule(
  definition: Extract<Definition, { family: 'rule' }>,
  layout: UnboundLayout,
  binder: Binder,
): BoundDefinition | readonly Finding[] {
  const readInputs = bindInputs(layout, binder)
  const parsed = layout.tables.get('/table')
  if (!parsed) throw new Error('A rule has a table')
  const sentence = (text: string) => compileRunSentence(text, layout, parsed.subjects)
  const table = bindTable(parsed, binder, binder.bindValue.bind(binder), sentence)
  if (binder.findings.list.length > 0) return binder.findings.list
  const names = definition.table.outputs.map(({ name }) => name)
  const reason = sentence(definition.reason)
  const { required_actions = [], reason_code } = definition

  /** The outcome with its explanation. */
  const conclude = (given: Hit | undefined, run: Run) => {
    const outputs: Record<string, unknown> = {}
    names.forEach((name, n) => {
      if (given) outputs[name] = given.gives[n]
    })
    const hit = given !== undefined && given.rows.length > 0
    if (hit) run.addReasonCode(reason_code)
    const rows: Explanation['rows'] = (given?.rows ?? []).map((row) => {
      run.addReasonCode(row.reason_code)
      const reason = row.reason ? appendListsSentence(row.reason(run), row.by_lists) : row.by_lists
      return { key: row.key, reason, reason_code: row.reason_code }
    })
    const summary = hit
      ? [`The rule hits: ${reason(run)}`, ...rows.flatMap((row) => row.reason ?? [])]
      : ['The rule does not hit.']
    if (given && !hit && table.otherwise) {
      run.addReasonCode(table.otherwise.reason_code)
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
          summary: [...describeDefaults(layout, run), ...summary],
        },
        used: run.listDistinctUsed(),
      }
    },
  }
}
