import { describe, expect, test } from 'vitest'
import { createListCheck, MAX_KEPT_ENTRIES } from './list-rules.ts'
import type { ListRules, TypeDefinition } from './type-definition.ts'

const definition = (list_rules: ListRules): TypeDefinition => ({
  type_key: 'bands',
  type_version: 1,
  title: 'Bands',
  description: 'Score bands.',
  schema: { type: 'object' },
  key_pointers: ['/name'],
  list_rules,
  fields: { '/from': { title: 'From' }, '/to': { title: 'To' } },
  examples: [{ name: 'a' }],
})

function faultsOf(rules: ListRules, entries: readonly Record<string, unknown>[]) {
  const check = createListCheck(definition(rules))
  entries.forEach((entry, index) => {
    check.add(String(entry['name'] ?? index), entry)
  })
  return check.finish()
}
const codes = (rules: ListRules, entries: readonly Record<string, unknown>[]) =>
  faultsOf(rules, entries).map(({ code, key }) => `${code} ${key}`)

test('the number of entries', () => {
  expect(codes({ min_items: 1, max_items: 2 }, [])).toEqual(['too_few_entries null'])
  expect(codes({ min_items: 1, max_items: 2 }, [{}, {}])).toEqual([])
  expect(codes({ min_items: 1, max_items: 2 }, [{}, {}, {}])).toEqual(['too_many_entries null'])
})

describe('unique', () => {
  const rules: ListRules = { unique: [['/code'], ['/a', '/b/c']] }
  test('names both entries', () => {
    const [fault] = faultsOf(rules, [
      { name: 'x', code: 1 },
      { name: 'y', code: 1 },
    ])
    expect(fault).toEqual({
      code: 'not_unique',
      pointer: '/code',
      key: 'y',
      message: 'Code must be different in every entry; entries "x" and "y" have the same.',
    })
  })

  test('of several members compares them together, and distinguishes 1 from "1"', () => {
    expect(
      codes(rules, [{ a: 1, b: { c: 2 } }, { a: 1, b: { c: 3 } }, { a: '1', b: { c: 2 } }, { b: { c: 2 } }]),
    ).toEqual([])
    expect(
      codes(rules, [
        { a: 1, b: { c: 2 } },
        { b: { c: 2 }, a: 1 },
      ]),
    ).toEqual(['not_unique 1'])
  })

  test('ignores entries without the members', () => {
    expect(codes(rules, [{}, {}, { code: null }])).toEqual([])
  })
})

describe('contiguous', () => {
  const band = (name: string, from: number | null, to: number | null) => ({ name, from, to })
  const rules: ListRules = { contiguous: { from: '/from', to: '/to', start: 0, end: 100 } }

  test.each<[string, ReturnType<typeof band>[], string[]]>([
    ['in any order', [band('high', 70, 100), band('low', 0, 40), band('medium', 40, 70)], []],
    ['with a gap', [band('low', 0, 40), band('high', 50, 100)], ['band_gap high']],
    ['with an overlap', [band('low', 0, 60), band('high', 50, 100)], ['band_overlap high']],
    ['twice the same', [band('low', 0, 100), band('again', 0, 100)], ['band_overlap again']],
    ['upside down', [band('low', 0, 40), band('odd', 40, 30), band('high', 40, 100)], ['band_reversed odd']],
    ['with another start', [band('low', 1, 100)], ['band_start low']],
    ['with another end', [band('low', 0, 99)], ['band_end low']],
    ['with an open end where one is asked for', [band('low', 0, null)], ['band_end low']],
  ])('%s', (_, bands, expected) => {
    expect(codes(rules, bands)).toEqual(expected)
  })

  test('allows open ends unless the rule forbids them', () => {
    const open: ListRules = { contiguous: { from: '/from', to: '/to' } }
    expect(codes(open, [band('low', null, 0), band('high', 0, null)])).toEqual([])
    expect(codes(open, [band('low', null, null), band('high', 0, null)])).toEqual(['band_overlap high'])
    expect(codes(open, [band('low', null, 0), band('other', null, 5)])).toEqual(['band_overlap other'])
  })

  test('uses a step of 1 for integers with both ends included', () => {
    const step: ListRules = { contiguous: { from: '/from', to: '/to', step: 1 } }
    expect(codes(step, [band('low', 0, 39), band('high', 40, 100)])).toEqual([])
    expect(codes(step, [band('low', 0, 40), band('high', 40, 100)])).toEqual(['band_overlap high'])
  })

  test('accepts adjacent decimal ends', () => {
    const tenths: ListRules = { contiguous: { from: '/from', to: '/to', step: 0.1 } }
    expect(codes(tenths, [band('low', 0, 0.2), band('high', 0.3, 1)])).toEqual([])
  })

  test('names the bands in the message', () => {
    expect(faultsOf(rules, [band('low', 0, 40), band('high', 50, 100)])[0]?.message).toBe(
      'There is a gap between "low" (To 40) and "high" (From 50).',
    )
  })
})

test('reports when there are too many entries to compare', () => {
  const check = createListCheck(definition({ contiguous: { from: '/from', to: '/to' } }), 2)
  check.add('low', { to: 0 })
  check.add('high', { from: 0 })
  expect(check.finish()).toEqual([])
  check.add('more', { from: 0 })
  expect(check.finish().map(({ code }) => code)).toEqual(['rule_not_checkable'])
  expect(MAX_KEPT_ENTRIES).toBe(1_000_000)
})
