/** Words of the entries of a short list: which entries a search finds. */
import { expect, test } from 'vitest'
import { type EntryWords, findEntriesByWords } from './entry-words.ts'

const toEntryWords = (texts: readonly string[]): EntryWords => ({
  keys: texts.map((_, n) => `k${n}`),
  titles: texts.map((_, n) => `Entry ${n}`),
  text: texts.join(''),
  starts: texts.map((_, n) => texts.slice(0, n).join('').length),
  bytes: 0,
})
const list = toEntryWords([' new zealand', '', ' zealous newcomer', ' renew', '', '', ' old zealand new'])

test.each<[title: string, prefixes: string[], found: number[]]>([
  ['the beginning of a word, not its middle', ['new'], [0, 2, 6]],
  ['all words in any order', ['zea', 'new'], [0, 2, 6]],
  ['all words within one entry', ['old', 'newc'], []],
  ['a word of the last entry, after entries without words', ['old'], [6]],
  ['nothing without a word', [], []],
])('finds %s', (_title, prefixes, found) => {
  expect(findEntriesByWords(list, prefixes, 10)).toEqual(found)
})

test('finds an entry once and no more than the count', () => {
  expect(findEntriesByWords(toEntryWords([' new newer newest', ' new']), ['new'], 10)).toEqual([0, 1])
  expect(findEntriesByWords(list, ['new'], 2)).toEqual([0, 2])
})
