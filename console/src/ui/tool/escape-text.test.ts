import { expect, test } from 'vitest'
import { escapeText, formatJson, pairLines, toDefinitionLines } from './escape-text.ts'

test('shows what cannot be seen, and letters that look like others, as their numbers', () => {
  expect(escapeText('a\u202eb\u200bc\u0000')).toBe('a\\u{202e}b\\u{200b}c\\u{0}')
  expect(escapeText('l\u043e\u043ekup')).toBe('l\\u{43e}\\u{43e}kup')
  expect(escapeText('\u{1f600}')).toBe('\\u{1f600}')
})

test('keeps plain text and the letters of Western languages', () => {
  expect(escapeText('Firma für <b>Größe</b>\nline 2')).toBe('Firma für <b>Größe</b>\nline 2')
})

test('writes JSON in which every character can be seen, and which is still the same', () => {
  const value = { name: 'Ольга', note: 'a\u202eb\u200d\u{e0041}' }
  const text = formatJson(value)
  expect(text).toBe('{\n  "name": "Ольга",\n  "note": "a\\u202eb\\u200d\\udb40\\udc41"\n}')
  expect(JSON.parse(text)).toEqual(value)
})

test('writes a definition in the order in which people read it', () => {
  const lines = toDefinitionLines({ annotations: {}, description: 'D', name: 'look' })
  expect(lines.map((line) => /"(\w+)":/.exec(line)?.[1]).filter(Boolean)).toEqual([
    'name',
    'description',
    'annotations',
  ])
  expect(toDefinitionLines(null)).toEqual([])
})

test('puts changed lines side by side', () => {
  expect(pairLines(['{', 'a', 'b', '}'], ['{', 'A', 'b', 'c', '}'])).toEqual([
    { kind: 'same', before: '{', after: '{' },
    { kind: 'changed', before: 'a', after: 'A' },
    { kind: 'same', before: 'b', after: 'b' },
    { kind: 'changed', before: null, after: 'c' },
    { kind: 'same', before: '}', after: '}' },
  ])
})
