/** GLEIF level 1, "who is who": LEI records in the Common Data File format 3.1, CSV or XML. Streams records. */
import { closed } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source } from '../adapter.ts'
import { BatchBuilder } from './batch-builder.ts'
import {
  expandPaths,
  findNodes,
  type GleifLayout,
  type GleifOptions,
  getText,
  getTexts,
  gleifMedia,
  gleifOptions,
  type Node,
  readGleif,
} from './gleif-tree.ts'
import { LeiChecks } from './lei-checks.ts'

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
const buildAuthorityPaths = (kind: 'Registration' | 'Validation') => ({
  id: `${kind}AuthorityID`,
  other: `Other${kind}AuthorityID`,
  entity_id: `${kind}AuthorityEntityID`,
})
const registerPaths = buildAuthorityPaths('Registration')
const validatorPaths = buildAuthorityPaths('Validation')
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

const prefixPaths = (path: string, names: Readonly<Record<string, string | readonly string[]>>) =>
  Object.values(names)
    .flat()
    .map((name) => `${path}.${name}`)
const addressLines = ['FirstAddressLine', 'AdditionalAddressLine']
const addresses = ['Entity.LegalAddress', 'Entity.HeadquartersAddress', ...OTHER_ADDRESSES]

const layout: GleifLayout = {
  record_path: 'LEIData/LEIRecords/LEIRecord',
  header_path: 'LEIData/LEIHeader',
  needed: ['LEI', 'Entity.LegalName', 'Entity.EntityStatus', 'Registration.RegistrationStatus'],
  known: expandPaths([
    ...Object.values(recordPaths),
    ...OTHER_NAMES.flatMap((path) => [`${path}.type`, `${path}.xmllang`]),
    ...addresses.flatMap((path) => [
      ...prefixPaths(path, addressPaths),
      ...addressLines.map((line) => `${path}.${line}`),
    ]),
    ...prefixPaths('Entity.RegistrationAuthority', registerPaths),
    ...prefixPaths('Entity.AssociatedEntity', associatedPaths),
    ...prefixPaths('Entity.SuccessorEntity', successorPaths),
    ...prefixPaths(EVENT, eventPaths),
    ...[`${EVENT}.AffectedFields.AffectedField.field_xpath`, `${EVENT}.AffectedFields.field_xpath`],
    ...prefixPaths('Registration.ValidationAuthority', validatorPaths),
    ...prefixPaths(VALIDATED, validatorPaths),
  ]),
}

function toAddress(node: Node): Entry {
  const lines = addressLines.flatMap((name) => findNodes(node, name)).flatMap(({ text }) => text ?? [])
  return { ...getTexts(node, addressPaths), lines }
}

/** A member that is present only when it has a value. */
const readOne = (record: Node, member: string, path: string, read: (node: Node) => Entry): Entry => {
  const [node] = findNodes(record, path)
  return node ? { [member]: read(node) } : {}
}
const readAll = (record: Node, paths: readonly string[], read: (node: Node) => Entry): Entry[] =>
  paths.flatMap((path) => findNodes(record, path)).map(read)

/** In XML the fields are elements of one list, in CSV the list itself is numbered. */
function toEvent(node: Node): Entry {
  const lists = findNodes(node, 'AffectedFields')
  const fields = lists.flatMap((list) => {
    const own = getTexts(list, fieldPaths)
    const named = findNodes(list, 'AffectedField').map((field) => ({
      ...(field.text !== undefined && { field: field.text }),
      ...own,
      ...getTexts(field, fieldPaths),
    }))
    return named.length > 0 || Object.keys(own).length === 0 ? named : [own]
  })
  return { ...getTexts(node, eventPaths), affected_fields: fields }
}

function toRecord(node: Node): Entry {
  const names = readAll(node, OTHER_NAMES, (name) => ({
    ...(name.text !== undefined && { name: name.text }),
    ...getTexts(name, namePaths),
  }))
  return {
    ...getTexts(node, recordPaths),
    // A language or type without a name has no meaning.
    other_names: names.filter((name) => 'name' in name),
    ...readOne(node, 'legal_address', 'Entity.LegalAddress', toAddress),
    ...readOne(node, 'headquarters_address', 'Entity.HeadquartersAddress', toAddress),
    other_addresses: readAll(node, OTHER_ADDRESSES, toAddress),
    ...readOne(node, 'registration_authority', 'Entity.RegistrationAuthority', (one) => getTexts(one, registerPaths)),
    ...readOne(node, 'associated_entity', 'Entity.AssociatedEntity', (one) => getTexts(one, associatedPaths)),
    successors: readAll(node, ['Entity.SuccessorEntity'], (one) => getTexts(one, successorPaths)),
    events: readAll(node, [EVENT], toEvent),
    ...readOne(node, 'validation_authority', 'Registration.ValidationAuthority', (one) =>
      getTexts(one, validatorPaths),
    ),
    other_validation_authorities: readAll(node, [VALIDATED], (one) => getTexts(one, validatorPaths)),
  }
}

async function* read(source: Source, options: GleifOptions): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const checks = new LeiChecks(out)
  for await (const records of readGleif(source, layout, options, out)) {
    for (const { node, at } of records) {
      const lei = getText(node, 'LEI')
      if (checks.isKey(lei, 'LEI', '/lei', at)) {
        checks.look(getText(node, 'Registration.ManagingLOU'), at)
        checks.look(getText(node, 'Entity.AssociatedEntity.AssociatedLEI'), at)
        for (const one of findNodes(node, 'Entity.SuccessorEntity.SuccessorLEI')) checks.look(one.text, at)
        out.add(toRecord(node), at)
      }
      if (out.isFull) yield out.take()
    }
  }
  checks.conclude()
  yield* out.takeRest()
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
