/** The reference data of one legal entity identifier (GLEIF level 1, "who is who"). */
import { closed, listOf, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'
import { LEI_PATTERN } from './lei.ts'

const optional = (max: number, description?: string) =>
  Type.Optional(textSchema(max, description ? { description } : {}))

export const LeiName = closed({
  name: textSchema(2000),
  type: optional(
    100,
    'As published: TRADING_OR_OPERATING_NAME, PREVIOUS_LEGAL_NAME, AUTO_ASCII_TRANSLITERATED_LEGAL_NAME …',
  ),
  language: optional(50),
})
export const LeiAddress = closed({
  type: optional(100, 'As published, of other addresses.'),
  language: optional(50),
  lines: listOf(textSchema(2000), 10, { description: 'The first line, then additional ones.' }),
  number: optional(200),
  number_within_building: optional(200),
  mail_routing: optional(2000),
  city: optional(500),
  region: optional(20, 'ISO 3166-2.'),
  country: optional(20, 'ISO 3166-1 alpha-2.'),
  postal_code: optional(200),
})
export const LeiAuthority = closed({
  id: optional(50, 'Code of the register in the list of registration authorities, such as RA000585.'),
  other: optional(500),
  entity_id: optional(500, 'What the register calls the entity.'),
})
const OtherEntity = closed({ type: optional(100), lei: optional(50), name: optional(2000), language: optional(50) })
const LeiEvent = closed({
  type: optional(200),
  status: optional(100),
  group_type: optional(100),
  group_id: optional(200),
  group_sequence_no: optional(50),
  effective_on: optional(50),
  recorded_on: optional(50),
  documents: optional(200),
  reference: optional(5000),
  affected_fields: listOf(closed({ field: optional(5000), path: optional(2000) }), 50),
})

export const LeiRecord = closed({
  lei: Type.String({ pattern: LEI_PATTERN, description: 'With check digits that are right.' }),
  name: textSchema(2000, { description: 'The legal name.' }),
  name_language: optional(50),
  other_names: listOf(LeiName, 50),
  legal_address: Type.Optional(LeiAddress),
  headquarters_address: Type.Optional(LeiAddress),
  other_addresses: listOf(LeiAddress, 50),
  registration_authority: Type.Optional(LeiAuthority),
  jurisdiction: optional(20, 'Of the law the entity was formed under: a country or a part of one.'),
  category: optional(100),
  sub_category: optional(100),
  legal_form: optional(20, 'ELF code (ISO 20275).'),
  other_legal_form: optional(2000),
  associated_entity: Type.Optional(OtherEntity),
  status: textSchema(50, { description: 'ACTIVE, INACTIVE …' }),
  created_on: optional(50),
  expired_on: optional(50),
  expiry_reason: optional(100),
  successors: listOf(OtherEntity, 50),
  events: listOf(LeiEvent, 50),
  registration_status: textSchema(50, { description: 'ISSUED, LAPSED, RETIRED …' }),
  registered_on: optional(50, 'As published, a date and time.'),
  updated_on: optional(50),
  renewal_on: optional(50),
  managing_lou: optional(50, 'LEI of the issuer that keeps the record.'),
  validation: optional(100, 'FULLY_CORROBORATED, PARTIALLY_CORROBORATED, ENTITY_SUPPLIED_ONLY …'),
  validation_authority: Type.Optional(LeiAuthority),
  other_validation_authorities: listOf(LeiAuthority, 50),
  conformity: optional(100),
})
export type LeiRecord = Static<typeof LeiRecord>

export const leiRecord: EntryType = entryType({
  type_key: 'lei-record',
  title: 'Legal entity (LEI)',
  description:
    'The reference data of a legal entity identifier: names, addresses, register and state of the entity (level 1, "who is who"). Dates ' +
    'are as published. Who owns whom is a list of its own, of type lei-relationship.',
  schema: LeiRecord,
  key_pointers: ['/lei'],
  titles: {
    '/lei': 'LEI',
    '/name': 'Legal name',
    '/name_language': 'Language of the name',
    '/other_names': 'Other names',
    '/legal_address': 'Legal address',
    '/headquarters_address': 'Headquarters',
    '/other_addresses': 'Other addresses',
    '/registration_authority': 'Register',
    '/jurisdiction': 'Jurisdiction',
    '/category': 'Category',
    '/sub_category': 'Sub-category',
    '/legal_form': 'Legal form',
    '/other_legal_form': 'Other legal form',
    '/associated_entity': 'Associated entity',
    '/status': 'State of the entity',
    '/created_on': 'Created on',
    '/expired_on': 'Ended on',
    '/expiry_reason': 'Reason of the end',
    '/successors': 'Successors',
    '/events': 'Events',
    '/registration_status': 'State of the registration',
    '/registered_on': 'Registered on',
    '/updated_on': 'Last updated',
    '/renewal_on': 'Next renewal',
    '/managing_lou': 'Managing issuer',
    '/validation': 'Validation',
    '/validation_authority': 'Validated at',
    '/other_validation_authorities': 'Validated also at',
    '/conformity': 'Conformity',
  },
  sets: ['/other_names', '/other_addresses', '/successors', '/events', '/other_validation_authorities'],
  collapsed: ['/name'],
  examples: [
    {
      lei: '0000EXAMPLEAG0000155',
      name: 'Example AG',
      other_names: [],
      legal_address: { lines: ['Main Street 1'], city: 'Berlin', country: 'DE' },
      other_addresses: [],
      jurisdiction: 'DE',
      status: 'ACTIVE',
      successors: [],
      events: [],
      registration_status: 'ISSUED',
      other_validation_authorities: [],
    },
  ],
})
