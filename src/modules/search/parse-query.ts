/** Turns what a person typed into search terms. */
import { type SearchTerms, toIdRange, toReferenceRange } from '#kernel/search/source.ts'
import { splitWords } from '#registry/search/search-words.ts'

/** Shorter names would match too much. */
export const MIN_NAME_CHARS = 2

/** One sign of these scripts is a syllable or a word. */
const WORD_SIGN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u

const hasEnough = (text: string): boolean => {
  const folded = splitWords(text).join('')
  return [...folded].length >= MIN_NAME_CHARS || WORD_SIGN.test(folded)
}

export function parseSearch(q: string): SearchTerms {
  const text = q
    .normalize('NFC')
    .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
    .trim()
  return { text, has_words: hasEnough(text), id: toIdRange(text), reference: toReferenceRange(text) }
}
