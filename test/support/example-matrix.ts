/** For tests: one matrix that has every form of factor, and the lists it reads. */

import { engine1 } from '#decision/engine-1/engine.ts'
import type { BoundDefinition, BoundLists, Definition } from '#decision/model.ts'
import { buildList, buildLists } from './bound-lists.ts'

export const bands = buildList('risk-bands', {
  low: { band: 'low', from_bps: 0, to_bps: 2999 },
  medium: { band: 'medium', from_bps: 3000, to_bps: 5999 },
  high: { band: 'high', from_bps: 6000, to_bps: 8999 },
  prohibited: { band: 'prohibited', from_bps: 9000, to_bps: 10000 },
})

export const lists: BoundLists = buildLists(
  bands,
  buildList('jurisdiction-risk', {
    CH: { country: 'CH', score_bps: 1500 },
    DE: { country: 'DE', score_bps: 1500 },
    IR: { country: 'IR', score_bps: 10000 },
    NA: { country: 'NA', score_bps: 5500 },
  }),
  buildList('high-risk', { IR: { country: 'IR' }, KP: { country: 'KP' } }),
  buildList('watched-trades', { arms: { trade: 'arms' }, gold: { trade: 'gold' } }),
  buildList('levels', { high: { level: 'high', score_bps: 8000 }, low: { level: 'low', score_bps: 500 } }),
  buildList('weights', { country: { share_bps: 4000 }, volume: { share_bps: 3000 } }),
)

const level = (key: string) => ({ list_key: 'levels', key, field: 'score_bps' })
const weight = (key: string) => ({ list_key: 'weights', key, field: 'share_bps' })

export const matrix: Extract<Definition, { family: 'matrix' }> = {
  family: 'matrix',
  inputs: [
    { name: 'country', title: 'Country of residence', type: 'enum', one_of: { list_key: 'jurisdiction-risk' } },
    {
      name: 'turnover',
      title: 'Yearly turnover',
      type: 'decimal',
      scale: 2,
      unit: 'EUR',
      minimum: '0',
      maximum: '1000000000',
    },
    { name: 'channel', title: 'Channel', type: 'enum', values: ['branch', 'online', 'agent'], default: 'online' },
    { name: 'trades', title: 'Trades', type: 'list', max_items: 5 },
    { name: 'since', title: 'Customer since', type: 'date' },
    { name: 'pep', title: 'Politically exposed', type: 'boolean' },
  ],
  factors: [
    {
      key: 'country',
      title: 'Country',
      form: 'lookup',
      list_key: 'jurisdiction-risk',
      inputs: ['country'],
      field: 'score_bps',
      on_missing: 'fail',
      weight_bps: weight('country'),
      reason: 'Residence in {country} is rated {score_bps} by {list_key}.',
      reason_code: 'COUNTRY',
    },
    {
      key: 'volume',
      title: 'Volume',
      form: 'table',
      weight_bps: weight('volume'),
      table: {
        hit_policy: 'unique',
        columns: ['turnover', 'since', 'factor.country'],
        outputs: [{ name: 'score_bps' }],
        rows: [
          { key: 'small', when: ['< 10000.50', '-', '-'], then: [level('low')] },
          {
            key: 'large-new',
            when: ['>= 10000.50', '>= date("2024-01-01")', '-'],
            then: [level('high')],
            reason: '{value} in a young relationship.',
            reason_code: 'VOLUME',
          },
          { key: 'large-old-calm', when: ['>= 10000.50', '< "2024-01-01"', '[0..5000]'], then: [2000] },
          { key: 'large-old', when: ['>= 10000.50', '< "2024-01-01"', '(5000..10000]'], then: [5000] },
        ],
      },
    },
    {
      key: 'trades',
      title: 'Trades',
      form: 'presence',
      list_key: 'watched-trades',
      input: 'trades',
      count: true,
      present: 3000,
      absent: 0,
      at_most: 5000,
      weight_bps: 2000,
      reason_code: 'TRADE',
    },
    {
      key: 'channel',
      title: 'Channel',
      form: 'score_map',
      input: 'channel',
      scores: { branch: 0, online: 4000 },
      on_missing: { default: 10000, reason: '{channel} has no rating, so the worst is assumed.' },
      weight_bps: 1000,
    },
  ],
  aggregation: 'weighted_sum',
  bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
  triggers: [
    {
      key: 'pep',
      title: 'Politically exposed',
      when: [{ of: 'pep', test: 'true' }],
      floor_band: 'high',
      required_actions: ['enhanced-due-diligence'],
      reason_code: 'PEP',
      reason: 'The customer is politically exposed.',
    },
    {
      key: 'sanctioned-country',
      title: 'Country on the high-risk list',
      when: [
        { of: 'country', test: 'in list(high-risk)' },
        { of: 'score', test: '> 0' },
      ],
      floor_band: 'prohibited',
      required_actions: ['refuse', 'enhanced-due-diligence'],
      reason_code: 'LISTED',
      reason: '{country} is on the list; the score alone is {score_bps}.',
    },
  ],
}

/** A definition that binds without a finding, ready to decide. */
export function bindOrThrow(definition: Definition, to: BoundLists = lists): BoundDefinition {
  const result = engine1.compile(definition).bind(to)
  if (!('decide' in result)) throw new Error(JSON.stringify(result))
  return result
}
