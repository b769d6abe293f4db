/** A merchant category code of ISO 18245 with the descriptions of several publishers. */
import { closed, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

export const MerchantCategory = closed({
  code: Type.String({ pattern: '^[0-9]{4}$', description: 'Four digits; a text, since 0742 is not 742.' }),
  description: textSchema(1000),
  combined_description: Type.Optional(textSchema(1000)),
  usda_description: Type.Optional(textSchema(1000, { description: 'As the US Department of Agriculture lists it.' })),
  irs_description: Type.Optional(textSchema(1000, { description: 'As the US Internal Revenue Service lists it.' })),
  irs_reportable: Type.Optional(textSchema(200, { description: 'As published: Yes, or No with the regulation.' })),
})
export type MerchantCategory = Static<typeof MerchantCategory>

export const merchantCategory: EntryType = entryType({
  type_key: 'merchant-category',
  title: 'Merchant category code',
  description: 'A merchant category code (MCC, ISO 18245) with its descriptions.',
  schema: MerchantCategory,
  key_pointers: ['/code'],
  titles: {
    '/code': 'Code',
    '/description': 'Description',
    '/combined_description': 'Combined description',
    '/usda_description': 'Description by the USDA',
    '/irs_description': 'Description by the IRS',
    '/irs_reportable': 'Reportable to the IRS',
  },
  // Their tables are extracted from documents with arbitrary line breaks.
  collapsed: ['/description', '/combined_description', '/usda_description', '/irs_description'],
  examples: [{ code: '0742', description: 'Veterinary Services', irs_reportable: 'Yes' }],
})
