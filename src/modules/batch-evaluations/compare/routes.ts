/** Comparing two batches. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { BatchComparison, CompareParams, CompareQuery } from '../schema.ts'
import {
  countTotals,
  findChangedVersions,
  listDifferentPairs,
  loadSides,
  toVersionChangeView,
} from './compare-batches.ts'

export const compareRoutes = [
  tenantRoute('GET /batch-evaluations/:batch_id/compare/:other_batch_id', {
    id: 'diffBatchEvaluations',
    summary: 'What changed between two batches, and because of which version',
    description:
      'Items are the same when they are about the same subject or external id. The earlier batch comes first.',
    roles: ['compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['caches', 'cursors', 'encryption', 'metrics', 'plugin_policy', 'threads'],
    params: CompareParams,
    query: CompareQuery,
    reply: [200, BatchComparison],
    problems: ['not_found', 'conflict', 'content_corrupt'],
  }).handle(async (input) => {
    const { tx, kernel, params } = input
    const { batch_id, other_batch_id } = params
    const sides = await loadSides(kernel, tx, batch_id, other_batch_id)
    const route = `diffBatchEvaluations ${batch_id} ${other_batch_id}`
    const { items, next_cursor } = await paginate(input, route, ['key'], (after, count) =>
      listDifferentPairs(kernel, tx, sides, {
        ids: [batch_id, other_batch_id],
        after: (after?.[0] as string | undefined) ?? null,
        count,
      }),
    )
    return {
      batch_id,
      other_batch_id,
      versions: findChangedVersions(sides).map(toVersionChangeView),
      ...(await countTotals(tx, sides, batch_id, other_batch_id)),
      items: items.map(({ key: _, ...pair }) => pair),
      next_cursor,
    }
  }),
]
