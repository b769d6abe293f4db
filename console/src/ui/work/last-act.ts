/** The last act on a case as a whole, among what people did with it. Pure. */

const acts = ['proposed', 'withdrawn', 'returned', 'closed', 'reopened', 'merged']

/** Newest first, as the timeline lists them. */
export const findLastAct = <Entry extends { readonly kind: string }>(
  newestFirst: readonly Entry[],
): Entry | undefined => newestFirst.find(({ kind }) => acts.includes(kind))
