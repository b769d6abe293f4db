/** Test fixtures of the investigations router: one valid call per operation. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

const newSubject = async (t: ExampleTenant): Promise<string> =>
  (
    await t.make('POST /subjects', {
      body: { subject_type: 'person', name: 'Ada Lovelace', external_id: `investigated ${uuidv7()}` },
    })
  ).subject_id

const newCase = async (t: ExampleTenant): Promise<{ investigation_id: string }> => {
  const body = { subject_id: await newSubject(t), playbook_key: 'edd-person' }
  return { investigation_id: (await t.make('POST /investigations', { body })).investigation_id }
}
const ensureCase = (t: ExampleTenant) => oncePerTenant(t, 'investigation', () => newCase(t))
const existing: Fixture = async (t) => ({ params: await ensureCase(t) })

export const fixtures: Fixtures = {
  listInvestigations: async (t) => {
    await ensureCase(t)
    return {}
  },
  createInvestigation: async (t) => ({
    body: { subject_id: await newSubject(t), playbook_key: 'edd-person', priority: 'high' },
  }),
  getInvestigation: existing,
  listInvestigationSteps: existing,
  listInvestigationTimeline: existing,
  getInvestigationNarrative: existing,
  updateInvestigationNarrative: async (t) => ({
    params: await newCase(t),
    body: { paragraphs: [{ kind: 'assessment', text: 'The payments fit the business of the customer.', cites: [] }] },
  }),
  listInvestigationNarrativeVersions: async (t) => {
    const params = await newCase(t)
    const body = { paragraphs: [{ kind: 'assessment', text: 'The payments fit the business.', cites: [] }] }
    await t.make(`PUT /investigations/${params.investigation_id}/narrative`, { body })
    return { params }
  },
}
