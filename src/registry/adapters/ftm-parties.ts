/** Builds a party from FollowTheMoney entities: its own properties, attached entities, and links to other parties. */
import { parseDate } from './dates.ts'
import { isIdentifier, leftOut, links, partyKinds } from './ftm-schemas.ts'
import { birthDate, PartyDraft } from './sanctioned-party.ts'

export interface FtmEntity {
  readonly id: string
  readonly schema: string
  readonly caption?: string | undefined
  readonly properties: Readonly<Record<string, readonly string[]>>
  readonly datasets: readonly string[]
  readonly referents: readonly string[]
  readonly last_change?: string | undefined
}

const dateFormats = ['YYYY-MM-DD', 'YYYY-MM', 'YYYY']
const nameKinds = { name: 'alias', alias: 'alias', weakAlias: 'weak-alias', previousName: 'former' } as const
const lists = {
  title: 'titles',
  position: 'positions',
  birthPlace: 'birth_places',
  nationality: 'nationalities',
  citizenship: 'nationalities',
  program: 'programmes',
  programId: 'programmes',
} as const
const vesselMembers = {
  callSign: 'call_sign',
  type: 'type',
  flag: 'flag',
  tonnage: 'tonnage',
  grossRegisteredTonnage: 'gross_registered_tonnage',
} as const

/** Creates the draft of a party. A property without a member of its own becomes a line of the remarks. */
export function createDraft(entity: FtmEntity): PartyDraft {
  const { id, schema, properties, caption } = entity
  const kind = partyKinds[schema] ?? 'other'
  const draft = new PartyDraft('opensanctions', id, kind)
  const names = properties['name'] ?? []
  // A caption that repeats the number is used as a name only when there is no other.
  draft.addName(caption && (caption !== id || names.length === 0) ? caption : undefined, 'primary')
  const single: Record<string, string | undefined> = {}
  for (const [property, values] of Object.entries(properties)) {
    if (leftOut.has(property) || property === 'addressEntity') continue
    const is_single_value = property === 'gender' || (kind === 'vessel' && property in vesselMembers)
    const [first, ...others] = is_single_value ? [...values].sort() : [undefined, ...values]
    single[property] = first
    for (const value of others) addProperty(property, value as string, draft)
  }
  for (const [property, member] of Object.entries(vesselMembers)) draft.setVessel({ [member]: single[property] })
  for (const reference of [...entity.datasets, ...entity.referents]) draft.addValue('references', reference)
  return draft.set({ gender: single['gender'], updated_on: toDay(entity.last_change) })
}

/** The day of a date, or of a time of a day; undefined when only the month or year is known. */
const toDay = (given: string | undefined): string | undefined => parseDate((given ?? '').slice(0, 10), ['YYYY-MM-DD'])

function addProperty(property: string, value: string, draft: PartyDraft): void {
  if (property in nameKinds) draft.addName(value, nameKinds[property as keyof typeof nameKinds])
  else if (property in lists) draft.addValue(lists[property as keyof typeof lists], value)
  else if (property === 'birthDate') draft.addBirthDate(birthDate(value, dateFormats))
  else if (property === 'address') draft.addAddress([value])
  else if (property === 'notes') draft.addRemark(value)
  else if (isIdentifier(property)) draft.addIdentifier(property, value)
  else draft.addRemark(`${property}: ${value}`)
}

/** All values of a property, sorted. */
const joinValues = (entity: FtmEntity, name: string): string | undefined =>
  [...(entity.properties[name] ?? [])].sort().join('; ') || undefined

export function addAddress(address: FtmEntity, draft: PartyDraft): void {
  const [street, street2, box, place, region, state] = [
    'street',
    'street2',
    'postOfficeBox',
    'place',
    'region',
    'state',
  ].map((name) => joinValues(address, name))
  const [city, postal_code] = [joinValues(address, 'city'), joinValues(address, 'postalCode')]
  const country = joinValues(address, 'country')
  const parts = [street, street2, box, place, city, region, state, postal_code, country]
  const full = joinValues(address, 'full') ?? address.caption
  draft.addAddress([...(full ? [full] : parts), joinValues(address, 'remarks')], { city, postal_code, country })
}

const sanctionReferences = new Set(['authority', 'authorityId', 'unscId', 'recordId', 'provisions'])

/** A sanction: its programme, its days, and every other property as a line of the remarks. */
export function addSanction(sanction: FtmEntity, draft: PartyDraft): void {
  if (!sanction.properties['endDate']?.some(toDay)) draft.markUnlimited()
  for (const [property, values] of Object.entries(sanction.properties)) {
    if (leftOut.has(property) || property === 'entity') continue
    for (const value of values) {
      const day = toDay(value)
      if (property === 'program' || property === 'programId') draft.addValue('programmes', value)
      else if (sanctionReferences.has(property)) draft.addValue('references', value)
      else if (day && (property === 'listingDate' || property === 'startDate')) draft.set({ listed_on: day })
      else if (day && property === 'endDate') draft.set({ expires_on: day })
      else draft.addRemark(`Sanction, ${property}: ${value}`)
    }
  }
}

/** Adds an identity document; without a number its note is the identifier. */
export function addDocument(document: FtmEntity, draft: PartyDraft): void {
  const { schema, properties } = document
  const known = new Set(['holder', 'number', 'type', 'country', ...leftOut])
  const notes = Object.keys(properties)
    .filter((property) => !known.has(property))
    .sort()
    .map((property) => `${property} ${joinValues(document, property)}`)
  const [type, country] = [joinValues(document, 'type') ?? schema, joinValues(document, 'country')]
  const numbers = properties['number'] ?? []
  for (const number of numbers) draft.addIdentifier(type, number, { country, note: notes.join(', ') })
  if (numbers.length === 0) draft.addIdentifier(type, notes.join(', '), { country })
}

/** A wallet is an identifier of its holder. */
export function addWallet(wallet: FtmEntity, draft: PartyDraft): void {
  for (const key of wallet.properties['publicKey'] ?? [wallet.caption ?? wallet.id]) {
    draft.addIdentifier('Digital currency address', key, { note: joinValues(wallet, 'currency') })
  }
}

/** `Ownership as owner; asset: Sample Ltd. (NK-2); percentage: 51`. */
export function addLink(link: FtmEntity, own_end: string, other: string, draft: PartyDraft): void {
  const [from, to] = links[link.schema] as readonly [string, string]
  const other_end = own_end === from ? to : from
  const details = Object.keys(link.properties)
    .filter((property) => property !== from && property !== to && !leftOut.has(property))
    .sort()
    .map((property) => `; ${property}: ${joinValues(link, property)}`)
  draft.addRemark(`${link.schema} as ${own_end}; ${other_end}: ${other}${details.join('')}`)
}
