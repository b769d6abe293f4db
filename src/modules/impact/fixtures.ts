/** Test fixtures of the impact router: one valid call per operation. */
import { roles } from '#kernel/auth/roles.ts'
import { ensureEvaluation } from '#modules/evaluations/fixtures.ts'
import { countries, ensurePolicy } from '#test/support/example-policy.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

/** Starts a run, waits for its end and returns its id. */
export async function runImpact(t: ExampleTenant, at: string, body: object = {}): Promise<string> {
  const job = await t.make(at, { body })
  await t.runToEnd(job)
  return job.resource.split('/').at(-1) as string
}

/** Proposes, as another user, to activate a new version of the list of countries; afterwards nothing needs approval. */
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
  oncePerTenant(t, 'list', async () => {
    await ensureEvaluation(t)
    return runImpact(t, `POST /reference-data/datasets/${(await ensurePolicy(t)).country_list}/versions/1/impact`)
  })
const ensureMeasuredRequest = (t: ExampleTenant) =>
  oncePerTenant(t, 'request', async () => {
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
  oncePerTenant(t, 'rule', async () => {
    const rule_key = `rule-${t.tenant_id.slice(-12)}`
    await t.make('POST /rules', { body: { rule_key, title: 'Large amount', definition: rule } })
    await t.make(`POST /rules/${rule_key}/versions/draft/publish`, { body: {} })
    return rule_key
  })

function buildBacktestFixtures({ path, param, noun, key }: Family): Fixtures {
  const runKept = (t: ExampleTenant) =>
    oncePerTenant(t, noun, async () => runImpact(t, `POST ${path}/${await key(t)}/versions/1/backtest`))
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

export const fixtures: Fixtures = {
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
