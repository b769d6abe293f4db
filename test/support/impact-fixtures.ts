/** Examples of impact runs: on a list and a matrix of the tenant's own, and on an activation that waits for approval. */
import { roles } from '#kernel/auth/roles.ts'
import { countries, ensureEvaluation, ensurePolicy } from './evaluation-fixtures.ts'
import type { ExampleTenant } from './example-tenant.ts'
import type { Fixture, Fixtures } from './fixtures.ts'

const created = new WeakMap<ExampleTenant, Map<string, Promise<string>>>()
function once(t: ExampleTenant, name: string, make: () => Promise<string>): Promise<string> {
  const made = created.get(t) ?? new Map<string, Promise<string>>()
  created.set(t, made)
  const known = made.get(name) ?? make()
  made.set(name, known)
  return known
}

/** Ordered, run to the end, and named by its resource. */
export async function runImpact(t: ExampleTenant, at: string, body: object = {}): Promise<string> {
  const job = await t.make(at, { body })
  await t.runToEnd(job)
  return job.resource.split('/').at(-1) as string
}

/** Asks, as somebody else, for a new version of the list of countries to be put in force; afterwards nothing is governed. */
export async function proposeActivation(t: ExampleTenant, rule: object = {}, data: object[] = countries) {
  const path = `/reference-data/datasets/${(await ensurePolicy(t)).country_list}`
  const { version } = await t.make(`POST ${path}/versions`, { body: { data } })
  await t.setApprovalRules([{ action: 'activation', approvers: 1, role: 'compliance_officer', ...rule }])
  const token = await t.token(roles, t.author)
  const { cr_id } = await t.make(`POST ${path}/activations`, { token, body: { version, reason: 'reviewed' } })
  await t.setApprovalRules([])
  return cr_id as string
}

const ensureListRun = (t: ExampleTenant) =>
  once(t, 'list', async () => {
    await ensureEvaluation(t)
    return runImpact(t, `POST /reference-data/datasets/${(await ensurePolicy(t)).country_list}/versions/1/impact`)
  })
const ensureMeasuredRequest = (t: ExampleTenant) =>
  once(t, 'request', async () => {
    const cr_id = await proposeActivation(t)
    await runImpact(t, `POST /change-requests/${cr_id}/impact`)
    return cr_id
  })

interface Family {
  readonly path: '/risk-matrices' | '/rules'
  readonly param: 'matrix_key' | 'rule_key'
  readonly noun: 'RiskMatrix' | 'Rule'
  readonly key: (t: ExampleTenant) => Promise<string>
}
const rule = {
  inputs: [{ name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 1000 }],
  table: {
    hit_policy: 'first',
    columns: ['amount'],
    outputs: [{ name: 'severity' }],
    rows: [{ key: 'large', when: ['>= 500'], then: ['high'] }],
  },
  reason_code: 'LARGE',
  reason: 'The amount is large.',
}
const ensureRule = (t: ExampleTenant) =>
  once(t, 'rule', async () => {
    const rule_key = `rule-${t.tenant_id.slice(-12)}`
    await t.make('POST /rules', { body: { rule_key, title: 'Large amount', definition: rule } })
    await t.make(`POST /rules/${rule_key}/versions/draft/publish`, { body: {} })
    return rule_key
  })

function buildBacktestFixtures({ path, param, noun, key }: Family): Fixtures {
  const runKept = (t: ExampleTenant) =>
    once(t, noun, async () => runImpact(t, `POST ${path}/${await key(t)}/versions/1/backtest`))
  return {
    [`start${noun}Backtest`]: async (t) => ({ params: { [param]: await key(t), version: '1' }, body: {} }),
    [`list${noun}Backtests`]: async (t) => {
      await runKept(t)
      return { params: { [param]: await key(t) } }
    },
    [`get${noun}Coverage`]: async (t) => ({ params: { [param]: await key(t) }, query: { version: '1' } }),
    [`get${noun}Backtest`]: async (t) => ({ params: { [param]: await key(t), run_id: await runKept(t) } }),
  }
}

const proposedActivation: Fixture = async (t) => ({ params: { cr_id: await proposeActivation(t) }, body: {} })

export const impactFixtures: Fixtures = {
  startDatasetImpact: async (t) => ({
    params: { list_key: (await ensurePolicy(t)).country_list, version: '1' },
    body: {},
  }),
  listImpactRuns: async (t) => {
    await ensureListRun(t)
    return {}
  },
  getImpactRun: async (t) => ({ params: { run_id: await ensureListRun(t) } }),
  startChangeRequestImpact: proposedActivation,
  getChangeRequestImpact: async (t) => ({ params: { cr_id: await ensureMeasuredRequest(t) } }),
  ...buildBacktestFixtures({
    path: '/risk-matrices',
    param: 'matrix_key',
    noun: 'RiskMatrix',
    key: async (t) => (await ensurePolicy(t)).matrix_key,
  }),
  ...buildBacktestFixtures({ path: '/rules', param: 'rule_key', noun: 'Rule', key: ensureRule }),
}
