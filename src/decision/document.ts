/**
 * The decision document: all inputs, versions and results of a decision as canonical text. It has no ids, timestamps or durations, so
 * a replay with the same salt gives the same bytes. Format 2 has a salt, so that its hash does not reveal the inputs; format 1 has
 * none and is used for replays only.
 */
import { hash } from 'node:crypto'
import { CanonicalText, canonicalJson } from '#kernel/canonical-json.ts'
import type { DefinitionFamily, Explanation, Inputs, Outcome, UsedEntry } from './model.ts'
import { isSalt } from './salt.ts'

const UNSALTED_FORMAT = 'probity-decision/1'
export const DOCUMENT_FORMAT = 'probity-decision/2'

/** A pinned list: the owner of its version, and its overlay. */
export interface PinnedList {
  readonly list_key: string
  readonly via: string | null
  readonly version: number
  readonly content_hash: string
  readonly overlay_hash: string | null
}

/** An answer of a provider that the decision was made on. */
export interface PinnedEvidence {
  readonly contract_key: string
  readonly contract_version: number
  readonly contract_hash: string
  /** SHA-256 of the salt and the SHA-256 of the payload, hex: it does not reveal a short payload. */
  readonly payload_hash: string
  /** `test`: the provider was asked in its test environment. */
  readonly mode: 'live' | 'test' | 'recorded' | 'fixtures'
  /** The inputs that it gave, in the order of their names. */
  readonly inputs: readonly { readonly input: string; readonly fact: string }[]
}

/** A plugin that scored a factor, and what it said. */
export interface PinnedPlugin {
  readonly plugin_key: string
  /** The owner of its version, as for lists. */
  readonly via: string | null
  readonly version: number
  readonly content_hash: string
  readonly configuration_hash: string
  /** The build of the sandbox that it ran in. */
  readonly sandbox_hash: string
  /** Key of the factor. */
  readonly factor: string
  readonly result: {
    readonly score_bps: number
    readonly reason_code: string | null
    readonly values: Readonly<Record<string, unknown>>
  }
  /** What it used, in interrupt callbacks of the interpreter: the same on every machine. */
  readonly fuel: number
}

export interface DecisionFacts {
  readonly family: DefinitionFamily
  readonly key: string
  readonly version: number
  readonly content_hash: string
  readonly engine: number
  /** As given, without defaults. */
  readonly inputs: Inputs
  /** The requested instant; null for the time of the decision, which the receipt holds. */
  readonly valid_at: string | null
  readonly lists: readonly PinnedList[]
  readonly used: readonly UsedEntry[]
  readonly outcome: Outcome
  readonly explanation: Explanation
}

export type DecidedFacts = DecisionFacts & {
  readonly evidence?: readonly PinnedEvidence[]
  readonly plugins?: readonly PinnedPlugin[]
}

interface UnsaltedContent extends DecisionFacts {
  readonly format: typeof UNSALTED_FORMAT
}

interface SaltedContent extends DecisionFacts {
  readonly format: typeof DOCUMENT_FORMAT
  /** Random; stored and deleted with the decision. */
  readonly salt: string
  /** Provider results used by the decision. */
  readonly evidence: readonly PinnedEvidence[]
  /** Plugin results used by the decision. */
  readonly plugins: readonly PinnedPlugin[]
}

export type DecisionContent = UnsaltedContent | SaltedContent

export interface DecisionDocument {
  readonly content: DecisionContent
  /** RFC 8785. */
  readonly text: string
  /** SHA-256 of the text, hex. */
  readonly hash: string
}

/** `salt`: a new one for a new decision, the stored one for a replay; null writes format 1, for replays only. */
export function buildDecisionDocument(facts: DecidedFacts, salt: string | null): DecisionDocument {
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
    // Copies single members, like the lists.
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
      : {
          format: DOCUMENT_FORMAT,
          salt,
          evidence: toCanonicalEvidence(facts.evidence ?? []),
          plugins: toCanonicalPlugins(facts.plugins ?? []),
          ...decided,
        }
  const text = canonicalJson({ ...content, lists: lists.text })
  return { content, text, hash: hashDocument(text) }
}

const toCanonicalEvidence = (given: readonly PinnedEvidence[]): readonly PinnedEvidence[] =>
  given
    .map(({ contract_key, contract_version, contract_hash, payload_hash, mode, inputs }) => ({
      contract_key,
      contract_version,
      contract_hash,
      payload_hash,
      mode,
      inputs: inputs.map(({ input, fact }) => ({ input, fact })).sort((a, b) => compare(a.input, b.input)),
    }))
    .sort((a, b) => compare(a.contract_key, b.contract_key))

const toCanonicalPlugins = (given: readonly PinnedPlugin[]): readonly PinnedPlugin[] =>
  given
    .map((plugin) => ({
      plugin_key: plugin.plugin_key,
      via: plugin.via,
      version: plugin.version,
      content_hash: plugin.content_hash,
      configuration_hash: plugin.configuration_hash,
      sandbox_hash: plugin.sandbox_hash,
      factor: plugin.factor,
      result: {
        score_bps: plugin.result.score_bps,
        reason_code: plugin.result.reason_code,
        values: plugin.result.values,
      },
      fuel: plugin.fuel,
    }))
    .sort((a, b) => compare(a.factor, b.factor))

/** The hash of a payload as evidence pins it. */
export const hashPayload = (salt: string, bytes: Uint8Array): string =>
  hash('sha256', `${salt}.${hash('sha256', bytes, 'hex')}`, 'hex')

export const getEvidence = (content: DecisionContent): readonly PinnedEvidence[] =>
  content.format === DOCUMENT_FORMAT ? content.evidence : []

export const getPlugins = (content: DecisionContent): readonly PinnedPlugin[] =>
  content.format === DOCUMENT_FORMAT ? content.plugins : []

/** Why this release cannot replay the document, or null. */
export function findFormatFault(document: object): string | null {
  const { format, salt } = document as { readonly format?: unknown; readonly salt?: unknown }
  if (format === UNSALTED_FORMAT) return null
  if (format !== DOCUMENT_FORMAT) return `This release does not know documents of the format ${JSON.stringify(format)}.`
  return isSalt(salt) ? null : 'The document has no salt.'
}

/** The salt for a replay. */
export const getSalt = (content: DecisionContent): string | null =>
  content.format === DOCUMENT_FORMAT ? content.salt : null

/** The document without format and salt, to compare decisions. */
export function toComparableContent(content: DecisionContent): object {
  const { format: _format, salt: _salt, ...decided } = content as Partial<SaltedContent>
  return { ...decided, evidence: decided.evidence ?? [], plugins: decided.plugins ?? [] }
}

interface CanonicalLists {
  readonly content: readonly PinnedList[]
  readonly text: CanonicalText
}

/** Cached by array: callers that decide many times on the same lists pass the same one. */
const canonicalListsCache = new WeakMap<readonly PinnedList[], CanonicalLists>()

function toCanonicalLists(given: readonly PinnedList[]): CanonicalLists {
  let lists = canonicalListsCache.get(given)
  if (!lists) {
    // Copies single members, since the argument may have others that do not belong in the document.
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

/** Compares UTF-16 code units, as canonical JSON does. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
