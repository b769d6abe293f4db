/** Public interface of the break-glass router. */

import type { Module } from '#kernel/module.ts'
import { insertBreakGlassReview } from '#kernel/request/queries.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { breakGlassErasure } from './queries.ts'
import { breakGlassRoutes } from './routes.ts'

export const breakGlass: Module = {
  name: 'break-glass',
  segments: ['break-glass-reviews'],
  tier: 'foundation',
  summary: 'Changes made in an emergency without approval, each reviewed by somebody else afterwards.',
  routes: breakGlassRoutes,
  jobs: [],
  constraints: {
    break_glass_review_four_eyes_ck: ['approval_own_request', 'Somebody else, a person, acknowledges it.'],
  },
  search: {
    sources: [],
    unsearched: {
      getBreakGlassReview:
        'Reviews stand in the inbox until somebody acknowledges them, and the change itself is in the audit record.',
    },
  },
  erases: [breakGlassErasure],
  canary_table: 'break_glass_review',
  canary: async (tx) => {
    await insertBreakGlassReview(
      tx,
      {
        review_id: uuidv7(),
        action: 'canary',
        operation: 'canary',
        params: {},
        body: { note: 'canary' },
        reason: 'canary',
        required_role: 'auditor',
      },
      'user:canary',
    )
  },
}
