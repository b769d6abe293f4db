import { expect, test } from 'vitest'
import { pickListPerKey } from './list-choices.ts'

const active = {} as NonNullable<Parameters<typeof pickListPerKey>[0][number]['active']>
const shared = { list_key: 'risk-bands', title: 'Risk bands', origin: 'shared' as const }
const own = { list_key: 'risk-bands', title: 'Risk bands of Demo Bank', origin: 'own' as const }
const other = { list_key: 'countries', title: 'Countries', origin: 'shared' as const, active }
const pickTitles = (...lists: Parameters<typeof pickListPerKey>[0]) => pickListPerKey(lists).map(({ title }) => title)

test('offers a key once, with the list that is in force', () => {
  expect(pickTitles({ ...shared, active }, { ...own, active: null }, other)).toEqual(['Risk bands', 'Countries'])
  expect(pickTitles({ ...own, active }, other, { ...shared, active: null })).toEqual([
    'Risk bands of Demo Bank',
    'Countries',
  ])
})

test('offers the own list where neither is in force', () => {
  expect(pickTitles({ ...shared, active: null }, { ...own, active: null })).toEqual(['Risk bands of Demo Bank'])
})
