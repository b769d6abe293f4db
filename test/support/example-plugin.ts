/** A plugin that scores a company by its country and its number of directors, for tests of plugins. */

const source = `const SHELL_THRESHOLD = 1

/** Companies with few directors in a risky country score high. */
export function factor(inputs, lists, configuration) {
  const country = lists.get('jurisdiction-risk', inputs.country)
  const base = country === null ? 5000 : country.score_bps
  const extra = inputs.directors <= SHELL_THRESHOLD ? configuration.surcharge_bps ?? 1000 : 0
  return { score_bps: Math.min(10000, base + extra), reason_code: extra > 0 ? 'FEW_DIRECTORS' : 'COUNTRY_SCORE' }
}
`

export interface ExamplePluginOptions {
  readonly version?: string
  readonly title?: string
  /** Replaces the module. */
  readonly source?: string
  readonly manifest?: Readonly<Record<string, unknown>>
}

const lists = { 'jurisdiction-risk': { AE: { country: 'AE', score_bps: 1500 }, XX: null } }

/** Looks up a list, so that it needs a grant; its configuration is optional. */
export function createExamplePlugin(plugin_key: string, options: ExamplePluginOptions = {}) {
  return {
    manifest: {
      plugin_key,
      version: options.version ?? '1.0.0',
      kind: 'factor',
      api: 1,
      entry: 'main.js',
      title: options.title ?? 'Shell company signals',
      description: 'Scores a company by its country and its number of directors. Illustrative.',
      inputs: {
        type: 'object',
        additionalProperties: false,
        required: ['country', 'directors'],
        properties: {
          country: { type: 'string', minLength: 2, maxLength: 2 },
          directors: { type: 'integer', minimum: 0, maximum: 1000 },
        },
      },
      score_min_bps: 0,
      score_max_bps: 10_000,
      config_schema: {
        type: 'object',
        additionalProperties: false,
        properties: { surcharge_bps: { type: 'integer', minimum: 0, maximum: 5000 } },
      },
      permissions: { lists: ['jurisdiction-risk'] },
      examples: [
        {
          name: 'many directors',
          input: { country: 'AE', directors: 5 },
          lists,
          output: { score_bps: 1500, reason_code: 'COUNTRY_SCORE' },
        },
        {
          name: 'one director',
          input: { country: 'AE', directors: 1 },
          lists,
          output: { score_bps: 2500, reason_code: 'FEW_DIRECTORS' },
        },
        {
          name: 'unknown country, own surcharge',
          input: { country: 'XX', directors: 0 },
          lists,
          config: { surcharge_bps: 500 },
          output: { score_bps: 5500, reason_code: 'FEW_DIRECTORS' },
        },
      ],
      ...options.manifest,
    },
    files: { 'main.js': options.source ?? source },
  }
}

/** The same without a list: it needs no grant. */
export const createSimplePlugin = (plugin_key: string, options: ExamplePluginOptions = {}) => {
  const { manifest } = createExamplePlugin(plugin_key, options)
  const { permissions: _p, config_schema: _c, ...rest } = manifest
  return {
    manifest: {
      ...rest,
      title: options.title ?? 'Number of directors',
      description: 'Scores a company by its number of directors. Illustrative.',
      examples: [0, 1, 7].map((directors) => ({
        name: `${directors} directors`,
        input: { country: 'AE', directors },
        output: { score_bps: Math.max(0, 1000 - 100 * directors), reason_code: 'DIRECTORS' },
      })),
      ...options.manifest,
    },
    files: {
      'main.js':
        options.source ??
        `export function factor({ directors }) {
  if (directors === 666) throw new Error('refused number')
  return { score_bps: Math.max(0, 1000 - 100 * directors), reason_code: 'DIRECTORS' }
}
`,
    },
  }
}
