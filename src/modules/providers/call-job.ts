/** The job that advances a call until it has an answer or can have none. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, Id } from '#kernel/schema.ts'
import { advanceCall } from './run-call.ts'

export const PROVIDER_CALL = 'provider-call'

export const providerCallJob = defineJob({
  kind: PROVIDER_CALL,
  summary: 'Calls a provider once more, waiting where it is down or its limits are reached, until there is an answer.',
  payload: closed({ call_id: Id() }),
  resumes: 'restart',
  visible_to: ['analyst', 'compliance_officer', 'auditor', 'tenant_admin', 'service'],
  uses: [
    'caches',
    'encryption',
    'egress',
    'forced_provider_mode',
    'log',
    'metrics',
    'plugin_policy',
    'threads',
    'transactions',
  ],
  run: async (job) => {
    const { call_id } = job.payload
    const step = await advanceCall({ kernel: job.kernel, scope: job.scope, signal: job.signal }, call_id)
    if (step.kind === 'wait') return job.defer(step.until, step.problem)
    if (step.kind === 'failed') throw step.problem
    return { call_id, ...step.end }
  },
})
