/**
 * How a module takes part in search: for each kind of object it declares a source, in its own folder. The search module runs the
 * sources whose read operation the caller may call.
 */
import type { Caches } from '../cache/caches.ts'
import type { Tx } from '../database/tx.ts'
import type { Actor, Route } from '../route.ts'
import type { NamedObjectRow } from './queries.ts'

/** Why an object was found, best first: its id, its key or external id, its whole name, the start of its name, words of its name. */
export const matches = ['id', 'key', 'name', 'prefix', 'words'] as const
export type Match = (typeof matches)[number]

/** Ids between both bounds begin with what was typed. */
export interface IdRange {
  readonly from: string
  readonly to: string
}

/** References between both bounds begin with what was typed. */
export interface ReferenceRange {
  readonly from: string
  readonly to: string
}

export interface SearchTerms {
  /** In Unicode form NFC, without control and format characters, spaces collapsed. */
  readonly text: string
  /** False when the text is too short to search names: only ids and keys are compared. */
  readonly has_words: boolean
  /** Set when the text is a UUID or at least its first eight digits. */
  readonly id: IdRange | null
  /** Set when the text may be a reference such as INV-90ZW-NE8K or its beginning. */
  readonly reference: ReferenceRange | null
}

export interface SearchHit {
  /** The id with which the read operation of the source is called. */
  readonly id: string
  /** The list of an entry, and the version in force. */
  readonly list_key?: string
  readonly version?: number
  readonly title: string
  /** One sentence fragment for people: what it is and what distinguishes it. */
  readonly subtitle: string
  readonly matched: Match
  /** While it is in force; null of a kind that is never restricted. */
  readonly restriction_id: string | null
}

export interface SearchFindings {
  readonly hits: readonly SearchHit[]
  /** False when there may be more matches than the source has looked at. */
  readonly is_complete: boolean
}

/** Objects of one kind that a search of names returns at most. */
export const MAX_NAMED_OBJECTS = 50

export interface SearchContext {
  /** Queries that are sent in the same turn of the event loop travel in one round trip. */
  readonly tx: Tx
  /** Objects with all words of the text in their names, by the kind in app.name_word. One query serves all sources. */
  findNamedObjects(kind: string): Promise<readonly NamedObjectRow[]>
  readonly terms: SearchTerms
  /** How many hits are shown; one more says that there are more. */
  readonly count: number
  readonly actor: Actor
  readonly caches: Caches
  readonly routes: readonly Route[]
}

export interface SearchSource {
  /** Singular and unique: `subject`. */
  readonly kind: string
  /** The heading of its group: `Subjects`. */
  readonly title: string
  /** operationId of the read operation. Callers who may not call it do not search this source. */
  readonly operation: string
  find(context: SearchContext): Promise<SearchFindings>
}

export interface ModuleSearch {
  readonly sources: readonly SearchSource[]
  /** operationIds that read one object by id and have no source, each with the reason. */
  readonly unsearched?: Readonly<Record<string, string>>
}

export const nothingFound: SearchFindings = { hits: [], is_complete: true }

const getRank = (matched: Match): number => matches.indexOf(matched)

/** Each object once, with its best match; best first, otherwise in the given order. One more than `count` at most. */
export function rankHits(hits: readonly SearchHit[], count: number): SearchHit[] {
  const best = new Map<string, SearchHit>()
  for (const hit of hits) {
    const key = `${hit.list_key ?? ''} ${hit.id}`
    const known = best.get(key)
    if (!known || getRank(hit.matched) < getRank(known.matched)) best.set(key, hit)
  }
  return [...best.values()].sort((a, b) => getRank(a.matched) - getRank(b.matched)).slice(0, count + 1)
}

const DIGITS = 32
/** Fewer digits would match too much: eight digits of a UUIDv7 are about a minute. */
const MIN_DIGITS = 8

const toUuid = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')

/** A whole UUID or the beginning of one, with or without hyphens and in any case. */
export function toIdRange(text: string): IdRange | null {
  if (!/^[0-9a-f]{8}[0-9a-f-]*$/i.test(text)) return null
  const digits = text.replaceAll('-', '').toLowerCase()
  if (digits.length < MIN_DIGITS || digits.length > DIGITS) return null
  return { from: toUuid(digits.padEnd(DIGITS, '0')), to: toUuid(digits.padEnd(DIGITS, 'f')) }
}

const REFERENCE = /^([A-Z]{3})(-?)([0-9A-HJKMNP-TV-Z]{1,8})$/
const REFERENCE_LETTERS = 8

/**
 * A whole reference or the beginning of one, with or without hyphens and in any case. Without a hyphen the beginning has a digit, or any
 * longer word would be one.
 */
export function toReferenceRange(text: string): ReferenceRange | null {
  const [, kind, hyphen, letters = ''] = REFERENCE.exec(text.toUpperCase().replace(/(?<=.{4})-|\s/g, '')) ?? []
  const isWhole = letters.length === REFERENCE_LETTERS
  if (letters === '' || (hyphen === '' && !isWhole && !/\d/.test(letters))) return null
  // Both bounds have the shape of a reference, so that their order is the same in every collation.
  const pad = (last: string): string => letters.padEnd(REFERENCE_LETTERS, last).replace(/^(.{4})/, `${kind}-$1-`)
  return { from: pad('0'), to: pad('Z') }
}
