/** Test fixtures of what people do with steps: one valid call per operation. */
import { newUnknownCall } from '#modules/providers/fixtures.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import type { Fixtures } from '#test/support/operation-fixture.ts'
import { endAbandonedGathering, takeSteps, updateStepCall, updateStepEnd } from './queries.ts'

type NewCase = (t: ExampleTenant) => Promise<{ investigation_id: string }>

/** Asks a list of the service, so that it needs no credential. */
const step_key = 'prohibited-country'

/** As a job leaves it. */
async function newEndedStep(t: ExampleTenant, newCase: NewCase, state: 'failed' | 'indeterminate') {
  const { investigation_id } = await newCase(t)
  const { gathering_job_id: job_id } = await t.make(`GET /investigations/${investigation_id}`)
  const call_id = state === 'indeterminate' ? await newUnknownCall(t) : null
  const code = state === 'failed' ? 'provider_failed' : 'outcome_unknown'
  await t.write(async (tx) => {
    await takeSteps(tx, { investigation_id, job_id, keys: [step_key] })
    if (call_id !== null) await updateStepCall(tx, investigation_id, step_key, { call_id, reused_from: null })
    await updateStepEnd(tx, investigation_id, step_key, { state, problem: { code, detail: 'No answer came.' } })
  })
  return { investigation_id, step_key }
}

/** Its job was cancelled before a step began. */
async function newLeftCase(t: ExampleTenant, newCase: NewCase) {
  const { investigation_id } = await newCase(t)
  const { gathering_job_id } = await t.make(`GET /investigations/${investigation_id}`)
  await t.make(`POST /jobs/${gathering_job_id}/cancel`)
  await t.write((tx) => endAbandonedGathering(tx))
  return { investigation_id }
}

export const createStepFixtures = (newCase: NewCase): Fixtures => ({
  createInvestigationStep: async (t) => ({
    params: await newCase(t),
    body: {
      step_key: 'second-look',
      kind: 'task',
      title: 'Second look',
      with: { title: 'Compare the signatures', role: 'analyst' },
    },
  }),
  retryInvestigationSteps: async (t) => ({ params: await newLeftCase(t, newCase) }),
  retryInvestigationStep: async (t) => ({ params: await newEndedStep(t, newCase, 'failed') }),
  settleInvestigationStep: async (t) => ({
    params: await newEndedStep(t, newCase, 'indeterminate'),
    body: { action: 'call_again', reason: 'The provider confirms that it received nothing' },
  }),
  waiveInvestigationStep: async (t) => ({
    params: await newEndedStep(t, newCase, 'failed'),
    body: { reason: 'The register of the country is closed; the extract was seen on paper' },
  }),
})
