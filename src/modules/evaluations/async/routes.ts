/** Evaluations that ask providers first. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { assertFound } from '#kernel/problem.ts'
import { closed, Slug, Type } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { createCall } from '#modules/providers/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { getRequestedDefinition } from '../decide/decide.ts'
import { openCitedCalls } from '../decide/evidence.ts'
import { FIRST_BODY } from '../first-body.ts'
import { AnyObject, EvaluationRequest } from '../schema.ts'
import { EVALUATION, type PendingCall } from './evaluation-job.ts'
import { planCalls } from './plan-calls.ts'

const MAX_CONTRACTS = 20

const AsyncEvaluationRequest = closed({
  ...EvaluationRequest.properties,
  providers: Type.Optional(
    Type.Record(Slug(), Slug(), {
      additionalProperties: false,
      maxProperties: MAX_CONTRACTS,
      description: 'By source contract: the provider to ask, where several could answer.',
      examples: [{ 'company-registry': 'acme-registry' }],
    }),
  ),
  call_inputs: Type.Optional(
    Type.Record(Slug(), AnyObject('Members of the input that the provider declares.'), {
      additionalProperties: false,
      maxProperties: MAX_CONTRACTS,
      description:
        'By source contract: input of the call. Members that are absent come from the attributes, name and external id of the subject.',
    }),
  ),
})

export const asyncRoutes = [
  tenantRoute('POST /evaluations/async', {
    id: 'startEvaluation',
    summary: 'Ask the providers that the inputs name, then evaluate, as a job',
    description:
      'One call for each source contract that an input comes from, unless its inputs are given or a cited call has them. A contract ' +
      'whose inputs all have defaults is skipped where its provider cannot be asked or finds nothing, and the result says so. The job ' +
      'waits while a provider is down. Its result names the evaluation.',
    roles: ['analyst', 'service'],
    tx: 'write',
    uses: ['caches', 'encryption', 'forced_provider_mode', 'jobs', 'plugin_policy', 'threads'],
    executes: 'plugin',
    runs_plugins_of: ['matrix', 'provider'],
    ready_body: FIRST_BODY,
    body: AsyncEvaluationRequest,
    reply: [202, JobView],
    starts: EVALUATION,
    needs: 'provider',
    problems: ['not_found', 'nothing_in_force', 'inputs_refused', 'conflict', 'contract_violated', 'content_corrupt'],
  }).handle(async ({ tx, body, kernel, audit }) => {
    const { providers = {}, call_inputs = {}, ...request } = body
    const { subject_id, inputs = {}, call_ids = [] } = request
    const subject = subject_id === undefined ? null : assertFound(await findSubject(tx, subject_id))
    const wanted = { ...getRequestedDefinition(request), valid_at: request.valid_at }
    const { compiled } = await binding.getResolution(kernel, tx, { ...wanted, without_plugins: true })
    const cited = await openCitedCalls(kernel, tx, { call_ids, subject_id })
    const plan = await planCalls(kernel, tx, {
      declared: compiled.definition.inputs,
      cited: cited.map(({ contract_key }) => contract_key),
      ...{ subject, inputs, providers, call_inputs },
    })
    // After everything else that can be wrong with the request.
    if (binding.listPluginKeys(compiled).length > 0) await binding.getResolution(kernel, tx, wanted)
    const job_id = uuidv7()
    const pending: PendingCall[] = []
    for (const { contract_key, is_optional, provider, capability, input } of plan.calls) {
      const call = { capability, input, subject_id: subject_id ?? null, call_key: `${job_id}/${contract_key}`, job_id }
      const { call_id, provider_key } = await createCall(kernel, tx, provider, call)
      pending.push({ call_id, contract_key, provider_key, is_optional })
    }
    audit.recordDiff(null, { calls: pending.map(({ call_id }) => call_id), skipped: plan.skipped })
    const payload = { request, skipped: plan.skipped, pending }
    return kernel.jobs.enqueue(tx, { job_id, kind: EVALUATION, payload, total: pending.length + 1 })
  }),
]
