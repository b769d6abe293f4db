/**
 * The one document a decision leaves: everything it rests on and everything it says, as canonical text. It holds no ids, no
 * times of writing and no durations, so the same decision with the same salt gives the same bytes wherever and whenever it is
 * made again. Format 2 has a salt, so that its hash does not tell what was decided on; format 1 had none and is only replayed.
 */
import { hash } from 'node:crypto'
import { CanonicalText, canonicalJson } from '#kernel/canonical-json.ts'
import type { DefinitionFamily, Explanation, Inputs, Outcome, UsedEntry } from './model.ts'
import { isSalt } from './salt.ts'

const UNSALTED_FORMAT = 'probity-decision/1'
export const DOCUMENT_FORMAT = 'probity-decision/2'

/** A list as it was pinned: whose version, and what stood on top of it. */
export interface PinnedList {
  readonly list_key: string
  readonly via: string | null
  readonly version: number
  readonly content_hash: string
  readonly overlay_hash: string | null
}

export interface DecisionFacts {
  readonly family: DefinitionFamily
  readonly key: string
  readonly version: number
  readonly content_hash: string
  readonly engine: number
  /** As they were given, defaults not filled in. */
  readonly inputs: Inputs
  /** The instant that was asked for; null for the moment of deciding, which the receipt knows. */
  readonly valid_at: string | null
  readonly lists: readonly PinnedList[]
  readonly used: readonly UsedEntry[]
  readonly outcome: Outcome
  readonly explanation: Explanation
}

interface UnsaltedContent extends DecisionFacts {
  readonly format: typeof UNSALTED_FORMAT
}

interface SaltedContent extends DecisionFacts {
  readonly format: typeof DOCUMENT_FORMAT
  /** Random, kept with the decision and gone with it. */
  readonly salt: string
  /** Answers of providers the decision rests on; none yet. */
  readonly evidence: readonly unknown[]
  /** Results of plugins the decision rests on; none yet. */
  readonly plugins: readonly unknown[]
}

export type DecisionContent = UnsaltedContent | SaltedContent

export interface DecisionDocument {
  readonly content: DecisionContent
  /** RFC 8785. */
  readonly text: string
  /** SHA-256 of the text, hex. */
  readonly hash: string
}

/** `salt`: a new one for a new decision, the pinned one for a replay; null writes format 1 and is for replays of that only. */
export function buildDecisionDocument(facts: DecisionFacts, salt: string | null): DecisionDocument {
  const { family, key, version, content_hash, engine, inputs, valid_at, outcome, explanation } = facts
  const lists = toCanonicalLists(facts.lists)
  const decided: DecisionFacts = {
    family,
    key,
    version,
    content_hash,
    engine,
    inputs,
    valid_at,
    lists: lists.content,
    // Member by member, like the lists.
    used: facts.used
      .map(({ list_key, key, field, value, hash }) => ({ list_key, key, field, value, hash }))
      .sort(
        (a, b) => compare(a.list_key, b.list_key) || compare(a.key, b.key) || compare(a.field ?? '', b.field ?? ''),
      ),
    outcome,
    explanation,
  }
  const content: DecisionContent =
    salt === null
      ? { format: UNSALTED_FORMAT, ...decided }
      : { format: DOCUMENT_FORMAT, salt, evidence: [], plugins: [], ...decided }
  const text = canonicalJson({ ...content, lists: lists.text })
  return { content, text, hash: hashDocument(text) }
}

/** Why this release cannot have written the document, or null where it can. */
export function findFormatFault(document: object): string | null {
  const { format, salt } = document as { readonly format?: unknown; readonly salt?: unknown }
  if (format === UNSALTED_FORMAT) return null
  if (format !== DOCUMENT_FORMAT) return `This release does not know documents of the format ${JSON.stringify(format)}.`
  return isSalt(salt) ? null : 'The document has no salt.'
}

/** What a replay writes the document with. */
export const getSalt = (content: DecisionContent): string | null =>
  content.format === DOCUMENT_FORMAT ? content.salt : null

/** What two decisions can have in common: the document without its format and its salt, which differ for the same decision. */
export function toComparableContent(content: DecisionContent): object {
  const { format: _format, salt: _salt, ...decided } = content as Partial<SaltedContent>
  return { ...decided, evidence: decided.evidence ?? [], plugins: decided.plugins ?? [] }
}

interface CanonicalLists {
  readonly content: readonly PinnedList[]
  readonly text: CanonicalText
}

/** By the array they are given in: whoever decides many times on the same lists gives the same one. */
const canonicalListsCache = new WeakMap<readonly PinnedList[], CanonicalLists>()

function toCanonicalLists(given: readonly PinnedList[]): CanonicalLists {
  let lists = canonicalListsCache.get(given)
  if (!lists) {
    // Member by member, since what is given may know more than belongs in the document.
    const content = given
      .map(({ list_key, via, version, content_hash, overlay_hash }) => ({
        list_key,
        via,
        version,
        content_hash,
        overlay_hash,
      }))
      .sort((a, b) => compare(a.list_key, b.list_key))
    lists = { content, text: new CanonicalText(content) }
    canonicalListsCache.set(given, lists)
  }
  return lists
}

export const hashDocument = (text: string): string => hash('sha256', text, 'hex')

/** By UTF-16 code units, as everywhere in canonical JSON. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
