/** Packages of plugins that are valid without a tenant, to be used as they are or with one thing changed. */
import type { PackageContent } from '#plugin/package.ts'

export interface PluginFiles extends PackageContent {
  readonly manifest: Record<string, unknown>
  readonly files: Record<string, string>
}

const FACTOR_SOURCE = `
const SCORES = { high: 9000, medium: 5000, low: 1000 }

export function factor(inputs, lists, config) {
  const country = lists.get('country-risk', inputs.country)
  const level = country === null ? 'medium' : country.level
  const extra = inputs.employees < config.few_employees ? 500 : 0
  return {
    score_bps: Math.min(10000, SCORES[level] + extra),
    reason_code: country === null ? 'COUNTRY_UNKNOWN' : 'COUNTRY_' + level.toUpperCase(),
    values: { level, has_few_employees: extra > 0 },
  }
}
`

const createFactorExample = (name: string, country: string, employees: number, output: object) => ({
  ...{ name, input: { country, employees }, config: { few_employees: 3 }, output },
  lists: { 'country-risk': { DE: { level: 'low' }, KY: { level: 'high' }, XX: null } },
})

export const factorPlugin = (plugin_key = 'country-level'): PluginFiles => ({
  manifest: {
    plugin_key,
    version: '1.0.0',
    kind: 'factor',
    api: 1,
    entry: 'plugin.js',
    title: 'Country level',
    inputs: {
      type: 'object',
      required: ['country', 'employees'],
      additionalProperties: false,
      properties: { country: { type: 'string', pattern: '^[A-Z]{2}$' }, employees: { type: 'integer', minimum: 0 } },
    },
    outputs: {
      type: 'object',
      required: ['level'],
      additionalProperties: false,
      properties: { level: { enum: ['low', 'medium', 'high'] }, has_few_employees: { type: 'boolean' } },
    },
    score_min_bps: 0,
    score_max_bps: 10_000,
    config_schema: {
      type: 'object',
      required: ['few_employees'],
      properties: { few_employees: { type: 'integer', minimum: 0, default: 3 } },
    },
    permissions: { lists: [{ list_key: 'country-risk', fields: ['level'] }] },
    examples: [
      createFactorExample('low risk', 'DE', 20, {
        ...{ score_bps: 1000, reason_code: 'COUNTRY_LOW', values: { level: 'low', has_few_employees: false } },
      }),
      createFactorExample('high risk with few employees', 'KY', 1, {
        ...{ score_bps: 9500, reason_code: 'COUNTRY_HIGH', values: { level: 'high', has_few_employees: true } },
      }),
      createFactorExample('unknown country', 'XX', 5, {
        ...{ score_bps: 5000, reason_code: 'COUNTRY_UNKNOWN', values: { level: 'medium', has_few_employees: false } },
      }),
    ],
  },
  files: { 'plugin.js': FACTOR_SOURCE },
})

const ADAPTER_SOURCE = `
export function adapter(chunk, state, config) {
  const entries = []
  const rejects = []
  for (const [row, { code, name }] of chunk.rows.entries()) {
    if (!code) rejects.push({ row, reason: 'The code is missing' })
    else entries.push({ row, entry: { code: code.toUpperCase(), name } })
  }
  return { entries, rejects, state: { seen: (state?.seen ?? 0) + chunk.rows.length } }
}
`

export const adapterPlugin = (plugin_key = 'code-table'): PluginFiles => ({
  manifest: {
    plugin_key,
    version: '1.0.0',
    kind: 'adapter',
    api: 1,
    entry: 'plugin.js',
    title: 'Code table',
    format: { kind: 'csv' },
    outputs: { type: 'object', required: ['code'], properties: { code: { type: 'string', minLength: 1 } } },
    examples: [
      {
        name: 'a row',
        input: { chunk: { rows: [{ code: 'a1', name: 'First' }] } },
        output: { entries: [{ row: 0, entry: { code: 'A1', name: 'First' } }], rejects: [], state: { seen: 1 } },
      },
      {
        name: 'a row without a code',
        input: { chunk: { rows: [{ code: '', name: 'None' }] }, state: { seen: 2 } },
        output: { entries: [], rejects: [{ row: 0, reason: 'The code is missing' }], state: { seen: 3 } },
      },
      { name: 'no rows', input: { chunk: { rows: [] } }, output: { entries: [], rejects: [], state: { seen: 0 } } },
    ],
  },
  files: { 'plugin.js': ADAPTER_SOURCE },
})

const PROVIDER_SOURCE = `
export function request(input, config) {
  return {
    method: 'GET',
    url: 'https://registry.example/companies/' + encodeURIComponent(input.number),
    headers: { accept: 'application/json' },
  }
}

export function parse(response, config) {
  if (response.status === 404) return { number: null, status: 'not_found' }
  return { number: response.body.companyNumber, status: response.body.active ? 'active' : 'closed' }
}
`

const createProviderExample = (name: string, number: string, response: object, output: object) => ({
  ...{ name, input: { number }, response, output },
  request: {
    method: 'GET',
    url: `https://registry.example/companies/${encodeURIComponent(number)}`,
    headers: { accept: 'application/json' },
  },
})

export const providerPlugin = (plugin_key = 'company-lookup'): PluginFiles => ({
  manifest: {
    plugin_key,
    version: '1.0.0',
    kind: 'provider',
    api: 1,
    entry: 'plugin.js',
    title: 'Company look-up',
    inputs: {
      type: 'object',
      required: ['number'],
      additionalProperties: false,
      properties: { number: { type: 'string', minLength: 1, maxLength: 20 } },
    },
    outputs: {
      type: 'object',
      required: ['number', 'status'],
      properties: { number: { type: ['string', 'null'] }, status: { enum: ['active', 'closed', 'not_found'] } },
    },
    contract_key: 'company-registry',
    permissions: { hosts: ['registry.example'] },
    examples: [
      createProviderExample(
        'an active company',
        '100',
        { status: 200, headers: {}, body: { companyNumber: '100', active: true } },
        { number: '100', status: 'active' },
      ),
      createProviderExample(
        'a closed company',
        '2/3',
        { status: 200, headers: {}, body: { companyNumber: '2/3', active: false } },
        { number: '2/3', status: 'closed' },
      ),
      createProviderExample(
        'an unknown company',
        '9',
        { status: 404, headers: {}, body: null },
        {
          ...{ number: null, status: 'not_found' },
        },
      ),
    ],
  },
  files: { 'plugin.js': PROVIDER_SOURCE },
})
