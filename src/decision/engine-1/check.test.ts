/** Checks of a definition without lists: each fault with its pointer, no exception, and a definition without faults can be run. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lists, matrix } from '#test/support/example-matrix.ts'
import { rule } from '#test/support/example-rule.ts'
import type { Definition, DefinitionFamily, Factor } from '../model.ts'
import { engine1 } from './engine.ts'
import { MAX_FINDINGS } from './shape.ts'

fc.configureGlobal({ seed: 3166 })

type Json = Record<string, unknown>
const copyOf = (definition: Definition): Json => structuredClone(definition) as unknown as Json
const at = (root: unknown, steps: readonly (string | number)[]): Json =>
  steps.reduce((value, step) => (value as Json)[step] as never, root) as Json

/** The definition with one member replaced; undefined removes it. */
function changed(definition: Definition, path: string, value: unknown): Json {
  const copy = copyOf(definition)
  const steps = path.slice(1).split('/')
  const last = steps.pop() as string
  const holder = at(copy, steps)
  if (value === undefined) delete holder[last]
  else holder[last] = value
  return copy
}

const found = (definition: unknown, family: DefinitionFamily = 'matrix') =>
  engine1.check(definition, family).map(({ code, pointer }) => `${code} ${pointer}`)

const table = (path = '') => `/factors/1/table${path}`

describe('faults and their places', () => {
  test('finds none in the definitions of the tests', () => {
    expect(found(matrix)).toEqual([])
    expect(found(rule, 'rule')).toEqual([])
  })

  const cases: [path: string, value: unknown, finding: string][] = [
    ['/extra', 1, 'member_unknown /extra'],
    ['/family', 'rule', 'family_wrong /family'],
    ['/inputs', {}, 'shape_invalid /inputs'],
    ['/aggregation', 'mean', 'shape_invalid /aggregation'],
    ['/bands/to_field', undefined, 'member_missing /bands'],
    ['/inputs/0/name', 'no dots.', 'shape_invalid /inputs/0/name'],
    ['/inputs/0/name', 'score', 'name_reserved /inputs/0/name'],
    ['/inputs/0/name', 'channel', 'name_repeated /inputs/2/name'],
    ['/inputs/0/one_of', undefined, 'values_missing /inputs/0'],
    ['/inputs/0/title', ' x', 'text_not_normal /inputs/0/title'],
    ['/inputs/0/title', 'e\u0301', 'text_not_normal /inputs/0/title'],
    ['/inputs/0/title', '\ud800', 'text_not_normal /inputs/0/title'],
    ['/inputs/0/scale', 2, 'member_useless /inputs/0/scale'],
    ['/inputs/1/scale', 11, 'shape_invalid /inputs/1/scale'],
    ['/inputs/1/minimum', '1.234', 'bound_invalid /inputs/1/minimum'],
    ['/inputs/1/minimum', '1000000000.01', 'bounds_crossed /inputs/1/minimum'],
    ['/inputs/1/default', 12.5, 'default_invalid /inputs/1/default'],
    ['/inputs/2/default', 'by post', 'default_invalid /inputs/2/default'],
    ['/inputs/2/values', ['branch', 'online', 'agent', 'agent'], 'name_repeated /inputs/2/values'],
    ['/inputs/3/default', ['a', ' b'], 'text_not_normal /inputs/3/default'],
    ['/factors/0/form', 'guess', 'shape_invalid /factors/0'],
    ['/factors/0/inputs', ['land'], 'input_undeclared /factors/0/inputs/0'],
    ['/factors/0/inputs', ['turnover'], 'key_impossible /factors/0/inputs/0'],
    ['/factors/0/inputs', ['country', 'trades'], 'key_impossible /factors/0/inputs/1'],
    ['/factors/0/inputs', ['country', 'country'], 'name_repeated /factors/0/inputs/1'],
    ['/factors/0/field', '/a~2', 'shape_invalid /factors/0/field'],
    ['/factors/0/on_missing', 'zero', 'shape_invalid /factors/0/on_missing'],
    ['/factors/0/on_missing', { default: 10001, reason: 'x' }, 'score_out_of_range /factors/0/on_missing/default'],
    ['/factors/0/on_missing', { default: 'high', reason: 'x' }, 'not_a_score /factors/0/on_missing/default'],
    ['/factors/0/on_missing', { default: 1, reason: '{x}' }, 'placeholder_unknown /factors/0/on_missing/reason'],
    ['/factors/0/reason', 'See {list}.', 'placeholder_unknown /factors/0/reason'],
    ['/factors/1/key', 'country', 'name_repeated /factors/1/key'],
    ['/factors/0/weight_bps', undefined, 'weight_missing /factors/0'],
    ['/factors/0/weight_bps', 10001, 'shape_invalid /factors/0/weight_bps'],
    [table('/columns/0'), 'volume', `input_undeclared ${table('/columns/0')}`],
    [table('/columns/2'), 'factor.trades', `forward_reference ${table('/columns/2')}`],
    [table('/columns/2'), 'factor.volume', `forward_reference ${table('/columns/2')}`],
    [table('/columns/2'), 'factor.none', `factor_undeclared ${table('/columns/2')}`],
    [table('/columns/1'), 'turnover', `name_repeated ${table('/columns/1')}`],
    [table('/rows/0/when'), ['-', '-'], `cells_wrong ${table('/rows/0/when')}`],
    [table('/rows/0/when/0'), '"x"', `test_type ${table('/rows/0/when/0')}`],
    [table('/rows/0/when/1'), '"2024-02-30"', `test_value ${table('/rows/0/when/1')}`],
    [table('/rows/0/when/2'), 'in list(x)', `test_type ${table('/rows/0/when/2')}`],
    [table('/rows/0/when/2'), 7, `shape_invalid ${table('/rows/0/when/2')}`],
    [table('/rows/0/then'), [1, 2], `cells_wrong ${table('/rows/0/then')}`],
    [table('/rows/0/then/0'), 0.5, `not_a_score ${table('/rows/0/then/0')}`],
    [table('/rows/0/then/0'), -1, `score_out_of_range ${table('/rows/0/then/0')}`],
    [table('/rows/0/then/0'), { list_key: 'levels', key: 'low' }, `member_missing ${table('/rows/0/then/0')}`],
    [table('/rows/1/key'), 'small', `name_repeated ${table('/rows/1/key')}`],
    [table('/rows/1/reason'), '{list_key}', `placeholder_unknown ${table('/rows/1/reason')}`],
    [table('/outputs'), [{ name: 'a' }, { name: 'b' }], `outputs_wrong ${table('/outputs')}`],
    [table('/hit_policy'), 'collect', `collect_missing ${table('/hit_policy')}`],
    [table('/hit_policy'), 'priority', `priorities_missing ${table('/hit_policy')}`],
    [table('/collect'), 'sum', `member_useless ${table('/collect')}`],
    [table('/priorities'), [1], `member_useless ${table('/priorities')}`],
    [table('/otherwise'), { then: ['x'], reason: 'x' }, `not_a_score ${table('/otherwise/then/0')}`],
    ['/factors/2/count', undefined, 'member_useless /factors/2/at_most'],
    ['/factors/2/present', 'x', 'not_a_score /factors/2/present'],
    ['/factors/3/input', 'country', ''],
    ['/factors/3/input', 'turnover', 'input_unsuitable /factors/3/input'],
    ['/factors/3/scores', { 'by/post': 1 }, 'value_unknown /factors/3/scores/by~1post'],
    ['/factors/3/scores', {}, 'size_invalid /factors/3/scores'],
    ['/triggers/0/floor_band', 3, 'shape_invalid /triggers/0/floor_band'],
    ['/triggers/0/when', [], 'size_invalid /triggers/0/when'],
    ['/triggers/0/when/0/of', 'factor.none', 'factor_undeclared /triggers/0/when/0/of'],
    ['/triggers/0/when/0/test', 'yes', 'test_type /triggers/0/when/0/test'],
    ['/triggers/0/reason_code', 'pep', 'shape_invalid /triggers/0/reason_code'],
    ['/triggers/1/key', 'pep', 'name_repeated /triggers/1/key'],
  ]
  test.each(cases)('%s = %j', (path, value, finding) => {
    const all = found(changed(matrix, path, value))
    if (finding === '') expect(all).toEqual([])
    else expect(all).toContain(finding)
  })

  test('weights', () => {
    const weighted = (...weights: number[]) => ({
      ...matrix,
      factors: matrix.factors.map((factor, n) => ({ ...factor, weight_bps: weights[n] }) as Factor),
    })
    expect(found(weighted(4000, 3000, 2000, 1000))).toEqual([])
    expect(found(weighted(4000, 3000, 2000, 1001))).toEqual(['weights_sum /factors'])
    expect(found({ ...matrix, aggregation: 'max' })).toContain('weight_useless /factors/0/weight_bps')
  })

  test('of a rule', () => {
    expect(found(changed(rule, '/table/columns/0', 'factor.x'), 'rule')).toContain('factor_undeclared /table/columns/0')
    expect(found(changed(rule, '/table', undefined), 'rule')).toEqual(['member_missing '])
    expect(found(changed(rule, '/reason', '{score_bps}'), 'rule')).toEqual(['placeholder_unknown /reason'])
    expect(found(matrix, 'rule')).toContain('family_wrong /family')
  })

  test('requires priorities for every value of the first output', () => {
    const priority = (values: unknown[]) => ({
      ...copyOf(rule),
      table: { ...rule.table, hit_policy: 'priority', priorities: values },
    })
    expect(found(priority(['high', 'low']), 'rule')).toEqual([])
    expect(found(priority(['high']), 'rule')).toEqual(['priority_missing /table/rows/1/then/0'])
  })

  test('limits', () => {
    const input = matrix.inputs[2] as (typeof matrix.inputs)[number]
    const inputs = Array.from({ length: 101 }, (_, n) => ({ ...input, name: `x${n}` }))
    expect(found(changed(matrix, '/inputs', inputs))).toContain('size_invalid /inputs')
    const row = { key: 'r', when: ['-', '-', '-'], then: [1] }
    const rows = Array.from({ length: 2001 }, (_, n) => ({ ...row, key: `r${n}` }))
    expect(found(changed(matrix, table('/rows'), rows))).toEqual([`size_invalid ${table('/rows')}`])
    expect(found(changed(matrix, table('/rows'), rows.slice(1)))).toEqual([])
    expect(found(changed(matrix, '/triggers', Array(101).fill({})))).toContain('size_invalid /triggers')
    expect(found(changed(matrix, '/factors', Array(51).fill({})))).toContain('size_invalid /factors')
    const bad = Array.from({ length: 2000 }, (_, n) => ({ key: `r${n}`, when: ['x', 'x', 'x'], then: ['x'] }))
    expect(found(changed(matrix, table('/rows'), bad))).toHaveLength(MAX_FINDINGS)
  })

  test('reports a fault of an input once', () => {
    expect(found(changed(matrix, '/inputs/1/scale', 99))).toEqual(['shape_invalid /inputs/1/scale'])
  })

  test('compiles a definition only without faults', () => {
    expect(() => engine1.compile(changed(matrix, '/extra', 1) as never)).toThrow('/extra: There is no member "extra"')
  })
})

/** Every path of a JSON value. */
const paths = (value: unknown, path = ''): string[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : [path, ...Object.entries(value).flatMap(([name, member]) => paths(member, `${path}/${name}`))]

describe('for any JSON', () => {
  test('throws nothing', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom<DefinitionFamily>('matrix', 'rule'), (value, family) => {
        expect(engine1.check(value, family).length).toBeGreaterThan(0)
      }),
      { numRuns: 300 },
    )
  })

  test('reports a changed definition or decides with it', () => {
    const definitions: Definition[] = [matrix, rule]
    const places = definitions.map((definition) => paths(definition).filter((path) => path !== ''))
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom<unknown>(
        '-',
        'true',
        '"a"',
        '> 5',
        0,
        1,
        -1,
        10_000,
        1e300,
        '',
        'x',
        'score',
        'country',
        'factor.country',
      ),
      fc.constantFrom<unknown>(
        '__proto__',
        'constructor',
        'toString',
        undefined,
        [],
        {},
        null,
        'first',
        'collect',
        'sum',
      ),
    )
    const mutation = fc
      .nat(definitions.length - 1)
      .chain((which) => fc.tuple(fc.constant(which), fc.constantFrom(...(places[which] as string[])), odd))
    fc.assert(
      fc.property(mutation, fc.dictionary(fc.string(), fc.jsonValue()), ([which, path, value], inputs) => {
        const definition = changed(definitions[which] as Definition, path, value) as unknown as Definition
        const { family } = definitions[which] as Definition
        if (engine1.check(definition, family).length > 0) return
        const compiled = engine1.compile({ ...definition, family } as Definition)
        compiled.needs(inputs)
        const bound = compiled.bind(lists)
        if ('decide' in bound) bound.decide(inputs)
      }),
      { numRuns: 1500 },
    )
  })
})
