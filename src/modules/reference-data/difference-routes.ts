/** Routes of the differences between two versions of a list, and of their summary. */
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { JobView } from '#kernel/job/schema.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { datasetStore, registrySchemas, versionStore } from '#modules/definitions/index.ts'
import { SummaryRequest } from './versions/schema.ts'

export const differenceRoutes = [
  tenantRoute('GET /reference-data/datasets/:list_key/diff', {
    id: 'diffDatasetVersions',
    summary: 'Added, removed and changed entries between two versions, field by field',
    description:
      'Either direction, by number or label. The summary comes with the first page; where more than 1,000 keys differ it is ' +
      'counted once, after publication or by `POST …/diff-summaries`, and `summary_state` says how far it is.',
    tool: {
      name: 'compare_list_versions',
      title: 'Compare list versions',
      description:
        'Entries added, removed and changed between two versions of a list, field by field. Use it to review ' +
        'a change before proposing that a version is put in force.',
      effect: 'read',
      omit: ['format'],
    },
    roles: everyone,
    tx: 'read',
    uses: ['cursors'],
    params: registrySchemas.ListKeyParams,
    query: registrySchemas.DifferenceQuery,
    reply: [200, registrySchemas.DifferencePage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const dataset = assertFound(
      await datasetStore.findDataset(input.tx, input.params.list_key, 'list', input.query.origin),
    )
    return {
      list_key: dataset.list_key,
      ...(await versionStore.getDifferencePage(input, 'diffDatasetVersions', dataset)),
    }
  }),

  tenantRoute('POST /reference-data/datasets/:list_key/diff-summaries', {
    id: 'startDifferenceSummary',
    summary: 'Count what differs between two versions by kind and by field',
    description: 'The count is stored with the pair of versions; the first page of their difference then has it.',
    roles: everyone,
    tx: 'write',
    uses: ['jobs'],
    params: registrySchemas.ListKeyParams,
    body: SummaryRequest,
    reply: [202, JobView],
    starts: 'difference-summary',
    problems: ['not_found'],
  }).handle(async ({ tx, params, body, kernel }) => {
    const dataset = assertFound(await datasetStore.findDataset(tx, params.list_key, 'list', body.origin))
    const getVersionNumber = async (name: string) =>
      (await versionStore.findVersion(tx, dataset, name))?.version ??
      fail('not_found', `One of the two is no version of ${dataset.list_key}.`)
    const [from, to] = [await getVersionNumber(body.from), await getVersionNumber(body.to)]
    return kernel.jobs.enqueue(tx, {
      kind: 'difference-summary',
      payload: { tenant_id: dataset.tenant_id, dataset_id: dataset.dataset_id, from, to },
      resource: `/api/reference-data/datasets/${dataset.list_key}/diff?from=${from}&to=${to}`,
      unit: 'keys',
    })
  }),
]
