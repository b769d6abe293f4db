/** One relationship between two legal entities (GLEIF level 2, "who owns whom"). */
import { closed, listOf, type Static, Type } from '#kernel/schema.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

const optional = (max: number, description?: string) =>
  Type.Optional(textSchema(max, description ? { description } : {}))

export const LeiRelationship = closed({
  start: textSchema(50, { description: 'LEI of the entity that is consolidated or managed: the child.' }),
  start_type: optional(50, 'What kind of identifier start is. Absent: LEI.'),
  type: textSchema(100, { description: 'As published, such as IS_DIRECTLY_CONSOLIDATED_BY: start … end.' }),
  end: textSchema(50, { description: 'LEI of the entity that consolidates or manages: the parent.' }),
  end_type: optional(50, 'What kind of identifier end is. Absent: LEI.'),
  status: textSchema(50, { description: 'ACTIVE, INACTIVE or NULL.' }),
  periods: listOf(closed({ type: optional(100), from: optional(50), to: optional(50) }), 50, {
    description: 'Accounting, relationship and document filing periods, as published.',
  }),
  qualifiers: listOf(closed({ dimension: optional(100), category: optional(200) }), 50, {
    description: 'Such as the accounting standard.',
  }),
  quantifiers: listOf(closed({ method: optional(100), amount: optional(50), units: optional(50) }), 50, {
    description: 'Such as a share; the amount as published.',
  }),
  registration_status: textSchema(50, { description: 'PUBLISHED, LAPSED, RETIRED …' }),
  registered_on: optional(50),
  updated_on: optional(50),
  renewal_on: optional(50),
  managing_lou: optional(50, 'LEI of the issuer that keeps the record.'),
  validation: optional(100),
  validation_documents: optional(200),
  validation_reference: optional(5000),
})
export type LeiRelationship = Static<typeof LeiRelationship>

export const leiRelationship: EntryType = entryType({
  type_key: 'lei-relationship',
  title: 'Relationship of legal entities (LEI)',
  description:
    'One relationship between two legal entities: who is consolidated or managed by whom (level 2, "who owns whom"). Kept apart from ' +
    'the entities, one entry for each edge, so that ownership can be followed in both directions and a changed relationship changes one ' +
    'entry. The key is both ends and the type.',
  schema: LeiRelationship,
  key_pointers: ['/start', '/type', '/end'],
  titles: {
    '/start': 'Child',
    '/start_type': 'Identifier of the child',
    '/type': 'Relationship',
    '/end': 'Parent',
    '/end_type': 'Identifier of the parent',
    '/status': 'State',
    '/periods': 'Periods',
    '/qualifiers': 'Qualifiers',
    '/quantifiers': 'Quantifiers',
    '/registration_status': 'State of the registration',
    '/registered_on': 'Registered on',
    '/updated_on': 'Last updated',
    '/renewal_on': 'Next renewal',
    '/managing_lou': 'Managing issuer',
    '/validation': 'Validation',
    '/validation_documents': 'Documents',
    '/validation_reference': 'Reference',
  },
  sets: ['/periods', '/qualifiers', '/quantifiers'],
  examples: [
    {
      start: '0000EXAMPLEAG0000155',
      type: 'IS_DIRECTLY_CONSOLIDATED_BY',
      end: '0000SAMPLEPLC0000289',
      status: 'ACTIVE',
      periods: [],
      qualifiers: [],
      quantifiers: [],
      registration_status: 'PUBLISHED',
    },
  ],
})
