/** Door of the audit router. Other modules put the events of a thing of theirs into a file through here. */
import type { Tx } from '../../kernel/database/tx.ts'
import { insertSchedule } from '../../kernel/job/queries.ts'
import type { Module } from '../../kernel/route.ts'
import { uuidv7 } from '../../kernel/uuid.ts'
import { AUDIT_VERIFICATION, AUDIT_VERIFICATION_EVERY_S, auditExport, auditVerification } from './jobs.ts'
import { insertCanaryRecord } from './queries.ts'
import { auditRoutes } from './routes.ts'

export { exportLines } from './actions.ts'
export { listEvents } from './queries.ts'

/** A random time of the day: tenants are verified one after another, not all at once. */
export const scheduleVerification = (tx: Tx) =>
  insertSchedule(tx, {
    schedule_id: uuidv7(),
    name: AUDIT_VERIFICATION,
    kind: AUDIT_VERIFICATION,
    payload: {},
    every_s: AUDIT_VERIFICATION_EVERY_S,
    first_in_s: Math.floor(Math.random() * AUDIT_VERIFICATION_EVERY_S),
  })

export const audit: Module = {
  name: 'audit',
  segments: ['audit'],
  tier: 'foundation',
  summary: 'Append-only, hash-chained record of every change, with proofs.',
  routes: auditRoutes,
  jobs: [auditVerification, auditExport],
  canary_table: 'audit_run',
  canary: (tx) => insertCanaryRecord(tx, uuidv7(), uuidv7()),
}
