/** For tests: a plugin in force and a matrix with a factor that it scores. */
import { uuidv7 } from '#kernel/uuid.ts'
import { createExamplePlugin, type ExamplePluginOptions } from './example-plugin.ts'
import type { ExampleTenant } from './example-tenant.ts'

const newKey = (name: string) => `${name}-${uuidv7().slice(-12)}`

export interface PluginMatrix {
  readonly plugin_key: string
  readonly matrix_key: string
}

export const pluginFactor = (plugin_key: string) => ({
  key: 'shell',
  title: 'Shell company',
  form: 'plugin',
  plugin_key,
  inputs: ['country', 'directors'],
  score_min_bps: 0,
  score_max_bps: 10_000,
})

export const buildPluginMatrix = (plugin_key: string, factor: object = {}) => ({
  inputs: [
    { name: 'country', title: 'Country', type: 'string' },
    { name: 'directors', title: 'Directors', type: 'integer', minimum: 0, maximum: 1000, default: 3 },
    { name: 'pep', title: 'Politically exposed', type: 'boolean', default: false },
  ],
  factors: [
    { ...pluginFactor(plugin_key), ...factor },
    { key: 'pep', title: 'PEP', form: 'score_map', input: 'pep', scores: { true: 4000, false: 0 }, on_missing: 'fail' },
  ],
  aggregation: 'max',
  bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
  triggers: [],
})

/** Uploads a plugin, grants its list and puts it in force. */
export async function createActivePlugin(
  t: ExampleTenant,
  options: ExamplePluginOptions = {},
  create: (plugin_key: string, options: ExamplePluginOptions) => object = createExamplePlugin,
): Promise<string> {
  const plugin_key = newKey('shell-signals')
  await t.make('POST /plugins', { body: { plugin_key, package: create(plugin_key, options) } })
  await t.make(`PUT /plugins/${plugin_key}/grants`, {
    body: { lists: ['jurisdiction-risk'], hosts: [], reason: 'Reviewed' },
  })
  await t.make(`POST /plugins/${plugin_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return plugin_key
}

export async function createActiveMatrix(t: ExampleTenant, definition: object): Promise<string> {
  const matrix_key = newKey('company-risk')
  await t.make('POST /risk-matrices', { body: { matrix_key, title: 'Company risk', definition } })
  await t.make(`POST /risk-matrices/${matrix_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /risk-matrices/${matrix_key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return matrix_key
}

export async function createPluginMatrix(t: ExampleTenant, options: ExamplePluginOptions = {}): Promise<PluginMatrix> {
  const plugin_key = await createActivePlugin(t, options)
  return { plugin_key, matrix_key: await createActiveMatrix(t, buildPluginMatrix(plugin_key)) }
}
