/** The schemata of FollowTheMoney: which are parties, which belong to a party, and which link two. */
import type { SanctionedParty } from './sanctioned-party.ts'

export const partyKinds: Readonly<Record<string, SanctionedParty['kind']>> = {
  Person: 'person',
  Organization: 'organisation',
  Company: 'organisation',
  LegalEntity: 'organisation',
  PublicBody: 'organisation',
  Vessel: 'vessel',
  Airplane: 'aircraft',
  Vehicle: 'other',
  CryptoWallet: 'other',
  Security: 'other',
  Asset: 'other',
}

/** Schemata that describe one party, and the property that refers to it. */
export const attachments: Readonly<Record<string, string>> = {
  Sanction: 'entity',
  Identification: 'holder',
  Passport: 'holder',
}

/** Schemata that link two entities, and the properties that name them. */
export const links: Readonly<Record<string, readonly [from: string, to: string]>> = {
  Associate: ['person', 'associate'],
  Debt: ['debtor', 'creditor'],
  Directorship: ['director', 'organization'],
  Employment: ['employee', 'employer'],
  Family: ['person', 'relative'],
  Membership: ['member', 'organization'],
  Occupancy: ['holder', 'post'],
  Ownership: ['owner', 'asset'],
  Payment: ['payer', 'beneficiary'],
  ProjectParticipant: ['participant', 'project'],
  Representation: ['agent', 'client'],
  Succession: ['predecessor', 'successor'],
  UnknownLink: ['subject', 'object'],
}

/** Schemata that are used only as the other end of a link. */
export const named: ReadonlySet<string> = new Set(['Position', 'Project', 'Event'])

const contacts = new Set(['email', 'iban', 'isin', 'mmsi', 'phone', 'publicKey', 'swiftBic', 'ticker', 'website'])

/** Whether a property of a party is an identifier. */
export const isIdentifier = (property: string): boolean => /(Code|Id|Number)$/.test(property) || contacts.has(property)

/**
 * Properties that are not read: parts of names that are also published in full, metadata of collection, and display hints.
 */
export const leftOut: ReadonlySet<string> = new Set([
  'firstName',
  'lastName',
  'middleName',
  'secondName',
  'nameSuffix',
  'createdAt',
  'modifiedAt',
  'retrievedAt',
  'publisher',
  'publisherUrl',
  'sourceUrl',
  'wikipediaUrl',
  'alephUrl',
  'proof',
  'keywords',
  'indexText',
])
