/** The task that a step of the playbook gives to a person. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import type { playbookModel } from '#modules/playbooks/index.ts'
import { updateStepWaiting } from '../gathering/queries.ts'
import type { StepRow } from '../queries.ts'
import { findOpenTaskOfStep, insertTask } from './queries.ts'

/**
 * The step waits until the task is done. A step that was waived and begins again has its task already. Called with the step locked, or by
 * the only job that works on it.
 */
export async function addStepTask(tx: Tx, investigation_id: string, step: StepRow): Promise<void> {
  const begun = await findOpenTaskOfStep(tx, investigation_id, step.step_key)
  if (begun) return void (await updateStepWaiting(tx, investigation_id, step.step_key, begun.task_id))
  const settings = step.definition['with'] as playbookModel.TaskSettings
  const task_id = uuidv7()
  await insertTask(tx, {
    task_id,
    investigation_id,
    step_key: step.step_key,
    title: settings.title,
    detail: settings.instructions ?? null,
    checklist: (settings.checklist ?? []).map((text) => ({ text, is_done: false })),
    role: settings.role,
    is_required: step.is_required,
    due_at: null,
  })
  await updateStepWaiting(tx, investigation_id, step.step_key, task_id)
}
