/** Test fixtures of the subjects router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'
import { ratingStore } from './index.ts'

const buildSubject = (more: object = {}) => ({
  subject_type: 'company',
  name: 'Analytical Engines Ltd',
  external_id: `customer-1042-${uuidv7().slice(-12)}`,
  segment: 'corporate',
  attributes: { country: 'GB', employees: 12 },
  ...more,
})
const buildOverride = () => ({
  band: 'high',
  reason: 'Adverse media about a director',
  expires_at: new Date(Date.now() + 30 * 86_400_000).toISOString(),
})

/** A new subject, for calls that change it. */
export const newSubject = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /subjects', { body: buildSubject() })).subject_id

export async function newOverriddenSubject(t: ExampleTenant): Promise<string> {
  const subject_id = await newSubject(t)
  await t.make(`POST /subjects/${subject_id}/risk-override`, { body: buildOverride() })
  return subject_id
}

/** Rates the subject as an evaluation would, without a matrix. */
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
  await t.write((tx) =>
    ratingStore.insertRatings(tx, [{ ...rating, cause: 'evaluation', band, score_bps: 5000, ...more }]),
  )
}

const oncePerTenant = createOncePerTenant()
/** A subject with a second version, a rating and an override. */
const ensureSubject = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'subject', async () => {
    const subject_id = await newOverriddenSubject(t)
    await t.make(`PATCH /subjects/${subject_id}`, { body: { segment: 'large' } })
    await insertRating(t, subject_id, 'low', { reason: 'scored' })
    return subject_id
  })

async function newUpload(t: ExampleTenant): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' }
  const payload = `${JSON.stringify(buildSubject())}\n{"name":"half a subject"}\n`
  return (await t.make('POST /uploads?file_name=subjects.ndjson', { payload, headers })).upload_id
}
const buildRequest = async (t: ExampleTenant) => ({ upload_id: await newUpload(t), format: 'ndjson' })

const ensureBulk = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'bulk', async () => {
    const job = await t.make('POST /subjects/bulk', { body: await buildRequest(t) })
    await t.runToEnd(job)
    return job.resource.split('/').at(-1) as string
  })

const one: Fixture = async (t) => ({ params: { subject_id: await ensureSubject(t) } })
const bulk: Fixture = async (t) => ({ params: { bulk_id: await ensureBulk(t) } })

const buildErasure = () => ({ reason: 'Request of the customer, relationship ended' })

/** Requested by `author`, so that the caller may confirm it. */
const newErasure = async (t: ExampleTenant): Promise<string> => {
  const token = await t.token(undefined, t.author)
  return (await t.make(`POST /subjects/${await newSubject(t)}/erase`, { token, body: buildErasure() })).erasure_id
}

const ensureErased = (t: ExampleTenant): Promise<string> =>
  oncePerTenant(t, 'erased', async () => {
    const erasure_id = await newErasure(t)
    await t.runToEnd(await t.make(`POST /erasures/${erasure_id}/confirm`))
    return erasure_id
  })
const erased: Fixture = async (t) => ({ params: { erasure_id: await ensureErased(t) } })

export const fixtures: Fixtures = {
  previewErasure: async (t) => ({ params: { subject_id: await newSubject(t) } }),
  createErasure: async (t) => ({ params: { subject_id: await newSubject(t) }, body: buildErasure() }),
  listErasures: async (t) => {
    await ensureErased(t)
    return {}
  },
  getErasure: erased,
  confirmErasure: async (t) => ({ params: { erasure_id: await newErasure(t) } }),
  withdrawErasure: async (t) => ({ params: { erasure_id: await newErasure(t) } }),
  getErasureCertificate: erased,
  listSubjects: async (t) => {
    await ensureSubject(t)
    return {}
  },
  getSubjectCount: async (t) => {
    await ensureSubject(t)
    return {}
  },
  getSubjectFilters: async (t) => {
    await ensureSubject(t)
    return {}
  },
  createSubject: () => ({ body: buildSubject() }),
  getSubject: one,
  updateSubject: async (t) => ({
    params: { subject_id: await newSubject(t) },
    body: { name: 'Difference Engines Ltd' },
  }),
  offboardSubject: async (t) => ({ params: { subject_id: await newSubject(t) }, body: { reason: 'Account closed' } }),
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
