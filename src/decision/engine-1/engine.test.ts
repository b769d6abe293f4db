/** Decisions of engine 1: every kind of factor, every fault code, and reproducible bytes. */
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { compileType } from '#registry/types/compile-type.ts'
import { buildList, buildLists } from '#test/support/bound-lists.ts'
import {
  assertDecided,
  changeMatrix,
  inputs,
  listBindFaults,
  listFaults,
  withList,
} from '#test/support/decision-examples.ts'
import { bindOrThrow, lists, matrix } from '#test/support/example-matrix.ts'
import { rule } from '#test/support/example-rule.ts'
import { hashDocument } from '../document.ts'
import type { Factor, Inputs, MatrixDefinition } from '../model.ts'
import { engine1 } from './engine.ts'
import { joinKeyParts } from './entry-key.ts'

describe('a complete decision', () => {
  test('outcome', () => {
    expect(assertDecided(bindOrThrow(matrix).decide(inputs)).outcome).toEqual({
      family: 'matrix',
      score_bps: 6000,
      band: 'high',
      scored_band: 'high',
      required_actions: ['enhanced-due-diligence'],
      reason_codes: ['COUNTRY', 'VOLUME', 'TRADE', 'PEP'],
    })
  })

  test('explanation: what each factor read and found, and why', () => {
    const { factors, triggers, summary, inputs: read } = assertDecided(bindOrThrow(matrix).decide(inputs)).explanation
    expect(factors[0]).toEqual({
      key: 'country',
      title: 'Country',
      score_bps: 5500,
      weight_bps: 4000,
      contribution_bps: '2200.0000',
      reason: 'Residence in NA is rated 5500 by jurisdiction-risk.',
      reason_code: 'COUNTRY',
      read: { country: 'NA' },
      found: [{ list_key: 'jurisdiction-risk', key: 'NA', field: 'score_bps', value: 5500 }],
    })
    expect(factors[1]).toMatchObject({
      rows: ['large-new'],
      read: { turnover: '20000', since: '2024-02-29', 'factor.country': 5500 },
    })
    expect(triggers.map(({ key }) => key)).toEqual(['pep'])
    expect(read[2]).toEqual({ name: 'channel', value: 'online', defaulted: true })
    expect(summary).toEqual([
      'Channel was not given; online was taken instead.',
      'Country contributes 2200.0000: Residence in NA is rated 5500 by jurisdiction-risk.',
      'Volume contributes 2400.0000: 20000.00, 2024-02-29, 5500 in a young relationship.',
      'Trades contributes 1000.0000: On the list watched-trades: gold, arms. This gives 5000 basis points.',
      'Channel contributes 400.0000: online gives 4000 basis points.',
      'The score is 6000 of 10000, which is the band high.',
      'The customer is politically exposed.',
    ])
  })

  test('lists every used entry once with its hash, also missing keys', () => {
    const { used } = assertDecided(bindOrThrow(matrix).decide(inputs))
    const asked = used.map(({ list_key, key, field, value }) => `${list_key} ${key} ${field} ${value}`)
    expect(asked).toEqual([
      'jurisdiction-risk NA null true',
      'jurisdiction-risk NA score_bps 5500',
      'weights country share_bps 4000',
      'levels high score_bps 8000',
      'weights volume share_bps 3000',
      'watched-trades gold null true',
      'watched-trades arms null true',
      'watched-trades x null false',
      'risk-bands high band high',
      'risk-bands high from_bps 6000',
      'risk-bands high to_bps 8999',
      'high-risk NA null false',
    ])
    for (const { list_key, key, hash } of used) expect(hash).toBe(lists.get(list_key)?.get(key)?.hash ?? null)
  })

  test('lists an entry once that is read repeatedly', () => {
    const { used } = assertDecided(bindOrThrow(matrix).decide({ ...inputs, trades: ['gold', 'gold'] }))
    expect(used.filter(({ list_key }) => list_key === 'watched-trades')).toHaveLength(1)
    const row = { when: ['< 0, > 1', 'in list(high-risk)', '"wire"'], then: ['low', 1] }
    const rows = Array.from({ length: 30 }, (_, n) => ({ ...row, key: `r${n}` }))
    const many = bindOrThrow({ ...rule, table: { ...rule.table, rows } })
    expect(assertDecided(many.decide({ amount: 2, country: 'IR', tags: [] })).used).toHaveLength(1)
  })

  test('the meaning of engine 1 never changes', () => {
    const whole = [
      bindOrThrow(matrix).decide(inputs),
      bindOrThrow(matrix).decide({ ...inputs, country: 'IR', channel: 'agent', trades: [] }),
      bindOrThrow(rule).decide({ amount: 2000, country: 'IR', tags: ['wire', 'cash'] }),
      bindOrThrow(rule).decide({ amount: 2000, country: 'CH', tags: [] }),
    ]
    expect(hashDocument(canonicalJson(whole))).toBe('65042d3a7c36730bf0010c29ac276f3550a97d1bb24474908322f088cec49ae7')
  })

  test('gives the same bytes for any order of inputs, repeatedly and compiled again', () => {
    const text = canonicalJson(bindOrThrow(matrix).decide(inputs))
    const decide = bindOrThrow(structuredClone(matrix))
    const reversed = Object.fromEntries(Object.entries(inputs).reverse())
    for (let n = 0; n < 3; n++) expect(canonicalJson(decide.decide(Object.freeze(reversed)))).toBe(text)
  })
})

describe('triggers', () => {
  test('raise the band and never lower it', () => {
    const { outcome, explanation } = assertDecided(
      bindOrThrow(matrix).decide({ ...inputs, country: 'IR', channel: 'agent' }),
    )
    expect(outcome).toMatchObject({ score_bps: 8400, scored_band: 'high', band: 'prohibited' })
    expect(outcome.required_actions).toEqual(['enhanced-due-diligence', 'refuse'])
    expect(explanation.summary.slice(-3)).toEqual([
      'The customer is politically exposed.',
      'IR is on the list; the score alone is 8400.',
      'The band is raised from high to prohibited.',
    ])
    const floor = changeMatrix({
      triggers: [{ ...(matrix.triggers[0] as never as object), floor_band: 'low' } as never],
    })
    expect(assertDecided(bindOrThrow(floor).decide(inputs)).outcome).toMatchObject({ band: 'high' })
  })
})

describe('look-ups', () => {
  const lookup = (more: Partial<Extract<Factor, { form: 'lookup' }>>, to = lists, given: Inputs = inputs) => {
    const [country] = matrix.factors as readonly [Extract<Factor, { form: 'lookup' }>]
    const { weight_bps: _weight, ...factor } = { ...country, ...more }
    return bindOrThrow(changeMatrix({ aggregation: 'max', factors: [factor], triggers: [] }), to).decide(given)
  }

  test('fail for a missing key, or use and report the default', () => {
    const from = buildList('other', { XX: { n: 1 } })
    const to = withList(from)
    expect(listFaults(lookup({ list_key: 'other' }, to))).toEqual(['list_key_missing /factors/0'])
    const on_missing = { default: 7000, reason: 'Nobody rated {country}: {score_bps}.' }
    const { explanation, outcome } = assertDecided(lookup({ list_key: 'other', on_missing }, to))
    expect(outcome).toMatchObject({ score_bps: 7000 })
    expect(explanation.factors[0]).toMatchObject({ reason: 'Nobody rated NA: 7000.', defaulted: true, found: [] })
    const listed = { default: { list_key: 'levels', key: 'high', field: 'score_bps' }, reason: 'x' }
    const { used } = assertDecided(lookup({ list_key: 'other', on_missing: listed }, to))
    expect(used).toContainEqual(expect.objectContaining({ list_key: 'levels', key: 'high', value: 8000 }))
    expect(used).toContainEqual({ list_key: 'other', key: 'NA', field: 'score_bps', value: null, hash: null })
  })

  test('use the highest score of a list, and the default for missing items', () => {
    const trades = buildList('trade-risk', { arms: { s: 9000 }, gold: { s: 4000 } })
    const over = (items: string[], on_missing: Extract<Factor, { form: 'lookup' }>['on_missing'] = 'fail') =>
      lookup(
        { list_key: 'trade-risk', inputs: ['trades'], field: 's', reason: '{value}', on_missing },
        withList(trades),
        {
          ...inputs,
          trades: items,
        },
      )
    expect(assertDecided(over(['gold', 'arms'])).outcome).toMatchObject({ score_bps: 9000 })
    expect(listFaults(over(['gold', 'x', 'y']))).toEqual(['list_key_missing /factors/0', 'list_key_missing /factors/0'])
    expect(listFaults(over([]))).toEqual(['input_empty /trades'])
    const missing = { default: 5000, reason: 'x' }
    expect(assertDecided(over(['gold', 'x'], missing)).outcome).toMatchObject({ score_bps: 5000 })
    expect(assertDecided(over(['arms', 'x'], missing)).explanation.factors[0]).not.toHaveProperty('defaulted')
    expect(assertDecided(over([], missing)).explanation.factors[0]).toMatchObject({ score_bps: 5000, defaulted: true })
  })

  test('build a composite key like the registry', () => {
    const type = compileType({
      type_key: 't',
      type_version: 1,
      title: 'T',
      description: 'T',
      schema: {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { type: 'string' }, b: { type: 'boolean' } },
      },
      key_pointers: ['/a', '/b'],
      list_rules: {},
      fields: {},
      examples: [],
    })
    for (const a of ['x', 'x|y', 'x\\', '\\|']) expect(joinKeyParts([a, 'true'])).toBe(type.getKey({ a, b: true }))
    const pairs = buildList('pairs', { 'NA|true': { s: 1234 } })
    const found = lookup({ list_key: 'pairs', inputs: ['country', 'pep'], field: '/s', reason: 'x' }, withList(pairs))
    expect(assertDecided(found).outcome).toMatchObject({ score_bps: 1234 })
  })

  test('fail for an entry without a score', () => {
    const wrong = (entry: object) => withList(buildList('jurisdiction-risk', { NA: entry as never }))
    expect(listFaults(lookup({}, wrong({})))).toEqual(['field_missing /factors/0'])
    expect(listFaults(lookup({}, wrong({ score_bps: 10001 })))).toEqual(['not_a_score /factors/0'])
    expect(listFaults(lookup({}, wrong({ score_bps: '1' })))).toEqual(['not_a_score /factors/0'])
  })

  test('use lists given with the decision instead of bound ones', () => {
    const later = buildList('jurisdiction-risk', { NA: { score_bps: 9999 } })
    const decide = bindOrThrow(matrix)
    expect(assertDecided(decide.decide(inputs, buildLists(later))).explanation.factors[0]).toMatchObject({
      score_bps: 9999,
    })
    expect(assertDecided(decide.decide(inputs)).explanation.factors[0]).toMatchObject({ score_bps: 5500 })
  })
})

describe('presence', () => {
  const presence = (trades: string[], more: object = {}) => {
    const { weight_bps: _weight, ...factor } = { ...matrix.factors[2], ...more } as Extract<
      Factor,
      { form: 'presence' }
    >
    return bindOrThrow(changeMatrix({ aggregation: 'max', factors: [factor], triggers: [] })).decide({
      ...inputs,
      trades,
    })
  }
  test.each([
    [[], {}, 0],
    [['x'], {}, 0],
    [['gold'], {}, 3000],
    [['gold', 'gold'], {}, 3000],
    [['gold', 'arms'], {}, 5000],
    [['gold', 'arms'], { at_most: 7000 }, 6000],
    [['gold', 'arms'], { count: false, at_most: undefined }, 3000],
    [['x'], { absent: 100 }, 100],
  ])('%j %j gives %i', (trades, more, score_bps) => {
    const clean = Object.fromEntries(
      Object.entries({ ...matrix.factors[2], ...more }).filter(([, value]) => value !== undefined),
    )
    const { weight_bps: _weight, ...factor } = clean as never as Extract<Factor, { form: 'presence' }>
    const decide = bindOrThrow(changeMatrix({ aggregation: 'max', factors: [factor], triggers: [] }))
    expect(assertDecided(decide.decide({ ...inputs, trades })).outcome).toMatchObject({ score_bps })
  })

  test('fails above the maximum score', () => {
    expect(listFaults(presence(['gold', 'arms'], { present: 6000, at_most: 10000 }))).toEqual([])
    const { at_most: _at_most, ...unbounded } = { ...matrix.factors[2], present: 6000 } as Extract<
      Factor,
      { form: 'presence' }
    >
    const { weight_bps: _weight, ...factor } = unbounded
    const decide = bindOrThrow(changeMatrix({ aggregation: 'max', factors: [factor], triggers: [] }))
    expect(listFaults(decide.decide(inputs))).toEqual(['score_out_of_range /factors/0'])
  })
})

describe('score maps', () => {
  test('fail for a value without a score when configured', () => {
    const factor = { ...matrix.factors[3], on_missing: 'fail' } as Factor
    const strict = bindOrThrow(changeMatrix({ factors: [...matrix.factors.slice(0, 3), factor] }))
    expect(listFaults(strict.decide({ ...inputs, channel: 'agent' }))).toEqual(['value_not_scored /factors/3'])
    const { explanation } = assertDecided(bindOrThrow(matrix).decide({ ...inputs, channel: 'agent' }))
    const reason = 'agent has no rating, so the worst is assumed.'
    expect(explanation.factors[3]).toMatchObject({ score_bps: 10000, reason, defaulted: true })
  })
})

describe('aggregation', () => {
  const map = (key: string, score: number, weight_bps?: number): Factor => ({
    key,
    title: key,
    form: 'score_map',
    input: 'pep',
    scores: { true: score, false: 0 },
    on_missing: 'fail',
    ...(weight_bps !== undefined && { weight_bps }),
  })
  const total = (aggregation: MatrixDefinition['aggregation'], ...factors: Factor[]) =>
    bindOrThrow(changeMatrix({ aggregation, factors, triggers: [] })).decide(inputs)

  test('divides a weighted sum once and rounds half up', () => {
    expect(assertDecided(total('weighted_sum', map('a', 1, 5000), map('b', 0, 5000))).outcome).toMatchObject({
      score_bps: 1,
    })
    expect(assertDecided(total('weighted_sum', map('a', 1, 4999), map('b', 0, 5001))).outcome).toMatchObject({
      score_bps: 0,
    })
    const thirds = total('weighted_sum', map('a', 1, 3333), map('b', 1, 3333), map('c', 1, 3334))
    expect(assertDecided(thirds).outcome).toMatchObject({ score_bps: 1 })
    expect(assertDecided(thirds).explanation.factors[0]?.contribution_bps).toBe('0.3333')
  })

  test('fails for a sum above the maximum score, and never for a maximum', () => {
    expect(assertDecided(total('sum', map('a', 6000), map('b', 4000))).outcome).toMatchObject({
      score_bps: 10000,
      band: 'prohibited',
    })
    expect(listFaults(total('sum', map('a', 6000), map('b', 4001)))).toEqual(['score_out_of_range /aggregation'])
    expect(assertDecided(total('max', map('a', 6000), map('b', 9000))).outcome).toMatchObject({ score_bps: 9000 })
  })

  test('gives no reason code for a score of zero', () => {
    const coded = { ...map('a', 0), reason_code: 'NONE' }
    expect(assertDecided(total('max', coded, map('b', 1))).outcome).toMatchObject({ reason_codes: [] })
  })
})

describe('inputs', () => {
  test.each<[string, unknown, string]>([
    ['country', undefined, 'input_missing /country'],
    ['country', 'ZZ', 'input_not_allowed /country'],
    ['country', 7, 'input_type /country'],
    ['country', null, 'input_type /country'],
    ['turnover', 20000, 'input_type /turnover'],
    ['turnover', '1.234', 'input_type /turnover'],
    ['turnover', '-1', 'input_not_allowed /turnover'],
    ['channel', 'post', 'input_not_allowed /channel'],
    ['trades', 'gold', 'input_type /trades'],
    ['trades', ['gold', 3], 'input_type /trades/1'],
    ['trades', ['1', '2', '3', '4', '5', '6'], 'input_not_allowed /trades'],
    ['trades', ['\ud800'], 'input_type /trades/0'],
    ['since', '2023-02-29', 'input_type /since'],
    ['pep', 'true', 'input_type /pep'],
    ['a/b', 1, 'input_unknown /a~1b'],
    ['__proto__', 1, 'input_unknown /__proto__'],
  ])('%s = %j', (name, value, fault) => {
    const given = Object.defineProperty({ ...inputs }, name, { value, enumerable: true })
    if (value === undefined) delete (given as Record<string, unknown>)[name]
    expect(listFaults(bindOrThrow(matrix).decide(given))).toEqual([fault])
    // Values allowed by a list are checked only with bound lists.
    const alone = engine1.compile(matrix).checkInputs(given)
    expect(alone.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(value === 'ZZ' ? [] : [fault])
  })

  test('reports unknown, missing and mistyped inputs together', () => {
    const { pep: _, ...rest } = inputs
    expect(listFaults(bindOrThrow(matrix).decide({ ...rest, country: 'ZZ', turnover: 7, shoe: 1 }))).toEqual([
      'input_type /turnover',
      'input_missing /pep',
      'input_unknown /shoe',
      'input_not_allowed /country',
    ])
    expect(listFaults(bindOrThrow(matrix).decide({ ...inputs, country: 'ZZ', shoe: 1 }))).toEqual([
      'input_unknown /shoe',
      'input_not_allowed /country',
    ])
  })

  test('are reported in messages that can be stored', () => {
    const given = { ...inputs, country: '😀'.repeat(40), ['\ud800']: 1 }
    expect(() => canonicalJson(bindOrThrow(matrix).decide({ ...inputs, country: '😀'.repeat(40) }))).not.toThrow()
    expect(() => canonicalJson(bindOrThrow(matrix).decide(given))).not.toThrow()
  })

  test('allowed values of a field', () => {
    const [country, ...others] = matrix.inputs
    const of = { list_key: 'risk-bands', field: 'to_bps' }
    const rated = buildList('rated', { a: { land: 'NA' }, b: { land: 'NA' }, c: { land: 'CH' } })
    const definition = changeMatrix({
      inputs: [{ ...country, one_of: { list_key: 'rated', field: 'land' } } as never, ...others],
    })
    const decide = bindOrThrow(definition, withList(rated))
    expect(assertDecided(decide.decide(inputs)).used[0]).toMatchObject({
      list_key: 'rated',
      key: 'a',
      field: 'land',
      value: 'NA',
    })
    expect(listFaults(decide.decide({ ...inputs, country: 'IR' }))).toEqual(['input_not_allowed /country'])
    const large = withList({ ...rated, all: null })
    expect(listBindFaults(definition, large)).toEqual(['list_too_large /inputs/0/one_of'])
    expect(
      engine1
        .compile(changeMatrix({ inputs: [{ ...country, one_of: of } as never, ...others] }))
        .needs({})
        .get('risk-bands'),
    ).toBe('all')
  })

  test('reports all faults together, without those that follow from a failed factor', () => {
    const factors = matrix.factors.map((factor) =>
      'on_missing' in factor ? { ...factor, on_missing: 'fail' } : factor,
    )
    const strict = bindOrThrow(changeMatrix({ factors: factors as Factor[] }))
    const missing = buildLists(buildList('jurisdiction-risk', { NA: {} }))
    // With a score the table would be evaluated for the old relationship too.
    const decision = strict.decide({ ...inputs, channel: 'agent', since: '2020-01-01' }, missing)
    expect(listFaults(decision)).toEqual(['field_missing /factors/0', 'value_not_scored /factors/3'])
  })
})
