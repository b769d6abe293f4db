/** A country or territory of ISO 3166-1. */
import { closed, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

export const Country = closed({
  alpha_2: Type.String({ pattern: '^[A-Z]{2}$' }),
  alpha_3: Type.Optional(Type.String({ pattern: '^[A-Z]{3}$' })),
  numeric: Type.Optional(
    Type.String({ pattern: '^[0-9]{3}$', description: 'Three digits; a text, since 004 is not 4.' }),
  ),
  name: textSchema(200),
  official_name: Type.Optional(textSchema(500)),
  region: Type.Optional(textSchema(200)),
  sub_region: Type.Optional(textSchema(200)),
  currency: Type.Optional(textSchema(50, { description: 'ISO 4217 code, several separated by commas.' })),
  capital: Type.Optional(textSchema(200)),
})
export type Country = Static<typeof Country>

export const country: EntryType = entryType({
  type_key: 'country',
  title: 'Country',
  description: 'A country or territory of ISO 3166-1.',
  schema: Country,
  key_pointers: ['/alpha_2'],
  titles: {
    '/alpha_2': 'Code',
    '/alpha_3': 'Three-letter code',
    '/numeric': 'Numeric code',
    '/name': 'Name',
    '/official_name': 'Official name',
    '/region': 'Region',
    '/sub_region': 'Sub-region',
    '/currency': 'Currency',
    '/capital': 'Capital',
  },
  examples: [{ alpha_2: 'NA', alpha_3: 'NAM', numeric: '516', name: 'Namibia', region: 'Africa' }],
})
