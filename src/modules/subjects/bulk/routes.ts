/** Bulk import of subjects from a file: start it, read its progress, list rejected rows. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { claimUpload } from '#modules/system/index.ts'
import { NO_COUNTS } from './file-rows.ts'
import { bulkOptionFaults } from './import-subjects.ts'
import { findBulk, insertBulk, listBulkRejects, listRejectGroups } from './queries.ts'
import { Bulk, BulkParams, BulkRejectPage, BulkRejectQuery, BulkRequest, MAX_REJECT_GROUPS } from './schema.ts'

const watchers = ['analyst', 'compliance_officer', 'auditor', 'service'] as const

export const bulkRoutes = [
  tenantRoute('POST /subjects/bulk', {
    id: 'startSubjectBulk',
    summary: 'Create and change many subjects from an uploaded CSV or NDJSON file',
    description:
      'Each row is taken as POST /subjects takes its body; in CSV the columns `attributes.x`, and other columns named like an ' +
      'input, are the attributes, as text unless a mapping says otherwise. A file that cannot be read to its end changes nothing. A row that is not valid, or ' +
      'uses an external id again, is rejected, and the others are taken.',
    roles: ['analyst', 'service'],
    tx: 'write',
    uses: ['jobs'],
    body: BulkRequest,
    reply: [202, JobView],
    starts: 'subject-bulk',
    problems: ['not_found', 'upload_incomplete', 'definition_invalid'],
  }).handle(async ({ tx, body, kernel }) => {
    const options = body.options ?? {}
    const faults = bulkOptionFaults(body.format, options)
    const [first] = faults
    if (first) {
      fail('definition_invalid', {
        detail: `The options do not fit the format ${body.format}: ${first.pointer || 'the value'} ${first.detail}.`,
        errors: faults.map(({ pointer, detail }) => ({ in: 'body', pointer: `#/options${pointer}`, detail })),
      })
    }
    const { file_name, size_bytes } = await claimUpload(tx, body.upload_id)
    const [bulk_id, job_id] = [uuidv7(), uuidv7()]
    const job = await kernel.jobs.enqueue(tx, {
      job_id,
      kind: 'subject-bulk',
      payload: { bulk_id },
      resource: `/api/subjects/bulk/${bulk_id}`,
      unit: 'rows',
    })
    await insertBulk(tx, {
      bulk_id,
      job_id,
      upload_id: body.upload_id,
      format: body.format,
      options,
      source: { file_name, size_bytes },
      counts: NO_COUNTS,
    })
    return job
  }),

  tenantRoute('GET /subjects/bulk/:bulk_id', {
    id: 'getSubjectBulk',
    summary: 'Progress of a bulk upload of subjects, with exact counts',
    roles: watchers,
    tx: 'one',
    params: BulkParams,
    reply: [200, Bulk],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => {
    const { upload_id: _, options: __, kept: ___, ...bulk } = assertFound(await findBulk(tx, params.bulk_id))
    return bulk
  }),

  tenantRoute('GET /subjects/bulk/:bulk_id/rejects', {
    id: 'listSubjectBulkRejects',
    summary: 'Rejected rows with location and reason',
    roles: watchers,
    tx: 'read',
    uses: ['cursors'],
    params: BulkParams,
    query: BulkRejectQuery,
    reply: [200, BulkRejectPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params } = input
    const { counts, kept } = assertFound(await findBulk(tx, params.bulk_id))
    const rejects = await paginate(input, `listSubjectBulkRejects ${params.bulk_id}`, ['seq'], (after, count) =>
      listBulkRejects(tx, params.bulk_id, after, count),
    )
    const groups = input.query.cursor === undefined ? await listRejectGroups(tx, params.bulk_id, MAX_REJECT_GROUPS) : []
    return { ...rejects, groups, faults: counts.faults, truncated: kept < counts.faults }
  }),
]
