/** Results of a batch: items, summary, file and explanations. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { fileMediaTypes, streamReply } from '#kernel/route.ts'
import { redactDecision } from '#modules/evaluations/index.ts'
import { findBatch, listItems, tallyItems } from '../queries.ts'
import {
  BatchItemPage,
  BatchItemParams,
  BatchItemQuery,
  BatchParams,
  BatchSummary,
  ContentQuery,
  ItemExplanation,
} from '../schema.ts'
import { openItems } from '../stored-items.ts'
import { summarizeBatch, toItemView } from './batch-views.ts'
import { explainItem, exportItems } from './read-results.ts'

const readers = ['analyst', 'compliance_officer', 'auditor', 'service'] as const

export const resultRoutes = [
  tenantRoute('GET /batch-evaluations/:batch_id/items', {
    id: 'listBatchItems',
    summary: 'Result of each item, filterable by band, state and change of rating',
    roles: readers,
    tx: 'read',
    uses: ['cursors', 'encryption'],
    params: BatchParams,
    query: BatchItemQuery,
    reply: [200, BatchItemPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params } = input
    assertFound(await findBatch(tx, params.batch_id))
    const { limit: _limit, cursor: _cursor, ...filter } = input.query
    const items = await paginate(input, `listBatchItems ${params.batch_id}`, ['seq'], (after, count) =>
      listItems(tx, params.batch_id, filter, { after_seq: Number(after?.[0] ?? 0), count }),
    )
    const opened = await openItems(input.kernel, tx, params.batch_id, items.items)
    return { ...items, items: opened.map(toItemView) }
  }),

  tenantRoute('GET /batch-evaluations/:batch_id/items/:seq/explanation', {
    id: 'getBatchItemExplanation',
    summary: 'Why one item was decided as it was, and on which versions',
    description:
      'This is the replay of an item: it is decided again with the versions the batch pinned, and returned only when the document is ' +
      'identical byte by byte. A batch stores the hash of the document of an item, not the document.',
    roles: readers,
    tx: 'read',
    uses: ['caches', 'encryption', 'metrics', 'plugin_policy', 'threads'],
    params: BatchItemParams,
    reply: [200, ItemExplanation],
    redact: redactDecision,
    problems: ['not_found', 'transition_not_allowed', 'content_corrupt'],
  }).handle(async ({ tx, params, kernel }) => {
    return explainItem(kernel, tx, params.batch_id, Number(params.seq))
  }),

  tenantRoute('GET /batch-evaluations/:batch_id/summary', {
    id: 'getBatchSummary',
    summary: 'Distribution over bands, migration against the ratings before, failures by kind',
    roles: ['analyst', 'compliance_officer', 'auditor'],
    tx: 'read',
    params: BatchParams,
    reply: [200, BatchSummary],
    problems: ['not_found'],
  }).handle(async ({ tx, params }) => {
    const batch = assertFound(await findBatch(tx, params.batch_id))
    return summarizeBatch(batch, await tallyItems(tx, params.batch_id))
  }),

  tenantRoute('GET /batch-evaluations/:batch_id/content', {
    id: 'getBatchContent',
    summary: 'Download all items as CSV or NDJSON',
    roles: readers,
    tx: 'self',
    uses: ['encryption'],
    params: BatchParams,
    query: ContentQuery,
    reply: [
      200,
      streamReply([fileMediaTypes.csv, fileMediaTypes.ndjson], 'One item a line, in the format asked for.', {
        [fileMediaTypes.ndjson]: '{"seq":1,"external_id":"batch-1","state":"done","band":"high","score_bps":5500}\n',
      }),
    ],
    problems: ['not_found', 'not_finished'],
  }).handle(async ({ read, params, query, kernel }) => {
    const { state } = assertFound(await read((tx) => findBatch(tx, params.batch_id)))
    if (state === 'queued' || state === 'running') fail('not_finished')
    const { format = 'csv', formula_guard = true } = query
    const named = { file_name: `batch-${params.batch_id}.${format}`, media_type: fileMediaTypes[format] }
    return Object.assign(exportItems(kernel, read, params.batch_id, { format, formula_guard }), named)
  }),
]
