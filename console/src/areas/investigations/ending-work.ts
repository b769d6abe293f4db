/** Steps and tasks that a case leaves undone when it is merged into another one. Pure. */
import type { Schemas } from '@probity/client'
import type { Step } from './investigation-queries.ts'

type Task = Pick<Schemas['InvestigationTask'], 'task_id' | 'title' | 'state' | 'is_required'>

interface EndingWork {
  readonly key: string
  readonly title: string
  readonly is_required: boolean
}

/** A step whose task is open is named once, by its task. Steps that failed are not waited for. */
export function listEndingWork(
  steps: readonly Pick<Step, 'step_key' | 'title' | 'state' | 'task_id' | 'is_required'>[],
  tasks: readonly Task[],
): readonly EndingWork[] {
  const open = tasks.filter(({ state }) => state === 'open')
  const isNamed = ({ task_id }: Pick<Step, 'task_id'>) => open.some((task) => task.task_id === task_id)
  return [
    ...steps
      .filter((step) => (step.state === 'pending' || step.state === 'waiting') && !isNamed(step))
      .map(({ step_key, title, is_required }) => ({ key: step_key, title: title ?? step_key, is_required })),
    ...open.map(({ task_id, title, is_required }) => ({ key: task_id, title, is_required })),
  ]
}
