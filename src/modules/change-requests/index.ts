/** Public interface of the change-requests router. */

import type { Module } from '#kernel/module.ts'
import { insertChangeRequest } from '#kernel/request/queries.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { changeRequestSource } from './change-request-source.ts'
import { changeRequestDecided } from './decided-event.ts'
import { changeRequestErasure, insertCanaryApproval } from './queries.ts'
import { changeRequestRoutes } from './routes.ts'

export { APPROVAL_REVIEW, findStaleRequests } from './approval-gates.ts'
export { findChangeRequest, lockChangeRequest } from './queries.ts'

export const changeRequests: Module = {
  name: 'change-requests',
  segments: ['change-requests'],
  tier: 'foundation',
  summary: 'One four-eyes queue for every governed change.',
  routes: changeRequestRoutes,
  jobs: [],
  events: [changeRequestDecided],
  constraints: {
    change_approval_four_eyes_ck: ['approval_own_request', 'Nobody approves their own request.'],
    change_approval_person_ck: ['approval_own_request', 'Only a person approves; API keys never do.'],
    change_approval_pkey: ['duplicate', 'You have approved this change request already.'],
  },
  search: { sources: [changeRequestSource] },
  erases: [changeRequestErasure],
  canary_table: 'change_request',
  canary: async (tx) => {
    const cr_id = uuidv7()
    const request = {
      cr_id,
      action: 'canary',
      operation: 'canary',
      params: {},
      body: { note: 'canary' },
      content_hash: 'canary',
    }
    await insertChangeRequest(tx, { ...request, head: 'canary', required_role: 'auditor', approvers: 1 })
    await insertCanaryApproval(tx, cr_id)
  },
}
