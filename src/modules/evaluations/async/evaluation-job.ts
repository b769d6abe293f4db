/** The job that waits for the answers of providers and then decides. */
import { defineJob } from '#kernel/job/define-job.ts'
import { fail } from '#kernel/problem.ts'
import { closed, Id, type Static, Type } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { advanceCall } from '#modules/providers/index.ts'
import { decide, storeDecision } from '../decide/decide.ts'
import { openCitedCalls } from '../decide/evidence.ts'
import { createRecordedRuns } from '../decide/recorded-runs.ts'
import { EvaluationRequest } from '../schema.ts'

export const EVALUATION = 'evaluation'

const PendingCall = closed({
  call_id: Id(),
  contract_key: Type.String(),
  provider_key: Type.String(),
  is_optional: Type.Boolean({ description: 'All inputs that come from the contract have a default.' }),
})
export type PendingCall = Static<typeof PendingCall>

export const evaluationJob = defineJob({
  kind: EVALUATION,
  summary: 'Asks the providers that the inputs of a matrix or rule name, and decides on their answers.',
  payload: closed({
    request: EvaluationRequest,
    skipped: Type.Array(closed({ contract_key: Type.String(), reason: Type.String() })),
    pending: Type.Array(PendingCall),
  }),
  resumes: 'restart',
  visible_to: ['analyst', 'compliance_officer', 'auditor', 'service'],
  uses: [
    'caches',
    'egress',
    'encryption',
    'forced_provider_mode',
    'integrity',
    'log',
    'metrics',
    'plugin_policy',
    'threads',
    'transactions',
  ],
  run: async (job) => {
    const { request, pending } = job.payload
    const skipped = [...job.payload.skipped]
    const answered: string[] = []
    for (const [index, asked] of pending.entries()) {
      const { call_id, contract_key, provider_key } = asked
      const step = await advanceCall({ kernel: job.kernel, scope: job.scope, signal: job.signal }, call_id)
      if (step.kind === 'wait') return job.defer(step.until, step.problem)
      if (step.kind === 'failed') throw step.problem
      if (step.end.outcome === 'quarantined') {
        fail('contract_violated', {
          detail: `The answer of the call ${call_id} is in quarantine. Nothing was decided.`,
          members: { call_id, payload_id: step.end.payload_id },
        })
      }
      if (step.end.result === 'found') answered.push(call_id)
      else if (asked.is_optional) skipped.push({ contract_key, reason: `${provider_key}: not_found` })
      else failNotFound(asked)
      await job.step(async () => ({
        progress: { done: index + 1, total: pending.length + 1, unit: 'answers' },
      }))
    }
    const evaluation_id = uuidv7()
    await job.finish(async (tx) => {
      const call_ids = [...(request.call_ids ?? []), ...answered]
      const cited = await openCitedCalls(job.kernel, tx, { call_ids, subject_id: request.subject_id })
      const runs = createRecordedRuns(job.kernel, tx, evaluation_id)
      const decided = await decide(job.kernel, tx, { ...request, cited }, { runs })
      const row = await storeDecision(job.kernel, tx, { ...request, evaluation_id }, decided)
      return { evaluation_id, band: row.band, hit: row.hit, call_ids, skipped }
    })
    return null
  },
})

function failNotFound({ call_id, contract_key, provider_key }: PendingCall): never {
  const detail = `The provider ${provider_key} found nothing for ${contract_key}, and an input that comes from it has no default.`
  return fail('inputs_refused', {
    detail: `Nothing was decided. ${detail}`,
    members: { call_id },
    errors: [{ in: 'body', pointer: `#/call_inputs/${contract_key}`, detail, keyword: 'evidence_not_found' }],
  })
}
