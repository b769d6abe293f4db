/**
 * Normalisation of texts. Every text is in Unicode normalisation form C; surrounding white space is removed only when the type says
 * so; parts of the key also lose invisible characters, since keys that look the same must be equal.
 */

/** Text below U+0300 is already composed. */
const MAY_COMPOSE = /[^\0-\u02ff]/

export const normaliseComposed = (text: string): string => (MAY_COMPOSE.test(text) ? text.normalize('NFC') : text)

/** A text that starts and ends with a character between ! and ~ needs no trimming. */
export function normaliseTrimmed(text: string): string {
  const composed = normaliseComposed(text)
  return isVisible(composed.charCodeAt(0)) && isVisible(composed.charCodeAt(composed.length - 1))
    ? composed
    : composed.trim()
}

const isVisible = (code: number): boolean => code > 0x20 && code < 0x7f

/**
 * Zero-width, direction and variation marks, soft hyphens, fillers (what Unicode calls default-ignorable), annotation marks, and
 * control characters that are neither white space nor U+0000, which is refused elsewhere.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]|(?![\s\0\u0085])\p{Control}/gu
const MAY_HOLD_INVISIBLE = /[^ -~]/

/** Normalises a part of a key. Lookups by key use the same form. */
export function normaliseKey(text: string): string {
  return normaliseTrimmed(MAY_HOLD_INVISIBLE.test(text) ? text.replace(INVISIBLE, '') : text)
}

/** Normalises a key from a request: each of several parts like a part in an entry. */
export const normaliseStatedKey = (key: string, part_count: number): string =>
  part_count < 2
    ? normaliseKey(key)
    : (key.match(/(?:^|\|)(?:[^\\|]|\\.)*/gsu) ?? [key])
        .map((part) => (part.startsWith('|') ? `|${normaliseKey(part.slice(1))}` : normaliseKey(part)))
        .join('')

/** The invisible characters of a text, each once, written as U+200B. */
export function listInvisible(text: string): string[] {
  if (!MAY_HOLD_INVISIBLE.test(text)) return []
  const found = new Set(text.match(INVISIBLE) ?? [])
  return [...found].map((char) => `U+${(char.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}`)
}
