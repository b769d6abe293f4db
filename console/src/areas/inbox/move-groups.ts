/** The requests that move work: items under a restriction in force go in requests of their own, one for each restriction. */

/** Of one request. */
const MAX_ITEMS = 100

export interface MovableItem {
  readonly object_kind: 'alert' | 'investigation'
  readonly object_id: string
  readonly restriction_id: string | null
  readonly is_restricted: boolean
}

export function groupMoves<Item extends MovableItem>(items: readonly Item[]): Item[][] {
  const bySight = new Map<string | null, Item[]>()
  for (const item of items) {
    const sight = item.is_restricted ? item.restriction_id : null
    bySight.set(sight, [...(bySight.get(sight) ?? []), item])
  }
  return [...bySight.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / MAX_ITEMS) }, (_, n) => all.slice(n * MAX_ITEMS, (n + 1) * MAX_ITEMS)),
  )
}
