/** What is missing for an act, as people call it: steps by their titles, nothing twice, and what can be done now first. Pure. */
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

/** Tasks, requests and steps that a person can settle come first, then the narrative, then what comes by itself. */
function getRank({ code, pointer }: MissingGuard, step: Pick<Step, 'state'> | undefined): number {
  if (code === 'gathering_running' || step?.state === 'pending' || step?.state === 'running') return 2
  return pointer.startsWith('#/narrative') ? 1 : 0
}

/** A step that waits for a task is left out: the task says where to go on. */
export function simplifyMissing(
  missing: readonly MissingGuard[],
  steps: readonly Pick<Step, 'step_key' | 'title' | 'state' | 'task_id'>[],
): readonly MissingGuard[] {
  const pointers = new Set(missing.map(({ pointer }) => pointer))
  const findStep = ({ pointer }: MissingGuard) => steps.find(({ step_key }) => pointer === `#/steps/${step_key}`)
  const ordered = missing.toSorted((one, other) => getRank(one, findStep(one)) - getRank(other, findStep(other)))
  return ordered.flatMap((guard) => {
    const step = findStep(guard)
    if (step === undefined) return [guard]
    if (step.task_id !== null && pointers.has(`#/tasks/${step.task_id}`)) return []
    return [{ ...guard, detail: `${step.title ?? step.step_key}: ${stepTexts[step.state]}.` }]
  })
}
