import { expect, test } from 'vitest'
import { canonicalJson } from '#kernel/canonical-json.ts'
import { countCaughtMutants, createInferred, sampleLists } from '#test/support/contract-mutants.ts'
import { createShares } from '#test/support/sample-payloads.ts'
import { checkContractText } from './check-contract.ts'
import { inferContract } from './infer-contract.ts'

const inferred = createInferred(7)
const { samples, contract, records, judge } = inferred

test('finds the records and proposes types, required members, formats, enumerations, lists, facts and personal marks', () => {
  expect(records).toBe(300)
  expect(contract.records_at).toBe('/data/companies')
  const { properties, required } = contract.record as { properties: Record<string, unknown>; required: string[] }
  expect(required).not.toContain('missing')
  expect(required).toContain('status')
  expect(properties).toMatchObject({
    status: { type: 'string', enum: ['active', 'dissolved', 'dormant'] },
    founded: { type: 'string', format: 'date' },
    employees: { type: 'integer' },
    turnover: { type: 'number' },
    listed: { type: 'boolean' },
    parent: { type: ['null', 'string'], maxLength: 8 },
    id: { type: 'string', maxLength: 8 },
    address: { type: 'object', required: ['city', 'country'] },
    officers: { type: 'array', maxItems: 4, items: { type: 'object', required: ['email', 'name'] } },
  })
  expect(contract.facts).toEqual([
    { name: 'address_country', at: '/address/country', type: 'enum', one_of: { list_key: 'countries' } },
    { name: 'employees', at: '/employees', type: 'integer' },
    { name: 'founded', at: '/founded', type: 'date' },
    { name: 'listed', at: '/listed', type: 'boolean' },
    { name: 'status', at: '/status', type: 'enum', values: ['active', 'dissolved', 'dormant'] },
    { name: 'turnover', at: '/turnover', type: 'decimal', scale: 2 },
  ])
  expect(contract.personal).toEqual([
    { at: '/officers/*/email', guessed: true },
    { at: '/officers/*/name', guessed: true },
  ])
})

test('the draft has no error, admits its example and every sample, and holds no personal value', () => {
  expect(checkContractText(contract).filter(({ severity }) => severity === 'error')).toEqual([])
  expect(judge(contract.examples[0]?.payload).violations).toEqual([])
  for (const sample of samples) expect(judge(sample).violations).toEqual([])
  expect(JSON.stringify(contract)).not.toMatch(/Person \d|@example\.com.*@example\.com/)
})

test('gives the same text for the same payloads in any order', () => {
  const text = canonicalJson(contract)
  const random = createShares(1)
  for (let round = 0; round < 5; round++) {
    const shuffled = samples
      .map((sample) => ({ sample, at: random() }))
      .sort((a, b) => a.at - b.at)
      .map(({ sample }) => sample)
    expect(canonicalJson(inferContract(shuffled, { lists: sampleLists }).contract)).toBe(text)
  }
})

test('quarantines at least 95 % of 1,000 mutants at the right pointer', () => {
  expect(countCaughtMutants(inferred, 1000)).toBeGreaterThanOrEqual(950)
})

test('takes the whole payload as one record when there is no list of objects', () => {
  const one = inferContract([{ a: 1, tags: ['x'] }])
  expect(one.contract.records_at).toBe('')
  expect(one.contract.record).toEqual({
    type: 'object',
    properties: {
      a: { type: 'integer' },
      tags: { type: 'array', maxItems: 1, items: { type: 'string', maxLength: 1 } },
    },
  })
})

const company = (number: string, change: object = {}) => ({ number, name: `Company ${number}`, ...change })
const officers = [{ name: 'A' }, { name: 'B' }]

test('takes a list as the records only where every payload has it', () => {
  const some = inferContract([company('1'), company('2'), company('3', { officers })])
  expect(some).toMatchObject({ records: 3, samples: 3, samples_without_records: 0, contract: { records_at: '' } })
  const empty = inferContract([{ items: [company('1')] }, { items: [] }])
  expect(empty).toMatchObject({ records: 1, samples_without_records: 1, contract: { records_at: '/items' } })
  expect(inferContract([{ items: [company('1')] }, company('2')]).contract.records_at).toBe('')
})

test.each([
  ['/items', { total: 1, page: 1, items: [company('1')], links: [{ href: '/2' }] }],
  ['/data/companies', { meta: { count: 1 }, data: { companies: [company('1')] } }],
  ['/results', { registry: 'gb', term: 'x', results: [company('1')], hasMore: false, nextPageToken: null }],
  ['/companies/company', { companies: { '@xmlns': 'x', company: [company('1'), company('2')] } }],
  ['', company('1', { officers })],
  ['', { number: '1', officers }],
  ['', { company: company('1', { officers }), meta: { count: 1 } }],
  ['', { number: '1', filings: { items: officers, total: 2 } }],
  ['', { officers, owners: officers }],
  ['', { errors: [{ code: 'x' }], company: company('1') }],
  ['', { items: ['a', 'b'] }],
])('takes %o as the list of records only in an answer that describes nothing else', (records_at, payload) => {
  expect(inferContract([payload]).contract.records_at).toBe(records_at)
})
