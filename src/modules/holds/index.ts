/** Public interface of the holds router. */
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { holdPlaced, holdReleased } from './hold-events.ts'
import { countActiveHolds, holdErasure, insertHold } from './queries.ts'
import { holdRoutes } from './routes.ts'

export { isHeld } from './queries.ts'

export const holds: Module = {
  name: 'holds',
  segments: ['holds'],
  tier: 'foundation',
  summary: 'Legal holds: what must not be deleted or erased until another person releases it.',
  routes: holdRoutes,
  jobs: [],
  events: [holdPlaced, holdReleased],
  constraints: { hold_four_eyes_ck: ['approval_own_request', 'Another person releases it.'] },
  search: {
    sources: [],
    unsearched: { getHold: 'A hold is opened from the object that it keeps, or from the list of holds.' },
  },
  erases: [holdErasure],
  listDeletionObstacles: async (tx) => {
    const active = await countActiveHolds(tx)
    return active === 0
      ? []
      : [`${active} legal ${active === 1 ? 'hold is' : 'holds are'} in force; release them first.`]
  },
  canary_table: 'hold',
  canary: async (tx) => {
    await insertHold(tx, {
      hold_id: uuidv7(),
      object_kind: 'canary',
      object_id: uuidv7(),
      reason: 'canary',
      authority_reference: 'canary',
      restriction_id: null,
      placed_by: 'user:canary',
    })
  },
}
