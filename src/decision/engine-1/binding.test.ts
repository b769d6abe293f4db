/** Binding: which lists a definition reads, and findings about unsuitable lists. */
import { describe, expect, test } from 'vitest'
import { buildList } from '#test/support/bound-lists.ts'
import { inputs, listBindFaults, withList } from '#test/support/decision-examples.ts'
import { bands, bindOrThrow, lists, matrix } from '#test/support/example-matrix.ts'
import type { BoundLists } from '../model.ts'
import { engine1 } from './engine.ts'

describe('unsuitable lists', () => {
  test.each<[string, BoundLists, string[]]>([
    [
      'a list that is not in force',
      new Map([...lists].filter(([key]) => key !== 'high-risk')),
      ['list_missing /triggers/1/when/0/test'],
    ],
    [
      'an entry that is gone',
      withList(buildList('levels', { high: { score_bps: 1 } })),
      ['list_key_missing /factors/1/table/rows/0/then/0'],
    ],
    [
      'a field that is gone',
      withList(buildList('levels', { high: { score_bps: 1 }, low: {} })),
      ['field_missing /factors/1/table/rows/0/then/0'],
    ],
    [
      'a text for a score',
      withList(buildList('levels', { high: { score_bps: 1 }, low: { score_bps: 'x' } })),
      ['not_a_score /factors/1/table/rows/0/then/0'],
    ],
    [
      'a score above the whole',
      withList(buildList('levels', { high: { score_bps: 1 }, low: { score_bps: 10001 } })),
      ['score_out_of_range /factors/1/table/rows/0/then/0'],
    ],
    [
      'weights that do not sum up',
      withList(buildList('weights', { country: { share_bps: 4000 }, volume: { share_bps: 1 } })),
      ['weights_sum /factors'],
    ],
  ])('%s', (_, to, expected) => {
    expect(listBindFaults(matrix, to)).toEqual(expected)
  })

  const banded = (entries: Record<string, Record<string, unknown>>) =>
    listBindFaults(matrix, withList(buildList('risk-bands', entries)))
  const band = (name: string, from_bps: unknown, to_bps: unknown) => ({ [name]: { band: name, from_bps, to_bps } })
  test('requires bands without gap and overlap that include those of triggers', () => {
    expect(banded({ ...band('high', 0, 4999), ...band('prohibited', 5000, 10000) })).toEqual([])
    expect(banded({ ...band('high', 0, 4998), ...band('prohibited', 5000, 10000) })).toEqual(['band_gap /bands'])
    expect(banded({ ...band('high', 1, 4999), ...band('prohibited', 5000, 10000) })).toEqual(['band_gap /bands'])
    expect(banded({ ...band('high', 0, 4999), ...band('prohibited', 5000, 9999) })).toEqual(['band_gap /bands'])
    expect(banded({ ...band('high', 0, 5000), ...band('prohibited', 5000, 10000) })).toEqual(['band_overlap /bands'])
    expect(banded({ ...band('high', 0, 'x'), ...band('prohibited', 5000, 10000) })).toEqual([
      'band_invalid /bands/to_field',
    ])
    expect(banded(band('high', 0, 10000))).toEqual(['band_unknown /triggers/1/floor_band'])
    expect(banded({})).toEqual(['band_gap /bands'])
    const twice = { a: { band: 'high', from_bps: 0, to_bps: 1 }, b: { band: 'high', from_bps: 2, to_bps: 10000 } }
    expect(banded({ ...twice })).toContain('band_repeated /bands')
    expect(listBindFaults(matrix, withList({ ...bands, all: null }))).toEqual(['list_too_large /bands/list_key'])
  })
})

describe('lists that a definition reads', () => {
  const compiled = engine1.compile(matrix)
  test('returns lists with their places', () => {
    expect(compiled.list_keys).toEqual([
      'high-risk',
      'jurisdiction-risk',
      'levels',
      'risk-bands',
      'watched-trades',
      'weights',
    ])
    expect(compiled.references).toContainEqual({
      list_key: 'levels',
      pointer: '/factors/1/table/rows/0/then/0',
      key: 'low',
      field: 'score_bps',
    })
    expect(compiled.references).toContainEqual({
      list_key: 'high-risk',
      pointer: '/triggers/1/when/0/test',
      key: null,
      field: null,
    })
    expect(compiled.references).toContainEqual({
      list_key: 'risk-bands',
      pointer: '/bands/from_field',
      key: null,
      field: 'from_bps',
    })
  })

  test('returns the keys of valid inputs', () => {
    expect(Object.fromEntries(compiled.needs({ country: 'NA', trades: ['gold', 'x'], pep: 3 }))).toEqual({
      'jurisdiction-risk': ['NA'],
      weights: ['country', 'volume'],
      levels: ['low', 'high'],
      'watched-trades': ['gold', 'x'],
      'risk-bands': 'all',
      'high-risk': ['NA'],
    })
    expect(compiled.needs({ country: 7 }).get('jurisdiction-risk')).toEqual([])
  })

  test('gives the same decision with only the needed entries', () => {
    const needed = new Map(
      [...compiled.needs(inputs)].map(([list_key, keys]) => {
        const list = lists.get(list_key) as NonNullable<ReturnType<BoundLists['get']>>
        if (keys === 'all') return [list_key, list]
        return [
          list_key,
          { ...list, all: null, get: (key: string) => (keys.includes(key) ? list.get(key) : undefined) },
        ]
      }),
    )
    expect(bindOrThrow(matrix, needed).decide(inputs)).toEqual(bindOrThrow(matrix).decide(inputs))
  })
})
