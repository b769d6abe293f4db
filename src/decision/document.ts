/**
 * The one document a decision leaves: everything it rests on and everything it says, as canonical text. It holds no ids, no
 * times of writing and no durations, so the same decision gives the same bytes wherever and whenever it is made again.
 */
import { hash } from 'node:crypto'
import { CanonicalText, canonicalJson } from '../kernel/canonical-json.ts'
import type { Explanation, Family, Inputs, Outcome, UsedEntry } from './model.ts'

export const DOCUMENT_FORMAT = 'probity-decision/1'

/** A list as it was pinned: whose version, and what stood on top of it. */
export interface PinnedList {
  readonly list_key: string
  readonly via: string | null
  readonly version: number
  readonly content_hash: string
  readonly overlay_hash: string | null
}

export interface DecisionFacts {
  readonly family: Family
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

export interface DecisionContent extends DecisionFacts {
  readonly format: typeof DOCUMENT_FORMAT
}

export interface DecisionDocument {
  readonly content: DecisionContent
  /** RFC 8785. */
  readonly text: string
  /** SHA-256 of the text, hex. */
  readonly hash: string
}

export function decisionDocument(facts: DecisionFacts): DecisionDocument {
  const { family, key, version, content_hash, engine, inputs, valid_at, outcome, explanation } = facts
  const lists = shownLists(facts.lists)
  const content: DecisionContent = {
    format: DOCUMENT_FORMAT,
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
  const text = canonicalJson({ ...content, lists: lists.text })
  return { content, text, hash: documentHash(text) }
}

interface ShownLists {
  readonly content: readonly PinnedList[]
  readonly text: CanonicalText
}

/** By the array they are given in: whoever decides many times on the same lists gives the same one. */
const known = new WeakMap<readonly PinnedList[], ShownLists>()

function shownLists(given: readonly PinnedList[]): ShownLists {
  let lists = known.get(given)
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
    known.set(given, lists)
  }
  return lists
}

export const documentHash = (text: string): string => hash('sha256', text, 'hex')

/** By UTF-16 code units, as everywhere in canonical JSON. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
