/** Public interface of the tenant router: settings of one tenant and the proof of its isolation. */
import { insertSchedule } from '#kernel/job/schedules/queries.ts'
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { HOUSEKEEPING, housekeepingJob } from './jobs.ts'
import { insertApprovalPolicy, insertLimit, insertRetentionPolicy } from './queries.ts'
import { tenantRoutes } from './routes.ts'

export { CANARY_TENANT, listUnmetRules } from './isolation-check.ts'
export { HOUSEKEEPING } from './jobs.ts'
export {
  type ApprovalRuleRow,
  findApprovalPolicy,
  findRetentionPolicy,
  insertApprovalPolicy,
  insertRetentionPolicy,
  type RetentionClassRow,
} from './queries.ts'

export const tenant: Module = {
  name: 'tenant',
  segments: ['tenant'],
  tier: 'foundation',
  summary: 'Tenant-wide settings: profile, approval policy, retention, and the proof of isolation.',
  routes: tenantRoutes,
  jobs: [housekeepingJob],
  constraints: {
    retention_policy_classes_ck: ['conflict', 'The policy names a record class that nothing acts on.'],
  },
  canary_table: 'tenant_limit',
  canary: async (tx) => {
    await insertApprovalPolicy(tx, [])
    await insertRetentionPolicy(tx, [])
    await insertLimit(tx, 'tenant', 1, 1)
    await insertSchedule(tx, {
      schedule_id: uuidv7(),
      name: 'canary',
      kind: HOUSEKEEPING,
      payload: {},
      every_s: 3600,
      first_in_s: 0,
    })
  },
}
