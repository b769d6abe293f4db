/**
 * One decision table of twenty rows, written once and said in three languages: as a matrix, as a GoRules decision and as rules of
 * json-rules-engine; and inputs that reach every row.
 */
import type { BoundList, BoundLists, Definition } from '#decision/model.ts'

export interface Applicant {
  readonly country: string
  readonly amount: number
  readonly channel: string
  readonly exposed: boolean
}

interface Row {
  readonly country?: string
  readonly from?: number
  readonly to?: number
  readonly channel?: string
  readonly exposed?: boolean
  readonly score: number
}

const countries = ['CH', 'DE', 'FR', 'GB', 'US', 'NA', 'PA', 'IR']
const channels = ['branch', 'online', 'agent']

/** First match wins; the last row takes whatever is left. */
export const rows: readonly Row[] = [
  { country: 'IR', score: 10000 },
  { exposed: true, from: 100_000, score: 9000 },
  { exposed: true, channel: 'agent', score: 8500 },
  { exposed: true, score: 7000 },
  ...['PA', 'NA'].flatMap((country, n) => [
    { country, from: 50_000, score: 8000 - n * 250 },
    { country, from: 10_000, to: 49_999, channel: 'agent', score: 7500 - n * 250 },
    { country, score: 5500 - n * 250 },
  ]),
  ...['US', 'GB', 'FR', 'DE'].flatMap((country, n) => [
    { country, from: 200_000, channel: 'online', score: 4500 - n * 100 },
    { country, to: 199_999, channel: 'branch', score: 1500 - n * 100 },
  ]),
  { channel: 'agent', score: 3000 },
  { score: 2000 },
]

export const applicants: readonly Applicant[] = countries.flatMap((country) =>
  channels.flatMap((channel) =>
    [500, 20_000, 60_000, 250_000].flatMap((amount) =>
      [false, true].map((exposed) => ({ country, amount, channel, exposed })),
    ),
  ),
)

/** The naive reading, which all three must agree with. */
export const expectedScore = ({ country, amount, channel, exposed }: Applicant): number =>
  rows.find(
    (row) =>
      (row.country ?? country) === country &&
      (row.channel ?? channel) === channel &&
      (row.exposed ?? exposed) === exposed &&
      amount >= (row.from ?? amount) &&
      amount <= (row.to ?? amount),
  )?.score as number

const amountTest = ({ from, to }: Row): string => {
  if (from !== undefined && to !== undefined) return `[${from}..${to}]`
  if (from !== undefined) return `>= ${from}`
  return to === undefined ? '' : `<= ${to}`
}
const quote = (text: string | undefined): string => (text === undefined ? '' : JSON.stringify(text))
const toCells = (row: Row): [string, string, string, string] => [
  quote(row.country),
  amountTest(row),
  quote(row.channel),
  row.exposed === undefined ? '' : String(row.exposed),
]

export const matrix: Definition = {
  family: 'matrix',
  inputs: [
    { name: 'country', title: 'Country', type: 'enum', values: countries },
    { name: 'amount', title: 'Amount', type: 'integer', minimum: 0 },
    { name: 'channel', title: 'Channel', type: 'enum', values: channels },
    { name: 'exposed', title: 'Politically exposed', type: 'boolean' },
  ],
  factors: [
    {
      key: 'applicant',
      title: 'Applicant',
      form: 'table',
      table: {
        hit_policy: 'first',
        columns: ['country', 'amount', 'channel', 'exposed'],
        outputs: [{ name: 'score' }],
        rows: rows.map((row, n) => ({
          key: `row-${n + 1}`,
          when: toCells(row).map((cell) => cell || '-'),
          then: [row.score],
          reason: `${n + 1}: {country} by {channel} with {amount} gives {score_bps}.`,
          reason_code: `R${n + 1}`,
        })),
      },
    },
  ],
  aggregation: 'max',
  bands: { list_key: 'bands', band_field: 'band', from_field: 'from', to_field: 'to' },
  triggers: [],
}

const bands = [
  { band: 'low', from: 0, to: 2999 },
  { band: 'medium', from: 3000, to: 5999 },
  { band: 'high', from: 6000, to: 10000 },
].map((entry) => ({ key: entry.band, entry, hash: '0'.repeat(64) }))
const list: BoundList = {
  list_key: 'bands',
  version: 1,
  content_hash: '0'.repeat(64),
  overlay_hash: null,
  get: (key) => bands.find((band) => band.key === key),
  all: bands,
}
export const lists: BoundLists = new Map([['bands', list]])

/** As the GoRules editor stores it. */
export const goRules = {
  nodes: [
    { id: 'in', type: 'inputNode', name: 'in' },
    {
      id: 'table',
      type: 'decisionTableNode',
      name: 'table',
      content: {
        hitPolicy: 'first',
        inputs: ['country', 'amount', 'channel', 'exposed'].map((field) => ({ id: field, name: field, field })),
        outputs: [{ id: 'score', name: 'score', field: 'score' }],
        rules: rows.map((row, n) => {
          const [country, amount, channel, exposed] = toCells(row)
          return { _id: `row-${n + 1}`, country, amount, channel, exposed, score: String(row.score) }
        }),
      },
    },
    { id: 'out', type: 'outputNode', name: 'out' },
  ],
  edges: [
    { id: 'a', sourceId: 'in', targetId: 'table' },
    { id: 'b', sourceId: 'table', targetId: 'out' },
  ],
}

/** Higher priority runs first; the first that succeeds stops the engine. */
export const jsonRules = rows.map(({ country, from, to, channel, exposed, score }, n) => {
  const condition = (fact: string, operator: string, value: unknown) =>
    value === undefined ? [] : [{ fact, operator, value }]
  return {
    priority: rows.length - n,
    conditions: {
      all: [
        ...condition('country', 'equal', country),
        ...condition('amount', 'greaterThanInclusive', from),
        ...condition('amount', 'lessThanInclusive', to),
        ...condition('channel', 'equal', channel),
        ...condition('exposed', 'equal', exposed),
      ],
    },
    event: { type: `row-${n + 1}`, params: { score } },
  }
})
