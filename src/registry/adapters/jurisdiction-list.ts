/** A jurisdiction named on a list of the FATF or a list like it. */
import { CalendarDate, closed, oneOf, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

export const JurisdictionListing = closed({
  source: textSchema(100, { description: 'Who keeps the list, such as fatf.' }),
  country: Type.String({ pattern: '^[A-Z]{2}$', description: 'ISO 3166-1 alpha-2.' }),
  name: Type.Optional(textSchema(200)),
  list: oneOf(['black', 'grey'], { description: 'black: call for action. grey: increased monitoring.' }),
  measure: Type.Optional(textSchema(500, { description: 'What the list calls for.' })),
  listed_on: Type.Optional(CalendarDate()),
})
export type JurisdictionListing = Static<typeof JurisdictionListing>

export const jurisdictionList: EntryType = entryType({
  type_key: 'jurisdiction-list',
  title: 'Listed jurisdiction',
  description: 'A jurisdiction on a black or grey list of the FATF or a list like it.',
  schema: JurisdictionListing,
  key_pointers: ['/source', '/country'],
  titles: {
    '/source': 'Published by',
    '/country': 'Country',
    '/name': 'Name',
    '/list': 'List',
    '/measure': 'Measure',
    '/listed_on': 'Listed on',
  },
  examples: [{ source: 'fatf', country: 'IR', name: 'Iran', list: 'black', measure: 'countermeasures' }],
})
