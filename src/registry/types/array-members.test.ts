/** Finds the array members of a type and counts their values beyond the required ones. */
import { expect, test } from 'vitest'
import { findArrayMembers, MemberTally } from './array-members.ts'

const texts = { type: 'array', items: { type: 'string' } }
const schema = {
  type: 'object',
  properties: {
    id: { type: 'string' },
    names: { allOf: [{ $ref: '#/$defs/names' }], minItems: 1 },
    contact: { type: 'object', properties: { phones: texts, 'a/b': texts } },
    aliases: { type: ['array', 'null'], items: { type: 'object', properties: { spellings: texts } } },
    anything: true,
    free: {},
    next: { $ref: '#' },
  },
  $defs: { names: { ...texts, minItems: 2 } },
}

test('finds arrays in objects but not inside arrays, also in a recursive type', () => {
  const members = findArrayMembers({ schema })
  expect(members.slice(0, 4).map(({ pointer, required }) => [pointer, required])).toEqual([
    ['/names', 2],
    ['/contact/phones', 0],
    ['/contact/a~1b', 0],
    ['/aliases', 0],
  ])
  expect(members.every(({ pointer }) => !pointer.includes('spellings'))).toBe(true)
  expect(members.length).toBeLessThanOrEqual(50)
})

test('counts values beyond the required ones, and the entries that have any', () => {
  const tally = new MemberTally(findArrayMembers({ schema }).slice(0, 4))
  tally.feed({ names: ['a', 'b', 'c', 'd'], contact: { phones: ['1'] }, aliases: null })
  tally.feed({ names: ['a', 'b'], contact: { phones: [] } })
  tally.feed({ names: 'none', contact: 'none', aliases: [{}] })
  expect(tally.counts).toEqual({
    '/names': { values: 2, entries: 1 },
    '/contact/phones': { values: 1, entries: 1 },
    '/contact/a~1b': { values: 0, entries: 0 },
    '/aliases': { values: 1, entries: 1 },
  })
})
