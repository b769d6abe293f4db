/** Characters that are printed as their code points. */
import { expect, test } from 'vitest'
import { hasMarks, printable, toPrinted } from './printable-text.ts'

test.for([
  ['controls', 'a\u0001\u001bb\u0085', 'a[U+0001][U+001B]b[U+0085]'],
  ['no line break and no tab', 'a\tb\r\nc\nd', 'a\tb\nc\nd'],
  ['overrides and isolates', 'Ali \u202egnp.exe\u2067', 'Ali [U+202E]gnp.exe[U+2067]'],
  ['marks of direction', '\u200ea\u200f\u061c', '[U+200E]a[U+200F][U+061C]'],
  ['a byte order mark and soft hyphens', '\ufeff=1+1 so\u00adft', '[U+FEFF]=1+1 so[U+00AD]ft'],
  ['private use and noncharacters', 'a\ue000\uffff\ufdd0\u{10ffff}', 'a[U+E000][U+FFFF][U+FDD0][U+10FFFF]'],
  ['half of a pair', 'a\ud800b', 'a[U+D800]b'],
  ['separators of lines', 'a\u2028b\u2029', 'a[U+2028]b[U+2029]'],
  ['joiners between letters that do not join', 'Jo\u200dhn \u200cx', 'Jo[U+200D]hn [U+200C]x'],
  ['no joiner that shapes letters', 'پهلوی\u200cنژاد 👨\u200d👧', 'پهلوی\u200cنژاد 👨\u200d👧'],
  ['no sign over numbers', '\u060112', '\u060112'],
] as const)('%s', ([, text, expected]) => {
  expect(printable(text)).toBe(expected)
})

test('paper has composed letters, and a note where programs read vowel signs differently', () => {
  expect(toPrinted('e\u0301')).toBe('é')
  expect(['יוֹסֵף', 'مُحَمَّد', 'پهلوی\u200cنژاد', 'صلاح', 'שרה', 'Ṣọ́lá'].map(hasMarks)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})
