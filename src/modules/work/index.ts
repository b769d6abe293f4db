/**
 * Public interface of the work router. Other modules open, assign and end work through `workItems`, and start and stop clocks through
 * `workClocks`, in their own transactions; they declare their kinds in `Module.work`.
 */
import type { Module } from '#kernel/module.ts'
import { insertCanaryRows } from './canary.ts'
import { clockMissed, clocksMissed, missedClockScan } from './clocks/missed-clocks.ts'
import { endedAccessScan } from './items/ended-access.ts'
import { workErasure } from './items/queries.ts'
import { workRoutes } from './routes.ts'

export * as workClocks from './clocks/index.ts'
export * as workItems from './items/index.ts'
export { type Priority, priorities } from './queue-list.ts'

export const work: Module = {
  name: 'work',
  segments: ['work'],
  tier: 'domain',
  summary: 'Queues of work for people, who has what, and the clocks by which it is due.',
  routes: workRoutes,
  jobs: [],
  scans: [missedClockScan, endedAccessScan],
  metrics: [clocksMissed],
  events: [clockMissed],
  constraints: {
    work_clock_statutory_ck: ['conflict', 'A statutory clock cannot be paused.'],
  },
  erases: [workErasure],
  canary_table: 'work_item',
  canary: insertCanaryRows,
}
