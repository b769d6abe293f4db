/**
 * OFAC's advanced XML (the `Sanctions` schema), which the SDN list and the consolidated list share. Its sections refer to each other
 * by id. The programmes of a party come after all parties, so parties are buffered as compact text until the end. References that
 * cannot be resolved are counted.
 */
import { closed, listOf, oneOf, type Static, Type } from '#kernel/schema.ts'
import type { Adapter, Batch, Source, SourceLocation } from '../adapter.ts'
import { quoteNames } from '../formats/archive-files.ts'
import { onLine, refuseSource, reject } from '../formats/fault.ts'
import { getAttribute, getChild, getChildren, getChildText, readXml, type XmlElement } from '../formats/xml.ts'
import { BatchBuilder } from './batch-builder.ts'
import { formatIsoDay, formatPeriod } from './ofac-advanced-dates.ts'
import {
  knownMembers,
  paths,
  sections,
  unusedElements,
  type ValueSet,
  valueSetPath,
  valueSets,
} from './ofac-advanced-layout.ts'
import {
  type Document,
  type Location,
  type References,
  readDocument,
  readLocation,
  readParty,
} from './ofac-advanced-party.ts'
import { assertFileName, ListIdentity, type OfacList } from './ofac-list.ts'
import { addParty, HeldValues } from './parties.ts'
import { PartyDraft, type SanctionedParty } from './sanctioned-party.ts'
import { noteEncoding, textOptions } from './source-text.ts'
import { UnreadMembers } from './unread-members.ts'

const Options = closed({
  absent_sections: Type.Optional(
    listOf(oneOf(sections.slice(1).filter((name) => name !== 'DistinctParties') as string[]), sections.length, {
      default: [],
      description: 'Sections the file deliberately does not have; what they hold is then missing in every entry.',
    }),
  ),
  ...textOptions,
})
type Options = Static<typeof Options>

/** Data of a party that later sections hold. */
interface Later {
  readonly programmes: string[]
  readonly references: string[]
  readonly remarks: string[]
  listed_on?: string | undefined
}

interface CollectedParty {
  readonly party: number
  readonly at: SourceLocation
  readonly name: string
  readonly id: string
  later?: Later
}

class AdvancedList implements References {
  private readonly list: OfacList
  private readonly out: BatchBuilder
  private readonly held = new HeldValues()
  private readonly values = new Map<string, XmlElement>()
  private readonly locations = new Map<string, number>()
  private readonly documents = new Map<string, number[]>()
  private readonly parties: CollectedParty[] = []
  private readonly by_profile = new Map<string, CollectedParty>()
  private readonly identity: ListIdentity
  /** Unresolved references, by the kind of their target. */
  private readonly orphans = new Map<string, { count: number; at: SourceLocation }>()
  private at: SourceLocation = { row: 0 }
  private parties_read = 0

  constructor(list: OfacList, out: BatchBuilder) {
    this.list = list
    this.out = out
    this.identity = new ListIdentity(list)
  }

  value(set: ValueSet, id: string | undefined): string | undefined {
    return this.find(set, id)?.text || undefined
  }

  attribute(set: ValueSet, id: string | undefined, name: string): string | undefined {
    const found = this.find(set, id)
    return found && getAttribute(found, name)
  }

  private find(set: ValueSet, id: string | undefined): XmlElement | undefined {
    if (id === undefined) return undefined
    const found = this.values.get(`${set} ${id}`)
    if (found === undefined) this.orphan(set)
    return found
  }

  location(id: string | undefined): Location | undefined {
    if (id === undefined) return undefined
    const found = this.locations.get(id)
    if (found === undefined) this.orphan('Location')
    return found === undefined ? undefined : this.held.get<Location>(found)
  }

  private orphan(what: string): void {
    const known = this.orphans.get(what)
    if (known) known.count++
    else this.orphans.set(what, { count: 1, at: this.at })
  }

  add(path: string, element: XmlElement, line: number): void {
    this.at = { row: this.parties_read, line, path }
    const id = getAttribute(element, 'ID') ?? ''
    if (path === paths.location) this.locations.set(id, this.held.hold(readLocation(element, this), this.at))
    else if (path === paths.document) this.addDocument(element)
    else if (path === paths.party) this.addParty(element, { row: ++this.parties_read, line, path })
    else if (path === paths.relationship) this.addRelationship(element)
    else if (path === paths.entry) this.addEntry(element)
    else for (const value of element.children) this.values.set(`${value.name} ${getAttribute(value, 'ID')}`, value)
  }

  private addDocument(element: XmlElement): void {
    const identity = getAttribute(element, 'IdentityID') ?? ''
    const held = this.held.hold({ ...readDocument(element, this), at: this.at }, this.at)
    this.documents.set(identity, [...(this.documents.get(identity) ?? []), held])
  }

  private addParty(element: XmlElement, at: SourceLocation): void {
    this.at = at
    const read = readParty(element, this.list, this)
    if (read === undefined) {
      this.out.reject(reject('value_missing', 'The party has no FixedRef.', at, null, '/source_id'))
      return
    }
    for (const identity of read.identities) {
      for (const document of this.documents.get(identity) ?? []) {
        const { type, value, country, note } = this.held.get<Document>(document)
        read.draft.addIdentifier(type, value, { country, note })
      }
      this.documents.delete(identity)
    }
    const party = read.draft.build()
    if (party === undefined) {
      addParty(this.out, read.draft, at)
      return
    }
    const held = { party: this.held.hold(party, at), at, name: party.name, id: party.source_id }
    this.parties.push(held)
    for (const profile of read.profiles) this.by_profile.set(profile, held)
  }

  private later(profile: string | undefined): Later | undefined {
    const held = this.by_profile.get(profile ?? '')
    if (held === undefined) this.orphan('Profile')
    else held.later ??= { programmes: [], references: [], remarks: [] }
    return held?.later
  }

  private addRelationship(element: XmlElement): void {
    const from = this.later(getAttribute(element, 'From-ProfileID'))
    const to = this.by_profile.get(getAttribute(element, 'To-ProfileID') ?? '')
    if (to === undefined) this.orphan('Profile')
    const type = this.value('RelationType', getAttribute(element, 'RelationTypeID')) ?? 'Related to'
    const former = getAttribute(element, 'Former') === 'true' ? 'formerly ' : ''
    const comment = getChildText(element, 'Comment')
    const other = to ? `${to.name} (${to.id})` : getAttribute(element, 'To-ProfileID')
    from?.remarks.push(`${former}${type}: ${other}${comment ? `. ${comment}` : ''}`)
  }

  private addEntry(element: XmlElement): void {
    const later = this.later(getAttribute(element, 'ProfileID'))
    const programmes: string[] = []
    for (const measure of getChildren(element, 'SanctionsMeasure')) {
      const type = this.value('SanctionsType', getAttribute(measure, 'SanctionsTypeID'))
      const [comment, period] = [getChildText(measure, 'Comment'), getChild(measure, 'DatePeriod')]
      if (type === 'Program' && comment) programmes.push(comment)
      else later?.remarks.push(['Measure', type, comment, period && formatPeriod(period)].filter(Boolean).join(': '))
    }
    this.identity.add(programmes)
    if (later === undefined) return
    later.programmes.push(...programmes)
    later.references.push(this.value('List', getAttribute(element, 'ListID')) ?? '')
    for (const event of getChildren(element, 'EntryEvent')) {
      const day = formatIsoDay(getChild(event, 'Date'))
      if (day !== undefined && (later.listed_on === undefined || day < later.listed_on)) later.listed_on = day
      later.references.push(this.value('LegalBasis', getAttribute(event, 'LegalBasisID')) ?? '')
      later.remarks.push(getChildText(event, 'Comment') ?? '')
    }
  }

  *batches(isEntriesExpected: boolean): Generator<Batch, void, undefined> {
    this.identity.assertList()
    let unlisted = 0
    for (const { party, at, later } of this.parties) {
      const draft = PartyDraft.from(this.held.get<SanctionedParty>(party))
      if (later === undefined || later.programmes.length === 0) unlisted++
      for (const programme of later?.programmes ?? []) draft.addValue('programmes', programme)
      for (const reference of later?.references ?? []) draft.addValue('references', reference)
      for (const remark of later?.remarks ?? []) draft.addRemark(remark)
      addParty(this.out, draft.set({ listed_on: later?.listed_on }), at)
      if (this.out.isFull) yield this.out.take()
    }
    if (isEntriesExpected && unlisted > 0) {
      this.out.warnIncomplete(
        'programmes_missing',
        `${unlisted} parties have no programme in <SanctionsEntries>.`,
        unlisted,
      )
    }
    this.reportOrphans()
    yield* this.out.takeRest()
  }

  private reportOrphans(): void {
    for (const documents of this.documents.values()) {
      for (const document of documents) {
        this.at = this.held.get<{ at: SourceLocation }>(document).at
        this.orphan('Identity')
      }
    }
    for (const [what, { count, at }] of this.orphans) {
      this.out.warnIncomplete('rows_orphaned', `${count} references lead to no ${what} in the file.`, count, at)
    }
  }
}

async function* read(
  source: Source,
  options: Options,
  list: OfacList,
  file_name?: string | null,
): AsyncGenerator<Batch, void, undefined> {
  assertFileName(file_name, list)
  const out = new BatchBuilder()
  const unread = new UnreadMembers(knownMembers)
  const found: string[] = []
  const onElement = (path: string, line: number, leads_to_records: boolean) => {
    const section = path.slice(path.indexOf('/') + 1)
    if (leads_to_records && section !== path) noteSection(section, found, line)
    else if (!leads_to_records && !unusedElements.has(path)) unread.add(path, line)
  }
  const held = new AdvancedList(list, out)
  const all = [...valueSets.map(valueSetPath), ...Object.values(paths)]
  const { max_expanded_bytes, absent_sections = [] } = options
  for await (const records of readXml(source, all, { max_expanded_bytes, onEncoding: noteEncoding(out), onElement })) {
    for (const { path, element, line } of records) {
      unread.check(element, line)
      held.add(path, element, line)
    }
    if (out.isFull) yield out.take()
  }
  expectSections(found, absent_sections)
  unread.conclude(out)
  yield* held.batches(!absent_sections.includes('SanctionsEntries'))
}

/** Sections must come in the order of the schema, each once, so that references can be resolved. */
function noteSection(section: string, found: string[], line: number): void {
  const position = (name: string | undefined) => sections.indexOf(name as (typeof sections)[number])
  const last = found.at(-1)
  if (last !== undefined && position(section) <= position(last)) {
    const message = `<${section}> at line ${line} comes after <${last}>; in this layout it comes once, and before.`
    refuseSource('layout_unknown', message, onLine(line))
  }
  found.push(section)
}

function expectSections(found: readonly string[], absent: readonly string[]): void {
  const missing = sections.filter((section) => !found.includes(section) && !absent.includes(section))
  if (missing.length > 0) {
    const advice = `If that is meant, say {"absent_sections": ${JSON.stringify(missing)}}.`
    refuseSource('layout_unknown', `The file lacks the sections ${quoteNames(missing)}. ${advice}`)
  }
  const said = absent.filter((section) => found.includes(section))
  if (said.length > 0) {
    refuseSource('layout_unknown', `The file has ${quoteNames(said)}, although absent_sections says that it has not.`)
  }
}

const createSample = (programme: string, list: string) => `<?xml version="1.0" encoding="utf-8"?>
<Sanctions xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ADVANCED_XML">
  <DateOfIssue CalendarTypeID="1"><Year>2026</Year><Month>5</Month><Day>21</Day></DateOfIssue>
  <ReferenceValueSets>
    <AliasTypeValues><AliasType ID="1400">A.K.A.</AliasType><AliasType ID="1403">Name</AliasType></AliasTypeValues>
    <CountryValues><Country ID="11001" ISO2="XA">Examplia</Country></CountryValues>
    <FeatureTypeValues><FeatureType ID="8" FeatureTypeGroupID="1">Birthdate</FeatureType><FeatureType ID="25" FeatureTypeGroupID="1">Location</FeatureType></FeatureTypeValues>
    <IDRegDocTypeValues><IDRegDocType ID="1571">Passport</IDRegDocType></IDRegDocTypeValues>
    <ListValues><List ID="1550">${list}</List></ListValues>
    <LocPartTypeValues><LocPartType ID="1454">CITY</LocPartType></LocPartTypeValues>
    <NamePartTypeValues><NamePartType ID="1520">Last Name</NamePartType><NamePartType ID="1521">First Name</NamePartType></NamePartTypeValues>
    <PartySubTypeValues><PartySubType ID="4" PartyTypeID="1">Unknown</PartySubType></PartySubTypeValues>
    <PartyTypeValues><PartyType ID="1">Individual</PartyType></PartyTypeValues>
    <SanctionsTypeValues><SanctionsType ID="1">Program</SanctionsType></SanctionsTypeValues>
    <ScriptValues><Script ID="215" ScriptCode="Latn">Latin</Script></ScriptValues>
  </ReferenceValueSets>
  <Locations>
    <Location ID="70"><LocationCountry CountryID="11001"/><LocationPart LocPartTypeID="1454"><LocationPartValue Primary="true"><Value>Sampleton</Value></LocationPartValue></LocationPart></Location>
  </Locations>
  <IDRegDocuments>
    <IDRegDocument ID="80" IDRegDocTypeID="1571" IdentityID="60" IssuedBy-CountryID="11001"><IDRegistrationNo>X100</IDRegistrationNo></IDRegDocument>
  </IDRegDocuments>
  <DistinctParties>
    <DistinctParty FixedRef="50"><Profile ID="50" PartySubTypeID="4">
      <Identity ID="60" FixedRef="50" Primary="true" False="false">
        <Alias FixedRef="50" AliasTypeID="1403" Primary="true" LowQuality="false"><DocumentedName ID="61" FixedRef="50" DocNameStatusID="1">
          <DocumentedNamePart><NamePartValue NamePartGroupID="62" ScriptID="215">SAMPLE</NamePartValue></DocumentedNamePart>
          <DocumentedNamePart><NamePartValue NamePartGroupID="63" ScriptID="215">Alex</NamePartValue></DocumentedNamePart>
        </DocumentedName></Alias>
        <NamePartGroups><MasterNamePartGroup><NamePartGroup ID="62" NamePartTypeID="1520"/></MasterNamePartGroup><MasterNamePartGroup><NamePartGroup ID="63" NamePartTypeID="1521"/></MasterNamePartGroup></NamePartGroups>
      </Identity>
      <Feature ID="90" FeatureTypeID="25"><FeatureVersion ID="91"><VersionLocation LocationID="70"/></FeatureVersion></Feature>
    </Profile></DistinctParty>
  </DistinctParties>
  <ProfileRelationships/>
  <SanctionsEntries>
    <SanctionsEntry ID="95" ProfileID="50" ListID="1550"><SanctionsMeasure ID="96" SanctionsTypeID="1"><Comment>${programme}</Comment></SanctionsMeasure></SanctionsEntry>
  </SanctionsEntries>
</Sanctions>
`

const shared = {
  version: 1,
  publisher: 'US Department of the Treasury, Office of Foreign Assets Control',
  media_types: ['application/xml', 'text/xml', 'application/zip', 'application/gzip'],
  file_extensions: ['xml', 'zip'],
  options: Options,
  target_type: 'sanctioned-party',
} as const
const origin =
  "Written from the publisher's documented layout and not yet tried on a published file. Parties have the same numbers and names as in the other formats of the list; relationships between parties are in the remarks."

export const ofacSdnAdvancedXml: Adapter = {
  ...shared,
  key: 'ofac-sdn-advanced-xml',
  title: 'OFAC SDN list (advanced XML)',
  description: `SDN_ADVANCED.XML, plain or zipped. ${origin}`,
  sample: { encoding: 'utf8', text: createSample('SDGT', 'SDN List') },
  read: (source, options, file_name) => read(source, options as Options, 'ofac-sdn', file_name),
}

export const ofacConsolidatedAdvancedXml: Adapter = {
  ...shared,
  key: 'ofac-consolidated-advanced-xml',
  title: 'OFAC consolidated list (advanced XML)',
  description: `CONS_ADVANCED.XML, plain or zipped. ${origin}`,
  sample: { encoding: 'utf8', text: createSample('NS-PLC', 'Non-SDN Palestinian Legislative Council List') },
  read: (source, options, file_name) => read(source, options as Options, 'ofac-consolidated', file_name),
}
