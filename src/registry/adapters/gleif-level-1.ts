/** GLEIF level 1, "who is who": LEI records in the Common Data File format 3.1, CSV or XML. Streams records. */
import { closed } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source } from '../adapter.ts'
import {
  type GleifLayout,
  type GleifOptions,
  gleifMedia,
  gleifOptions,
  knownPaths,
  type Node,
  nodesAt,
  readGleif,
  textAt,
  textsAt,
} from './gleif-tree.ts'
import { LeiChecks } from './lei-checks.ts'
import { BatchBuilder } from './pending.ts'

const addressPaths = {
  type: 'type',
  language: 'xmllang',
  number: 'AddressNumber',
  number_within_building: 'AddressNumberWithinBuilding',
  mail_routing: 'MailRouting',
  city: 'City',
  region: 'Region',
  country: 'Country',
  postal_code: 'PostalCode',
} as const
const authorityPaths = (kind: 'Registration' | 'Validation') => ({
  id: `${kind}AuthorityID`,
  other: `Other${kind}AuthorityID`,
  entity_id: `${kind}AuthorityEntityID`,
})
const registerPaths = authorityPaths('Registration')
const validatorPaths = authorityPaths('Validation')
const namePaths = { type: 'type', language: 'xmllang' } as const
const fieldPaths = { path: 'field_xpath' } as const
const eventPaths = {
  type: 'LegalEntityEventType',
  status: 'event_status',
  group_type: 'group_type',
  group_id: 'group_id',
  group_sequence_no: 'group_sequence_no',
  effective_on: 'LegalEntityEventEffectiveDate',
  recorded_on: 'LegalEntityEventRecordedDate',
  documents: 'ValidationDocuments',
  reference: 'ValidationReference',
} as const
/** The language of a successor's name is a column of its own in CSV and an attribute of the name in XML. */
const successorPaths = {
  lei: 'SuccessorLEI',
  name: 'SuccessorEntityName',
  language: ['SuccessorEntity.xmllang', 'SuccessorEntityName.xmllang'],
} as const
const associatedPaths = {
  type: 'type',
  lei: 'AssociatedLEI',
  name: 'AssociatedEntityName',
  language: 'AssociatedEntityName.xmllang',
} as const
/** Members that hold one text. */
const recordPaths = {
  lei: 'LEI',
  name: 'Entity.LegalName',
  name_language: 'Entity.LegalName.xmllang',
  jurisdiction: 'Entity.LegalJurisdiction',
  category: 'Entity.EntityCategory',
  sub_category: 'Entity.EntitySubCategory',
  legal_form: 'Entity.LegalForm.EntityLegalFormCode',
  other_legal_form: 'Entity.LegalForm.OtherLegalForm',
  status: 'Entity.EntityStatus',
  created_on: 'Entity.EntityCreationDate',
  expired_on: 'Entity.EntityExpirationDate',
  expiry_reason: 'Entity.EntityExpirationReason',
  registration_status: 'Registration.RegistrationStatus',
  registered_on: 'Registration.InitialRegistrationDate',
  updated_on: 'Registration.LastUpdateDate',
  renewal_on: 'Registration.NextRenewalDate',
  managing_lou: 'Registration.ManagingLOU',
  validation: 'Registration.ValidationSources',
  conformity: 'ConformityFlag',
} as const

const OTHER_NAMES = [
  'Entity.OtherEntityNames.OtherEntityName',
  'Entity.TransliteratedOtherEntityNames.TransliteratedOtherEntityName',
]
const OTHER_ADDRESSES = [
  'Entity.OtherAddresses.OtherAddress',
  'Entity.TransliteratedOtherAddresses.TransliteratedOtherAddress',
]
const EVENT = 'Entity.LegalEntityEvents.LegalEntityEvent'
const VALIDATED = 'Registration.OtherValidationAuthorities.OtherValidationAuthority'

const under = (path: string, names: Readonly<Record<string, string | readonly string[]>>) =>
  Object.values(names)
    .flat()
    .map((name) => `${path}.${name}`)
const addressLines = ['FirstAddressLine', 'AdditionalAddressLine']
const addresses = ['Entity.LegalAddress', 'Entity.HeadquartersAddress', ...OTHER_ADDRESSES]

const layout: GleifLayout = {
  record_path: 'LEIData/LEIRecords/LEIRecord',
  header_path: 'LEIData/LEIHeader',
  needed: ['LEI', 'Entity.LegalName', 'Entity.EntityStatus', 'Registration.RegistrationStatus'],
  known: knownPaths([
    ...Object.values(recordPaths),
    ...OTHER_NAMES.flatMap((path) => [`${path}.type`, `${path}.xmllang`]),
    ...addresses.flatMap((path) => [...under(path, addressPaths), ...addressLines.map((line) => `${path}.${line}`)]),
    ...under('Entity.RegistrationAuthority', registerPaths),
    ...under('Entity.AssociatedEntity', associatedPaths),
    ...under('Entity.SuccessorEntity', successorPaths),
    ...under(EVENT, eventPaths),
    ...[`${EVENT}.AffectedFields.AffectedField.field_xpath`, `${EVENT}.AffectedFields.field_xpath`],
    ...under('Registration.ValidationAuthority', validatorPaths),
    ...under(VALIDATED, validatorPaths),
  ]),
}

function addressOf(node: Node): Entry {
  const lines = addressLines.flatMap((name) => nodesAt(node, name)).flatMap(({ text }) => text ?? [])
  return { ...textsAt(node, addressPaths), lines }
}

/** A member that is present only when it has a value. */
const oneAt = (record: Node, member: string, path: string, read: (node: Node) => Entry): Entry => {
  const [node] = nodesAt(record, path)
  return node ? { [member]: read(node) } : {}
}
const allAt = (record: Node, paths: readonly string[], read: (node: Node) => Entry): Entry[] =>
  paths.flatMap((path) => nodesAt(record, path)).map(read)

/** In XML the fields are elements of one list, in CSV the list itself is numbered. */
function eventOf(node: Node): Entry {
  const lists = nodesAt(node, 'AffectedFields')
  const fields = lists.flatMap((list) => {
    const own = textsAt(list, fieldPaths)
    const named = nodesAt(list, 'AffectedField').map((field) => ({
      ...(field.text !== undefined && { field: field.text }),
      ...own,
      ...textsAt(field, fieldPaths),
    }))
    return named.length > 0 || Object.keys(own).length === 0 ? named : [own]
  })
  return { ...textsAt(node, eventPaths), affected_fields: fields }
}

function recordOf(node: Node): Entry {
  const names = allAt(node, OTHER_NAMES, (name) => ({
    ...(name.text !== undefined && { name: name.text }),
    ...textsAt(name, namePaths),
  }))
  return {
    ...textsAt(node, recordPaths),
    // A language or type without a name has no meaning.
    other_names: names.filter((name) => 'name' in name),
    ...oneAt(node, 'legal_address', 'Entity.LegalAddress', addressOf),
    ...oneAt(node, 'headquarters_address', 'Entity.HeadquartersAddress', addressOf),
    other_addresses: allAt(node, OTHER_ADDRESSES, addressOf),
    ...oneAt(node, 'registration_authority', 'Entity.RegistrationAuthority', (one) => textsAt(one, registerPaths)),
    ...oneAt(node, 'associated_entity', 'Entity.AssociatedEntity', (one) => textsAt(one, associatedPaths)),
    successors: allAt(node, ['Entity.SuccessorEntity'], (one) => textsAt(one, successorPaths)),
    events: allAt(node, [EVENT], eventOf),
    ...oneAt(node, 'validation_authority', 'Registration.ValidationAuthority', (one) => textsAt(one, validatorPaths)),
    other_validation_authorities: allAt(node, [VALIDATED], (one) => textsAt(one, validatorPaths)),
  }
}

async function* read(source: Source, options: GleifOptions): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const checks = new LeiChecks(out)
  for await (const records of readGleif(source, layout, options, out)) {
    for (const { node, at } of records) {
      const lei = textAt(node, 'LEI')
      if (checks.isKey(lei, 'LEI', '/lei', at)) {
        checks.look(textAt(node, 'Registration.ManagingLOU'), at)
        checks.look(textAt(node, 'Entity.AssociatedEntity.AssociatedLEI'), at)
        for (const one of nodesAt(node, 'Entity.SuccessorEntity.SuccessorLEI')) checks.look(one.text, at)
        out.add(recordOf(node), at)
      }
      if (out.full) yield out.take()
    }
  }
  checks.conclude()
  yield* out.rest()
}

const header = [
  'LEI',
  'Entity.LegalName',
  'Entity.LegalName.xmllang',
  'Entity.OtherEntityNames.OtherEntityName.1',
  'Entity.OtherEntityNames.OtherEntityName.1.type',
  'Entity.LegalAddress.FirstAddressLine',
  'Entity.LegalAddress.City',
  'Entity.LegalAddress.Country',
  'Entity.LegalJurisdiction',
  'Entity.EntityStatus',
  'Registration.RegistrationStatus',
  'Registration.ManagingLOU',
]

export const gleifLevel1: Adapter = {
  key: 'gleif-lei',
  version: 1,
  title: 'GLEIF legal entities (level 1)',
  description:
    'The golden copy or concatenated file of LEI records, LEI-CDF 3.1, as CSV or XML. A record whose LEI has wrong check digits is ' +
    'rejected; other LEIs in a record that are wrong are counted. Written from the publisher’s documented layout; not yet tried on ' +
    'a file of the publisher.',
  publisher: 'Global Legal Entity Identifier Foundation (GLEIF)',
  media_types: gleifMedia,
  file_extensions: ['csv', 'xml', 'zip'],
  options: closed(gleifOptions),
  target_type: 'lei-record',
  sample: {
    encoding: 'utf8',
    text: `${header.join(',')}
0000EXAMPLEAG0000155,Example AG,de,Example,TRADING_OR_OPERATING_NAME,Main Street 1,Berlin,DE,DE,ACTIVE,ISSUED,0000SAMPLEPLC0000289
0000SAMPLEPLC0000289,Sample plc,en,,,High Street 2,London,GB,GB,ACTIVE,ISSUED,0000SAMPLEPLC0000289
`,
  },
  read: (source, options) => read(source, options as GleifOptions),
}
