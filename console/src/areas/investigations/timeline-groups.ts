/** Puts events that say little on their own, such as the beginnings of steps, into groups, so that the others can be seen. Pure. */
import type { Schemas } from '@probity/client'

type Entry = Schemas['InvestigationEvent']

/** A later event says the same: a step that ended, or evidence that was attached. A task that is opened again is said by no other. */
const isMinor = ({ kind, data, note }: Entry): boolean =>
  note === null &&
  (['gathering', 'step_running', 'step_waiting'].includes(kind) ||
    (['task_added', 'task_changed'].includes(kind) && data['step_key'] !== undefined && data['state'] !== 'open'))

export interface TimelineGroup {
  readonly key: string
  readonly entries: readonly Entry[]
  /** Shown closed. */
  readonly isMinor: boolean
}

/** In the same order; one minor event alone is not worth a group. */
export function groupTimeline(entries: readonly Entry[]): TimelineGroup[] {
  const runs: Entry[][] = []
  for (const entry of entries) {
    const last = runs.at(-1)
    if (last?.[0] !== undefined && isMinor(last[0]) && isMinor(entry)) last.push(entry)
    else runs.push([entry])
  }
  return runs.map((run) => ({
    key: (run[0] as Entry).event_id,
    entries: run,
    isMinor: run.length > 1,
  }))
}
