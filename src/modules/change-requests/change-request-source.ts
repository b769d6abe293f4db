/** Finds change requests by id, and the newest ones by what they change. */
import { mayReadChangeRequest } from '#kernel/request/visibility.ts'
import { rankHits, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'
import { type FoundChangeRequestRow, listChangeRequestsInRange, listNewestChangeRequests } from './queries.ts'

/** Change requests that are compared by words; older ones are found by id. */
const NEWEST = 100

const toWords = (action: string): string => {
  const words = action.replaceAll('-', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** The keys that the path of the operation names, such as a list; ids are left out. */
const getTarget = ({ params }: FoundChangeRequestRow): string =>
  Object.entries(params)
    .flatMap(([name, value]) => (name.endsWith('_key') && typeof value === 'string' ? [value] : []))
    .join(' ')

/** Others than those who may read it in full learn its action and state only. */
const toHit = (row: FoundChangeRequestRow, matched: SearchHit['matched'], isFull: boolean): SearchHit => {
  const target = isFull ? getTarget(row) : ''
  return {
    id: row.cr_id,
    title: target === '' ? toWords(row.action) : `${toWords(row.action)}: ${target}`,
    subtitle: isFull
      ? `Change request of ${row.created_at.slice(0, 10)}, ${row.state}`
      : `Change request, ${row.state}`,
    matched,
    restriction_id: row.restriction_id,
  }
}

export const changeRequestSource: SearchSource = {
  kind: 'change-request',
  title: 'Change requests',
  operation: 'getChangeRequest',
  find: async ({ tx, terms: { text, id, has_words }, actor, routes, count }) => {
    const [byId, newest] = await Promise.all([
      id ? listChangeRequestsInRange(tx, id, count + 1) : [],
      has_words ? listNewestChangeRequests(tx, NEWEST) : [],
    ])
    const isFull = (row: FoundChangeRequestRow): boolean => mayReadChangeRequest(routes, actor.roles, row)
    const byWords = newest.filter(isFull).flatMap((row) => {
      const matched = matchName(`${row.action} ${getTarget(row)}`, text) ?? matchName(getTarget(row), text)
      return matched ? [toHit(row, matched, true)] : []
    })
    const hits = rankHits([...byId.map((row) => toHit(row, 'id', isFull(row))), ...byWords], count)
    return { hits, is_complete: newest.length < NEWEST }
  },
}
