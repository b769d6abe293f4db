/** The append-only, hash-chained record of every change: search, one object's history, export, verify, checkpoints. */

import { listCheckpoints } from '#kernel/audit/queries.ts'
import { noteRestriction } from '#kernel/audit/restricted-object.ts'
import { readStoredJson } from '#kernel/database/stored-json.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { streamReply } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { readUpload } from '#modules/system/index.ts'
import { readOutcome } from './event-ids.ts'
import { AUDIT_VERIFICATION } from './jobs.ts'
import {
  type ActivationRecordRow,
  type AsOfRow,
  type AuditEventRow,
  findChainEndAt,
  findEvent,
  findRun,
  insertRun,
  listActors,
  listAsOf,
  listEvents,
  listObjectTypes,
  listVerifications,
  type RunRow,
} from './queries.ts'
import { listRecordedOperations } from './recorded-operations.ts'
import {
  AsOfPage,
  AsOfQuery,
  AuditEventPage,
  AuditEventParams,
  AuditEventView,
  AuditFilters,
  AuditObjectParams,
  AuditObjectQuery,
  AuditQuery,
  CheckpointPage,
  CheckpointQuery,
  ExportParams,
  ExportRequest,
  ExportView,
  MAX_FILTER_VALUES,
  VerificationPage,
  VerificationParams,
  VerificationQuery,
  VerificationRequest,
  VerificationView,
} from './schema.ts'

const examiners = ['compliance_officer', 'auditor'] as const
/** No transaction runs longer than this, so older events are complete. */
const SETTLED_MS = 60_000
const NO_FILTER = { actor: null, operation: null, object_type: null, object_id: null, from_at: null, until_at: null }

const toEventView = (event: AuditEventRow) => ({ ...event, ...readOutcome(event.detail) })

const toExportView = ({ run_id, job_id, state, report, upload_id, created_at, created_by }: RunRow) => ({
  export_id: run_id,
  job_id,
  state,
  created_at,
  created_by,
  events: (report?.['events'] as number | undefined) ?? null,
  size_bytes: (report?.['size_bytes'] as number | undefined) ?? null,
  sha256: (report?.['sha256'] as string | undefined) ?? null,
  content: upload_id === null ? null : `/api/audit/exports/${run_id}/content`,
})

const toAsOfView = (row: AsOfRow) => {
  const { version, version_known_now, overlay_version, overlay_known_now, overlay_hash, overlay_activation, ...rest } =
    row
  const isRevised = version !== version_known_now || overlay_version !== overlay_known_now
  return {
    ...rest,
    version,
    overlay:
      overlay_version === null
        ? null
        : {
            version: overlay_version,
            content_hash: overlay_hash as string,
            activation: overlay_activation as ActivationRecordRow,
          },
    known_now: isRevised ? { version: version_known_now, overlay_version: overlay_known_now } : null,
  }
}
export const auditRoutes = [
  tenantRoute('GET /audit/events', {
    id: 'listAuditEvents',
    summary: 'Search by actor, operation, object and time, newest first',
    tool: {
      name: 'search_audit',
      title: 'Search the audit record',
      description:
        'Audit events by actor, operation, object and time, newest first, tool calls included. Pages of at ' +
        'most 50; pass next_cursor as cursor to read on.',
      effect: 'read',
    },
    roles: examiners,
    tx: 'one',
    uses: ['cursors'],
    query: AuditQuery,
    reply: [200, AuditEventPage],
  }).handle(async (input) => {
    const { limit: _limit, cursor: _cursor, ...given } = input.query
    const events = await paginate(input, 'listAuditEvents', ['recorded_at', 'event_id'], (after, count) =>
      listEvents(input.tx, { ...NO_FILTER, ...given }, after, count),
    )
    return { ...events, items: events.items.map(toEventView) }
  }),

  tenantRoute('GET /audit/filters', {
    id: 'getAuditFilters',
    summary: 'The users, keys, operations and object types that events can be searched by',
    description:
      'Users and keys of the tenant, object types that occur in the record, and operations that are recorded, with what each does.',
    roles: examiners,
    tx: 'read',
    uses: ['routes', 'modules'],
    reply: [200, AuditFilters],
  }).handle(async ({ tx, kernel }) => ({
    actors: await listActors(tx, MAX_FILTER_VALUES),
    operations: listRecordedOperations(kernel),
    object_types: (await listObjectTypes(tx, MAX_FILTER_VALUES)).map(({ value }) => value),
  })),

  tenantRoute('GET /audit/events/:event_id', {
    id: 'getAuditEvent',
    summary: 'One event with its place in the chain',
    roles: examiners,
    tx: 'read',
    params: AuditEventParams,
    reply: [200, AuditEventView],
    problems: ['not_found'],
  }).handle(async (input) => {
    const event = assertFound(await findEvent(input.tx, input.params.event_id))
    await noteRestriction(input, 'audit_event', event.event_id)
    return toEventView(event)
  }),

  tenantRoute('GET /audit/as-of', {
    id: 'listConfigurationAsOf',
    summary: 'What was in force at an instant, as known then: lists, matrices, rules, and who approved',
    description:
      'Two clocks: `at` is the requested instant, `known_at` the time of knowledge. `known_now` shows where a later ' +
      'statement about that instant changes the answer.',
    roles: examiners,
    tx: 'read',
    uses: ['cursors'],
    query: AsOfQuery,
    reply: [200, AsOfPage],
  }).handle(async (input) => {
    const { at, known_at = at, family = null } = input.query
    const rows = await paginate(input, 'listConfigurationAsOf', ['family', 'key'], (after, count) =>
      listAsOf(input.tx, { valid_at: at, known_at, family }, after, count),
    )
    return {
      at,
      known_at,
      settled: Date.parse(known_at) <= Date.now() - SETTLED_MS,
      record: (await findChainEndAt(input.tx, known_at)) ?? null,
      items: rows.items.map(toAsOfView),
      next_cursor: rows.next_cursor,
    }
  }),

  tenantRoute('GET /audit/objects/:object_type/:object_id', {
    id: 'listAuditObjectEvents',
    summary: 'Full history of one object, newest first',
    roles: ['analyst', 'compliance_officer', 'auditor'],
    tx: 'one',
    uses: ['cursors'],
    params: AuditObjectParams,
    query: AuditObjectQuery,
    reply: [200, AuditEventPage],
  }).handle(async (input) => {
    const { object_type, object_id } = input.params
    // The cursor is bound to the object as well: it is part of the path, not of the query.
    const route = `listAuditObjectEvents ${object_type} ${object_id}`
    const events = await paginate(input, route, ['recorded_at', 'event_id'], (after, count) =>
      listEvents(input.tx, { ...NO_FILTER, object_type, object_id }, after, count),
    )
    return { ...events, items: events.items.map(toEventView) }
  }),

  tenantRoute('POST /audit/exports', {
    id: 'createAuditExport',
    summary: 'Export a range of the record with its proofs',
    description: 'NDJSON that `npx probity verify audit FILE` verifies offline with the public key only.',
    roles: examiners,
    tx: 'write',
    uses: ['jobs'],
    body: ExportRequest,
    reply: [202, JobView],
    starts: 'audit-export',
  }).handle(async ({ tx, body, kernel }) => {
    const run_id = uuidv7()
    const parameters = { from_at: body.from_at ?? null, until_at: body.until_at ?? null }
    const resource = `/api/audit/exports/${run_id}` as const
    const job = await kernel.jobs.enqueue(tx, { kind: 'audit-export', payload: { run_id, ...parameters }, resource })
    await insertRun(tx, { run_id, kind: 'export', job_id: job.job_id, parameters })
    return job
  }),

  tenantRoute('GET /audit/exports/:export_id', {
    id: 'getAuditExport',
    summary: 'State of an export and where to download it',
    roles: examiners,
    tx: 'one',
    params: ExportParams,
    reply: [200, ExportView],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) =>
    toExportView((await findRun(tx, params.export_id, 'export')) ?? fail('not_found')),
  ),

  tenantRoute('GET /audit/exports/:export_id/content', {
    id: 'getAuditExportContent',
    summary: 'Download an export',
    roles: examiners,
    tx: 'self',
    params: ExportParams,
    reply: [200, streamReply('application/x-ndjson', 'One JSON object a line: manifest, links, checkpoints, end.')],
    headers: () => ({ 'content-disposition': 'attachment; filename="audit.ndjson"' }),
    problems: ['not_found', 'not_finished'],
  }).handle(async ({ read, params }) => {
    const run = (await read((tx) => findRun(tx, params.export_id, 'export'))) ?? fail('not_found')
    return readUpload(read, run.upload_id ?? fail('not_finished', `The export is ${run.state}.`))
  }),

  tenantRoute('POST /audit/verify', {
    id: 'createAuditVerification',
    summary: 'Recompute the whole chain',
    roles: ['auditor'],
    tx: 'write',
    uses: ['jobs'],
    body: VerificationRequest,
    reply: [202, JobView],
    starts: AUDIT_VERIFICATION,
  }).handle(async ({ tx, kernel }) => {
    const run_id = uuidv7()
    const resource = `/api/audit/verifications/${run_id}` as const
    const job = await kernel.jobs.enqueue(tx, { kind: AUDIT_VERIFICATION, payload: { run_id }, resource })
    await insertRun(tx, { run_id, kind: 'verification', job_id: job.job_id, parameters: {} })
    return job
  }),

  tenantRoute('GET /audit/verifications', {
    id: 'listAuditVerifications',
    summary: 'Verifications of the record with their results, newest first',
    description: 'Includes the automatic verification of every tenant once a day.',
    roles: examiners,
    tx: 'one',
    uses: ['cursors'],
    query: VerificationQuery,
    reply: [200, VerificationPage],
  }).handle((input) =>
    paginate(input, 'listAuditVerifications', ['verification_id'], (after, count) =>
      listVerifications(input.tx, after, count),
    ),
  ),

  tenantRoute('GET /audit/verifications/:verification_id', {
    id: 'getAuditVerification',
    summary: 'Result of a recomputation: intact, or every fault with its place',
    roles: examiners,
    tx: 'one',
    params: VerificationParams,
    reply: [200, VerificationView],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => {
    const run = (await findRun(tx, params.verification_id, 'verification')) ?? fail('not_found')
    const { job_id, state, created_at, created_by } = run
    return { verification_id: run.run_id, job_id, state, created_at, created_by, report: readStoredJson(run.report) }
  }),

  tenantRoute('GET /audit/checkpoints', {
    id: 'listAuditCheckpoints',
    summary: 'Signed chain heads, to be kept outside the system',
    roles: examiners,
    tx: 'one',
    uses: ['cursors', 'auditKeys'],
    query: CheckpointQuery,
    reply: [200, CheckpointPage],
  }).handle(async (input) => {
    const checkpoints = await paginate(input, 'listAuditCheckpoints', ['seq'], (after, count) =>
      listCheckpoints(input.tx, Number(after?.[0] ?? 0), count),
    )
    const { public_key, key_id, earlier_keys } = input.kernel.auditKeys
    return { ...checkpoints, public_key, key_id, earlier_keys: [...earlier_keys] }
  }),
]
