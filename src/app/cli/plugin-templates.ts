/** What `plugin init` writes: a plugin of each kind that is valid as it is. */
import type { PluginKind } from '#sandbox/model.ts'

export interface PluginTemplate {
  readonly manifest: object
  readonly source: string
}

const createBase = (plugin_key: string, kind: PluginKind) => ({
  plugin_key,
  version: '0.1.0',
  kind,
  api: 1,
  entry: 'plugin.js',
  title: plugin_key,
})

const templates: Readonly<Record<PluginKind, (plugin_key: string) => PluginTemplate>> = {
  factor: (plugin_key) => ({
    manifest: {
      ...createBase(plugin_key, 'factor'),
      inputs: {
        type: 'object',
        required: ['amount'],
        additionalProperties: false,
        properties: { amount: { type: 'number', minimum: 0 } },
      },
      outputs: { type: 'object', properties: { is_large: { type: 'boolean' } } },
      score_min_bps: 0,
      score_max_bps: 10_000,
      config_schema: {
        type: 'object',
        required: ['large_amount'],
        properties: { large_amount: { type: 'number', default: 10_000 } },
      },
      permissions: { lists: [] },
      examples: [0, 9999, 10_000].map((amount) => ({
        name: `an amount of ${amount}`,
        input: { amount },
        config: { large_amount: 10_000 },
        output: {
          score_bps: amount >= 10_000 ? 8000 : 1000,
          reason_code: amount >= 10_000 ? 'LARGE_AMOUNT' : 'ORDINARY_AMOUNT',
          values: { is_large: amount >= 10_000 },
        },
      })),
    },
    source: `// factor(inputs, lists, config) returns a score within the range of plugin.json, a reason and values.
// lists.get(list_key, key) gives an entry of a list that permissions.lists names, or null.

export function factor(inputs, lists, config) {
  const isLarge = inputs.amount >= config.large_amount
  return {
    score_bps: isLarge ? 8000 : 1000,
    reason_code: isLarge ? 'LARGE_AMOUNT' : 'ORDINARY_AMOUNT',
    values: { is_large: isLarge },
  }
}
`,
  }),
  adapter: (plugin_key) => ({
    manifest: {
      ...createBase(plugin_key, 'adapter'),
      format: { kind: 'csv' },
      outputs: { type: 'object', required: ['code'], properties: { code: { type: 'string', minLength: 1 } } },
      examples: [
        {
          name: 'a row',
          input: { chunk: { rows: [{ code: 'a', name: 'First' }] } },
          output: { entries: [{ row: 0, entry: { code: 'A', name: 'First' } }], rejects: [] },
        },
        {
          name: 'a row without a code',
          input: { chunk: { rows: [{ code: '', name: 'None' }] } },
          output: { entries: [], rejects: [{ row: 0, reason: 'The code is missing' }] },
        },
        { name: 'no rows', input: { chunk: { rows: [] } }, output: { entries: [], rejects: [] } },
      ],
    },
    source: `// adapter(chunk, state, config) gets up to 1,000 rows and returns entries and rejects by the index of their row.
// What it returns as state it gets with the next chunk of the same file.

export function adapter(chunk, state, config) {
  const entries = []
  const rejects = []
  for (const [row, { code, name }] of chunk.rows.entries()) {
    if (code) entries.push({ row, entry: { code: code.toUpperCase(), name } })
    else rejects.push({ row, reason: 'The code is missing' })
  }
  return { entries, rejects }
}
`,
  }),
  provider: (plugin_key) => ({
    manifest: {
      ...createBase(plugin_key, 'provider'),
      inputs: {
        type: 'object',
        required: ['number'],
        additionalProperties: false,
        properties: { number: { type: 'string', pattern: '^[0-9]{1,12}$' } },
      },
      outputs: {
        type: 'object',
        required: ['number', 'name'],
        properties: { number: { type: 'string' }, name: { type: 'string' } },
      },
      contract_key: 'company',
      permissions: { hosts: ['registry.example'] },
      examples: ['1', '22', '333'].map((number) => ({
        name: `company ${number}`,
        input: { number },
        request: { method: 'GET', url: `https://registry.example/companies/${number}` },
        response: { status: 200, headers: {}, body: { id: number, title: `Company ${number}` } },
        output: { number, name: `Company ${number}` },
      })),
    },
    source: `// The host sends what request() returns, to a host that permissions.hosts names, and gives the response to parse().
// Secrets never come here: write {credential.member} in a header.

export function request(input, config) {
  return { method: 'GET', url: 'https://registry.example/companies/' + input.number }
}

export function parse(response, config) {
  return { number: response.body.id, name: response.body.title }
}
`,
  }),
}

export const createTemplate = (kind: PluginKind, plugin_key: string): PluginTemplate => templates[kind](plugin_key)
