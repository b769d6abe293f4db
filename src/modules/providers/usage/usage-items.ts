/** What requests to a provider cost, as far as the caller may see them. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { findCapability, isUncharged } from '../capability.ts'
import { loadManifest } from '../load-call.ts'
import { type DayRange, listUsage, type UsageCounts, type UsageRow } from './queries.ts'

type UsageItem = UsageCounts & Pick<UsageRow, 'capability' | 'currency' | 'cost_minor'>

/** By capability and currency, over all versions: each version says for itself what it charges. */
export async function listUsageItems(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  provider_key: string,
  range: DayRange,
): Promise<UsageItem[]> {
  const items = new Map<string, UsageItem>()
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
  return [...items.values()]
}
