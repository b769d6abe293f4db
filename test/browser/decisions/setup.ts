/** Users and rated subjects of the decision tests. Exports are set after `beforeAll`. */
import fs from 'node:fs'
import path from 'node:path'
import { projectRoot } from '#test/support/database.ts'
import { createPersonToken, setUpBrowserTests, w } from '../setup.ts'

export { at, base, browserTest, createPersonToken, jobWorker, noProblems, pageHeading, w } from '../setup.ts'

export let anton: string
export let petra: string
export let clara: string
export let udo: string
/** Decided about twice, so that there is a history. */
export let ada: string
export let evaluation_id: string

export const MATRIX = 'customer-risk-person'

/** The golden cases of the shared matrix are good inputs. */
const seed = JSON.parse(fs.readFileSync(path.join(projectRoot, `db/seed/matrices/${MATRIX}.json`), 'utf8')) as {
  cases: readonly { name: string; inputs: Record<string, unknown> }[]
}
export const lowRiskInputs = seed.cases[0]?.inputs as Record<string, unknown>

const names = ['Ada Lovelace', 'Grace Hopper', 'Alan Turing', 'Edith Clarke', 'Konrad Zuse', 'Emmy Noether']

async function createEvaluatedSubject(
  name: string,
  number: number,
): Promise<{ subject_id: string; evaluation_id: string }> {
  const attributes = { ...lowRiskInputs, residence_country: number % 2 === 0 ? 'DE' : 'CH' }
  const subject = { subject_type: 'person', name, external_id: `C-${number}`, segment: 'retail', attributes }
  const { subject_id } = (await w.call('POST /subjects', { token: anton, body: subject })).json
  const body = { matrix_key: MATRIX, subject_id }
  return { subject_id, evaluation_id: (await w.call('POST /evaluations', { token: anton, body })).json.evaluation_id }
}

const buildRule = (amount: number) => ({
  inputs: [{ name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 1000 }],
  table: {
    hit_policy: 'first',
    columns: ['amount'],
    outputs: [],
    rows: [{ key: 'large', when: [`>= ${amount}`], then: [] }],
  },
  reason_code: 'TM_LARGE_CASH',
  reason: 'The amount is large.',
})

/** A rule of our own: one version for each amount it hits at, the first of them in force by default. */
export async function createRule(
  rule_key: string,
  amounts: readonly number[],
  in_force: number | null = 1,
): Promise<void> {
  const at = `/rules/${rule_key}`
  for (const [place, amount] of amounts.entries()) {
    const definition = buildRule(amount)
    const made = place === 0 ? { rule_key, title: `Rule ${rule_key}`, definition } : { definition }
    await w.call(`POST ${place === 0 ? '/rules' : `${at}/versions`}`, { token: petra, body: made })
    await w.call(`POST ${at}/versions/draft/publish`, { token: petra, body: {} })
  }
  if (in_force !== null) await putInForce(rule_key, in_force)
}

export const putInForce = (rule_key: string, version: number) =>
  w.call(`POST /rules/${rule_key}/activations`, { token: clara, body: { version, reason: 'To begin with.' } })

export const openDraft = (rule_key: string, amount: number) =>
  w.call(`POST /rules/${rule_key}/versions`, { token: petra, body: { definition: buildRule(amount) } })

/** One decision by the rule about a subject. */
export const evaluateRule = async (rule_key: string, amount: number, subject_id: string): Promise<string> => {
  const body = { rule_key, subject_id, inputs: { amount } }
  return (await w.call('POST /evaluations', { token: anton, body })).json.evaluation_id
}

setUpBrowserTests({
  prepare: async () => {
    anton = await createPersonToken('Anton Analyst', 'analyst')
    petra = await createPersonToken('Petra Policy', 'policy_editor')
    clara = await createPersonToken('Clara Compliance', 'compliance_officer')
    udo = await createPersonToken('Udo Auditor', 'auditor')
    for (const [place, name] of names.entries()) {
      const made = await createEvaluatedSubject(name, place + 1)
      if (place === 0) ada = made.subject_id
      evaluation_id = made.evaluation_id
    }
    const inputs = { source_of_funds: 'virtual-assets', years_known: 0, annual_turnover: '1500000.00' }
    await w.call('POST /evaluations', { token: anton, body: { matrix_key: MATRIX, subject_id: ada, inputs } })
  },
})
