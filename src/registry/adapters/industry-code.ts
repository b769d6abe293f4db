/** A code of an industry classification, with its place in the hierarchy. */
import { closed, listOf, oneOf, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

export const IndustryCode = closed({
  scheme: oneOf(['naics', 'nace']),
  code: textSchema(10, { description: 'As published: 111110, 31-33, A, 01.11 …' }),
  edition: Type.Optional(textSchema(20, { description: 'Edition of the classification: 2017, 2, 2.1 …' })),
  title: textSchema(1000),
  level: Type.Integer({
    minimum: 1,
    maximum: 6,
    description: '1 is the widest: a sector of NAICS, a section of NACE.',
  }),
  parent: Type.Optional(textSchema(10, { description: 'The code one level up.' })),
  description: Type.Optional(textSchema(50_000)),
  includes: Type.Optional(textSchema(50_000)),
  also_includes: Type.Optional(textSchema(50_000)),
  excludes: Type.Optional(textSchema(50_000)),
  rules: Type.Optional(textSchema(50_000, { description: 'Rulings on how to classify.' })),
  isic: Type.Optional(textSchema(200, { description: 'The code of ISIC it corresponds to.' })),
  index_items: listOf(textSchema(2000), 10_000, { description: 'Activities that belong to it.' }),
  cross_references: listOf(closed({ code: textSchema(200), text: textSchema(20_000) }), 1000, {
    description: 'What belongs elsewhere, and where.',
  }),
})
export type IndustryCode = Static<typeof IndustryCode>

export const industryCode: EntryType = entryType({
  type_key: 'industry-code',
  title: 'Industry code',
  description:
    'A code of NAICS or NACE with its title and its place in the hierarchy. The edition is not part of the key, so that two editions ' +
    'of a list can be compared.',
  schema: IndustryCode,
  key_pointers: ['/scheme', '/code'],
  titles: {
    '/scheme': 'Classification',
    '/code': 'Code',
    '/edition': 'Edition',
    '/title': 'Title',
    '/level': 'Level',
    '/parent': 'Code above',
    '/description': 'Description',
    '/includes': 'Includes',
    '/also_includes': 'Includes also',
    '/excludes': 'Excludes',
    '/rules': 'Rulings',
    '/isic': 'ISIC',
    '/index_items': 'Activities',
    '/cross_references': 'Cross-references',
  },
  sets: ['/index_items', '/cross_references'],
  collapsed: ['/title'],
  examples: [
    {
      scheme: 'naics',
      code: '111110',
      edition: '2017',
      title: 'Soybean Farming',
      level: 5,
      parent: '11111',
      index_items: [],
      cross_references: [],
    },
  ],
})
