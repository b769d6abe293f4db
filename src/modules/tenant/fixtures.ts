/** Test fixtures of the tenant router: one valid call per operation. */
import { type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export const fixtures: Fixtures = {
  getTenant: noInput,
  updateTenant: () => ({ body: { time_zone: 'Europe/Berlin' } }),
  getApprovalPolicy: noInput,
  updateApprovalPolicy: () => ({ body: { rules: [] } }),
  getRetentionPolicy: noInput,
  updateRetentionPolicy: () => ({
    body: { classes: [{ record_class: 'jobs', keep_days: 30, basis: 'Internal retention policy' }] },
  }),
  checkIsolation: noInput,
}
