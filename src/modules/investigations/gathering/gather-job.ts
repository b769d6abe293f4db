/** The one job of a case that gathers. State is in the rows of the steps, so that a run begins where another one ended. */
import { defineJob } from '#kernel/job/define-job.ts'
import { Problem } from '#kernel/problem.ts'
import { closed, Id, listOf, Slug, Type } from '#kernel/schema.ts'
import { findInvestigation, listSteps, type StepRow } from '../queries.ts'
import { updateGathering } from './queries.ts'
import { runSteps } from './run-steps.ts'
import { GATHER } from './start-gathering.ts'
import { endedStates, getBlockage, getGathering, isDeferred } from './step-states.ts'

const MAX_STEPS = 999
/** Steps are repeatable: a job that outlives many workers is no fault of its case. */
const MAX_ATTEMPTS = 50

export const gatherJob = defineJob({
  kind: GATHER,
  summary: 'Gathers what the steps of an investigation ask for.',
  payload: closed({ investigation_id: Id(), only: Type.Optional(listOf(Slug(), MAX_STEPS)) }),
  resumes: 'checkpoint',
  max_attempts: MAX_ATTEMPTS,
  visible_to: ['analyst', 'compliance_officer', 'auditor', 'service'],
  uses: [
    'auditKeys',
    'caches',
    'egress',
    'encryption',
    'forced_provider_mode',
    'integrity',
    'log',
    'metrics',
    'modules',
    'plugin_policy',
    'threads',
    'transactions',
  ],
  run: async (job) => {
    const { investigation_id, only } = job.payload
    const { investigation, steps } = await runSteps(job, investigation_id, only)
    if (investigation?.state !== 'open') return null
    const deferred = steps.filter(isDeferred)
    if (deferred.length > 0) job.defer(...getDeferral(deferred))
    await job.finish(async (tx) => {
      // Read again: a person may have acted, or another job of the case ended.
      const now = await listSteps(tx, investigation_id)
      const gathering = getGathering(now)
      const still_open = (await findInvestigation(tx, investigation_id))?.state === 'open'
      if (gathering !== 'running' && still_open)
        await updateGathering(tx, investigation_id, { gathering, problem: getBlockage(now) })
      return { gathering, ended: now.filter(({ state }) => endedStates.includes(state)).length, total: now.length }
    })
    return null
  },
})

/** Until the first of them is due, with what it waits for. */
function getDeferral(deferred: readonly StepRow[]): [Date, Problem] {
  const [next] = deferred.toSorted((a, b) => Date.parse(a.not_before as string) - Date.parse(b.not_before as string))
  const detail = next?.problem?.detail ?? `The step ${next?.step_key} waits for its provider.`
  return [new Date(next?.not_before as string), new Problem('dependency_unavailable', detail)]
}
