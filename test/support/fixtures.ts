/**
 * The one table of examples: how a tenant calls each operation so that it succeeds. One entry per operationId; a route
 * without an entry, or an entry without a route, fails test/isolation/endpoints.test.ts. Identifiers must differ between
 * tenants, because the tests use one tenant's where another's belong.
 */
import type { Role } from '#kernel/auth/roles.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { batchFixtures } from './batch-fixtures.ts'
import { definitionFixtures } from './definition-fixtures.ts'
import { evaluationFixtures } from './evaluation-fixtures.ts'
import type { ExampleTenant, Person } from './example-tenant.ts'
import { impactFixtures } from './impact-fixtures.ts'
import { registryFixtures } from './registry-fixtures.ts'
import { scheduleFixtures } from './schedule-fixtures.ts'
import { subjectFixtures } from './subject-fixtures.ts'

export interface Example {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Sent as application/octet-stream instead of a JSON body. */
  readonly bytes?: string
  /** What the path names is shared by all tenants. */
  readonly shared?: true
  /** Where not everybody with the role may do it. */
  readonly principal?: Person
}

/** `role` is what the caller will hold, for operations that decide by more than the route's list of roles. */
export type Fixture = (t: ExampleTenant, role: Role) => Example | Promise<Example>
export type Fixtures = Readonly<Record<string, Fixture>>

const plain: Fixture = () => ({})
const userOf = async (t: ExampleTenant) => ({ user_id: await t.user() })
const newUserOf = async (t: ExampleTenant) => ({ user_id: await t.newUser() })
const newKeyOf = async (t: ExampleTenant) => ({ key_id: (await t.newKey()).key_id })
const newRequestOf = async (t: ExampleTenant, role: Role) => ({ cr_id: await t.newChangeRequest(role) })

const system: Fixtures = {
  getHealth: plain,
  getReadiness: plain,
  getOpenapi: plain,
  getDocs: plain,
  getVersion: plain,
  listErrors: plain,
  getError: () => ({ params: { code: 'not_found' } }),
  createUpload: () => ({ query: { file_name: 'example.bin' }, bytes: 'bytes' }),
  getUpload: async (t) => ({ params: { upload_id: await t.upload() } }),
  getProtectedResource: plain,
  getCapabilities: plain,
  getLimits: plain,
}

const auth: Fixtures = {
  createToken: async (t) => ({ body: { api_key: (await t.key()).secret } }),
  revokeToken: () => ({ body: { token_id: 'a token of some issuer', reason: 'lost' } }),
  getMe: plain,
  getJwks: plain,
  listSignInProviders: plain,
  getPermission: () => ({ query: { method: 'GET', path: '/users' } }),
}

const access: Fixtures = {
  listUsers: plain,
  createUser: () => ({ body: { name: 'Grace', email: `${uuidv7()}@example.com`, roles: [] } }),
  getUser: async (t) => ({ params: await userOf(t) }),
  updateUser: async (t) => ({ params: await userOf(t), body: { team: 'north' } }),
  deactivateUser: async (t) => ({ params: await newUserOf(t) }),
  reactivateUser: async (t) => ({ params: await newUserOf(t) }),
  updateUserRoles: async (t) => ({ params: await newUserOf(t), body: { roles: ['viewer'] } }),
  updateUserAvailability: async (t) => ({ params: await userOf(t), body: { away_from: null, away_until: null } }),
  listRoles: plain,
  listApiKeys: plain,
  createApiKey: () => ({ body: { name: 'machine', roles: ['service'] } }),
  rotateApiKey: async (t) => ({ params: await newKeyOf(t), body: { overlap_minutes: 0 } }),
  deleteApiKey: async (t) => ({ params: await newKeyOf(t) }),
  getApiKeyUsage: async (t) => ({ params: { key_id: (await t.key()).key_id } }),
}

const tenant: Fixtures = {
  getTenant: plain,
  updateTenant: () => ({ body: { time_zone: 'Europe/Berlin' } }),
  getApprovalPolicy: plain,
  updateApprovalPolicy: () => ({ body: { rules: [] } }),
  getRetentionPolicy: plain,
  updateRetentionPolicy: () => ({ body: { classes: [{ record_class: 'jobs', keep_days: 30, basis: 'policy' }] } }),
  checkIsolation: plain,
}

const changeRequests: Fixtures = {
  listChangeRequests: plain,
  listChangeRequestInbox: plain,
  getChangeRequest: async (t) => ({ params: { cr_id: await t.changeRequest() } }),
  approveChangeRequest: async (t, role) => ({ params: await newRequestOf(t, role), body: {} }),
  rejectChangeRequest: async (t, role) => ({ params: await newRequestOf(t, role), body: { reason: 'not now' } }),
  withdrawChangeRequest: async (t, role) => ({ params: await newRequestOf(t, role), body: {}, principal: t.author }),
}

const breakGlass: Fixtures = {
  listBreakGlassReviews: plain,
  listBreakGlassInbox: plain,
  getBreakGlassReview: async (t) => ({ params: { review_id: await t.newReview('compliance_officer') } }),
  acknowledgeBreakGlassReview: async (t, role) => ({ params: { review_id: await t.newReview(role) }, body: {} }),
}

const jobs: Fixtures = {
  listJobs: plain,
  getJob: async (t) => ({ params: { job_id: await t.job() } }),
  streamJobEvents: async (t) => ({ params: { job_id: await t.endedJob() } }),
  cancelJob: async (t) => ({ params: { job_id: await t.newJob() } }),
  retryJob: async (t) => ({ params: { job_id: await t.newEndedJob() } }),
}

const audit: Fixtures = {
  listAuditEvents: plain,
  getAuditEvent: async (t) => ({ params: { event_id: await t.auditEvent() } }),
  listAuditObjectEvents: async (t) => ({ params: { object_type: 'users', object_id: await t.user() } }),
  listConfigurationAsOf: () => ({ query: { at: '2026-01-01T00:00:00Z' } }),
  createAuditExport: () => ({ body: {} }),
  getAuditExport: async (t) => ({ params: { export_id: await t.auditRun('export') } }),
  getAuditExportContent: async (t) => ({ params: { export_id: await t.auditRun('export') } }),
  createAuditVerification: () => ({ body: {} }),
  getAuditVerification: async (t) => ({ params: { verification_id: await t.auditRun('verification') } }),
  listAuditVerifications: plain,
  listAuditCheckpoints: plain,
}

export const fixtures: Fixtures = {
  ...system,
  ...auth,
  ...access,
  ...tenant,
  ...changeRequests,
  ...breakGlass,
  ...jobs,
  ...audit,
  ...registryFixtures,
  ...subjectFixtures,
  ...definitionFixtures,
  ...evaluationFixtures,
  ...batchFixtures,
  ...scheduleFixtures,
  ...impactFixtures,
}
