/** How much a provider is used, and what that costs. */
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { documentStore } from '#modules/definitions/index.ts'
import { PROVIDER_FAMILY } from '#modules/provider-credentials/index.ts'
import { formatCost } from '../call-view.ts'
import { findCapability, isUncharged } from '../capability.ts'
import { loadManifest } from '../load-call.ts'
import { ProviderParams, ProviderUsage, UsageQuery } from '../schema.ts'
import { type DayRange, listUsage, listUsageDays, type UsageCounts, type UsageRow } from './queries.ts'

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
    const items = await getUsageItems(kernel, tx, provider_key, { from, to })
    return { provider_key, from, to, items, days }
  }),
]

/** By capability and currency, over all versions: each version says for itself what it charges. */
async function getUsageItems(kernel: Capabilities<'caches'>, tx: Tx, provider_key: string, range: DayRange) {
  const items = new Map<string, UsageCounts & Pick<UsageRow, 'capability' | 'currency' | 'cost_minor'>>()
  for (const row of await listUsage(tx, provider_key, range)) {
    const { capability, currency, provider_origin, provider_version } = row
    const manifest = await loadManifest(kernel, tx, { provider_key, provider_origin, provider_version })
    const declared = findCapability(manifest, capability)
    const uncharged_minor = declared && isUncharged(declared, 'failed') ? row.unanswered_minor : 0
    const id = `${capability} ${currency}`
    const known = items.get(id)
    items.set(id, {
      ...{ capability, currency },
      sent: row.sent + (known?.sent ?? 0),
      answered: row.answered + (known?.answered ?? 0),
      failed: row.failed + (known?.failed ?? 0),
      refused: row.refused + (known?.refused ?? 0),
      unknown: row.unknown + (known?.unknown ?? 0),
      cost_minor: row.cost_minor - uncharged_minor + (known?.cost_minor ?? 0),
    })
  }
  return [...items.values()].map(({ cost_minor, currency, ...item }) => ({
    ...item,
    cost: formatCost(cost_minor, currency),
  }))
}

const toDate = (at_ms: number): string => new Date(at_ms).toISOString().slice(0, 10)
