/** Test fixtures of the audit router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  listAuditEvents: noInput,
  getAuditFilters: noInput,
  getAuditEvent: async (t) => ({ params: { event_id: await t.auditEvent() } }),
  listAuditObjectEvents: async (t) => ({ params: { object_type: 'users', object_id: await t.user() } }),
  listConfigurationAsOf: () => ({ query: { at: '2026-01-01T00:00:00Z' } }),
  createAuditExport: () => ({ body: {} }),
  getAuditExport: async (t) => ({ params: { export_id: await t.auditRun('export') } }),
  getAuditExportContent: async (t) => ({ params: { export_id: await t.auditRun('export') } }),
  createAuditVerification: () => ({ body: {} }),
  getAuditVerification: async (t) => ({ params: { verification_id: await t.auditRun('verification') } }),
  listAuditVerifications: noInput,
  listAuditCheckpoints: noInput,
}
