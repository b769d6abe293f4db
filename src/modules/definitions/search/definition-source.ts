/** The search source of a kind of definition: its key and the words of its title. */
import {
  MAX_NAMED_OBJECTS,
  type Match,
  nothingFound,
  rankHits,
  type SearchHit,
  type SearchSource,
} from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'
import { type FoundDefinitionRow, listFoundDefinitions } from './queries.ts'

interface DefinitionSourceOptions {
  readonly kind: string
  readonly family: string
  readonly title: string
  /** What one of them is called: `Matrix`. */
  readonly noun: string
  readonly operation: string
}

const describe = (noun: string, { list_key, origin, state, version }: FoundDefinitionRow): string =>
  [
    noun,
    `key ${list_key}`,
    state === 'archived' ? 'archived' : version === null ? 'nothing in force' : `version ${version} in force`,
    origin === 'shared' && 'shared',
  ]
    .filter((part) => part !== false)
    .join(', ')

/** A key may be typed with spaces instead of hyphens. */
export const matchTitled = (key: string, title: string, text: string): Match =>
  key === text.toLowerCase().replaceAll(' ', '-') ? 'key' : (matchName(title, text) ?? matchName(key, text) ?? 'words')

export function createDefinitionSource({
  kind,
  family,
  title,
  noun,
  operation,
}: DefinitionSourceOptions): SearchSource {
  const toHit = (row: FoundDefinitionRow, text: string): SearchHit => ({
    id: row.list_key,
    title: row.title,
    subtitle: describe(noun, row),
    matched: matchTitled(row.list_key, row.title, text),
    restriction_id: null,
  })
  return {
    kind,
    title,
    operation,
    find: async ({ tx, terms: { text }, count, findNamedObjects }) => {
      const named = await findNamedObjects(family)
      if (named.length === 0) return nothingFound
      const rows = await listFoundDefinitions(tx, named)
      const hits = rows.map((row) => toHit(row, text))
      return { hits: rankHits(hits, count), is_complete: named.length < MAX_NAMED_OBJECTS }
    },
  }
}
