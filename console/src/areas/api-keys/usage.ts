/** Aggregates usage counts by day and by operation. */
import type { Schemas } from '@probity/client'

export type UsageItem = Schemas['ApiKeyUsage']['items'][number]

interface UsageSum {
  readonly calls: number
  readonly refused: number
}

function sumBy(items: readonly UsageItem[], by: 'used_on' | 'operation'): Map<string, UsageSum> {
  const found = new Map<string, UsageSum>()
  for (const item of items) {
    const before = found.get(item[by]) ?? { calls: 0, refused: 0 }
    const refused = item.status >= 400 ? item.calls : 0
    found.set(item[by], { calls: before.calls + item.calls, refused: before.refused + refused })
  }
  return found
}

export const sumByOperation = (items: readonly UsageItem[]): (UsageSum & { readonly operation: string })[] =>
  [...sumBy(items, 'operation')]
    .map(([operation, sum]) => ({ operation, ...sum }))
    .sort((one, two) => two.calls - one.calls)

/** All of the last 31 days, including those without calls. */
export function sumByDay(
  items: readonly UsageItem[],
  today: Date,
): { day: string; accepted: number; refused: number }[] {
  const found = sumBy(items, 'used_on')
  return Array.from({ length: 31 }, (_, place) => {
    const day = new Date(today.getTime() - (30 - place) * 86_400_000).toISOString().slice(0, 10)
    const { calls, refused } = found.get(day) ?? { calls: 0, refused: 0 }
    return { day, accepted: calls - refused, refused }
  })
}
