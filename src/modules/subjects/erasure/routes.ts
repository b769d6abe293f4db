/** Erasure of subjects: what it would do, the request of one person, the confirmation of another, and its certificate. */
import { expectPerson } from '#kernel/auth/principal.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { emit } from '#kernel/events/emit.ts'
import { JobView } from '#kernel/job/schema.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { lockSubject } from '../records/queries.ts'
import { SubjectParams } from '../records/schema.ts'
import { erasureRequested } from './erasure-events.ts'
import { collectMarks } from './marks.ts'
import { hideNamedRows } from './named-rows.ts'
import { assertNothingKept, assertReviewed, findNamedRows, previewErasure } from './preview.ts'
import {
  type ErasureRow,
  findCertificate,
  findErasure,
  hasPlainItems,
  insertErasure,
  listAnnexes,
  listErasures,
  lockErasure,
  updateConfirmed,
  updateWithdrawn,
} from './queries.ts'
import { expectLedger, SUBJECT_ERASURE } from './run-erasure.ts'
import {
  Erasure,
  ErasureCertificate,
  ErasurePage,
  ErasureParams,
  ErasurePreview,
  type ErasurePreviewView,
  ErasureQuery,
  ErasureRequest,
} from './schema.ts'

const deciders = ['compliance_officer', 'tenant_admin'] as const
const readers = [...deciders, 'auditor'] as const

const expectDecider = (principal: string): string =>
  expectPerson(principal, 'Only a person decides about an erasure, not an API key.')

function assertRequested({ state }: Pick<ErasureRow, 'state'>): void {
  if (state !== 'requested') fail('transition_not_allowed', `The erasure is ${state}.`)
}

/** Fails with the rule that comes first: a hold, an open investigation, or a retention period. */
function assertErasable({ classes }: ErasurePreviewView): void {
  const kept = classes.filter(({ outcome }) => outcome === 'keep')
  if (kept.some(({ rule }) => rule === 'hold')) fail('legal_hold')
  if (kept.some(({ rule }) => rule === 'open_case')) fail('open_case')
  if (kept.length > 0) fail('retention', { members: { kept } })
}

async function viewErasure(kernel: Capabilities<'modules'>, tx: Tx, erasure_id: string): Promise<ErasureRow> {
  const [erasure] = await hideNamedRows(kernel, tx, [assertFound(await findErasure(tx, erasure_id))])
  return assertFound(erasure)
}

export const erasureRoutes = [
  tenantRoute('POST /subjects/:subject_id/erasure-preview', {
    id: 'previewErasure',
    summary: 'What an erasure of a subject would erase, and what is kept, until when and by which rule',
    description:
      'A legal hold comes before an open investigation, that before a retention period, and that before the request. Nothing is changed. ' +
      'A tenant without a jurisdiction has no retention periods: the warnings say so.',
    roles: deciders,
    tx: 'read',
    stores_nothing: true,
    uses: ['caches', 'modules', 'encryption'],
    params: SubjectParams,
    reply: [200, ErasurePreview],
    problems: ['not_found', 'conflict', 'content_corrupt'],
  }).handle(({ tx, params, kernel }) => previewErasure(kernel, tx, params)),

  tenantRoute('POST /subjects/:subject_id/erase', {
    id: 'createErasure',
    summary: 'Request the erasure of a subject',
    description:
      'Has no effect until another person confirms it. Refused while a hold, an investigation that is not ended or a retention period keeps something.',
    roles: deciders,
    tx: 'write',
    uses: ['caches', 'modules', 'encryption', 'erasureLedger'],
    params: SubjectParams,
    body: ErasureRequest,
    reply: [201, Erasure],
    location: ({ erasure_id }) => `/erasures/${erasure_id}`,
    links: { getErasure: { erasure_id: 'erasure_id' } },
    problems: [
      'not_found',
      'duplicate',
      'conflict',
      'erased',
      'legal_hold',
      'open_case',
      'retention',
      'person_required',
      'content_corrupt',
    ],
  }).handle(async ({ tx, params, body, actor, audit, kernel }) => {
    expectDecider(actor.principal)
    expectLedger(kernel)
    const subject = assertFound(await lockSubject(tx, params.subject_id))
    if (subject.erased_at !== null) fail('erased')
    const { subject_id } = subject
    const { also = [], reason } = body
    assertErasable(await previewErasure(kernel, tx, { subject_id }))
    audit.names(await assertReviewed(kernel, tx, { subject_id, also }))
    const row = { erasure_id: uuidv7(), subject_id, reason, also, requested_by: actor.principal }
    const erasure = assertFound(await insertErasure(tx, row))
    audit.recordDiff(null, { erasure_id: erasure.erasure_id, state: erasure.state })
    const object_id = erasure.erasure_id
    await emit(tx, erasureRequested, { object_id, restriction_id: null, data: { subject_id } })
    return erasure
  }),

  tenantRoute('GET /erasures', {
    id: 'listErasures',
    summary: 'Erasures of subjects, newest first',
    roles: readers,
    tx: 'read',
    uses: ['cursors', 'modules'],
    query: ErasureQuery,
    reply: [200, ErasurePage],
  }).handle(async (input) => {
    const page = await paginate(input, 'listErasures', ['requested_at', 'erasure_id'], (after, count) =>
      listErasures(input.tx, input.query, after, count),
    )
    return { ...page, items: await hideNamedRows(input.kernel, input.tx, page.items) }
  }),

  tenantRoute('GET /erasures/:erasure_id', {
    id: 'getErasure',
    summary: 'Get an erasure',
    roles: readers,
    tx: 'read',
    uses: ['modules'],
    params: ErasureParams,
    reply: [200, Erasure],
    problems: ['not_found'],
  }).handle(({ tx, params, kernel }) => viewErasure(kernel, tx, params.erasure_id)),

  tenantRoute('POST /erasures/:erasure_id/confirm', {
    id: 'confirmErasure',
    summary: 'Confirm an erasure that another person requested, and start it',
    description: 'What is erased cannot be brought back. Holds and retention periods are looked at again.',
    roles: deciders,
    tx: 'write',
    uses: ['caches', 'modules', 'encryption', 'jobs', 'erasureLedger'],
    params: ErasureParams,
    reply: [202, JobView],
    starts: SUBJECT_ERASURE,
    problems: [
      ...(['not_found', 'transition_not_allowed', 'approval_own_request', 'person_required'] as const),
      ...(['conflict', 'legal_hold', 'open_case', 'retention', 'not_finished', 'content_corrupt'] as const),
    ],
  }).handle(async ({ tx, params, actor, audit, kernel }) => {
    expectDecider(actor.principal)
    expectLedger(kernel)
    const erasure = assertFound(await lockErasure(tx, params.erasure_id))
    assertRequested(erasure)
    if (erasure.requested_by === actor.principal)
      fail('approval_own_request', 'Nobody confirms their own request; another person must.')
    const { erasure_id, subject_id, also } = erasure
    await lockSubject(tx, subject_id)
    const preview = await previewErasure(kernel, tx, { subject_id, also })
    assertErasable(preview)
    const subject = await collectMarks(kernel, tx, subject_id, also)
    if (await hasPlainItems(tx, subject))
      fail('not_finished', 'Batches of an earlier release are being encrypted. Confirm it again when that is done.')
    const job_id = uuidv7()
    await updateConfirmed(tx, erasure_id, job_id, preview)
    // From here on nobody can place a hold: one that was placed since the preview counts.
    await assertNothingKept(kernel, tx, subject)
    audit.recordDiff({ state: 'requested' }, { state: 'executing', subject_id })
    const resource = `/api/erasures/${erasure_id}` as const
    return kernel.jobs.enqueue(tx, { job_id, kind: SUBJECT_ERASURE, payload: { erasure_id }, resource, unit: 'steps' })
  }),

  tenantRoute('POST /erasures/:erasure_id/withdraw', {
    id: 'withdrawErasure',
    summary: 'Withdraw an erasure that waits to be confirmed',
    roles: deciders,
    tx: 'write',
    uses: ['modules', 'encryption'],
    params: ErasureParams,
    reply: [200, Erasure],
    problems: ['not_found', 'transition_not_allowed', 'person_required', 'content_corrupt'],
  }).handle(async ({ tx, params, actor, audit, kernel }) => {
    expectDecider(actor.principal)
    const { erasure_id, ...erasure } = assertFound(await lockErasure(tx, params.erasure_id))
    assertRequested(erasure)
    audit.names(await findNamedRows(kernel, tx, erasure))
    audit.recordDiff({ state: 'requested' }, { state: 'withdrawn' })
    await updateWithdrawn(tx, erasure_id)
    return viewErasure(kernel, tx, erasure_id)
  }),

  tenantRoute('GET /erasures/:erasure_id/certificate', {
    id: 'getErasureCertificate',
    summary: 'The signed certificate of an erasure that is done',
    description:
      'Verify it with: npx probity verify erasure FILE. It names the day by which older backups expire, where the operator has said it. Rows ' +
      'with a restriction are counted in annexes.',
    roles: readers,
    tx: 'read',
    params: ErasureParams,
    reply: [200, ErasureCertificate],
    problems: ['not_found', 'not_finished'],
  }).handle(async ({ tx, params }) => {
    const { certificate } = assertFound(await findCertificate(tx, params.erasure_id))
    if (certificate === null) fail('not_finished')
    return { ...certificate, annexes: [...(await listAnnexes(tx, params.erasure_id))] }
  }),
]
