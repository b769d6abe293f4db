/** Reads one party of OFAC's advanced XML: joins the parts of names, and maps features by the name of their type. */
import { getAttribute, getChild, getChildren, getChildText, type XmlElement } from '../formats/xml.ts'
import { formatPeriod } from './ofac-advanced-dates.ts'
import type { ValueSet } from './ofac-advanced-layout.ts'
import type { OfacList } from './ofac-list.ts'
import { ofacDates } from './ofac-remarks.ts'
import { birthDate, collapseSpaces, PartyDraft } from './sanctioned-party.ts'

/** Resolves references of a party. The implementation counts those that cannot be resolved. */
export interface References {
  value(set: ValueSet, id: string | undefined): string | undefined
  /** An attribute of a reference value. */
  attribute(set: ValueSet, id: string | undefined, name: string): string | undefined
  location(id: string | undefined): Location | undefined
}

export interface Location {
  readonly lines: readonly string[]
  readonly city?: string | undefined
  readonly region?: string | undefined
  readonly postal_code?: string | undefined
  readonly country?: string | undefined
  readonly comment?: string | undefined
}

export function readLocation(element: XmlElement, references: References): Location {
  const lines: { type: string; text: string }[] = []
  const named: Record<string, string> = {}
  const comments: string[] = []
  for (const part of getChildren(element, 'LocationPart')) {
    const type = references.value('LocPartType', getAttribute(part, 'LocPartTypeID'))?.toUpperCase() ?? ''
    for (const value of getChildren(part, 'LocationPartValue')) {
      const text = collapseSpaces(getChildText(value, 'Value'))
      if (text !== '' && NAMED_PARTS.has(type) && named[type] === undefined) named[type] = text
      else if (text !== '') lines.push({ type, text })
      comments.push(collapseSpaces(getChildText(value, 'Comment')))
    }
  }
  const country = getChildren(element, 'LocationCountry').map((one) =>
    references.value('Country', getAttribute(one, 'CountryID')),
  )
  const area = getChildren(element, 'LocationAreaCode').map((one) =>
    references.attribute('AreaCode', getAttribute(one, 'AreaCodeID'), 'Description'),
  )
  return {
    lines: lines.sort((a, b) => (a.type < b.type ? -1 : a.type > b.type ? 1 : 0)).map(({ text }) => text),
    city: named['CITY'],
    region: [named['STATE/PROVINCE'], named['REGION']].filter(Boolean).join(', ') || undefined,
    postal_code: named['POSTAL CODE'],
    country: [...country, ...area].filter(Boolean)[0],
    comment: comments.filter(Boolean).join(' ') || undefined,
  }
}

const NAMED_PARTS = new Set(['CITY', 'STATE/PROVINCE', 'REGION', 'POSTAL CODE'])

const listAddressParts = ({ lines, city, region, postal_code, country, comment }: Location) => [
  ...lines,
  city,
  region,
  postal_code,
  country,
  comment,
]

export interface ReadParty {
  readonly draft: PartyDraft
  readonly profiles: readonly string[]
  readonly identities: readonly string[]
}

export function readParty(element: XmlElement, list: OfacList, references: References): ReadParty | undefined {
  const id = getAttribute(element, 'FixedRef')
  if (id === undefined) return undefined
  const profiles = getChildren(element, 'Profile')
  const kinds = profiles.map((profile) => toPartyKind(getAttribute(profile, 'PartySubTypeID'), references))
  const draft = new PartyDraft(list, id, kinds[0] ?? 'other').addRemark(getChildText(element, 'Comment'))
  const identities = profiles.flatMap((profile) => getChildren(profile, 'Identity'))
  for (const identity of identities) readNames(identity, draft, references)
  for (const profile of profiles) {
    draft.addRemark(getChildText(profile, 'Comment'))
    readFeatures(profile, draft, references)
  }
  return {
    draft,
    profiles: profiles.flatMap((profile) => getAttribute(profile, 'ID') ?? []),
    identities: identities.flatMap((identity) => getAttribute(identity, 'ID') ?? []),
  }
}

function toPartyKind(subtype: string | undefined, references: References) {
  const name = references.value('PartySubType', subtype)
  if (name === 'Vessel') return 'vessel'
  if (name === 'Aircraft') return 'aircraft'
  const type = references.value('PartyType', references.attribute('PartySubType', subtype, 'PartyTypeID'))
  return type === 'Individual' ? 'person' : type === 'Entity' ? 'organisation' : 'other'
}

function readNames(identity: XmlElement, draft: PartyDraft, references: References): void {
  const groups = new Map<string, string | undefined>()
  for (const master of getChildren(identity, 'NamePartGroups').flatMap((one) =>
    getChildren(one, 'MasterNamePartGroup'),
  )) {
    for (const group of getChildren(master, 'NamePartGroup')) {
      const type = references.value('NamePartType', getAttribute(group, 'NamePartTypeID'))
      groups.set(getAttribute(group, 'ID') ?? '', type)
    }
  }
  // The primary name of a false identity is not a primary name of the party.
  const is_main = getAttribute(identity, 'Primary') !== 'false' && getAttribute(identity, 'False') !== 'true'
  for (const alias of getChildren(identity, 'Alias')) {
    const type = references.value('AliasType', getAttribute(alias, 'AliasTypeID'))
    const is_primary = is_main && getAttribute(alias, 'Primary') === 'true'
    const is_weak = getAttribute(alias, 'LowQuality') === 'true'
    const plain = is_primary ? 'primary' : type === 'F.K.A.' ? 'former' : is_weak ? 'weak-alias' : 'alias'
    for (const documented of getChildren(alias, 'DocumentedName')) {
      const { name, script } = readName(documented, groups, references)
      const is_latin = script === undefined || script === 'Latin'
      draft.addName(name, is_latin ? plain : 'original-script', { script: is_latin ? undefined : script })
    }
  }
}

/** `LAST, First Middle`, as in OFAC's other files, so that all give the same name. */
function readName(
  documented: XmlElement,
  groups: ReadonlyMap<string, string | undefined>,
  references: References,
): { name: string; script: string | undefined } {
  const last: string[] = []
  const rest: string[] = []
  let script: string | undefined
  for (const part of getChildren(documented, 'DocumentedNamePart').flatMap((one) =>
    getChildren(one, 'NamePartValue'),
  )) {
    const type = groups.get(getAttribute(part, 'NamePartGroupID') ?? '')
    ;(type === 'Last Name' ? last : rest).push(part.text)
    script ??= references.value('Script', getAttribute(part, 'ScriptID'))
  }
  return { name: [last.join(' '), rest.join(' ')].filter(Boolean).join(', '), script }
}

const vesselMembers: Readonly<Record<string, 'call_sign' | 'type' | 'flag' | 'owner' | 'tonnage'>> = {
  'VESSEL CALL SIGN': 'call_sign',
  'VESSEL TYPE': 'type',
  'VESSEL FLAG': 'flag',
  'VESSEL OWNER': 'owner',
  'VESSEL TONNAGE': 'tonnage',
}

interface Feature {
  readonly type: string | undefined
  readonly value: Value
  readonly comment: string | undefined
}

function readFeatures(profile: XmlElement, draft: PartyDraft, references: References): void {
  const features: Feature[] = []
  for (const feature of getChildren(profile, 'Feature')) {
    const type = references.value('FeatureType', getAttribute(feature, 'FeatureTypeID'))
    for (const version of getChildren(feature, 'FeatureVersion')) {
      const comment = getChildText(version, 'Comment')
      const values = readValues(version, references)
      for (const value of values) features.push({ type, value, comment })
      // Without a value the comment is used.
      if (comment && values.length === 0) draft.addRemark(type ? `${type}: ${comment}` : comment)
    }
  }
  // A member for a single value takes the same one whatever the order in the file.
  features.sort((a, b) => (a.value.text < b.value.text ? -1 : 1))
  const filled = new Set<string>()
  for (const feature of features) addFeature(feature, draft, filled)
}

interface Value {
  readonly text: string
  readonly location?: Location
}

function readValues(version: XmlElement, references: References): Value[] {
  const values: Value[] = []
  for (const period of getChildren(version, 'DatePeriod')) {
    const text = formatPeriod(period)
    if (text !== undefined) values.push({ text })
  }
  for (const detail of getChildren(version, 'VersionDetail')) {
    const reference = getAttribute(detail, 'DetailReferenceID')
    const known = reference === undefined ? undefined : references.value('DetailReference', reference)
    const text = [known, detail.text].filter(Boolean).join(' ')
    if (text !== '') values.push({ text })
  }
  for (const place of getChildren(version, 'VersionLocation')) {
    const location = references.location(getAttribute(place, 'LocationID'))
    const text = location ? listAddressParts(location).filter(Boolean).join(', ') : ''
    if (location && text !== '') values.push({ text, location })
  }
  return values
}

function addFeature(
  { type, value: { text, location }, comment }: Feature,
  draft: PartyDraft,
  filled: Set<string>,
): void {
  const name = type?.toUpperCase() ?? ''
  const member = name === 'VESSEL GROSS REGISTERED TONNAGE' ? 'gross_registered_tonnage' : vesselMembers[name]
  if (name === 'BIRTHDATE') draft.addBirthDate(birthDate(text, ofacDates))
  else if (name === 'PLACE OF BIRTH') draft.addValue('birth_places', text)
  else if (/^(NATIONALITY|CITIZENSHIP)/.test(name)) draft.addValue('nationalities', location?.country ?? text)
  else if (name === 'GENDER' && !filled.has(name)) draft.set({ gender: text })
  else if (name === 'TITLE') draft.addValue('titles', text)
  else if (name === 'LOCATION' && location) {
    addAddress(location, comment, draft)
    return
  } else if (member && !filled.has(name)) draft.setVessel({ [member]: text })
  else {
    draft.addIdentifier(type, text, { note: comment })
    return
  }
  filled.add(name)
  if (comment) draft.addRemark(`${type}: ${comment}`)
}

function addAddress(location: Location, comment: string | undefined, draft: PartyDraft): void {
  const { city, postal_code, country } = location
  draft.addAddress([...listAddressParts(location), comment], { city, postal_code, country })
}

export interface Document {
  readonly type: string | undefined
  readonly value: string
  readonly country: string | undefined
  readonly note: string
}

/** A document with its number; without one its note is the identifier. */
export function readDocument(element: XmlElement, references: References): Document {
  const dates = getChildren(element, 'DocumentDate').flatMap((date) => {
    const period = getChild(date, 'DatePeriod')
    const text = period && formatPeriod(period)
    const type = references.value('IDRegDocDateType', getAttribute(date, 'IDRegDocDateTypeID')) ?? ''
    return text === undefined
      ? []
      : [`${/issue/i.test(type) ? 'issued' : /expir/i.test(type) ? 'expires' : type} ${text}`]
  })
  const validity = references.value('Validity', getAttribute(element, 'ValidityID'))
  const place = references.location(getAttribute(element, 'IssuedIn-LocationID'))
  const notes = [
    ...dates,
    validity === 'Valid' ? undefined : validity,
    getChildText(element, 'IssuingAuthority'),
    place && listAddressParts(place).filter(Boolean).join(', '),
    getChildText(element, 'Comment'),
  ].filter(Boolean)
  const number = getChildText(element, 'IDRegistrationNo')
  return {
    type: references.value('IDRegDocType', getAttribute(element, 'IDRegDocTypeID')),
    value: number ?? notes.join(', '),
    country: references.value('Country', getAttribute(element, 'IssuedBy-CountryID')),
    note: number === undefined ? '' : notes.join(', '),
  }
}
