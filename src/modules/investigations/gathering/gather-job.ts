/** Gathers what the steps of a case ask for. State is in the rows of the steps, so that a run begins where another one ended. */
import { defineJob } from '#kernel/job/define-job.ts'
import { closed, Id, listOf, Slug, Type } from '#kernel/schema.ts'
import { settledStates } from '../model.ts'
import { findInvestigation, listSteps } from '../queries.ts'
import { addStepTask } from '../tasks/step-task.ts'
import { updateGathering } from './queries.ts'
import { GATHER } from './start-gathering.ts'

const MAX_STEPS = 999

export const gatherJob = defineJob({
  kind: GATHER,
  summary: 'Gathers what the steps of an investigation ask for.',
  payload: closed({ investigation_id: Id(), only: Type.Optional(listOf(Slug(), MAX_STEPS)) }),
  resumes: 'checkpoint',
  visible_to: ['analyst', 'compliance_officer', 'auditor', 'service'],
  run: async (context) => {
    const { investigation_id, only } = context.payload
    const investigation = await context.read((tx) => findInvestigation(tx, investigation_id))
    if (investigation?.state !== 'open') return null
    const steps = await context.read((tx) => listSteps(tx, investigation_id))
    const isSettled = (key: string): boolean =>
      settledStates.includes(steps.find(({ step_key }) => step_key === key)?.state ?? 'pending')
    let ended = steps.filter(({ state }) => settledStates.includes(state)).length
    for (const step of steps) {
      if (step.state !== 'pending' || step.kind !== 'task' || (only && !only.includes(step.step_key))) continue
      if (!step.needs.every(isSettled)) continue
      ended++
      await context.step(async (tx) => {
        await addStepTask(tx, investigation_id, step)
        return { progress: { done: ended, total: steps.length, unit: 'steps' } }
      })
    }
    const after = await context.read((tx) => listSteps(tx, investigation_id))
    const gathering = after.every(({ state }) => settledStates.includes(state)) ? 'done' : 'partial'
    await context.step(async (tx) => {
      await updateGathering(tx, investigation_id, { gathering })
      return {}
    })
    return { gathering }
  },
})
