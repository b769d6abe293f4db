/** Citing while typing. */
import { expect, test } from 'vitest'
import { findCitationQuery, findCited, matchesQuery, removeCitationQuery } from './citations.ts'

test.each([
  ['Paid in March [pass', 19, { start: 14, query: 'pass' }],
  ['Paid in March [', 15, { start: 14, query: '' }],
  ['Paid [one] in', 13, null],
  ['Paid [\nnext', 11, null],
  ['Paid in March', 13, null],
  ['Paid [later', 3, null],
])('the search in %j at %i is %j', (text, caret, found) => {
  expect(findCitationQuery(text, caret)).toEqual(found)
})

test('a citation replaces the search', () => {
  expect(removeCitationQuery('Paid in March [pass.', { start: 14, query: 'pass' })).toBe('Paid in March.')
})

test('an item is found by number, title, source and kind', () => {
  const item = { title: 'Passport of Ada', source: 'Customer', kind: 'document' }
  expect(['e2', 'pass ada', 'customer doc', ''].map((query) => matchesQuery(query, 'E2', item))).toEqual(
    Array(4).fill(true),
  )
  expect(matchesQuery('e2 bank', 'E2', item)).toBe(false)
})

test('an item whose title begins with the search comes first, then one with a word that does', () => {
  const items = [
    { title: 'Prohibited jurisdiction', source: null, kind: 'evaluation' },
    { title: 'Low risk', source: null, kind: 'evaluation' },
    { title: 'Risk rating', source: null, kind: 'evaluation' },
  ]
  expect(findCited('ri', items, () => 'E1').map(({ title }) => title)).toEqual([
    'Risk rating',
    'Low risk',
    'Prohibited jurisdiction',
  ])
})
