/** A legal form of ISO 20275 with its names in the languages of its country. */
import { CalendarDate, closed, listOf, oneOf, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

const LegalFormName = closed({
  name: textSchema(5000, { description: 'In its own language and script.' }),
  language: Type.Optional(textSchema(3, { pattern: '^[a-z]{2,3}$', description: 'ISO 639 code.' })),
  language_name: Type.Optional(textSchema(100)),
  transliterated: Type.Optional(textSchema(5000, { description: 'In Latin letters.' })),
  abbreviations: listOf(textSchema(500), 100),
  transliterated_abbreviations: listOf(textSchema(500), 100),
})

const Modification = closed({
  language: Type.Optional(textSchema(3, { pattern: '^[a-z]{2,3}$', description: 'The language whose row says so.' })),
  what: Type.Optional(textSchema(500)),
  modified_on: Type.Optional(CalendarDate()),
  reason: Type.Optional(textSchema(5000)),
})

export const EntityLegalForm = closed({
  code: Type.String({
    pattern: '^[A-Z0-9]{4}$',
    description: 'ELF code. 8888 and 9999 are reserved and have no name.',
  }),
  country: Type.Optional(Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2.' })),
  country_name: Type.Optional(textSchema(200)),
  jurisdiction: Type.Optional(textSchema(200)),
  subdivision: Type.Optional(
    textSchema(10, { description: 'ISO 3166-2, where the form belongs to a part of the country.' }),
  ),
  names: listOf(LegalFormName, 100),
  created_on: Type.Optional(CalendarDate()),
  status: oneOf(['active', 'inactive']),
  modifications: listOf(Modification, 100),
})
export type EntityLegalForm = Static<typeof EntityLegalForm>

export const entityLegalForm: EntryType = entryType({
  type_key: 'entity-legal-form',
  title: 'Entity legal form (ISO 20275)',
  description:
    'A legal form with its ELF code. The list has a row for each language; they are one entry, since the code alone is what ' +
    'others refer to. A name without a language is one whose language the list does not state.',
  schema: EntityLegalForm,
  key_pointers: ['/code'],
  titles: {
    '/code': 'ELF code',
    '/country': 'Country',
    '/country_name': 'Name of the country',
    '/jurisdiction': 'Jurisdiction',
    '/subdivision': 'Subdivision',
    '/names': 'Names',
    '/created_on': 'Created on',
    '/status': 'Status',
    '/modifications': 'Modifications',
  },
  sets: ['/names', '/modifications'],
  examples: [
    {
      code: 'CRL9',
      country: 'AW',
      country_name: 'Aruba',
      names: [
        {
          name: 'Stichting',
          language: 'nl',
          language_name: 'Dutch',
          transliterated: 'Stichting',
          abbreviations: [],
          transliterated_abbreviations: [],
        },
      ],
      created_on: '2017-11-30',
      status: 'active',
      modifications: [],
    },
  ],
})
