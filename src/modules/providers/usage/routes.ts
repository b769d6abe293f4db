/** How much a provider is used, and what that costs. */
import { tenantRoute } from '#kernel/declare-route.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { documentStore } from '#modules/definitions/index.ts'
import { PROVIDER_FAMILY } from '#modules/provider-credentials/index.ts'
import { formatCost } from '../call-view.ts'
import { ProviderParams, ProviderUsage, UsageQuery } from '../schema.ts'
import { listUsageDays } from './queries.ts'
import { listUsageItems } from './usage-items.ts'

export const usageRoutes: readonly Route[] = [
  tenantRoute('GET /providers/:provider_key/usage', {
    id: 'getProviderUsage',
    summary: 'Requests that were sent and what they cost, by capability',
    description:
      'Every request that was sent counts, whether or not it was answered. Where the manifest states its cost per answer, requests ' +
      'that failed or were refused cost nothing; one whose outcome is unknown counts as charged.',
    roles: ['tenant_admin', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['caches'],
    params: ProviderParams,
    query: UsageQuery,
    reply: [200, ProviderUsage],
    problems: ['not_found', 'conflict'],
  }).handle(async ({ tx, kernel, params: { provider_key }, query }) => {
    assertFound(await documentStore.findDefinition(tx, PROVIDER_FAMILY, provider_key))
    const to = query.to ?? toDate(Date.now())
    const from = query.from ?? toDate(Date.parse(to) - 29 * 86_400_000)
    if (from > to) fail('conflict', 'from is later than to.')
    const days = await listUsageDays(tx, provider_key, { from, to })
    const items = (await listUsageItems(kernel, tx, provider_key, { from, to })).map(toItem)
    return { provider_key, from, to, items, days }
  }),
]

const toDate = (at_ms: number): string => new Date(at_ms).toISOString().slice(0, 10)

const toItem = ({ cost_minor, currency, ...item }: Awaited<ReturnType<typeof listUsageItems>>[number]) => ({
  ...item,
  cost: formatCost(cost_minor, currency),
})
