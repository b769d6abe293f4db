/** A score of a country, such as a corruption index, on the publisher's own scale; it is not converted. */
import { closed, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

export const CountryScore = closed({
  country: textSchema(200, { description: 'Code or name, as published.' }),
  name: Type.Optional(textSchema(200)),
  score: Type.Number({ minimum: -1_000_000, maximum: 1_000_000 }),
  source: Type.Optional(textSchema(200)),
  edition: Type.Optional(textSchema(50, { description: 'Year or issue of the index.' })),
})
export type CountryScore = Static<typeof CountryScore>

export const countryScore: EntryType = entryType({
  type_key: 'country-score',
  title: 'Country score',
  description: 'A number somebody gives a country, such as a corruption index.',
  schema: CountryScore,
  key_pointers: ['/country'],
  titles: {
    '/country': 'Country',
    '/name': 'Name',
    '/score': 'Score',
    '/source': 'Published by',
    '/edition': 'Edition',
  },
  examples: [{ country: 'NA', name: 'Namibia', score: 49, source: 'An index', edition: '2024' }],
})
