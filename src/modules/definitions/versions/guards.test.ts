/** Guards close where entries stay but lose their values, and where the source says itself that it is not whole. */
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
const breaches = (guards: GuardSettings, ...losses: Partial<MemberLoss>[]) =>
  findGuardBreaches(guards, { ...facts, losses: losses.map((one) => ({ ...loss, ...one })) })

describe('values lost', () => {
  test.each<[string, GuardSettings, Partial<MemberLoss>, number]>([
    ['a tenth may go', {}, { lost: 100 }, 0],
    ['more may not', {}, { lost: 101 }, 1],
    ['ten may always go', {}, { lost: 10, values_before: 10 }, 0],
    ['eleven of few may not', {}, { lost: 11, values_before: 20 }, 1],
    ['as the list says', { max_members_lost_bps: 5000 }, { lost: 500 }, 0],
    ['as the list says, stricter', { max_members_lost_bps: 0, max_members_lost: 0 }, { lost: 1 }, 1],
    ['a tenth of the entries may lose all', {}, { emptied: 50 }, 0],
    ['more may not lose all', {}, { emptied: 51 }, 1],
    ['as the list says of entries', { max_emptied_bps: 10_000 }, { emptied: 500 }, 0],
    ['as the list says of few entries', { max_emptied_entries: 0, max_emptied_bps: 0 }, { emptied: 1 }, 1],
    ['both are told', {}, { lost: 900, emptied: 400 }, 2],
  ])('%s', (_, guards, change, count) => {
    expect(breaches(guards, change)).toHaveLength(count)
  })

  test('are told by member, with the numbers', () => {
    expect(breaches({}, { lost: 700 }, { pointer: '/addresses', title: 'Addresses', emptied: 90 })).toMatchObject([
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

test('rows that belong to no entry close a guard from the first on, unless the list allows some', () => {
  const at = { row: 3, line: 3, file: 'alt.csv' }
  const doubts = [
    { code: 'rows_orphaned', message: 'Aliases of nobody.', count: 2, at, closes_guard: true as const },
    { code: 'rows_orphaned', message: 'Addresses of nobody.', count: 3, closes_guard: true as const },
    { code: 'count_differs', message: 'Fewer than announced.', count: 9, closes_guard: true as const },
  ]
  const details = (guards: GuardSettings) => findGuardBreaches(guards, { ...facts, doubts }).map(({ detail }) => detail)
  expect(details({})).toEqual(['Aliases of nobody.', 'Addresses of nobody.', 'Fewer than announced.'])
  expect(details({ max_orphan_rows: 4 })).toHaveLength(3)
  expect(details({ max_orphan_rows: 5 })).toEqual(['Fewer than announced.'])
  expect(findGuardBreaches({}, { ...facts, doubts })[0]).toMatchObject({
    overridable: true,
    facts: { code: 'rows_orphaned', rows: 2, orphan_rows: 5, at },
  })
})
