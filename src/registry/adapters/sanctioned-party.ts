/**
 * The type all sanctions lists are read into: a listed person, organisation, vessel or aircraft with every name and detail as
 * published. Arrays are always present, single values only when the publisher gives them.
 */
import { CalendarDate, closed, listOf, oneOf, type Static, Type } from '#kernel/schema.ts'
import { parseDate } from './dates.ts'
import { type EntryType, entryType, textSchema } from './entry-type.ts'

export const PartyName = closed({
  name: textSchema(2000),
  /** original-script: the name in its original script. weak-alias: a nickname too common to match on its own. */
  kind: oneOf(['primary', 'alias', 'weak-alias', 'former', 'original-script']),
  language: Type.Optional(textSchema(100, { description: 'As published: a code or a word.' })),
  script: Type.Optional(textSchema(100)),
})

export const BirthDate = closed({
  text: textSchema(500, { description: 'As published.' }),
  date: Type.Optional(CalendarDate({ description: 'Only when the day is exactly known.' })),
  year_from: Type.Optional(Type.Integer({ minimum: 1000, maximum: 9999, description: 'Earliest year it can be.' })),
  year_to: Type.Optional(Type.Integer({ minimum: 1000, maximum: 9999, description: 'Latest year it can be.' })),
})

export const PartyAddress = closed({
  text: textSchema(5000, { description: 'The whole address on one line.' }),
  city: Type.Optional(textSchema(500)),
  postal_code: Type.Optional(textSchema(500)),
  country: Type.Optional(textSchema(500, { description: 'As published: a code or a name.' })),
})

export const PartyIdentifier = closed({
  type: textSchema(500, { description: 'As published: passport, tax number, IMO number …' }),
  value: textSchema(5000),
  country: Type.Optional(textSchema(500)),
  note: Type.Optional(textSchema(5000)),
})

export const Vessel = closed({
  call_sign: Type.Optional(textSchema(500)),
  type: Type.Optional(textSchema(500)),
  flag: Type.Optional(textSchema(500)),
  owner: Type.Optional(textSchema(1000)),
  tonnage: Type.Optional(textSchema(100)),
  gross_registered_tonnage: Type.Optional(textSchema(100)),
})

export const SanctionedParty = closed({
  source: textSchema(64, {
    pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
    description: 'Which list, in lower case: ofac-sdn, un-sc, eu-fsf … demo is the fictitious one.',
  }),
  source_id: textSchema(1000, { description: 'What the publisher calls this party; with source it is the key.' }),
  kind: oneOf(['person', 'organisation', 'vessel', 'aircraft', 'other']),
  name: textSchema(2000, { description: 'The primary name.' }),
  names: listOf(PartyName, 5000, { minItems: 1 }),
  gender: Type.Optional(textSchema(100)),
  titles: listOf(textSchema(2000), 1000),
  positions: listOf(textSchema(5000), 1000),
  birth_dates: listOf(BirthDate, 1000),
  birth_places: listOf(textSchema(2000), 1000),
  nationalities: listOf(textSchema(1000), 1000),
  addresses: listOf(PartyAddress, 5000),
  identifiers: listOf(PartyIdentifier, 5000),
  programmes: listOf(textSchema(1000), 1000, { description: 'Sanctions programmes or regimes.' }),
  references: listOf(textSchema(2000), 1000, { description: 'Legal acts, notices, numbers of other lists.' }),
  vessel: Type.Optional(Vessel),
  listed_on: Type.Optional(CalendarDate()),
  updated_on: Type.Optional(CalendarDate()),
  expires_on: Type.Optional(CalendarDate()),
  remarks: Type.Optional(textSchema(100_000)),
})
export type SanctionedParty = Static<typeof SanctionedParty>

export const sanctionedParty: EntryType = entryType({
  type_key: 'sanctioned-party',
  title: 'Sanctioned party',
  description:
    'A person, organisation, vessel or aircraft on a sanctions list, with every name and detail as published.',
  schema: SanctionedParty,
  key_pointers: ['/source', '/source_id'],
  titles: {
    '/source': 'List',
    '/source_id': 'Number on the list',
    '/kind': 'Kind of party',
    '/name': 'Name',
    '/names': 'All names',
    '/gender': 'Gender',
    '/titles': 'Titles',
    '/positions': 'Positions',
    '/birth_dates': 'Dates of birth',
    '/birth_places': 'Places of birth',
    '/nationalities': 'Nationalities',
    '/addresses': 'Addresses',
    '/identifiers': 'Identity documents and numbers',
    '/programmes': 'Programmes',
    '/references': 'Legal references',
    '/vessel': 'Vessel',
    '/listed_on': 'Listed on',
    '/updated_on': 'Last updated',
    '/expires_on': 'Expires on',
    '/remarks': 'Remarks',
  },
  // Publishers change their order, and the line breaks of remarks.
  sets: [
    '/names',
    '/titles',
    '/positions',
    '/birth_dates',
    '/birth_places',
    '/nationalities',
    '/addresses',
    '/identifiers',
    '/programmes',
    '/references',
  ],
  collapsed: ['/remarks'],
  examples: [
    {
      source: 'un-sc',
      source_id: '6908555',
      kind: 'person',
      name: 'RI WON HO',
      names: [{ name: 'RI WON HO', kind: 'primary' }],
      titles: [],
      positions: ['DPRK Ministry of State Security Official'],
      birth_dates: [{ text: '1964-07-17', date: '1964-07-17', year_from: 1964, year_to: 1964 }],
      birth_places: [],
      nationalities: [],
      addresses: [],
      identifiers: [{ type: 'Passport', value: '381310014' }],
      programmes: ['DPRK'],
      references: ['KPi.033'],
      listed_on: '2016-11-30',
    },
  ],
})

type Source = SanctionedParty['source']
type NameKind = SanctionedParty['names'][number]['kind']
type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** Of two equal names the stronger kind is kept, in whatever order they come. */
const STRONGEST_FIRST: readonly NameKind[] = ['primary', 'alias', 'original-script', 'former', 'weak-alias']
const getStrength = ({ kind }: { kind: NameKind }): number => STRONGEST_FIRST.indexOf(kind)

/** Collects the data of one party in any order; equal values are kept once. */
export class PartyDraft {
  private readonly party: Mutable<SanctionedParty>
  private readonly seen = new Set<string>()
  private readonly remarks: string[] = []
  private hasPrimary = false
  private isUnlimited = false

  constructor(source: Source, source_id: string, kind: SanctionedParty['kind']) {
    this.party = {
      source,
      source_id,
      kind,
      name: '',
      names: [],
      titles: [],
      positions: [],
      birth_dates: [],
      birth_places: [],
      nationalities: [],
      addresses: [],
      identifiers: [],
      programmes: [],
      references: [],
    }
  }

  /** Continues a buffered party, such as one whose programmes come later in the source. */
  static from(party: SanctionedParty): PartyDraft {
    const draft = new PartyDraft(party.source, party.source_id, party.kind)
    const { remarks, ...rest } = party
    Object.assign(draft.party, rest)
    draft.hasPrimary = true
    for (const field of ['programmes', 'references', 'nationalities'] as const) {
      for (const value of party[field]) draft.isNew(field, value)
    }
    for (const { type, value, country = '', note = '' } of party.identifiers) {
      draft.isNew('identifier', type, value, country, note)
    }
    return draft.addRemark(remarks)
  }

  /** The first primary name is the name; without one, the first of the strongest kind in alphabetical order is. */
  addName(
    name: string | undefined,
    kind: NameKind,
    more: { language?: string | undefined; script?: string | undefined } = {},
  ): this {
    const clean = collapseSpaces(name)
    if (clean === '') return this
    const { names } = this.party
    const known = names.findIndex((other) => other.name === clean)
    if (kind === 'primary' && !this.hasPrimary) {
      this.hasPrimary = true
      this.party.name = clean
      if (known >= 0) names.splice(known, 1)
      names.unshift(present({ name: clean, kind, ...more }))
    } else if (known < 0) names.push(present({ name: clean, kind, ...more }))
    else if (STRONGEST_FIRST.indexOf(kind) < getStrength(names[known] as { kind: NameKind })) {
      names[known] = { ...(names[known] as SanctionedParty['names'][number]), kind }
    }
    return this
  }

  addValue(
    field: 'titles' | 'positions' | 'birth_places' | 'nationalities' | 'programmes' | 'references',
    value: string | undefined,
  ): this {
    const clean = collapseSpaces(value)
    if (clean !== '' && this.isNew(field, clean)) this.party[field].push(clean)
    return this
  }

  addBirthDate(birth: SanctionedParty['birth_dates'][number] | undefined): this {
    if (birth && this.isNew('born', birth.text)) this.party.birth_dates.push(birth)
    return this
  }

  addAddress(
    parts: readonly (string | undefined)[],
    more: { city?: string | undefined; postal_code?: string | undefined; country?: string | undefined } = {},
  ): this {
    const line = parts
      .map(collapseSpaces)
      .filter((part) => part !== '')
      .join(', ')
    if (line !== '' && this.isNew('address', line)) this.party.addresses.push(present({ text: line, ...more }))
    return this
  }

  addIdentifier(
    type: string | undefined,
    value: string | undefined,
    more: { country?: string | undefined; note?: string | undefined } = {},
  ): this {
    const clean = collapseSpaces(value)
    const known = collapseSpaces(type) || 'unspecified'
    if (clean !== '' && this.isNew('identifier', known, clean, more.country ?? '', more.note ?? '')) {
      this.party.identifiers.push(present({ type: known, value: clean, ...more }))
    }
    return this
  }

  addRemark(remark: string | undefined): this {
    const clean = remark?.trim() ?? ''
    if (clean !== '' && this.isNew('remark', clean)) this.remarks.push(clean)
    return this
  }

  /** Merges dates of several records of a party: the earliest listing, the latest update and the latest end. */
  set(values: { [K in 'gender' | 'listed_on' | 'updated_on' | 'expires_on']?: string | undefined }): this {
    for (const [field, value] of Object.entries(values) as [keyof typeof values, string | undefined][]) {
      const clean = collapseSpaces(value)
      if (clean === '') continue
      const known = this.party[field]
      const isLater = field === 'updated_on' || field === 'expires_on'
      if (known === undefined || (isLater ? clean > known : clean < known)) this.party[field] = clean
    }
    return this
  }

  /** Called when one of several records has no end: the party stays listed, and the end of the others becomes a remark. */
  markUnlimited(): this {
    this.isUnlimited = true
    return this
  }

  setVessel(vessel: { [K in keyof Static<typeof Vessel>]?: string | undefined }): this {
    const known = present(vessel) as Static<typeof Vessel>
    if (Object.keys(known).length > 0) this.party.vessel = { ...known, ...this.party.vessel }
    return this
  }

  /** undefined without a name: such a party cannot be screened. */
  build(): SanctionedParty | undefined {
    const [first] = [...this.party.names].sort((a, b) => getStrength(a) - getStrength(b) || (a.name < b.name ? -1 : 1))
    if (first === undefined) return undefined
    if (!this.hasPrimary) this.party.name = first.name
    if (this.isUnlimited && this.party.expires_on !== undefined) {
      this.addRemark(`In part until ${this.party.expires_on}.`)
      delete this.party.expires_on
    }
    // Several records may come in any order.
    if (this.remarks.length > 0) this.party.remarks = this.remarks.sort().join('\n')
    return this.party
  }

  private isNew(...parts: string[]): boolean {
    const key = parts.join('\u0000')
    if (this.seen.has(key)) return false
    this.seen.add(key)
    return true
  }
}

/** Trimmed, with single spaces. */
export const collapseSpaces = (value: string | undefined): string => value?.replace(/\s+/g, ' ').trim() ?? ''

/** Without members that are undefined or empty. */
function present<T extends Record<string, string | undefined>>(
  values: T,
): { [K in keyof T]: Exclude<T[K], undefined> } {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(values)) {
    const clean = collapseSpaces(value)
    if (clean !== '') kept[name] = clean
  }
  return kept as { [K in keyof T]: Exclude<T[K], undefined> }
}

/** A date of birth as published, with the exact day or range of years as far as `formats` can parse it. */
export function birthDate(
  given: string | undefined,
  formats: readonly string[],
): SanctionedParty['birth_dates'][number] | undefined {
  const clean = collapseSpaces(given)
  if (clean === '') return undefined
  const iso = parseDate(clean, formats)
  if (iso?.length === 10) return { text: clean, date: iso, ...years(iso.slice(0, 4)) }
  if (iso !== undefined) return { text: clean, ...years(iso.slice(0, 4)) }
  const found = clean.match(/\b(1[89]|20)\d{2}\b/g)?.map(Number)
  if (!found) return { text: clean }
  // "circa" widens the range by an unknown amount, so the years are not bounds.
  if (/circa|approx|about/i.test(clean)) return { text: clean }
  return { text: clean, year_from: Math.min(...found), year_to: Math.max(...found) }
}

const years = (year: string) => ({ year_from: Number(year), year_to: Number(year) })
