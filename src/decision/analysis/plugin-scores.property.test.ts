/** Proofs and minimal changes of matrices with plugin factors hold whatever the plugins answer within their range. */
import { hash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildLists } from '#test/support/bound-lists.ts'
import { bands } from '#test/support/example-matrix.ts'
import { engine2 } from '../engine-2/engine.ts'
import type { BoundDefinition, Decision, Definition, Factor, Input, Inputs, PluginFactor } from '../model.ts'
import { analyseDefinition } from './analyse.ts'
import { findMinimalChanges } from './minimal-changes.ts'
import { listPluginFactors } from './plugin-scores.ts'
import { estimateCombinations } from './size-estimate.ts'

type Matrix = Extract<Definition, { family: 'matrix' }>

const INPUTS: readonly Input[] = [
  { name: 'kind', title: 'Kind', type: 'enum', values: ['a', 'b', 'c'] },
  { name: 'count', title: 'Count', type: 'integer', minimum: 0, maximum: 3 },
  { name: 'flag', title: 'Flag', type: 'boolean' },
]
const SPACE: readonly Inputs[] = ['a', 'b', 'c'].flatMap((kind) =>
  [0, 1, 2, 3].flatMap((count) => [true, false].map((flag) => ({ kind, count, flag }))),
)
const lists = buildLists(bands)

const cell = fc.constantFrom('-', '< 2000', '>= 2000', '[2000..5000]', '> 5000', '0')
const range = fc
  .tuple(fc.constantFrom(0, 1000, 2000, 5001), fc.constantFrom(1000, 2500, 6000, 10_000))
  .map(([a, b]) => ({ score_min_bps: Math.min(a, b), score_max_bps: Math.max(a, b) }))

const plugin = (key: string): fc.Arbitrary<PluginFactor> =>
  fc
    .record({ range, inputs: fc.constantFrom(['kind'], ['count'], ['kind', 'count']) })
    .map(({ range: ends, inputs }) => ({
      ...{ key, title: `Plugin ${key}`, form: 'plugin', plugin_key: `plugin-${key}`, inputs, ...ends },
    }))

/** Tests scores of the plugins, and an input that no plugin reads. */
const table = (key: string, columns: readonly string[]): fc.Arbitrary<Factor> =>
  fc
    .record({
      hit_policy: fc.constantFrom('unique' as const, 'first' as const),
      rows: fc.array(
        fc.record({
          when: fc.tuple(cell, cell, fc.constantFrom('-', 'true', 'false')),
          score: fc.constantFrom(0, 3000, 6000),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      otherwise: fc.option(fc.constantFrom(0, 4000), { nil: undefined }),
    })
    .map(
      ({ hit_policy, rows, otherwise }): Factor => ({
        key,
        title: `Table ${key}`,
        form: 'table',
        table: {
          hit_policy,
          columns: [...columns, 'flag'],
          outputs: [{ name: 'score' }],
          rows: rows.map(({ when, score }, n) => ({ key: `r${n}`, when, then: [score] })),
          ...(otherwise !== undefined && { otherwise: { then: [otherwise], reason: 'Otherwise.' } }),
        },
      }),
    )

const matrices = fc
  .record({
    factors: fc.tuple(
      plugin('p'),
      plugin('q'),
      table('t', ['factor.p', 'factor.q']),
      table('u', ['factor.t', 'factor.p']),
      fc.constant<Factor>({
        ...{
          key: 'm',
          title: 'Map',
          form: 'score_map',
          input: 'flag',
          scores: { true: 10, false: 0 },
          on_missing: 'fail',
        },
      }),
    ),
    aggregation: fc.constantFrom('sum' as const, 'max' as const),
    test: fc.constantFrom('> 6000', '< 1000', '[2000..4000]'),
  })
  .map(
    ({ factors, aggregation, test: tested }): Matrix => ({
      family: 'matrix',
      inputs: INPUTS,
      factors,
      aggregation,
      bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
      triggers: [
        {
          ...{ key: 'trigger', title: 'Trigger', when: [{ of: 'factor.p', test: tested }], floor_band: 'high' },
          ...{ reason_code: 'T', reason: 'T.' },
        },
      ],
    }),
  )

/** A plugin as a pure function of its inputs: any score of its range, both ends often. */
function pickScore(factor: PluginFactor, inputs: Inputs, seed: number): number {
  const text = JSON.stringify([seed, factor.key, ...factor.inputs.map((name) => inputs[name])])
  const chance = Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16)
  const { score_min_bps: lowest, score_max_bps: highest } = factor
  if (chance % 4 === 0) return highest
  if (chance % 4 === 1) return lowest
  return lowest + (chance % (highest - lowest + 1))
}

function createDecider(
  definition: Matrix,
  seed: number,
): { bound: BoundDefinition; decide: (inputs: Inputs) => Decision } {
  const bound = engine2.compile(definition).bind(lists)
  if (!('decide' in bound)) throw new Error(JSON.stringify(bound))
  return { bound, decide: (inputs) => bound.decide(inputs, undefined, getResults(definition, inputs, seed)) }
}

const getResults = (definition: Matrix, inputs: Inputs, seed: number) =>
  new Map(
    listPluginFactors(definition).map((factor) => {
      const score_bps = pickScore(factor, inputs, seed)
      return [factor.key, { score_bps, reason_code: null, values: {}, read: [] }] as const
    }),
  )

const bandOf = (decision: Decision): string | null =>
  decision.ok && decision.outcome.family === 'matrix' ? decision.outcome.band : null

test('a matrix that is proved complete decides every input with every plugin', () => {
  const seen = { proved: 0, refuted: 0 }
  fc.assert(
    fc.property(matrices, fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), (definition, seeds) => {
      const found = analyseDefinition(engine2.compile(definition), lists)
      expect(estimateCombinations(definition, lists)).toBeGreaterThan(0)
      const errors = found.filter(({ severity, code }) => severity === 'error' && code !== 'row_never')
      expect(errors.map(({ code }) => code)).not.toContain('not_analysable')
      const decisions = seeds.flatMap((seed) => SPACE.map(createDecider(definition, seed).decide))
      if (decisions.some(({ ok }) => !ok)) expect(errors).not.toEqual([])
      if (found.some(({ code }) => code === 'trigger_never'))
        expect(decisions.filter((each) => each.ok && each.explanation.triggers.length > 0)).toEqual([])
      for (const { code, pointer } of found.filter((each) => each.code === 'row_never')) {
        const [, factor, row] = /factors\/(\d+)\/table\/rows\/(\d+)/.exec(pointer) ?? []
        const rows = decisions.flatMap((each) =>
          each.ok ? (each.explanation.factors[Number(factor)]?.rows ?? []) : [],
        )
        expect(rows, code).not.toContain(`r${row}`)
      }
      // The example of an error names the scores of the plugins.
      for (const { example, code } of errors) {
        if (!example) continue
        const results = listPluginFactors(definition).map((factor) => {
          const score_bps = example[`factor.${factor.key}`] as number
          expect(score_bps).toBeGreaterThanOrEqual(factor.score_min_bps)
          expect(score_bps).toBeLessThanOrEqual(factor.score_max_bps)
          return [factor.key, { score_bps, reason_code: null, values: {}, read: [] }] as const
        })
        const { kind, count, flag } = example
        const decision = createDecider(definition, 0).bound.decide({ kind, count, flag }, undefined, new Map(results))
        expect(decision.ok, code).toBe(false)
      }
      if (errors.length === 0) seen.proved++
      else seen.refuted++
    }),
    { numRuns: 60, seed: 42 },
  )
  expect(seen.proved).toBeGreaterThan(5)
  expect(seen.refuted).toBeGreaterThan(5)
})

test('minimal changes are real for the plugin that decided, and leave its inputs as they are', () => {
  let changes_found = 0
  fc.assert(
    fc.property(matrices, fc.nat(), fc.constantFrom(...SPACE), (definition, seed, start) => {
      const { bound, decide } = createDecider(definition, seed)
      const plugins = getResults(definition, start, seed)
      const { changes, searched } = findMinimalChanges(
        { bound, compiled: engine2.compile(definition), lists, plugins },
        start,
      )
      const of_plugins = new Set(listPluginFactors(definition).flatMap(({ inputs }) => inputs))
      expect(searched.plugin_factors).toEqual(['p', 'q'])
      expect([...searched.not_searched].sort()).toEqual([...of_plugins].sort())
      for (const { changed, result } of changes) {
        changes_found++
        const inputs = { ...start, ...Object.fromEntries(changed.map(({ name, to }) => [name, to])) }
        for (const { name } of changed) expect(of_plugins).not.toContain(name)
        expect(bandOf(decide(inputs))).toBe(result)
        expect(result).not.toBe(bandOf(decide(start)))
      }
    }),
    { numRuns: 60, seed: 7 },
  )
  expect(changes_found).toBeGreaterThan(5)
})
