/** Compares the analysis of matrices with brute force over every input of a small space. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildList, buildLists } from '#test/support/bound-lists.ts'
import { bands, bindOrThrow } from '#test/support/example-matrix.ts'
import { engine1 } from '../engine-1/engine.ts'
import type { BoundLists, Decision, Definition, Factor, Input, Inputs, Trigger } from '../model.ts'
import { analyseDefinition } from './analyse.ts'
import { findMinimalChanges } from './minimal-changes.ts'

type Matrix = Extract<Definition, { family: 'matrix' }>

const INPUTS: readonly Input[] = [
  { name: 'kind', title: 'Kind', type: 'enum', values: ['a', 'b', 'c'] },
  { name: 'count', title: 'Count', type: 'integer', minimum: 0, maximum: 3 },
  { name: 'text', title: 'Text', type: 'string' },
  { name: 'tags', title: 'Tags', type: 'list', values: ['a', 'b'], max_items: 2 },
]
const VALUES: Readonly<Record<string, readonly unknown[]>> = {
  kind: ['a', 'b', 'c'],
  count: [0, 1, 2, 3],
  text: ['a', 'b', '1', '3', 'something else'],
  tags: [[], ['a'], ['b'], ['a', 'b'], ['a', 'a'], ['b', 'b']],
}
const SPACE: readonly Inputs[] = Object.entries(VALUES).reduce<Inputs[]>(
  (sofar, [name, values]) => sofar.flatMap((some) => values.map((value) => ({ ...some, [name]: value }))),
  [{}],
)

const score = fc.constantFrom<number>(0, 2000, 4000, 7000)
const onMissing = fc.oneof(
  fc.constant('fail' as const),
  score.map((value) => ({ default: value, reason: 'Missing.' })),
)
const base = { title: 'Factor' }

const factor = (key: string): fc.Arbitrary<Factor> =>
  fc.oneof(
    fc
      .record({
        inputs: fc.constantFrom(['kind'], ['count'], ['text'], ['tags'], ['kind', 'count']),
        on_missing: onMissing,
      })
      .map(({ inputs, on_missing }): Factor => {
        const list_key = inputs.length === 1 ? 'single' : 'pairs'
        return { ...base, key, form: 'lookup', list_key, inputs, field: 'score_bps', on_missing }
      }),
    fc
      .record({ input: fc.constantFrom('kind', 'count', 'tags'), count: fc.boolean(), present: score, absent: score })
      .map((given): Factor => ({ ...base, key, form: 'presence', list_key: 'single', ...given })),
    fc
      .record({ scores: fc.dictionary(fc.constantFrom('a', 'b', 'c'), score, { minKeys: 1 }), on_missing: onMissing })
      .map((given): Factor => ({ ...base, key, form: 'score_map', input: 'kind', ...given })),
  )

const trigger = fc
  .array(
    fc.oneof(
      fc.record({ of: fc.constant('kind'), test: fc.constantFrom('"a"', 'not("a")', 'in list(single)', '"b"') }),
      fc.record({ of: fc.constant('count'), test: fc.constantFrom('> 2', '< 1', '> 9', '[1..2]') }),
      fc.record({ of: fc.constant('factor.x'), test: fc.constantFrom('> 7000', '2000', '< 2000', '[2001..3999]') }),
      fc.record({ of: fc.constant('score'), test: fc.constantFrom('> 9000', '0', '>= 4000') }),
    ),
    { minLength: 1, maxLength: 2 },
  )
  .map((when): Trigger => ({ key: 't', title: 'T', when, floor_band: 'high', reason_code: 'T', reason: 'T.' }))

const listsArb: fc.Arbitrary<BoundLists> = fc
  .record({
    single: fc.dictionary(fc.constantFrom('a', 'b', '1', '3'), score),
    pairs: fc.dictionary(fc.constantFrom('a|0', 'a|1', 'b|2', 'c|3', 'b|0'), score),
  })
  .map(({ single, pairs }) => {
    const entries = (scores: Record<string, number>) =>
      Object.fromEntries(Object.entries(scores).map(([key, score_bps]) => [key, { score_bps }]))
    return buildLists(bands, buildList('single', entries(single)), buildList('pairs', entries(pairs)))
  })

const trials = fc.record({
  definition: fc
    .record({
      factors: fc.tuple(factor('x'), factor('y')),
      aggregation: fc.constantFrom('sum' as const, 'max' as const),
      triggers: fc.array(trigger, { maxLength: 1 }),
    })
    .map(
      (parts): Matrix => ({
        family: 'matrix',
        inputs: INPUTS,
        bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
        ...parts,
      }),
    ),
  lists: listsArb,
  start: fc.constantFrom(...SPACE),
})

const bandOf = (decision: Decision): string | null =>
  decision.ok && decision.outcome.family === 'matrix' ? decision.outcome.band : null

test('a matrix without errors decides every input, and the example of every error fails', () => {
  fc.assert(
    fc.property(trials, ({ definition, lists }) => {
      const found = analyseDefinition(engine1.compile(definition), lists)
      const decider = bindOrThrow(definition, lists)
      const decisions = SPACE.map((inputs) => decider.decide(inputs))
      const errors = found.filter(({ severity }) => severity === 'error')
      expect(errors.map(({ code }) => code)).not.toContain('not_analysable')
      expect(errors.length > 0).toBe(decisions.some(({ ok }) => !ok))
      for (const { code, example } of errors) {
        const codesOf = (decision: Decision) => (decision.ok ? [] : decision.findings.map((finding) => finding.code))
        // When a factor fails for every input there is no example for later factors.
        if (decisions.some((decision) => codesOf(decision).includes(code))) expect(example).toBeDefined()
        if (example) expect(codesOf(decider.decide(example))).toContain(code)
      }
      if (found.some(({ code }) => code === 'trigger_never')) {
        expect(decisions.filter((each) => each.ok && each.explanation.triggers.length > 0)).toEqual([])
      }
    }),
    { numRuns: 150, seed: 11 },
  )
})

test('finds all smallest changes and only real ones', () => {
  fc.assert(
    fc.property(trials, ({ definition, lists, start }) => {
      const decider = bindOrThrow(definition, lists)
      const now = bandOf(decider.decide(start))
      const { changes, searched } = findMinimalChanges(
        { bound: decider, compiled: engine1.compile(definition), lists },
        start,
      )
      expect(searched.truncated).toBe(false)
      for (const { changed, result } of changes) {
        const inputs = { ...start, ...Object.fromEntries(changed.map(({ name, to }) => [name, to])) }
        expect(bandOf(decider.decide(inputs))).toBe(result)
        expect(result).not.toBe(now)
      }
      if (now === null) {
        expect(changes).toEqual([])
        return
      }
      const distance = (inputs: Inputs) =>
        Object.keys(VALUES).filter((name) => JSON.stringify(inputs[name]) !== JSON.stringify(start[name])).length
      const others = SPACE.filter((inputs) => {
        const band = bandOf(decider.decide(inputs))
        return distance(inputs) <= 2 && band !== null && band !== now
      })
      const least = Math.min(...others.map(distance))
      expect(changes[0]?.changed.length ?? Number.POSITIVE_INFINITY).toBe(least)
    }),
    { numRuns: 100, seed: 5 },
  )
})
