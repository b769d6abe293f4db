/** Finds people by id, name and email address. */
import {
  MAX_NAMED_OBJECTS,
  rankHits,
  type SearchContext,
  type SearchHit,
  type SearchSource,
} from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'
import { type FoundUserRow, listFoundUsers, listUsersInRange } from './queries.ts'

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
  restriction_id: null,
})

async function findByName({ tx, findNamedObjects }: SearchContext): Promise<FoundUserRow[]> {
  const named = await findNamedObjects('user')
  return named.length === 0
    ? []
    : listFoundUsers(
        tx,
        named.map(({ object_id }) => object_id),
      )
}

export const userSource: SearchSource = {
  kind: 'user',
  title: 'Users',
  operation: 'getUser',
  find: async (context) => {
    const {
      tx,
      terms: { text, id, has_words },
      count,
    } = context
    const [byId, byName] = await Promise.all([
      id ? listUsersInRange(tx, id, count + 1) : [],
      has_words ? findByName(context) : [],
    ])
    const getMatch = ({ name, email }: FoundUserRow) =>
      email?.toLowerCase() === text.toLowerCase() ? 'key' : (matchName(name, text) ?? 'words')
    const hits = [...byId.map((row) => toHit(row, 'id')), ...byName.map((row) => toHit(row, getMatch(row)))]
    return { hits: rankHits(hits, count), is_complete: byName.length < MAX_NAMED_OBJECTS }
  },
}
