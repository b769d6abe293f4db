/** The layout of OFAC's advanced XML, as its schema documents it: the sections, and the members of each that are known. */
import type { KnownMembers } from './unread-members.ts'

const ROOT = 'Sanctions'
export const paths = {
  location: `${ROOT}/Locations/Location`,
  document: `${ROOT}/IDRegDocuments/IDRegDocument`,
  party: `${ROOT}/DistinctParties/DistinctParty`,
  relationship: `${ROOT}/ProfileRelationships/ProfileRelationship`,
  entry: `${ROOT}/SanctionsEntries/SanctionsEntry`,
} as const

/** In the order of the schema: a section comes after those it refers to. */
export const sections = [
  'ReferenceValueSets',
  'Locations',
  'IDRegDocuments',
  'DistinctParties',
  'ProfileRelationships',
  'SanctionsEntries',
] as const

/** Sets of reference values that are read: the element of one value, in `<name>Values`. */
export const valueSets = [
  'AliasType',
  'AreaCode',
  'Country',
  'DetailReference',
  'FeatureType',
  'IDRegDocDateType',
  'IDRegDocType',
  'LegalBasis',
  'List',
  'LocPartType',
  'NamePartType',
  'PartySubType',
  'PartyType',
  'RelationType',
  'SanctionsType',
  'Script',
  'Validity',
] as const
export type ValueSet = (typeof valueSets)[number]
export const valueSetPath = (set: ValueSet): string => `${ROOT}/ReferenceValueSets/${set}Values`

/** Known and not read: they classify a value and are not part of it. */
const unusedSets = [
  'AreaCodeType',
  'CalendarType',
  'CountryRelevance',
  'DecisionMakingBody',
  'DetailType',
  'DocNameStatus',
  'EntryEventType',
  'EntryLinkType',
  'ExRefType',
  'FeatureTypeGroup',
  'IdentityFeatureLinkType',
  'LegalBasisType',
  'LocPartValueStatus',
  'LocPartValueType',
  'Organisation',
  'RelationQuality',
  'Reliability',
  'SanctionsProgram',
  'ScriptStatus',
  'SubsidiaryBody',
  'SupInfoType',
  'TargetType',
]
/** Elements outside the records that are deliberately not read. */
export const unusedElements: ReadonlySet<string> = new Set([
  `${ROOT}/DateOfIssue`,
  `${ROOT}/SanctionsEntryLinks`,
  ...unusedSets.map((set) => `${ROOT}/ReferenceValueSets/${set}Values`),
])

const date = '@CalendarTypeID Year Month Day'
const bound = '@Approximate @YearFixed @MonthFixed @DayFixed From To'
const value = '# @ID'
const valueMembers: KnownMembers = {
  AliasType: value,
  AreaCode: `${value} @CountryID @Description @AreaCodeTypeID`,
  Country: `${value} @ISO2`,
  DetailReference: value,
  FeatureType: `${value} @FeatureTypeGroupID`,
  IDRegDocDateType: value,
  IDRegDocType: value,
  LegalBasis: `${value} @LegalBasisShortRef @LegalBasisTypeID @SanctionsProgramID`,
  List: value,
  LocPartType: value,
  NamePartType: value,
  PartySubType: `${value} @PartyTypeID`,
  PartyType: value,
  RelationType: `${value} @Symmetrical`,
  SanctionsType: value,
  Script: `${value} @ScriptCode`,
  Validity: value,
}

/** Numbers of parts, and how reliable OFAC calls them, are known and left out. */
export const knownMembers: KnownMembers = {
  ...valueMembers,
  ...Object.fromEntries(valueSets.map((set) => [`${set}Values`, set])),
  Comment: '#',
  Value: '#',
  Year: '#',
  Month: '#',
  Day: '#',
  From: date,
  To: date,
  Date: date,
  Start: bound,
  End: bound,
  DatePeriod: '@CalendarTypeID @YearFixed @MonthFixed @DayFixed Comment Start End',
  Location: '@ID LocationAreaCode LocationCountry LocationPart FeatureVersionReference IDRegDocumentReference',
  LocationAreaCode: '@AreaCodeID',
  LocationCountry: '@CountryID @CountryRelevanceID',
  LocationPart: '@LocPartTypeID LocationPartValue',
  LocationPartValue: '@Primary @LocPartValueTypeID @LocPartValueStatusID Comment Value',
  FeatureVersionReference: '@FeatureVersionID',
  IDRegDocumentReference: '@DocumentID @IDRegDocumentID',
  IDRegDocument:
    '@ID @IDRegDocTypeID @IdentityID @IssuedBy-CountryID @IssuedIn-LocationID @ValidityID Comment IDRegistrationNo IssuingAuthority DocumentDate DocumentedNameReference',
  IDRegistrationNo: '#',
  IssuingAuthority: '#',
  DocumentDate: '@IDRegDocDateTypeID DatePeriod',
  DocumentedNameReference: '@DocumentedNameID',
  DistinctParty: '@FixedRef @DeltaAction Comment Profile',
  Profile: '@ID @PartySubTypeID @DeltaAction Comment Identity Feature SanctionsEntryReference',
  SanctionsEntryReference: '@SanctionsEntryID',
  Identity: '@ID @FixedRef @Primary @False Alias NamePartGroups',
  Alias: '@FixedRef @AliasTypeID @Primary @LowQuality DocumentedName',
  DocumentedName: '@ID @FixedRef @DocNameStatusID DocumentedNamePart',
  DocumentedNamePart: 'NamePartValue',
  NamePartValue: '# @NamePartGroupID @ScriptID @ScriptStatusID @Acronym',
  NamePartGroups: 'MasterNamePartGroup',
  MasterNamePartGroup: 'NamePartGroup',
  NamePartGroup: '@ID @NamePartTypeID',
  Feature: '@ID @FeatureTypeID FeatureVersion IdentityReference',
  FeatureVersion: '@ID @ReliabilityID Comment DatePeriod VersionDetail VersionLocation',
  VersionDetail: '# @DetailTypeID @DetailReferenceID',
  VersionLocation: '@LocationID',
  IdentityReference: '@IdentityID @IdentityFeatureLinkTypeID',
  ProfileRelationship:
    '@ID @From-ProfileID @To-ProfileID @RelationTypeID @RelationQualityID @Former @SanctionsEntryID Comment',
  SanctionsEntry: '@ID @ProfileID @ListID EntryEvent SanctionsMeasure',
  EntryEvent: '@ID @EntryEventTypeID @LegalBasisID Comment Date',
  SanctionsMeasure: '@ID @SanctionsTypeID Comment DatePeriod',
}
