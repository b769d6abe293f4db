/** Finds people by id, name and email address. */
import { rankHits, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'
import { type FoundUserRow, listUsersByName, listUsersInRange } from './queries.ts'

/** Rows from which the best are chosen. */
const RANKED = 50

const describeUser = ({ email, roles, state }: FoundUserRow): string =>
  [
    'User',
    email,
    roles.length > 0 && roles.map((role) => role.replaceAll('_', ' ')).join(' and '),
    state !== 'active' && state,
  ]
    .filter((part) => typeof part === 'string')
    .join(', ')

const toHit = (row: FoundUserRow, matched: SearchHit['matched']): SearchHit => ({
  id: row.user_id,
  title: row.name,
  subtitle: describeUser(row),
  matched,
})

export const userSource: SearchSource = {
  kind: 'user',
  title: 'Users',
  operation: 'getUser',
  find: async ({ tx, terms: { text, id, has_words }, count }) => {
    const [byId, byName] = await Promise.all([
      id ? listUsersInRange(tx, id, count + 1) : [],
      has_words ? listUsersByName(tx, text, RANKED) : [],
    ])
    const matchOf = ({ name, email }: FoundUserRow) =>
      email?.toLowerCase() === text.toLowerCase() ? 'key' : (matchName(name, text) ?? 'words')
    const hits = [...byId.map((row) => toHit(row, 'id')), ...byName.map((row) => toHit(row, matchOf(row)))]
    return { hits: rankHits(hits, count), is_complete: byName.length < RANKED }
  },
}
