/** GLEIF level 2, "who owns whom": relationship records in the format RR-CDF 2.1, CSV or XML. Streams records. */
import { closed } from '#kernel/schema.ts'
import type { Adapter, Batch, Entry, Source, SourceLocation } from '../adapter.ts'
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

const START = 'Relationship.StartNode'
const END = 'Relationship.EndNode'

const recordPaths = {
  start: `${START}.NodeID`,
  type: 'Relationship.RelationshipType',
  end: `${END}.NodeID`,
  status: 'Relationship.RelationshipStatus',
  registration_status: 'Registration.RegistrationStatus',
  registered_on: 'Registration.InitialRegistrationDate',
  updated_on: 'Registration.LastUpdateDate',
  renewal_on: 'Registration.NextRenewalDate',
  managing_lou: 'Registration.ManagingLOU',
  validation: 'Registration.ValidationSources',
  validation_documents: 'Registration.ValidationDocuments',
  validation_reference: 'Registration.ValidationReference',
} as const

/** The path of a list in CSV and in XML, and the names of its members in both. */
const lists = {
  periods: {
    at: ['Relationship.Period', 'Relationship.RelationshipPeriods.RelationshipPeriod'],
    paths: { type: ['periodType', 'PeriodType'], from: ['startDate', 'StartDate'], to: ['endDate', 'EndDate'] },
  },
  qualifiers: {
    at: ['Relationship.Qualifiers', 'Relationship.RelationshipQualifiers.RelationshipQualifier'],
    paths: { dimension: 'QualifierDimension', category: 'QualifierCategory' },
  },
  quantifiers: {
    at: ['Relationship.Quantifiers', 'Relationship.RelationshipQuantifiers.RelationshipQuantifier'],
    paths: { method: 'MeasurementMethod', amount: 'QuantifierAmount', units: 'QuantifierUnits' },
  },
} as const

const layout: GleifLayout = {
  record_path: 'RelationshipData/RelationshipRecords/RelationshipRecord',
  header_path: 'RelationshipData/Header',
  needed: [recordPaths.start, recordPaths.end, recordPaths.type, recordPaths.status],
  known: expandPaths([
    ...Object.values(recordPaths),
    ...[`${START}.NodeIDType`, `${END}.NodeIDType`],
    ...Object.values(lists).flatMap(({ at, paths }) =>
      at.flatMap((path) =>
        Object.values(paths)
          .flat()
          .map((name) => `${path}.${name}`),
      ),
    ),
  ]),
}

const LEI = 'LEI'

function toRecord(node: Node): Entry {
  const entry: Entry = getTexts(node, recordPaths)
  for (const [member, path] of [
    ['start_type', START],
    ['end_type', END],
  ] as const) {
    const type = getText(node, `${path}.NodeIDType`)
    if (type !== undefined && type !== LEI) entry[member] = type
  }
  for (const [member, { at, paths }] of Object.entries(lists)) {
    entry[member] = at.flatMap((path) => findNodes(node, path)).map((one) => getTexts(one, paths))
  }
  return entry
}

/** Whether both ends are identified; the record is rejected otherwise. */
function hasEnds(node: Node, checks: LeiChecks, at: SourceLocation): boolean {
  const isValid = (path: string, pointer: string) => {
    const id = getText(node, `${path}.NodeID`)
    const isLei = (getText(node, `${path}.NodeIDType`) ?? LEI) === LEI
    return (id !== undefined && !isLei) || checks.isKey(id, `${path}.NodeID`, pointer, at)
  }
  const [start, end] = [isValid(START, '/start'), isValid(END, '/end')]
  return start && end
}

async function* read(source: Source, options: GleifOptions): AsyncGenerator<Batch, void, undefined> {
  const out = new BatchBuilder()
  const checks = new LeiChecks(out)
  for await (const records of readGleif(source, layout, options, out)) {
    for (const { node, at } of records) {
      if (hasEnds(node, checks, at)) {
        checks.look(getText(node, recordPaths.managing_lou), at)
        out.add(toRecord(node), at)
      }
      if (out.isFull) yield out.take()
    }
  }
  checks.conclude()
  yield* out.takeRest()
}

const header = [
  recordPaths.start,
  `${START}.NodeIDType`,
  recordPaths.end,
  `${END}.NodeIDType`,
  recordPaths.type,
  recordPaths.status,
  'Relationship.Period.1.startDate',
  'Relationship.Period.1.endDate',
  'Relationship.Period.1.periodType',
  recordPaths.registration_status,
]

export const gleifLevel2: Adapter = {
  key: 'gleif-relationships',
  version: 1,
  title: 'GLEIF relationships (level 2)',
  description:
    'The golden copy or concatenated file of relationship records, RR-CDF 2.1, as CSV or XML: who is consolidated or managed by whom, ' +
    'one entry for each relationship. A record is rejected when an end is an LEI with wrong check digits. Reporting exceptions are ' +
    'a file of their own and not read. Written from the publisher’s documented layout; not yet tried on a file of the publisher.',
  publisher: 'Global Legal Entity Identifier Foundation (GLEIF)',
  media_types: gleifMedia,
  file_extensions: ['csv', 'xml', 'zip'],
  options: closed(gleifOptions),
  target_type: 'lei-relationship',
  sample: {
    encoding: 'utf8',
    text: `${header.join(',')}
0000EXAMPLEAG0000155,LEI,0000SAMPLEPLC0000289,LEI,IS_DIRECTLY_CONSOLIDATED_BY,ACTIVE,2019-01-01T00:00:00Z,,RELATIONSHIP_PERIOD,PUBLISHED
0000EXAMPLEAG0000155,LEI,0000SAMPLEPLC0000289,LEI,IS_ULTIMATELY_CONSOLIDATED_BY,ACTIVE,2019-01-01T00:00:00Z,,RELATIONSHIP_PERIOD,PUBLISHED
`,
  },
  read: (source, options) => read(source, options as GleifOptions),
}
