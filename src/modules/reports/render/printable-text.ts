/**
 * Texts as they are printed. Characters that draw nothing, or change the order of what is drawn, are printed as their code points: a name
 * must not look like another one.
 */

/** Drawn by nothing, besides line break and tab; private use and noncharacters mean nothing outside of the system that made them. */
const CONTROLS = /[\p{Cc}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}]/u
/** Among them those that change the direction. Signs over Arabic numbers are of this kind too, but have glyphs. */
const FORMATS = /(?![\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u200c\u200d])\p{Cf}/u
/** Joiners shape letters of scripts that join, and emoji; after others they are invisible. */
const JOINERS =
  /(?<=^|(?![\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}])[\s\S]|[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}])[\u200c\u200d]/u
const HIDDEN = new RegExp(`(?![\\t\\n])${CONTROLS.source}|${FORMATS.source}|${JOINERS.source}`, 'gu')

const toCodePoint = (character: string): string =>
  `[U+${(character.codePointAt(0) as number).toString(16).toUpperCase().padStart(4, '0')}]`

export const printable = (text: string): string => text.replaceAll('\r\n', '\n').replace(HIDDEN, toCodePoint)

/** For paper: composed, since two glyphs for one letter are extracted as two. */
export const toPrinted = (text: string): string => printable(text).normalize('NFC')

/** Vowel signs and points are drawn as glyphs of their own, in an order that programs do not read back. */
const POINTED =
  /[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed]/
const JOINER = /[\u200c\u200d]/

/** Whether programs may read another text from the paper than is stored. */
export const hasMarks = (text: string): boolean => POINTED.test(text.normalize('NFC')) || JOINER.test(text)

/** Every text of a value, its shape kept. */
export function mapTexts<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change)) as T
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapTexts(one, change)])) as T
}
