/** A currency of ISO 4217 with the entities that use it and those that did. */
import { closed, listOf, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

export const Currency = closed({
  code: Type.String({ pattern: '^[A-Z]{3}$' }),
  numeric: Type.Optional(
    Type.String({ pattern: '^[0-9]{3}$', description: 'Three digits; a text, since 008 is not 8.' }),
  ),
  name: textSchema(200),
  minor_unit: Type.Optional(Type.Integer({ minimum: 0, maximum: 10, description: 'Decimal places.' })),
  active: Type.Boolean({ description: 'Some entity uses it still.' }),
  entities: listOf(textSchema(200), 500, { description: 'Who uses it.' }),
  withdrawals: listOf(closed({ entity: textSchema(200), name: textSchema(200), withdrawn: textSchema(50) }), 500, {
    description: 'Who used it under which name until when, as published: a month or a span.',
  }),
})
export type Currency = Static<typeof Currency>

export const currency: EntryType = entryType({
  type_key: 'currency',
  title: 'Currency',
  description: 'A currency of ISO 4217 with the entities that use it and those that did.',
  schema: Currency,
  key_pointers: ['/code'],
  titles: {
    '/code': 'Code',
    '/numeric': 'Numeric code',
    '/name': 'Name',
    '/minor_unit': 'Decimal places',
    '/active': 'In use',
    '/entities': 'Used by',
    '/withdrawals': 'Withdrawn',
  },
  sets: ['/entities', '/withdrawals'],
  examples: [
    { code: 'ALL', numeric: '008', name: 'Lek', minor_unit: 2, active: true, entities: ['ALBANIA'], withdrawals: [] },
  ],
})
