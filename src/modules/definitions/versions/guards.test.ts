/** Guards close when entries lose values, and when the source reports that it is incomplete. */
import { describe, expect, test } from 'vitest'
import { findGuardBreaches, type GuardFacts, type GuardSettings, type MemberLoss } from './guards.ts'

const facts: GuardFacts = { entries: 1000, before: 1000, removed: 0, changed: 200, filled: {} }
const loss: MemberLoss = {
  pointer: '/names',
  title: 'All names',
  lost: 0,
  values_before: 1000,
  emptied: 0,
  entries_before: 500,
}
const findBreaches = (guards: GuardSettings, ...losses: Partial<MemberLoss>[]) =>
  findGuardBreaches(guards, { ...facts, losses: losses.map((one) => ({ ...loss, ...one })) })

describe('lost values', () => {
  test.each<[string, GuardSettings, Partial<MemberLoss>, number]>([
    ['a tenth may be lost', {}, { lost: 100 }, 0],
    ['more than a tenth may not be lost', {}, { lost: 101 }, 1],
    ['ten values may always be lost', {}, { lost: 10, values_before: 10 }, 0],
    ['eleven of twenty may not be lost', {}, { lost: 11, values_before: 20 }, 1],
    ['the list sets a higher share', { max_members_lost_bps: 5000 }, { lost: 500 }, 0],
    ['the list sets lower limits', { max_members_lost_bps: 0, max_members_lost: 0 }, { lost: 1 }, 1],
    ['a tenth of the entries may lose all values', {}, { emptied: 50 }, 0],
    ['more entries may not lose all values', {}, { emptied: 51 }, 1],
    ['the list sets a higher share of entries', { max_emptied_bps: 10_000 }, { emptied: 500 }, 0],
    ['the list sets lower limits of entries', { max_emptied_entries: 0, max_emptied_bps: 0 }, { emptied: 1 }, 1],
    ['both limits are reported', {}, { lost: 900, emptied: 400 }, 2],
  ])('%s', (_, guards, change, count) => {
    expect(findBreaches(guards, change)).toHaveLength(count)
  })

  test('are reported per member with their numbers', () => {
    expect(findBreaches({}, { lost: 700 }, { pointer: '/addresses', title: 'Addresses', emptied: 90 })).toMatchObject([
      {
        gate: 'guard',
        overridable: true,
        detail:
          'All names (/names): 700 of 1000 values would be lost by entries that stay; at most 10 % (or 10) may be.',
        facts: { pointer: '/names', lost: 700, values_before: 1000 },
      },
      {
        detail: 'Addresses (/addresses): 90 of 500 entries that have any would lose all; at most 10 % (or 10) may.',
        facts: { pointer: '/addresses', emptied: 90, entries_before: 500 },
      },
    ])
  })
})

test('rows without an entry close a guard unless the list allows some', () => {
  const at = { row: 3, line: 3, file: 'alt.csv' }
  const doubts = [
    { code: 'rows_orphaned', message: 'Aliases of nobody.', count: 2, at, closes_guard: true as const },
    { code: 'rows_orphaned', message: 'Addresses of nobody.', count: 3, closes_guard: true as const },
    { code: 'count_differs', message: 'Fewer than announced.', count: 9, closes_guard: true as const },
  ]
  const listDetails = (guards: GuardSettings) =>
    findGuardBreaches(guards, { ...facts, doubts }).map(({ detail }) => detail)
  expect(listDetails({})).toEqual(['Aliases of nobody.', 'Addresses of nobody.', 'Fewer than announced.'])
  expect(listDetails({ max_orphan_rows: 4 })).toHaveLength(3)
  expect(listDetails({ max_orphan_rows: 5 })).toEqual(['Fewer than announced.'])
  expect(findGuardBreaches({}, { ...facts, doubts })[0]).toMatchObject({
    overridable: true,
    facts: { code: 'rows_orphaned', rows: 2, orphan_rows: 5, at },
  })
})
