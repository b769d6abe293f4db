/** Examples of the operations on subjects: one with a past, a rating of its own and an override. */
import { uuidv7 } from '#kernel/uuid.ts'
import { insertRatings } from '#modules/subjects/index.ts'
import type { ExampleTenant } from './example-tenant.ts'
import type { Fixture, Fixtures } from './fixtures.ts'

const buildSubject = (more: object = {}) => ({
  subject_type: 'company',
  name: 'Analytical Engines Ltd',
  external_id: `customer-${uuidv7().slice(-12)}`,
  segment: 'corporate',
  attributes: { country: 'GB', employees: 12 },
  ...more,
})
const buildOverride = () => ({
  band: 'high',
  reason: 'adverse media',
  expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
})

/** A fresh one, for calls that use it up. */
export const newSubject = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /subjects', { body: buildSubject() })).subject_id

async function newOverriddenSubject(t: ExampleTenant): Promise<string> {
  const subject_id = await newSubject(t)
  await t.make(`POST /subjects/${subject_id}/risk-override`, { body: buildOverride() })
  return subject_id
}

/** Rated by a matrix, without one being there. */
export async function insertRating(
  t: ExampleTenant,
  subject_id: string,
  band: string,
  more: object = {},
): Promise<void> {
  const rating = {
    rating_id: uuidv7(),
    subject_id,
    cause: 'evaluation',
    matrix_key: 'customer-risk',
    matrix_version: 1,
  }
  await t.write((tx) => insertRatings(tx, [{ ...rating, cause: 'evaluation', band, score_bps: 5000, ...more }]))
}

const subjects = new WeakMap<ExampleTenant, Promise<string>>()
/** Made once per tenant: changed, rated and overridden. */
export function ensureSubject(t: ExampleTenant): Promise<string> {
  const known =
    subjects.get(t) ??
    newOverriddenSubject(t).then(async (subject_id) => {
      await t.make(`PATCH /subjects/${subject_id}`, { body: { segment: 'large' } })
      await insertRating(t, subject_id, 'low', { reason: 'scored' })
      return subject_id
    })
  subjects.set(t, known)
  return known
}

async function newUpload(t: ExampleTenant): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  const payload = `${JSON.stringify(buildSubject())}\n{"name":"half a subject"}\n`
  return (await t.make('POST /uploads?file_name=subjects.ndjson', { payload, headers })).upload_id
}
const buildRequest = async (t: ExampleTenant) => ({ upload_id: await newUpload(t), format: 'ndjson' })

const bulks = new WeakMap<ExampleTenant, Promise<string>>()
function ensureBulk(t: ExampleTenant): Promise<string> {
  const take = async () => {
    const job = await t.make('POST /subjects/bulk', { body: await buildRequest(t) })
    await t.runToEnd(job)
    return job.resource.split('/').at(-1) as string
  }
  const known = bulks.get(t) ?? take()
  bulks.set(t, known)
  return known
}

const one: Fixture = async (t) => ({ params: { subject_id: await ensureSubject(t) } })
const bulk: Fixture = async (t) => ({ params: { bulk_id: await ensureBulk(t) } })

export const subjectFixtures: Fixtures = {
  listSubjects: async (t) => {
    await ensureSubject(t)
    return {}
  },
  createSubject: () => ({ body: buildSubject() }),
  getSubject: one,
  updateSubject: async (t) => ({
    params: { subject_id: await newSubject(t) },
    body: { name: 'Difference Engines Ltd' },
  }),
  offboardSubject: async (t) => ({ params: { subject_id: await newSubject(t) }, body: { reason: 'account closed' } }),
  listSubjectVersions: one,
  listSubjectEvents: one,
  getSubjectRisk: one,
  listSubjectRatings: one,
  createRiskOverride: async (t) => ({ params: { subject_id: await newSubject(t) }, body: buildOverride() }),
  deleteRiskOverride: async (t) => ({ params: { subject_id: await newOverriddenSubject(t) } }),
  startSubjectBulk: async (t) => ({ body: await buildRequest(t) }),
  getSubjectBulk: bulk,
  listSubjectBulkRejects: bulk,
}
