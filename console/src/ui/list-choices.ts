/** Lists as choices of a picker. An own list and a shared list can have one key, and a picker takes each value once. Pure. */
import type { Dataset } from './registry-queries.ts'

type ListIdentity = Pick<Dataset, 'list_key' | 'title' | 'active' | 'origin'>

/** The list with the highest rank is used for a key: one in force before one that is not, then the tenant's own. */
const getRank = ({ active, origin }: ListIdentity): number => (active === null ? 0 : 2) + (origin === 'own' ? 1 : 0)

/** One list per key, in the given order. */
export function pickListPerKey<L extends ListIdentity>(lists: readonly L[]): L[] {
  const byKey = new Map<string, L>()
  for (const list of lists) {
    const other = byKey.get(list.list_key)
    if (!other || getRank(list) > getRank(other)) byKey.set(list.list_key, list)
  }
  return [...byKey.values()]
}
