/** Citing while typing: what follows an opening bracket searches the evidence. Pure. */

export interface CitationQuery {
  /** Where the bracket is. */
  readonly start: number
  readonly query: string
}

const MAX_QUERY_CHARS = 60

/** The search that the caret is in; null outside of one. A closing bracket or a new line ends it. */
export function findCitationQuery(text: string, caret: number): CitationQuery | null {
  const start = text.lastIndexOf('[', caret - 1)
  if (start < 0 || start >= caret) return null
  const query = text.slice(start + 1, caret)
  return query.length > MAX_QUERY_CHARS || /[\]\n]/.test(query) ? null : { start, query }
}

/** The text without the search, which the citation replaces. */
export function removeCitationQuery(text: string, { start, query }: CitationQuery): string {
  const before = text.slice(0, start).replace(/ $/, '')
  return before + text.slice(start + 1 + query.length)
}

interface Item {
  readonly title: string | null
  readonly source: string | null
  readonly kind: string
}

/** Lower comes first: the beginning of the number or title, then that of another word, then the rest. */
function getRank(query: string, name: string, { title }: Item): number {
  const wanted = query.trim().toLowerCase()
  const text = (title ?? '').toLowerCase()
  if (name.toLowerCase() === wanted || text.startsWith(wanted)) return 0
  return text.split(/[^\p{L}\p{N}]+/u).some((word) => word.startsWith(wanted)) ? 1 : 2
}

/** The items that match, those whose title begins with the search first; otherwise in their order. */
export const findCited = <Found extends Item>(
  query: string,
  items: readonly Found[],
  getEvidenceName: (item: Found) => string,
): readonly Found[] =>
  items
    .filter((item) => matchesQuery(query, getEvidenceName(item), item))
    .toSorted((one, other) => getRank(query, getEvidenceName(one), one) - getRank(query, getEvidenceName(other), other))

/** Whether every word of the search is in the name of the item: its number, title, source or kind. */
export function matchesQuery(query: string, name: string, { title, source, kind }: Item): boolean {
  const text = `${name} ${title ?? ''} ${source ?? ''} ${kind}`.toLowerCase()
  return query
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}
