/** Evidence items: what a finding or a case rests on, with the hash of each object when it was attached. */
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { compareEvidence, createEvidence, noteOwnerChange } from './attach-evidence.ts'
import { noteAttachment } from './attached-record.ts'
import { type EvidenceRow, findEvidence, listEvidence, lockEvidence, updateDetached } from './queries.ts'
import {
  DetachRequest,
  Evidence,
  EvidenceCheck,
  EvidencePage,
  EvidenceParams,
  EvidenceQuery,
  EvidenceRequest,
} from './schema.ts'

const readers = ['analyst', 'compliance_officer', 'auditor'] as const
const workers = ['analyst', 'compliance_officer'] as const

/** Titles, references and reasons may hold personal data. */
const toRecorded = ({ kind, object_id, title, reference, content_hash, detached_at, detach_reason }: EvidenceRow) => ({
  kind,
  object_id,
  title,
  reference,
  content_hash,
  detached_at,
  detach_reason,
})

export const evidenceRoutes = [
  tenantRoute('GET /evidence', {
    id: 'listEvidence',
    summary: 'Evidence items, newest first',
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: EvidenceQuery,
    reply: [200, EvidencePage],
  }).handle((input) => {
    const { owner_kind, owner_id, object_id, kind } = input.query
    return paginate(input, 'listEvidence', ['added_at', 'evidence_id'], (after, count) =>
      listEvidence(input.tx, { owner_kind, owner_id, object_id, kind }, after, count),
    )
  }),

  tenantRoute('POST /evidence', {
    id: 'createEvidence',
    summary: 'Attach an object, or a reference to something outside, as evidence',
    description:
      'The service computes the hash of the object as it is stored now. Attached to an alert or an investigation, it takes the restriction of that. The kinds match, transaction and ownership_graph are refused with 409 until screening is there.',
    roles: workers,
    tx: 'write',
    uses: ['auditKeys', 'encryption', 'integrity', 'modules'],
    body: EvidenceRequest,
    reply: [201, Evidence],
    location: ({ evidence_id }) => `/evidence/${evidence_id}`,
    links: { getEvidence: { evidence_id: 'evidence_id' } },
    // not_found: a repeated request, after the access to what it created was revoked.
    problems: ['not_found', 'conflict', 'duplicate', 'not_finished', 'erased', 'content_corrupt'],
  }).handle(async (input) => {
    const { tx, body, kernel, audit } = input
    const item = await createEvidence(kernel, tx, body)
    await noteRestriction(input, 'evidence_item', item.evidence_id)
    audit.recordHashes(null, toRecorded(item))
    noteAttachment(audit, item)
    return item
  }),

  tenantRoute('GET /evidence/:evidence_id', {
    id: 'getEvidence',
    summary: 'One evidence item',
    roles: readers,
    tx: 'read',
    params: EvidenceParams,
    reply: [200, Evidence],
    problems: ['not_found'],
  }).handle(async (input) => {
    const item = assertFound(await findEvidence(input.tx, input.params.evidence_id))
    await noteRestriction(input, 'evidence_item', item.evidence_id)
    return item
  }),

  tenantRoute('POST /evidence/:evidence_id/detach', {
    id: 'detachEvidence',
    summary: 'Detach an evidence item; the record of it stays, with who, when and why',
    roles: workers,
    tx: 'write',
    uses: ['modules'],
    params: EvidenceParams,
    body: DetachRequest,
    reply: [200, Evidence],
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async (input) => {
    const { tx, params, body, kernel, audit } = input
    const before = assertFound(await lockEvidence(tx, params.evidence_id))
    await noteRestriction(input, 'evidence_item', before.evidence_id)
    if (before.detached_at !== null) fail('transition_not_allowed', 'The item is detached already.')
    if (before.erased_at !== null) fail('transition_not_allowed', 'The item was erased.')
    const item = assertFound(await updateDetached(tx, before.evidence_id, body.reason))
    await noteOwnerChange(kernel, tx, item)
    audit.recordHashes(toRecorded(before), toRecorded(item))
    return item
  }),

  tenantRoute('POST /evidence/:evidence_id/verify', {
    id: 'verifyEvidence',
    summary: 'Compare an evidence item and its object with what was recorded when it was attached',
    description:
      'The object with its hash; title, reference, source, times, author and what it names with the audit event of the attachment, which has ' +
      'an authentication code. Items attached by requests of earlier releases have one hash over some members, those attached by jobs of ' +
      'earlier releases none: `record` says so. A detachment is not compared. That an audit event was removed is found by `verifyAudit`.',
    roles: readers,
    tx: 'write',
    uses: ['auditKeys', 'encryption', 'integrity', 'modules'],
    params: EvidenceParams,
    reply: [200, EvidenceCheck],
    problems: ['not_found', 'not_finished', 'conflict', 'content_corrupt'],
  }).handle(async (input) => {
    const { tx, params, kernel, audit } = input
    const item = assertFound(await findEvidence(tx, params.evidence_id))
    await noteRestriction(input, 'evidence_item', item.evidence_id)
    const { result, record, altered } = await compareEvidence(kernel, tx, item)
    audit.recordDiff(null, { result, altered })
    return { evidence_id: item.evidence_id, result, content_hash: item.content_hash, record, altered }
  }),
]
