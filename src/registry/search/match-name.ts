/** How well a name fits a query, compared without case and accents. */
import { splitWords } from './search-words.ts'

/** `name`: the whole name. `prefix`: the name begins with it. `words`: every word of the query begins a word of the name. */
export type NameMatch = 'name' | 'prefix' | 'words'

export function matchName(name: string, query: string): NameMatch | null {
  const wanted = splitWords(query)
  if (wanted.length === 0) return null
  const held = splitWords(name)
  const [whole, start] = [held.join(' '), wanted.join(' ')]
  if (whole === start) return 'name'
  if (whole.startsWith(start)) return 'prefix'
  return wanted.every((word) => held.some((other) => other.startsWith(word))) ? 'words' : null
}
