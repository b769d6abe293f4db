/** A contract over answers of a company registry, with payloads that fit it, for tests and measurements. */

import type { Contract } from '#contract/model.ts'
import type { BoundList, BoundLists } from '#decision/model.ts'

export const companyRecord = (number: number, change: Record<string, unknown> = {}) => ({
  number: String(10_000_000 + number),
  name: `Example Trading ${number} Ltd`,
  status: number % 7 === 0 ? 'dissolved' : 'active',
  address: { line: `${number} Harbour Street`, country: ['GB', 'FR', 'DE'][number % 3] },
  dates: { incorporation: '2015-03-01', ...(number % 7 === 0 && { dissolution: '2024-06-30' }) },
  capital: 1000 + number,
  officers: [{ name: `Officer ${number}`, role: 'director' }],
  ...change,
})

export const companyPayload = (records: readonly unknown[], meta: Record<string, unknown> = {}) => ({
  meta: { source: 'registry.example', updated_at: '2026-01-10T08:00:00Z', ...meta },
  result: { items: records },
})

export const companyContract = (change: Partial<Contract> = {}): Contract => ({
  capability: 'company.lookup',
  record: {
    type: 'object',
    required: ['number', 'name', 'address'],
    properties: {
      number: { type: 'string', pattern: '^[0-9]{8}$' },
      name: { type: 'string', minLength: 1, maxLength: 256 },
      status: { type: 'string', enum: ['active', 'dissolved'] },
      address: {
        type: 'object',
        required: ['country'],
        properties: { line: { type: 'string', maxLength: 256 }, country: { type: 'string', pattern: '^[A-Z]{2}$' } },
      },
      dates: {
        type: 'object',
        properties: {
          incorporation: { type: 'string', format: 'date' },
          dissolution: { type: ['string', 'null'], format: 'date' },
        },
      },
      capital: { type: 'number', minimum: 0 },
      officers: {
        type: 'array',
        maxItems: 100,
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string', maxLength: 256 }, role: { type: 'string', maxLength: 64 } },
        },
      },
    },
  },
  records_at: '/result/items',
  max_records: 500,
  facts: [
    { name: 'country', at: '/address/country', type: 'enum', one_of: { list_key: 'countries' }, required: true },
    { name: 'status', at: '/status', type: 'enum', values: ['active', 'dissolved'] },
    { name: 'incorporated_on', at: '/dates/incorporation', type: 'date' },
    { name: 'dissolved_on', at: '/dates/dissolution', type: 'date' },
    { name: 'capital', at: '/capital', type: 'decimal', scale: 2 },
    { name: 'officers', at: '/officers/*/name', type: 'list', personal: true },
  ],
  provenance: { source: '/meta/source', as_of: '/meta/updated_at', required: ['source', 'as_of'] },
  freshness: { max_age_s: 2_592_000, measured_from: 'as_of' },
  checks: [
    {
      key: 'dates-ordered',
      title: 'A company is dissolved after it was incorporated',
      when: [{ of: 'dissolved_on', test: '> incorporated_on' }],
      else: 'quarantine',
    },
  ],
  examples: [{ payload: companyPayload([companyRecord(1)]) }],
  counter_examples: [
    {
      payload: companyPayload([companyRecord(1, { address: { country: 'Atlantis' } })]),
      violates: ['/address/country'],
    },
  ],
  ...change,
})

export const createBoundList = (list_key: string, keys: readonly string[]): BoundList => {
  const entries = keys.map((key) => ({ key, entry: { code: key, name: key }, hash: key }))
  const byKey = new Map(entries.map((entry) => [entry.key, entry]))
  return {
    list_key,
    version: 1,
    content_hash: '0'.repeat(64),
    overlay_hash: null,
    get: (key) => byKey.get(key),
    all: entries,
  }
}

export const countries: BoundLists = new Map([['countries', createBoundList('countries', ['GB', 'FR', 'DE'])]])
