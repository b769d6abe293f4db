/** Wire contract of search. */
import { closed, integer, listOf, oneOf, RestrictionInForce, Type, text } from '#kernel/schema.ts'
import { matches } from '#kernel/search/source.ts'

const MAX_QUERY_CHARS = 200
const kindPattern = '[a-z][a-z-]{0,39}'

export const SearchQuery = closed({
  q: text(MAX_QUERY_CHARS, {
    description:
      'What to look for: an id or its first eight digits, a key or external id, or words of a name. Case and accents do not matter. ' +
      'With fewer than two letters or digits only ids and keys are compared.',
    examples: ['anna schmidt'],
  }),
  kinds: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 400,
      pattern: `^${kindPattern}(,${kindPattern})*$`,
      description:
        'Only these kinds, separated by commas: `subject,list`. A kind that does not exist, or that the caller may not read, gives no ' +
        'group. The reply names the kinds that can be searched.',
      examples: ['subject,list'],
    }),
  ),
  limit: Type.Optional(integer(1, 50, { default: 5, description: 'How many items a group holds.' })),
})

const kind = text(40, { description: 'The kind of object, such as `subject` or `list`.' })
const title = text(100, { description: 'What people call objects of this kind.' })

export const SearchItem = closed(
  {
    id: text(1000, { description: 'The id or key of the object; of an entry, its key in the list.' }),
    list_key: Type.Optional(text(100, { description: 'The list of an entry.' })),
    version: Type.Optional(integer(1, Number.MAX_SAFE_INTEGER, { description: 'The version in force of that list.' })),
    title: Type.String({ maxLength: 2000 }),
    subtitle: Type.String({ maxLength: 2000, description: 'What it is, for people.' }),
    matched: oneOf(matches, {
      description:
        'What matched, best first: the id, the key or external id, the whole name, its beginning, words of it.',
    }),
    restriction_id: RestrictionInForce(),
  },
  { title: 'SearchItem' },
)

export const SearchResult = closed(
  {
    searched_names: Type.Boolean({ description: 'False when the query was too short to search names.' }),
    kinds: listOf(closed({ kind, title }), 100, { description: 'All kinds that the caller may search.' }),
    groups: listOf(
      closed({
        kind,
        title,
        items: listOf(SearchItem, 50),
        has_more: Type.Boolean({ description: 'There are, or may be, further matches.' }),
      }),
      100,
      { description: 'Kinds with at least one match.' },
    ),
  },
  { title: 'SearchResult' },
)
