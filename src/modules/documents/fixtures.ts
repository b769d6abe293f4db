/** Test fixtures of documents and evidence: one valid call per operation. */
import { newSubject } from '#modules/subjects/fixtures.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures } from '#test/support/operation-fixture.ts'

const oncePerTenant = createOncePerTenant()

export const newUpload = async (t: ExampleTenant, file_name: string, payload: string | Buffer): Promise<string> => {
  const headers = { 'content-type': 'application/octet-stream' }
  const query = new URLSearchParams({ file_name })
  return (await t.make(`POST /uploads?${query}`, { payload, headers })).upload_id
}

const buildDocument = async (t: ExampleTenant) => ({
  upload_id: await newUpload(t, 'statement.txt', 'Statement of the customer, 3 March 2026'),
  title: 'Statement of the customer',
  category: 'statement',
})

/** A new one, for calls that change it. */
export const newDocument = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /documents', { body: await buildDocument(t) })).document_id

const ensureDocument = (t: ExampleTenant): Promise<string> => oncePerTenant(t, 'document', () => newDocument(t))
const existing: Fixture = async (t) => ({ params: { document_id: await ensureDocument(t) } })

/** Its bytes could not be stored, so that no retention policy keeps it: no operation makes one. */
const newFailedDocument = (t: ExampleTenant): Promise<string> =>
  t.write(async (tx) => {
    const [row] = await tx.query<{ document_id: string }>(
      `insert into app.document (tenant_id, document_id, title, file_name, media_type, size_bytes, state, created_by, updated_by)
       values ($1, gen_random_uuid(), 'Statement', 'statement.txt', 'text/plain', 6, 'failed', $2, $2) returning document_id`,
      [tx.tenant_id, tx.actor],
    )
    return row?.document_id as string
  })

const buildReference = async (t: ExampleTenant) => ({
  owner_kind: 'subject',
  owner_id: await oncePerTenant(t, 'owner', () => newSubject(t)),
  kind: 'external_reference',
  title: 'Extract of the company register',
  reference: 'Register of companies, file 1042/2026',
  source: 'Register of companies',
  obtained_at: '2026-03-03T00:00:00Z',
})
const newEvidence = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /evidence', { body: await buildReference(t) })).evidence_id
const existingEvidence: Fixture = async (t) => ({
  params: { evidence_id: await oncePerTenant(t, 'evidence', () => newEvidence(t)) },
})

export const fixtures: Fixtures = {
  listDocuments: async (t) => {
    await ensureDocument(t)
    return {}
  },
  createDocument: async (t) => ({ body: await buildDocument(t) }),
  getDocument: existing,
  getDocumentContent: existing,
  updateDocument: async (t) => ({
    params: { document_id: await newDocument(t) },
    body: { title: 'Signed statement of the customer' },
  }),
  deleteDocument: async (t) => ({
    params: { document_id: await newFailedDocument(t) },
    query: { reason: 'Uploaded by mistake' },
  }),
  imposeDocumentRestriction: async (t) => ({ params: { document_id: await newDocument(t) } }),
  listDocumentCustody: existing,
  verifyDocument: existing,
  listEvidence: async (t) => {
    await newEvidence(t)
    return {}
  },
  createEvidence: async (t) => ({ body: await buildReference(t) }),
  getEvidence: existingEvidence,
  detachEvidence: async (t) => ({
    params: { evidence_id: await newEvidence(t) },
    body: { reason: 'Belongs to another customer' },
  }),
  verifyEvidence: existingEvidence,
}
