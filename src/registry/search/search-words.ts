/**
 * Words of an entry and of a query, folded to ignore case, accents and width. An entry matches when every word of the query is a
 * prefix of some word of the entry, in any order.
 */

/** Longer words are truncated: a text without spaces must not fill the index. */
const MAX_WORD_UNITS = 64
const MAX_WORDS_PER_QUERY = 16

const MARKS = /\p{M}+/gu
const WORDS = /[\p{L}\p{N}]+/gu

const fold = (text: string): string => text.normalize('NFKD').replace(MARKS, '').toLowerCase()

export function splitWords(text: string): string[] {
  return (fold(text).match(WORDS) ?? []).map((word) => word.slice(0, MAX_WORD_UNITS))
}

/** All texts and numbers in a value at any depth, without names of members. */
export function* iterateTexts(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value
  else if (typeof value === 'number') yield String(value)
  else if (Array.isArray(value)) for (const item of value) yield* iterateTexts(item)
  else if (typeof value === 'object' && value !== null)
    for (const item of Object.values(value)) yield* iterateTexts(item)
}

/** The different words of an entry. */
export function collectEntryWords(entry: unknown): Set<string> {
  const words = new Set<string>()
  for (const text of iterateTexts(entry)) for (const word of splitWords(text)) words.add(word)
  return words
}

/** The words of a query without those that are prefixes of others. Empty: nothing to search for. */
export function parseQueryWords(query: string): string[] {
  const words = [...new Set(splitWords(query))].slice(0, MAX_WORDS_PER_QUERY)
  return words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)))
}

export function matchesWords(entry: unknown, words: readonly string[]): boolean {
  const held = [...collectEntryWords(entry)]
  return words.every((word) => held.some((candidate) => candidate.startsWith(word)))
}
