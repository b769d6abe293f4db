/** Test fixtures of the evaluations router: one valid call per operation. */
import { ensurePolicy } from '#test/support/example-policy.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

/** A person, with the attributes that the matrix of the example policy reads. */
export const newPerson = async (t: ExampleTenant, attributes: object = { country: 'DE' }): Promise<string> => {
  const body = { subject_type: 'person', name: 'Ada Lovelace', attributes }
  return (await t.make('POST /subjects', { body })).subject_id
}

const buildRequest = async (t: ExampleTenant) => {
  const subject_id = await oncePerTenant(t, 'subject', () => newPerson(t))
  return { matrix_key: (await ensurePolicy(t)).matrix_key, subject_id }
}
const newEvaluation = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /evaluations', { body: await buildRequest(t) })).evaluation_id
export const ensureEvaluation = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'evaluation', () => newEvaluation(t))

const one: Fixture = async (t) => ({ params: { evaluation_id: await ensureEvaluation(t) } })

/** By a matrix that every tenant has from the start, so that the example of the API documentation can be sent as it is. */
const buildFirstRequest = async (t: ExampleTenant) => ({
  matrix_key: 'customer-risk-person',
  subject_id: await oncePerTenant(t, 'first subject', () => newPerson(t, firstInputs)),
})
const firstInputs = {
  residence_country: 'DE',
  nationalities: ['DE'],
  products: ['salary-account'],
  channel: 'branch',
  annual_turnover: '60000.00',
  years_known: 5,
  source_of_funds: 'salary',
  adverse_media: 'none',
  screening: 'clear',
}

export const fixtures: Fixtures = {
  createEvaluation: async (t) => ({ body: await buildFirstRequest(t) }),
  previewEvaluation: async (t) => ({ body: await buildFirstRequest(t) }),
  startEvaluation: async (t) => ({ body: await buildFirstRequest(t) }),
  listEvaluations: async (t) => {
    await ensureEvaluation(t)
    return {}
  },
  getEvaluation: one,
  getEvaluationExplanation: one,
  getEvaluationInputs: one,
  replayEvaluation: one,
  reevaluateEvaluation: one,
  exploreEvaluation: async (t) => ({
    params: { evaluation_id: await ensureEvaluation(t) },
    body: { inputs: { country: 'IR' }, search: true },
  }),
  compareEvaluations: async (t) => ({ body: { evaluation_ids: [await ensureEvaluation(t), await newEvaluation(t)] } }),
  getCertificate: one,
  getEvaluationPack: one,
  overrideEvaluation: async (t) => ({
    params: { evaluation_id: await newEvaluation(t) },
    body: {
      band: 'high',
      reason: 'Known to us from an earlier case',
      expires_at: new Date(Date.now() + 86_400_000).toISOString(),
    },
  }),
}
