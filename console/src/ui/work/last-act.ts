/** The last act on a case as a whole, among what people did with it, and who worked on it before. Pure. */

const acts = ['proposed', 'withdrawn', 'returned', 'closed', 'reopened', 'merged']

/** Newest first, as the timeline lists them. */
export const findLastAct = <Entry extends { readonly kind: string }>(
  newestFirst: readonly Entry[],
): Entry | undefined => newestFirst.find(({ kind }) => acts.includes(kind))

interface WorkEntry {
  readonly kind: string
  readonly recorded_by: string
  readonly data: Readonly<Record<string, unknown>>
}

/** Whom the case was assigned to, or who proposed its outcome, before its last act; null where nobody was. */
export function findEarlierWorker(newestFirst: readonly WorkEntry[]): string | null {
  const last = findLastAct(newestFirst)
  const earlier = last === undefined ? newestFirst : newestFirst.slice(newestFirst.indexOf(last) + 1)
  const found = earlier.find(({ kind }) => kind === 'assigned' || kind === 'proposed')
  if (found === undefined) return null
  return found.kind === 'assigned' ? String(found.data['assignee']) : found.recorded_by
}
