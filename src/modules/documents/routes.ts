/** Documents: stored from uploads, given out as attachments, checked against their hashes, and deleted with a record left. */
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { emit } from '#kernel/events/emit.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import { streamReply } from '#kernel/route.ts'
import { imposePrepared } from '#modules/restrictions/index.ts'
import { checkContent } from './check-document.ts'
import { createDocument } from './create-document.ts'
import { toCustodyEntry } from './custody.ts'
import { expectDeletable, expectReadable } from './document-access.ts'
import { readDocument } from './document-bytes.ts'
import { documentDeleted, documentStored } from './document-events.ts'
import {
  findDocument,
  listCustodyEvents,
  listDocuments,
  lockDocument,
  removeChunks,
  updateChecked,
  updateDescription,
  updateEnded,
} from './queries.ts'
import {
  CustodyPage,
  CustodyQuery,
  Document,
  DocumentChange,
  DocumentCheck,
  DocumentEnd,
  DocumentPage,
  DocumentParams,
  DocumentQuery,
  DocumentRequest,
} from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const

/** What is recorded of a change: title and name may hold personal data. */
const toRecorded = ({ title, category, state }: { title: string | null; category: string | null; state: string }) => ({
  title,
  category,
  state,
})

export const documentRoutes = [
  tenantRoute('GET /documents', {
    id: 'listDocuments',
    summary: 'Documents, newest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: DocumentQuery,
    reply: [200, DocumentPage],
  }).handle((input) => {
    const { subject_id, state } = input.query
    return paginate(input, 'listDocuments', ['created_at', 'document_id'], (after, count) =>
      listDocuments(input.tx, { subject_id, state }, after, count),
    )
  }),

  tenantRoute('POST /documents', {
    id: 'createDocument',
    summary: 'Store the bytes of an upload as a document',
    description:
      'Up to 1 MiB the answer is 201 with the stored document, up to 100 MiB 202 with a document in the state `storing` and the ' +
      'job that takes the bytes over. The bytes are encrypted, and must be what the name of the file promises; the list ' +
      '`document-types` says which files are accepted.',
    roles: ['analyst', 'compliance_officer', 'service'],
    tx: 'write',
    uses: ['caches', 'encryption', 'jobs', 'scanner'],
    body: DocumentRequest,
    reply: [201, Document],
    alternateStatus: { status: 202, when: ({ state }) => state === 'storing' },
    revisioned: true,
    location: ({ document_id }) => `/documents/${document_id}`,
    links: { getDocument: { document_id: 'document_id' } },
    // not_found: a repeated request, after the access to what it created was revoked.
    problems: ['not_found', 'conflict', 'upload_incomplete', 'document_refused', 'concurrency_limited', 'erased'],
  }).handle(async (input) => {
    const { tx, body, kernel, audit } = input
    const document = await createDocument(kernel, tx, body)
    const { restriction_id } = await noteRestriction(input, 'document', document.document_id)
    audit.recordHashes(null, toRecorded(document))
    if (document.state === 'stored')
      await emit(tx, documentStored, { object_id: document.document_id, restriction_id, data: {} })
    return document
  }),

  tenantRoute('GET /documents/:document_id', {
    id: 'getDocument',
    summary: 'One document without its bytes',
    roles: readers,
    tx: 'read',
    params: DocumentParams,
    reply: [200, Document],
    revisioned: true,
    problems: ['not_found'],
  }).handle(async (input) => {
    const document = assertFound(await findDocument(input.tx, input.params.document_id))
    await noteRestriction(input, 'document', document.document_id)
    return document
  }),

  tenantRoute('GET /documents/:document_id/content', {
    id: 'getDocumentContent',
    summary: 'The bytes of a document, as an attachment',
    description:
      'Recorded in the audit record. While the operator has a malware scanner, only what it found clean is given out: 409 ' +
      '`not_finished` before the scan, 503 while the scanner fails.',
    roles: readers,
    tx: 'self',
    uses: ['encryption', 'scanner'],
    params: DocumentParams,
    reply: [200, streamReply('application/octet-stream', 'The bytes as they were uploaded.')],
    headers: () => ({ 'content-security-policy': 'sandbox' }),
    audited: true,
    problems: [
      'not_found',
      'not_finished',
      'transition_not_allowed',
      'document_infected',
      'erased',
      'content_corrupt',
      'dependency_unavailable',
    ],
  }).handle(async ({ params, read, kernel, audit }) => {
    const document = await read(async (tx) => {
      const found = assertFound(await findDocument(tx, params.document_id))
      await noteRestriction({ tx, audit }, 'document', found.document_id)
      return found
    })
    expectReadable(document, kernel.scanner !== null)
    const chunks = readDocument(kernel, read, document)
    // The first chunk is decrypted before the answer begins: afterwards a failure could only break the connection off.
    const first = await chunks.next()
    const content = (async function* () {
      if (!first.done) yield first.value
      yield* chunks
    })()
    return Object.assign(content, { file_name: document.file_name ?? document.document_id })
  }),

  tenantRoute('PATCH /documents/:document_id', {
    id: 'updateDocument',
    summary: 'Change the title or the category of a document',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    params: DocumentParams,
    body: DocumentChange,
    reply: [200, Document],
    revisioned: true,
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async (input) => {
    const { tx, params, body, audit } = input
    const before = assertFound(await lockDocument(tx, params.document_id))
    await noteRestriction(input, 'document', before.document_id)
    assertRevision(before.revision, input)
    if (before.title === null) fail('transition_not_allowed', `The document is ${before.state}.`)
    const { title = before.title, category = before.category } = body
    const document = assertFound(await updateDescription(tx, before.document_id, { title, category }))
    audit.recordHashes(toRecorded(before), toRecorded(document))
    return document
  }),

  tenantRoute('DELETE /documents/:document_id', {
    id: 'deleteDocument',
    summary: 'Delete the bytes of a document; its record stays, without title and name',
    description:
      'Refused with 409 `legal_hold` while a hold keeps it, and with 409 `retention` until the period of the class `documents` of ' +
      'the retention policy has passed.',
    roles: ['compliance_officer'],
    tx: 'write',
    params: DocumentParams,
    query: DocumentEnd,
    reply: [204, null],
    problems: ['not_found', 'not_finished', 'transition_not_allowed', 'legal_hold', 'retention'],
  }).handle(async (input) => {
    const { tx, params, query, audit } = input
    const document = assertFound(await lockDocument(tx, params.document_id))
    const { document_id } = document
    const { restriction_id } = await noteRestriction(input, 'document', document_id)
    assertRevision(document.revision, input)
    await expectDeletable(tx, document)
    await updateEnded(tx, [document_id], { state: 'deleted', reason: query.reason })
    await removeChunks(tx, [document_id])
    await emit(tx, documentDeleted, { object_id: document_id, restriction_id, data: {} })
    audit.recordHashes(toRecorded(document), { title: null, category: document.category, state: 'deleted' })
    return undefined
  }),

  tenantRoute('POST /documents/:document_id/restrict', {
    id: 'imposeDocumentRestriction',
    summary: 'Hide a document, with its past, from everybody without access',
    description:
      'Imposes the restriction that was prepared with the document. Whoever does it gets access, and gives it to others by the ' +
      'restriction that the answer names.',
    roles: ['compliance_officer'],
    tx: 'write',
    params: DocumentParams,
    reply: [200, Document],
    revisioned: true,
    problems: ['not_found', 'transition_not_allowed', 'person_required'],
  }).handle(async (input) => {
    const { tx, params, actor, audit } = input
    const { document_id, revision } = assertFound(await lockDocument(tx, params.document_id))
    const restriction = await noteRestriction(input, 'document', document_id)
    assertRevision(revision, input)
    await imposePrepared(tx, restriction, actor.principal)
    audit.belongsTo({ ...restriction, is_in_force: true })
    audit.recordDiff({ is_in_force: false }, { is_in_force: true })
    return assertFound(await findDocument(tx, document_id))
  }),

  tenantRoute('GET /documents/:document_id/custody', {
    id: 'listDocumentCustody',
    summary: 'Who stored, read, verified, held and deleted a document, newest first',
    description: 'From the audit record.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['cursors'],
    params: DocumentParams,
    query: CustodyQuery,
    reply: [200, CustodyPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params } = input
    const { document_id } = assertFound(await findDocument(tx, params.document_id))
    await noteRestriction(input, 'document', document_id)
    const route = `listDocumentCustody ${document_id}`
    const events = await paginate(input, route, ['recorded_at', 'event_id'], (after, count) =>
      listCustodyEvents(tx, document_id, after, count),
    )
    return { ...events, items: events.items.map(toCustodyEntry) }
  }),

  tenantRoute('POST /documents/:document_id/verify', {
    id: 'verifyDocument',
    summary: 'Compare the stored bytes of a document with its hashes now',
    description:
      'Bytes that have changed make the document `damaged` and raise an alarm; bytes that fit again make it `stored`.',
    roles: readers,
    tx: 'self',
    uses: ['encryption', 'metrics', 'raiseAlarm'],
    params: DocumentParams,
    reply: [200, DocumentCheck],
    problems: ['not_found', 'transition_not_allowed', 'erased', 'content_corrupt'],
  }).handle(async ({ params, actor, read, settle, kernel, audit }) => {
    const document = await read(async (tx) => {
      const found = assertFound(await findDocument(tx, params.document_id))
      await noteRestriction({ tx, audit }, 'document', found.document_id)
      return found
    })
    const { document_id, state, sha256, size_bytes } = document
    if (state === 'deleted' || state === 'erased') fail('erased')
    if (state !== 'stored' && state !== 'damaged') fail('transition_not_allowed', `The document is ${state}.`)
    const is_intact = await checkContent(kernel, { tenant_id: actor.tenant_id, read }, document)
    return settle(`${document_id}`, async (tx) => {
      await updateChecked(tx, document_id, is_intact ? 'stored' : 'damaged')
      audit.recordDiff(null, { is_intact })
      const { checked_at } = assertFound(await findDocument(tx, document_id))
      return { document_id, is_intact, sha256, size_bytes, checked_at: checked_at ?? document.updated_at }
    })
  }),
]
