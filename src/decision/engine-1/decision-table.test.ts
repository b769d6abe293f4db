/** Decision tables: hit policies and results in a rule and in a factor. */
import { describe, expect, test } from 'vitest'
import { assertDecided, changeMatrix, inputs, listFaults } from '#test/support/decision-examples.ts'
import { bindOrThrow } from '#test/support/example-matrix.ts'
import { rule } from '#test/support/example-rule.ts'
import type { Decision, DecisionTable, Factor, RuleDefinition } from '../model.ts'

describe('rules', () => {
  test('hit with outputs, rows and reasons', () => {
    const { outcome, explanation } = assertDecided(bindOrThrow(rule).decide({ amount: 20000, country: 'CH', tags: [] }))
    expect(outcome).toEqual({
      family: 'rule',
      hit: true,
      outputs: { severity: 'high', weight: 2.5 },
      required_actions: ['review'],
      reason_codes: ['MOVEMENT', 'LARGE'],
    })
    expect(explanation.rows).toEqual([{ key: 'large', reason: '20000 is a large amount.', reason_code: 'LARGE' }])
    expect(explanation.summary).toEqual([
      'The rule hits: A movement of 20000 to CH stands out.',
      '20000 is a large amount.',
    ])
  })

  test('return no hit when no row fires', () => {
    const { outcome, explanation } = assertDecided(
      bindOrThrow(rule).decide({ amount: 2000, country: 'CH', tags: ['cash'] }),
    )
    expect(outcome).toMatchObject({ hit: false, outputs: {}, required_actions: [], reason_codes: [] })
    expect(explanation.summary).toEqual(['The rule does not hit.'])
  })

  test('pass a test on a list when any item passes, and never for an empty list', () => {
    const hits = (tags: string[]) =>
      assertDecided(bindOrThrow(rule).decide({ amount: 2000, country: 'IR', tags })).outcome
    expect(hits(['wire', 'crypto'])).toMatchObject({ hit: true })
    expect(hits(['wire'])).toMatchObject({ hit: false })
    expect(hits([])).toMatchObject({ hit: false })
  })

  const policy = (
    table: Partial<DecisionTable>,
    amount: number,
    values: RuleDefinition['table']['rows'][number]['then'] = [],
  ) => {
    const rows = [
      { key: 'a', when: ['> 10'], then: [values[0] ?? 1] },
      { key: 'b', when: ['> 20'], then: [values[1] ?? 2] },
      { key: 'c', when: ['> 30'], then: [values[2] ?? 3] },
    ]
    const outputs = [{ name: 'out' }]
    return bindOrThrow({
      ...rule,
      inputs: rule.inputs.slice(0, 1),
      reason: 'x',
      table: { columns: ['amount'], outputs, rows, hit_policy: 'first', ...table },
    }).decide({ amount })
  }
  const out = (decision: Decision) =>
    (assertDecided(decision).outcome as { outputs: Record<string, unknown> }).outputs['out']

  test('hit policies', () => {
    expect(out(policy({ hit_policy: 'first' }, 25))).toBe(1)
    expect(out(policy({ hit_policy: 'unique' }, 15))).toBe(1)
    expect(listFaults(policy({ hit_policy: 'unique' }, 25))).toEqual(['several_rows_fire /table'])
    expect(out(policy({ hit_policy: 'any' }, 25, [7, 7, 8]))).toBe(7)
    expect(listFaults(policy({ hit_policy: 'any' }, 35, [7, 7, 8]))).toEqual(['any_rows_differ /table'])
    expect(out(policy({ hit_policy: 'priority', priorities: [3, 2, 1] }, 25))).toBe(2)
    expect(out(policy({ hit_policy: 'priority', priorities: [1, 2, 3] }, 35))).toBe(1)
    expect(out(policy({ hit_policy: 'collect' }, 25))).toEqual([1, 2])
    expect(out(policy({ hit_policy: 'collect', collect: 'sum' }, 35, [0.1, 0.2, 0.7]))).toBe(1)
    expect(out(policy({ hit_policy: 'collect', collect: 'sum' }, 25, [0.1, 0.2, 0.7]))).toBe(0.3)
    expect(out(policy({ hit_policy: 'collect', collect: 'min' }, 35, [5, 4, 9]))).toBe(4)
    expect(out(policy({ hit_policy: 'collect', collect: 'max' }, 35, [5, 4, 9]))).toBe(9)
    expect(out(policy({ hit_policy: 'collect', collect: 'count' }, 35, ['x', 'y', 'z']))).toBe(3)
  })

  test('return the values of otherwise without a hit', () => {
    const otherwise = { then: ['none'], reason: '{amount} is small.', reason_code: 'SMALL' }
    const { outcome, explanation } = assertDecided(policy({ otherwise }, 5))
    expect(outcome).toMatchObject({ hit: false, outputs: { out: 'none' }, reason_codes: ['SMALL'] })
    expect(explanation.summary).toEqual(['The rule does not hit.', '5 is small.'])
  })

  test('report values that cannot be summed when lists are bound', () => {
    const collect = { hit_policy: 'collect', collect: 'sum' } as const
    expect(() => policy(collect, 5, ['x', 1, 2])).toThrow('not_a_number')
    expect(() => policy(collect, 5, [1e21, 1, 2])).toThrow('cannot be summed exactly')
    expect(() => policy(collect, 5, [9e15, 9e15, 2])).toThrow('sum_too_large')
  })
})

describe('a table that gives a score', () => {
  const scored = (table: Partial<DecisionTable>) => {
    const factor = {
      key: 'x',
      title: 'X',
      form: 'table',
      table: {
        hit_policy: 'unique',
        columns: ['pep', 'trades'],
        outputs: [{ name: 's' }],
        rows: [
          { key: 'a', when: ['true', '"gold"'], then: [6000], reason: 'Gold.', reason_code: 'GOLD' },
          { key: 'b', when: ['true', '"arms"'], then: [5000], reason: 'Arms.', reason_code: 'ARMS' },
        ],
        ...table,
      },
    } as Factor
    return bindOrThrow(changeMatrix({ aggregation: 'max', factors: [factor], triggers: [] }))
  }
  test('fails for no row, several rows and too large a sum', () => {
    expect(listFaults(scored({}).decide({ ...inputs, trades: [] }))).toEqual(['no_row_fires /factors/0/table'])
    expect(listFaults(scored({}).decide(inputs))).toEqual(['several_rows_fire /factors/0/table'])
    const sum = scored({ hit_policy: 'collect', collect: 'sum' })
    expect(listFaults(sum.decide(inputs))).toEqual(['score_out_of_range /factors/0'])
  })

  test('returns reasons and codes of all rows that fire', () => {
    const { outcome, explanation } = assertDecided(scored({ hit_policy: 'collect', collect: 'max' }).decide(inputs))
    expect(outcome.reason_codes).toEqual(['GOLD', 'ARMS'])
    expect(explanation.factors[0]).toMatchObject({ score_bps: 6000, rows: ['a', 'b'], reason: 'Gold. Arms.' })
  })

  test('otherwise', () => {
    const otherwise = { then: [100], reason: 'Neither for {value}.' }
    const { explanation } = assertDecided(scored({ otherwise }).decide({ ...inputs, trades: [] }))
    expect(explanation.factors[0]).toMatchObject({ score_bps: 100, rows: [], reason: 'Neither for true, nothing.' })
  })
})
