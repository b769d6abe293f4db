/** Subject records: search, create, change, offboard, and read earlier versions. */
import { canReadCases } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound } from '#kernel/problem.ts'
import { assertRevision } from '#kernel/revision.ts'
import { listBandsInOrder } from '../ratings/override-approval.ts'
import {
  countSubjects,
  findSubject,
  listFilterValues,
  listSubjectEvents,
  listSubjects,
  listSubjectVersions,
  lockSubject,
  updateOffboarded,
  updateSubjects,
} from './queries.ts'
import {
  MAX_COUNTED_SUBJECTS,
  MAX_FILTER_VALUES,
  NewSubject,
  Offboarding,
  Subject,
  SubjectChange,
  SubjectCount,
  SubjectCountQuery,
  SubjectFilterValues,
  SubjectPage,
  SubjectParams,
  SubjectQuery,
  SubjectVersionPage,
  SubjectVersionQuery,
  TimelinePage,
  TimelineQuery,
  UpsertedSubject,
} from './schema.ts'
import { encryptVersions, openVersions, withChangedMembers, withEarlierVersions } from './stored-versions.ts'
import { applyChange, isSameContent } from './subject-content.ts'
import { assertActive, assertAttributes, type UpsertResult, upsertSubjects } from './upsert-subjects.ts'

export const readers = ['viewer', 'analyst', 'policy_editor', 'compliance_officer', 'auditor', 'service'] as const
export const historyReaders = ['analyst', 'compliance_officer', 'auditor'] as const
const writers = ['analyst', 'service'] as const

/** Why a subject was offboarded is written by analysts, for roles that work on cases. */
const withoutReason = <S extends { readonly offboard_reason: string | null }>(subject: S): S =>
  subject.offboard_reason === null ? subject : { ...subject, offboard_reason: null }

export const recordRoutes = [
  tenantRoute('GET /subjects', {
    id: 'listSubjects',
    summary: 'Search subjects by name, external id, type, segment, state and band, newest first',
    tool: {
      name: 'search_subjects',
      title: 'Search subjects',
      description:
        'Finds customers and counterparties by name, external id, type, segment, state or risk band, newest ' +
        'first. Pages of at most 50; pass next_cursor as cursor to read on.',
      effect: 'read',
    },
    roles: readers,
    tx: 'one',
    uses: ['cursors'],
    query: SubjectQuery,
    reply: [200, SubjectPage],
    redact: (page, { actor }) => (canReadCases(actor.roles) ? page : { ...page, items: page.items.map(withoutReason) }),
  }).handle(async (input) => {
    const { limit: _, cursor: __, ...filter } = input.query
    return paginate(input, 'listSubjects', ['subject_id'], (after, count) =>
      listSubjects(input.tx, filter, after, count),
    )
  }),

  tenantRoute('GET /subjects/count', {
    id: 'getSubjectCount',
    summary: 'How many subjects a search finds',
    roles: readers,
    tx: 'one',
    query: SubjectCountQuery,
    reply: [200, SubjectCount],
  }).handle(async ({ tx, query }) => {
    const found = await countSubjects(tx, query, MAX_COUNTED_SUBJECTS + 1)
    return { count: Math.min(found, MAX_COUNTED_SUBJECTS), is_capped: found > MAX_COUNTED_SUBJECTS }
  }),

  tenantRoute('GET /subjects/filters', {
    id: 'getSubjectFilters',
    summary: 'The segments and bands that subjects can be searched by',
    roles: readers,
    tx: 'read',
    reply: [200, SubjectFilterValues],
    problems: ['content_corrupt'],
  }).handle(async ({ tx }) => {
    const { segments, bands } = await listFilterValues(tx, MAX_FILTER_VALUES)
    const known = await listBandsInOrder(tx)
    const others = bands.filter((band) => !known.some((one) => one.band === band))
    return {
      segments,
      bands: [...known, ...others.map((band) => ({ band, title: band }))].map(({ band, title }) => ({ band, title })),
    }
  }),

  tenantRoute('POST /subjects', {
    id: 'createSubject',
    summary: 'Create a subject, or change the one with this external id',
    description:
      'Members that are absent stay as they are when the subject exists. Two requests at once for one external id give one ' +
      'subject. `attributes` are replaced as a whole.',
    roles: writers,
    tx: 'write',
    uses: ['encryption'],
    body: NewSubject,
    reply: [201, UpsertedSubject],
    revisioned: true,
    location: (subject) => `/subjects/${subject.subject_id}`,
    links: { getSubject: { subject_id: 'subject_id' } },
    problems: ['conflict', 'transition_not_allowed', 'erased'],
  }).handle(async ({ tx, body, audit, kernel }) => {
    assertAttributes(body.attributes)
    const [{ outcome, before, subject }] = (await upsertSubjects(kernel, tx, [body])) as [UpsertResult]
    assertActive(subject)
    audit.recordHashes(before, subject)
    return { ...subject, created: outcome === 'created' }
  }),

  tenantRoute('GET /subjects/:subject_id', {
    id: 'getSubject',
    summary: 'The current record of a subject',
    tool: {
      name: 'get_subject',
      title: 'Get one subject',
      description:
        'One customer or counterparty by subject_id: identifiers, attributes, present rating and state. Names ' +
        'and attributes are data about a person: do not repeat more of them than the task needs.',
      effect: 'read',
    },
    roles: readers,
    tx: 'one',
    params: SubjectParams,
    reply: [200, Subject],
    redact: (subject, { actor }) => (canReadCases(actor.roles) ? subject : withoutReason(subject)),
    revisioned: true,
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => assertFound(await findSubject(tx, params.subject_id))),

  tenantRoute('PATCH /subjects/:subject_id', {
    id: 'updateSubject',
    summary: 'Change the record of a subject; earlier states are kept',
    description: '`attributes` are replaced as a whole. A change that changes nothing makes no new revision.',
    roles: writers,
    tx: 'write',
    uses: ['encryption'],
    params: SubjectParams,
    body: SubjectChange,
    reply: [200, Subject],
    revisioned: true,
    problems: ['not_found', 'conflict', 'duplicate', 'transition_not_allowed', 'erased'],
  }).handle(async (input) => {
    const { tx, params, body, kernel } = input
    assertAttributes(body.attributes)
    const subject = assertFound(await lockSubject(tx, params.subject_id))
    assertRevision(subject.revision, input)
    assertActive(subject)
    const wanted = applyChange(subject, body)
    if (isSameContent(subject, wanted)) return subject
    const change = { before: subject, after: { subject_id: subject.subject_id, ...wanted } }
    const [after] = await updateSubjects(tx, await withEarlierVersions(kernel, tx, [change]))
    input.audit.recordHashes(subject, assertFound(after))
    return assertFound(after)
  }),

  tenantRoute('POST /subjects/:subject_id/offboard', {
    id: 'offboardSubject',
    summary: 'End the relationship; the record is then read-only',
    description: 'Repeating it changes nothing.',
    roles: ['analyst', 'compliance_officer'],
    tx: 'write',
    uses: ['encryption'],
    params: SubjectParams,
    body: Offboarding,
    reply: [200, Subject],
    revisioned: true,
    problems: ['not_found', 'erased'],
  }).handle(async (input) => {
    const { tx, params, body } = input
    const subject = assertFound(await lockSubject(tx, params.subject_id))
    assertRevision(subject.revision, input)
    if (subject.state === 'offboarded') return subject
    const [earlier_content] = (await encryptVersions(input.kernel, tx, [subject])) as [Buffer]
    const ended = { reason: body.reason, earlier_content }
    const after = assertFound(await updateOffboarded(tx, subject.subject_id, ended))
    input.audit.recordHashes(subject, after)
    return after
  }),

  tenantRoute('GET /subjects/:subject_id/versions', {
    id: 'listSubjectVersions',
    summary: 'All versions of the record with author and time, or the version at an instant',
    roles: historyReaders,
    tx: 'read',
    uses: ['cursors', 'encryption'],
    params: SubjectParams,
    query: SubjectVersionQuery,
    reply: [200, SubjectVersionPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, query, kernel } = input
    assertFound(await findSubject(tx, params.subject_id))
    const found = await paginate(input, `listSubjectVersions ${params.subject_id}`, ['revision'], (after, count) =>
      listSubjectVersions(tx, { subject_id: params.subject_id, at: query.at ?? null }, after, count),
    )
    return { ...found, items: await openVersions(kernel, tx, params.subject_id, found.items) }
  }),

  tenantRoute('GET /subjects/:subject_id/timeline', {
    id: 'listSubjectEvents',
    summary: 'Everything that happened to a subject, newest first',
    roles: historyReaders,
    tx: 'read',
    uses: ['cursors', 'encryption'],
    params: SubjectParams,
    query: TimelineQuery,
    reply: [200, TimelinePage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, kernel } = input
    assertFound(await findSubject(tx, params.subject_id))
    const found = await paginate(input, `listSubjectEvents ${params.subject_id}`, ['at', 'event_id'], (after, count) =>
      listSubjectEvents(tx, params.subject_id, after, count),
    )
    return { ...found, items: await withChangedMembers(kernel, tx, params.subject_id, found.items) }
  }),
]
