/** Finds subjects by id, external id and words of the name. */
import type { Tx } from '#kernel/database/tx.ts'
import { type Match, rankHits, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'
import { toSearchWords } from '../records/subject-content.ts'
import { type FoundSubjectRow, listSubjectsByExternalId, listSubjectsByWords, listSubjectsInRange } from './queries.ts'

/** Names that one search compares at most. More only for words that are all very common. */
const MAX_CANDIDATES = 1000
const MAX_WORDS = 8
/** Matches of one word from which the best are chosen. */
const RANKED = 50
/** Matches of several words for each hit: fewer, since each may cost many candidates, and they rank more alike. */
const RANKED_PER_HIT = 4

const typeNames = { person: 'Person', company: 'Company', other: 'Other party' } as const

export const describeSubject = ({ subject_type, external_id, state, band }: FoundSubjectRow): string =>
  [
    typeNames[subject_type],
    external_id !== null && `external id ${external_id}`,
    band === null ? 'not rated' : `rated ${band}`,
    state === 'offboarded' && 'offboarded',
  ]
    .filter((part) => part !== false)
    .join(', ')

const toHit = (row: FoundSubjectRow, matched: Match): SearchHit => ({
  id: row.subject_id,
  title: row.name,
  subtitle: describeSubject(row),
  matched,
  restriction_id: null,
})

/** External ids are case-sensitive in the index, and people type either case. */
const toSpellings = (text: string): string[] => [...new Set([text, text.toUpperCase(), text.toLowerCase()])]

interface FoundByName {
  readonly rows: readonly FoundSubjectRow[]
  readonly is_complete: boolean
}

/** `wanted` is the number of hits, with the one that says that there are more. */
async function findByName(tx: Tx, text: string, wanted: number): Promise<FoundByName> {
  const words = toSearchWords(text).slice(0, MAX_WORDS)
  const prefixes = words.filter((word) => !words.some((other) => other !== word && other.startsWith(word)))
  const count = prefixes.length === 1 ? Math.max(RANKED, wanted) : RANKED_PER_HIT * wanted
  const found = await listSubjectsByWords(tx, { prefixes, max_candidates: MAX_CANDIDATES, count })
  const rows = found.filter((row) => row.subject_id !== null)
  return { rows, is_complete: rows.length < count && (found[0]?.rarest ?? 0) <= MAX_CANDIDATES }
}

export const subjectSource: SearchSource = {
  kind: 'subject',
  title: 'Subjects',
  operation: 'getSubject',
  find: async ({ tx, terms: { text, id, has_words }, count }) => {
    const [byId, byKey, byName] = await Promise.all([
      id ? listSubjectsInRange(tx, id, count + 1) : [],
      listSubjectsByExternalId(tx, toSpellings(text), count + 1),
      has_words ? findByName(tx, text, count + 1) : { rows: [], is_complete: true },
    ])
    const keyMatch = ({ external_id }: FoundSubjectRow): Match =>
      external_id?.toLowerCase() === text.toLowerCase() ? 'key' : 'prefix'
    const hits = [
      ...byId.map((row) => toHit(row, 'id')),
      ...byKey.filter((row) => has_words || keyMatch(row) === 'key').map((row) => toHit(row, keyMatch(row))),
      ...byName.rows.map((row) => toHit(row, matchName(row.name, text) ?? 'words')),
    ]
    return { hits: rankHits(hits, count), is_complete: byName.is_complete }
  },
}
