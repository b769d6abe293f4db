/** Engine 2: definitions without plugins mean the same as in engine 1, and plugin factors take their results from outside. */
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { buildLists } from '#test/support/bound-lists.ts'
import { DefinitionGenerator } from '#test/support/definition-generator.ts'
import { bands as bandList } from '#test/support/example-matrix.ts'
import { decideByReference, type ReferenceMatrix } from '#test/support/reference-engine.ts'
import { engine1 } from '../engine-1/engine.ts'
import { checkNewDefinition, chooseEngine } from '../engines.ts'
import type { BoundDefinition, Definition, Factor, PluginFactor, PluginResult } from '../model.ts'
import { engine2 } from './engine.ts'

type Matrix = Extract<Definition, { family: 'matrix' }>

const shell: PluginFactor = {
  key: 'shell',
  title: 'Shell company',
  form: 'plugin',
  plugin_key: 'shell-company-signals',
  inputs: ['employees', 'country'],
  score_min_bps: 0,
  score_max_bps: 8000,
  reason_code: 'SHELL',
}
const matrix: Matrix = {
  family: 'matrix',
  inputs: [
    { name: 'employees', title: 'Employees', type: 'integer', minimum: 0, maximum: 100_000 },
    { name: 'country', title: 'Country', type: 'enum', values: ['CH', 'PA'], default: 'CH' },
    { name: 'pep', title: 'Politically exposed', type: 'boolean' },
  ],
  factors: [
    shell,
    { key: 'pep', title: 'PEP', form: 'score_map', input: 'pep', scores: { true: 4000, false: 0 }, on_missing: 'fail' },
  ],
  aggregation: 'max',
  bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
  triggers: [],
}
const lists = buildLists(bandList)
const bindMatrix = (definition: Matrix): BoundDefinition => {
  const bound = engine2.compile(definition).bind(lists)
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  return bound
}
const result: PluginResult = {
  score_bps: 6500,
  reason_code: 'NO_STAFF',
  values: { staff: 0, name: 'Ada', nested: { a: 1 } },
  read: [
    { list_key: 'offshore', key: 'PA', hash: 'a'.repeat(64) },
    { list_key: 'offshore', key: 'CH', hash: null },
  ],
}

describe('a factor that a plugin scores', () => {
  test('is unknown to engine 1, and chosen for new decisions by its form', () => {
    expect(engine1.check(matrix, 'matrix')).toMatchObject([{ code: 'shape_invalid', pointer: '/factors/0' }])
    expect(engine2.check(matrix, 'matrix')).toEqual([])
    expect(chooseEngine(matrix)).toBe(2)
    expect(chooseEngine({ ...matrix, factors: matrix.factors.slice(1) })).toBe(1)
    expect(engine2.compile(matrix).engine).toBe(2)
  })

  test('says what the plugin is to be called with, defaults included, and decides nothing', () => {
    const decision = bindMatrix(matrix).decide({ employees: 0, pep: false })
    expect(decision).toMatchObject({
      ok: false,
      findings: [{ code: 'plugin_result_missing', pointer: '/factors/0' }],
      needs: [
        {
          factor: 'shell',
          pointer: '/factors/0',
          plugin_key: 'shell-company-signals',
          inputs: { employees: 0, country: 'CH' },
        },
      ],
    })
  })

  test('asks for no plugin while an input or another factor is at fault', () => {
    const [, pep] = matrix.factors as [Factor, Extract<Factor, { form: 'score_map' }>]
    const gap = bindMatrix({ ...matrix, factors: [shell, { ...pep, scores: { true: 4000 } }] })
    const refused = gap.decide({ employees: 0, pep: false })
    expect(refused).toMatchObject({ ok: false, findings: [{ code: 'value_not_scored' }] })
    expect(refused).not.toHaveProperty('needs')
    const wrong = bindMatrix(matrix).decide({ employees: -1, pep: false })
    expect(wrong).toMatchObject({ ok: false, findings: [{ code: 'input_not_allowed', pointer: '/employees' }] })
    expect(wrong).not.toHaveProperty('needs')
  })

  test('takes score, reason code, values and entries from the result', () => {
    const decision = bindMatrix(matrix).decide({ employees: 0, pep: false }, undefined, new Map([['shell', result]]))
    if (!decision.ok) throw new Error(JSON.stringify(decision.findings))
    expect(decision.outcome).toMatchObject({ score_bps: 6500, band: 'high', reason_codes: ['NO_STAFF'] })
    expect(decision.explanation.factors[0]).toEqual({
      key: 'shell',
      title: 'Shell company',
      score_bps: 6500,
      weight_bps: null,
      contribution_bps: '6500.0000',
      reason: 'The plugin shell-company-signals gives 6500 basis points. Values: name "Ada", staff 0.',
      reason_code: 'NO_STAFF',
      read: { employees: 0, country: 'CH' },
      found: [
        { list_key: 'offshore', key: 'PA', field: null, value: true },
        { list_key: 'offshore', key: 'CH', field: null, value: false },
      ],
      plugin: { plugin_key: 'shell-company-signals', values: result.values },
    })
    expect(decision.used.filter(({ list_key }) => list_key === 'offshore')).toEqual([
      { list_key: 'offshore', key: 'PA', field: null, value: true, hash: 'a'.repeat(64) },
      { list_key: 'offshore', key: 'CH', field: null, value: false, hash: null },
    ])
  })

  test('has the reason code of the factor when the plugin gives none', () => {
    const plain = { ...result, reason_code: null }
    const decision = bindMatrix(matrix).decide({ employees: 0, pep: false }, undefined, new Map([['shell', plain]]))
    expect(decision).toMatchObject({ ok: true, outcome: { reason_codes: ['SHELL'] } })
  })

  test('refuses to decide on a score outside the declared range', () => {
    const wide = new Map([['shell', { ...result, score_bps: 8001 }]])
    expect(() => bindMatrix(matrix).decide({ employees: 0, pep: false }, undefined, wide)).toThrow(RangeError)
  })

  test.each([
    [{ score_min_bps: 5, score_max_bps: 4 }, 'bounds_crossed', '/factors/0/score_min_bps'],
    [{ score_max_bps: 10_001 }, 'shape_invalid', '/factors/0/score_max_bps'],
    [{ inputs: ['nobody'] }, 'input_undeclared', '/factors/0/inputs/0'],
    [{ inputs: ['pep', 'pep'] }, 'name_repeated', '/factors/0/inputs/1'],
    [{ inputs: [] }, 'size_invalid', '/factors/0/inputs'],
    [{ plugin_key: 'Big Letters' }, 'shape_invalid', '/factors/0/plugin_key'],
    [{ on_missing: 'fail' }, 'member_unknown', '/factors/0/on_missing'],
    [{ reason: '{nobody}' }, 'placeholder_unknown', '/factors/0/reason'],
  ])('reports %j', (change, code, pointer) => {
    const written = { ...matrix, factors: [{ ...shell, ...change }, matrix.factors[1]] }
    expect(checkNewDefinition(written, 'matrix')).toMatchObject([{ code, pointer }])
  })
})

/** The same matrix with a plugin in place of some factors; tables may test their scores. */
function withPlugins({ definition, cells }: ReferenceMatrix, maker: DefinitionGenerator): ReferenceMatrix {
  const factors = definition.factors.map((factor): Factor => {
    if (factor.form === 'table' || maker.chance(3)) return factor
    const { key, title, weight_bps, reason_code } = factor
    return {
      ...{ key, title, form: 'plugin', plugin_key: `p-${key}`, inputs: ['letter', 'whole'] },
      ...{ score_min_bps: 0, score_max_bps: 10_000 },
      ...(weight_bps !== undefined && { weight_bps }),
      ...(reason_code !== undefined && { reason_code }),
    }
  })
  return { definition: { ...definition, factors }, cells }
}

test('decides definitions without plugin factors like engine 1', () => {
  fc.assert(
    fc.property(fc.gen(), (g) => {
      const maker = new DefinitionGenerator(g)
      const definition = maker.chance() ? maker.rule() : maker.matrix().definition
      const lists_made = maker.lists()
      const given = maker.given()
      const decideBy = (engine: typeof engine2) => {
        const bound = engine.compile(definition).bind(lists_made)
        return canonicalJson('decide' in bound ? bound.decide(given) : bound)
      }
      expect(decideBy(engine2)).toBe(decideBy(engine1))
    }),
    { numRuns: 80, seed: 19 },
  )
})

test('decides with plugin factors like the reference implementation, and gives the same bytes as before', () => {
  const texts = fc.sample(fc.gen(), { numRuns: 150, seed: 2001 }).map((g) => {
    const maker = new DefinitionGenerator(g)
    const naive = withPlugins(maker.matrix(), maker)
    const made = maker.lists()
    const bound = engine2.compile(naive.definition).bind(made)
    if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
    const plugins = naive.definition.factors.filter(({ form }) => form === 'plugin')
    const scores = new Map(plugins.map(({ key }) => [key, maker.score()]))
    const results = new Map(
      [...scores].map(([key, score_bps]) => [key, { score_bps, reason_code: null, values: { score_bps }, read: [] }]),
    )
    const given = maker.given()
    const decision = bound.decide(given, undefined, results)
    const expected = decideByReference(naive, made, given, scores)
    expect(decision.ok).toBe(expected.ok)
    if (decision.ok && expected.ok) {
      const { family: _family, required_actions: _actions, ...outcome } = decision.outcome
      expect({ ok: true, scores: decision.explanation.factors.map(({ score_bps }) => score_bps), ...outcome }).toEqual(
        expected,
      )
    }
    return canonicalJson(decision)
  })
  expect(new Set(texts).size).toBeGreaterThan(100)
  expect(hash('sha256', texts.join('\n'), 'hex')).toBe(
    'acecaa51781437bc95461b4784e775b5d7937c08b48abd46eeaaf6959d34c0d9',
  )
})
