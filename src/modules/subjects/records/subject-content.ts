/** Rules of subject records, without I/O: search words of names, limits of attributes, and merging a change. */
import { canonicalJson } from '#kernel/canonical-json.ts'

export const MAX_ATTRIBUTES_BYTES = 16 * 1024
const MAX_WORDS = 32
/** Folding may turn one ligature into eighteen letters, so words are cut after folding to fit into an index. */
const MAX_WORD_CHARS = 64

/** Letters that Unicode normalization does not decompose. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  þ: 'th',
  ı: 'i',
}

const fold = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[ßæœøłđþı]/g, (letter) => PLAIN_LETTERS[letter] as string)

/** The distinct words of a name, folded. A name without any letter or digit is one word itself. */
export function toSearchWords(name: string): string[] {
  const folded = fold(name)
  const words = folded.match(/[\p{L}\p{N}]+/gu) ?? [folded.trim() || name]
  const cut = words.slice(0, MAX_WORDS).map((word) => [...word].slice(0, MAX_WORD_CHARS).join(''))
  return [...new Set(cut)]
}

/** A sentence about a fault that the schema cannot express, or null. */
export function findAttributesFault(attributes: Record<string, unknown> | undefined): string | null {
  if (attributes === undefined) return null
  const size_bytes = Buffer.byteLength(JSON.stringify(attributes))
  return size_bytes > MAX_ATTRIBUTES_BYTES
    ? `may have at most ${MAX_ATTRIBUTES_BYTES} bytes as JSON, and has ${size_bytes}`
    : null
}

export interface SubjectContent {
  readonly subject_type: string
  readonly external_id: string | null
  readonly name: string
  readonly segment: string | null
  readonly attributes: Record<string, unknown>
}
export type SubjectContentChange = { readonly [M in keyof SubjectContent]?: SubjectContent[M] | undefined }

/** Members that are absent from the change keep their values. */
export const applyChange = (current: SubjectContent, change: SubjectContentChange): SubjectContent => ({
  subject_type: change.subject_type ?? current.subject_type,
  external_id: change.external_id === undefined ? current.external_id : change.external_id,
  name: change.name ?? current.name,
  segment: change.segment === undefined ? current.segment : change.segment,
  attributes: change.attributes ?? current.attributes,
})

export const isSameContent = (one: SubjectContent, other: SubjectContent): boolean =>
  canonicalJson(applyChange(one, {})) === canonicalJson(applyChange(other, {}))
