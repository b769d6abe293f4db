/** Rule performance: counted from actual decisions and overrides, and unknown where there is no data. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { uuidv7 } from '#kernel/uuid.ts'
import { runBatch } from '#modules/batch-evaluations/fixtures.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'
import { computeFigures } from './figures.ts'

const rule = (least: number) => ({
  inputs: [{ name: 'amount', title: 'Amount', type: 'integer', minimum: 0, maximum: 1000 }],
  table: {
    hit_policy: 'first',
    columns: ['amount'],
    outputs: [{ name: 'severity' }],
    rows: [{ key: 'large', when: [`>= ${least}`], then: ['high'] }],
  },
  reason_code: 'LARGE',
  reason: 'The amount is large.',
})

let w: TestApp
let t: ExampleTenant
beforeAll(async () => {
  w = await shareTestApp()
  t = await ExampleTenant.create(w)
})
afterAll(() => w.close())

async function newRule(): Promise<string> {
  const rule_key = `rule-${uuidv7()}`
  await t.make('POST /rules', { body: { rule_key, title: 'Large', definition: rule(500) } })
  await putInForce(rule_key)
  return rule_key
}
async function putInForce(rule_key: string): Promise<void> {
  const { version } = await t.make(`POST /rules/${rule_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /rules/${rule_key}/activations`, { body: { version, reason: 'reviewed' } })
}
const newSubject = async (amount: number, segment?: string): Promise<string> => {
  const body = { subject_type: 'person', name: 'Ada', attributes: { amount }, ...(segment && { segment }) }
  return (await t.make('POST /subjects', { body })).subject_id
}
const decide = (rule_key: string, subject_id: string) => t.make('POST /evaluations', { body: { rule_key, subject_id } })
const overrideRisk = (subject_id: string, band: string) =>
  t.make(`POST /subjects/${subject_id}/risk-override`, {
    body: { band, reason: 'looked into', expires_at: new Date(Date.now() + 86_400_000).toISOString() },
  })
const getPerformance = (rule_key: string, query = '') => t.make(`GET /rules/${rule_key}/performance${query}`)
const toKnownFigure = (value: number) => ({ value, unknown: null })
const toUnknownFigure = (reason: string) => ({ value: null, unknown: reason })

describe('the performance of a rule', () => {
  test('counts single decisions and batch items by the version that decided', async () => {
    const rule_key = await newRule()
    const segment = `segment-${uuidv7()}`
    const [large, small] = [await newSubject(900, segment), await newSubject(100, segment)]
    for (const subject_id of [large, large, small]) await decide(rule_key, subject_id)
    await runBatch(t, { rule_key, filter: { segment } })
    await t.make(`POST /rules/${rule_key}/versions`, { body: { definition: rule(50) } })
    await putInForce(rule_key)
    await runBatch(t, { rule_key, filter: { segment } })

    const { total, versions, complete } = await getPerformance(rule_key)
    expect(complete).toBe(true)
    expect(total).toMatchObject({ decisions: 7, hits: 5, hit_rate_bps: toKnownFigure(7143), subjects_hit: 2 })
    expect(versions).toMatchObject([
      { version: 2, decisions: 2, hits: 2, hit_rate_bps: toKnownFigure(10_000), subjects_hit: 2 },
      { version: 1, decisions: 5, hits: 3, hit_rate_bps: toKnownFigure(6000), subjects_hit: 1 },
    ])
  })

  test('returns how many hits people confirmed, and the cost per confirmed hit', async () => {
    const rule_key = await newRule()
    const hit = [await newSubject(900), await newSubject(901), await newSubject(902), await newSubject(903)]
    const missed = await newSubject(1)
    for (const subject_id of [...hit, missed]) await decide(rule_key, subject_id)
    for (const [n, band] of ['high', 'low', 'low'].entries()) await overrideRisk(hit[n] as string, band)
    await overrideRisk(missed, 'high')

    const { total } = await getPerformance(rule_key, '?positive_band=high&cost_per_hit=1000')
    expect(total).toMatchObject({
      subjects_hit: 4,
      subjects_judged: 3,
      outcomes: [
        { band: 'low', subjects: 2 },
        { band: 'high', subjects: 1 },
      ],
      true_positives: toKnownFigure(1),
      true_positive_rate_bps: toKnownFigure(3333),
      cost_per_true_positive: toKnownFigure(3000),
    })
    const both = (await getPerformance(rule_key, '?positive_band=high&positive_band=low')).total
    expect([both.true_positive_rate_bps, both.cost_per_true_positive]).toEqual([
      toKnownFigure(10_000),
      toUnknownFigure('cost_not_named'),
    ])
    const none = (await getPerformance(rule_key, '?positive_band=severe&cost_per_hit=1')).total
    expect([none.true_positives, none.true_positive_rate_bps, none.cost_per_true_positive]).toEqual([
      toKnownFigure(0),
      toKnownFigure(0),
      toUnknownFigure('no_true_positives'),
    ])
  })

  test('counts only its period and its own rule', async () => {
    const [rule_key, other] = [await newRule(), await newRule()]
    const subject_id = await newSubject(900)
    await decide(rule_key, subject_id)
    await decide(other, subject_id)
    expect((await getPerformance(rule_key)).total).toMatchObject({ decisions: 1, hits: 1 })
    const { from_at, until_at } = await getPerformance(rule_key, '?days=7')
    expect(Date.parse(until_at) - Date.parse(from_at)).toBe(7 * 86_400_000)
    expect((await w.call('GET /rules/nobody-has-this/performance', { token: await t.token() })).status).toBe(404)
  })

  test('ignores an override that has ended', async () => {
    const rule_key = await newRule()
    const subject_id = await newSubject(900)
    await decide(rule_key, subject_id)
    await overrideRisk(subject_id, 'high')
    const countJudged = async () => (await getPerformance(rule_key, '?positive_band=high')).total.subjects_judged
    expect(await countJudged()).toBe(1)
    await t.make(`DELETE /subjects/${subject_id}/risk-override`)
    expect(await countJudged()).toBe(0)
  })
})

describe('an unknown figure is never zero', () => {
  const outcomes = [
    { band: null, subjects: 5 },
    { band: 'high', subjects: 3 },
  ]
  test.each([
    [
      'nothing was decided',
      { decisions: 0, hits: 0, outcomes: [] },
      { positive_band: ['high'], cost_per_hit: 1 },
      'no_decisions',
    ],
    ['the request names no band', { decisions: 9, hits: 8, outcomes }, { cost_per_hit: 1 }, 'bands_not_named'],
    [
      'no subject has an override',
      { decisions: 9, hits: 8, outcomes: outcomes.slice(0, 1) },
      { positive_band: ['high'], cost_per_hit: 1 },
      'nothing_judged',
    ],
  ])('%s', (_title, counts, options, reason) => {
    const figures = computeFigures(counts, options)
    expect(figures.true_positives).toEqual(toUnknownFigure(reason))
    expect(figures.true_positive_rate_bps).toEqual(toUnknownFigure(reason))
    expect(figures.cost_per_true_positive).toEqual(toUnknownFigure(reason))
    expect(figures.hit_rate_bps.value === null).toBe(counts.decisions === 0)
  })
})
