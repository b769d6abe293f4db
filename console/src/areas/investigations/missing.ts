/** What is missing for an act, as people call it: steps by their titles, and nothing twice. Pure. */
import type { MissingGuard, Step } from './investigation-queries.ts'

export const stepTexts: Readonly<Record<Step['state'], string>> = {
  pending: 'not begun',
  running: 'running',
  waiting: 'waiting',
  succeeded: 'done',
  failed: 'failed',
  indeterminate: 'unknown outcome',
  skipped: 'skipped',
  waived: 'waived',
}

/** A step that waits for a task is left out: the task says where to go on. */
export function simplifyMissing(
  missing: readonly MissingGuard[],
  steps: readonly Pick<Step, 'step_key' | 'title' | 'state' | 'task_id'>[],
): readonly MissingGuard[] {
  const pointers = new Set(missing.map(({ pointer }) => pointer))
  return missing.flatMap((guard) => {
    const step = steps.find(({ step_key }) => guard.pointer === `#/steps/${step_key}`)
    if (step === undefined) return [guard]
    if (step.task_id !== null && pointers.has(`#/tasks/${step.task_id}`)) return []
    return [{ ...guard, detail: `${step.title ?? step.step_key}: ${stepTexts[step.state]}.` }]
  })
}
