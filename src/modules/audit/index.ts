/** Public interface of the audit router. Other modules export the events of their own objects through it. */
import type { Module } from '#kernel/module.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { auditExportJob, auditVerificationJob } from './jobs.ts'
import { insertCanaryRecord } from './queries.ts'
import { auditRoutes } from './routes.ts'

export { exportChainLines } from './chain-reader.ts'
export { listEvents, listVerifications } from './queries.ts'

export const audit: Module = {
  name: 'audit',
  segments: ['audit'],
  tier: 'foundation',
  summary: 'Append-only, hash-chained record of every change, with proofs.',
  routes: auditRoutes,
  jobs: [auditVerificationJob, auditExportJob],
  search: {
    sources: [],
    unsearched: {
      getAuditEvent: 'The audit record has a search of its own, by actor, operation, object and time.',
      listAuditObjectEvents: 'The history of an object is opened from the object.',
      getAuditExport: 'An export is opened from the audit record.',
      getAuditVerification: 'A verification is opened from the audit record.',
    },
  },
  canary_table: 'audit_run',
  canary: (tx) => insertCanaryRecord(tx, uuidv7(), uuidv7()),
}
