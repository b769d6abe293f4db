/** Routes of export archives of several lists at an instant. */

import type { Static } from 'typebox'
import { readStoredJson } from '#kernel/database/stored-json.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { streamReply } from '#kernel/route.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { resolver } from '#modules/definitions/index.ts'
import { readUpload } from '#modules/system/index.ts'

import { type ExportRow, findExport, insertExport } from './queries.ts'
import { ExportParams, ExportRequest, ExportView } from './schema.ts'

const exporters = ['policy_editor', 'compliance_officer', 'auditor', 'service'] as const

const toExportView = ({ upload_id, parameters: _, ...row }: ExportRow) => ({
  ...row,
  manifest: readStoredJson<Static<typeof ExportView>['manifest']>(row.manifest),
  content: upload_id === null ? null : `/api/reference-data/exports/${row.export_id}/content`,
})

export const exportRoutes = [
  tenantRoute('POST /reference-data/exports', {
    id: 'startExport',
    summary: 'Export several lists, or all, as of an instant, as one archive with a manifest',
    roles: exporters,
    tx: 'write',
    uses: ['jobs'],
    body: ExportRequest,
    reply: [202, JobView],
    starts: 'dataset-export',
    problems: ['not_found', 'nothing_in_force'],
  }).handle(async ({ tx, body, kernel }) => {
    if (body.list_keys) await resolver.resolveVersions(tx, body.list_keys, body)
    const [export_id, job_id] = [uuidv7(), uuidv7()]
    const job = await kernel.jobs.enqueue(tx, {
      job_id,
      kind: 'dataset-export',
      payload: { export_id },
      resource: `/api/reference-data/exports/${export_id}`,
      unit: 'lists',
    })
    const parameters = { ...body, format: body.format ?? 'ndjson', formula_guard: body.formula_guard ?? true }
    await insertExport(tx, { export_id, job_id, parameters })
    return job
  }),

  tenantRoute('GET /reference-data/exports/:export_id', {
    id: 'getExport',
    summary: 'State and manifest of an archive, and where to download it',
    roles: exporters,
    tx: 'one',
    params: ExportParams,
    reply: [200, ExportView],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => toExportView(assertFound(await findExport(tx, params.export_id)))),

  tenantRoute('GET /reference-data/exports/:export_id/content', {
    id: 'getExportContent',
    summary: 'Download an archive',
    roles: exporters,
    tx: 'self',
    params: ExportParams,
    reply: [200, streamReply('application/zip', 'One file per list and manifest.json.')],
    headers: () => ({ 'content-disposition': 'attachment; filename="lists.zip"' }),
    problems: ['not_found', 'not_finished'],
  }).handle(async ({ read, params }) => {
    const row = assertFound(await read((tx) => findExport(tx, params.export_id)))
    return row.upload_id === null ? fail('not_finished') : readUpload(read, row.upload_id)
  }),
]
