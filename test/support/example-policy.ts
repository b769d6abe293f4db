/** A small policy of a tenant's own: a list of countries, a list of bands and the matrix that reads them. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from './example-tenant.ts'
import { createOncePerTenant } from './operation-fixture.ts'

const newKey = (name: string) => `${name}-${uuidv7().slice(-12)}`

export const countries = [
  { code: 'CH', score_bps: 1000 },
  { code: 'DE', score_bps: 2000 },
  { code: 'IR', score_bps: 9000 },
]
export const bands = [
  { code: 'low', from_bps: 0, to_bps: 2999 },
  { code: 'high', from_bps: 3000, to_bps: 10000 },
]

/** Two factors of equal weight and one trigger; every score but that of the channel comes from a list. */
export const buildMatrix = ({ country_list, band_list }: { country_list: string; band_list: string }) => ({
  inputs: [
    { name: 'country', title: 'Country', type: 'enum', one_of: { list_key: country_list } },
    { name: 'channel', title: 'Channel', type: 'enum', values: ['branch', 'online'], default: 'online' },
    { name: 'pep', title: 'Politically exposed', type: 'boolean', default: false },
  ],
  factors: [
    {
      key: 'country',
      title: 'Country',
      form: 'lookup',
      list_key: country_list,
      inputs: ['country'],
      field: 'score_bps',
      on_missing: 'fail',
      weight_bps: 5000,
      reason: 'Residence in {country} is rated {score_bps}.',
      reason_code: 'COUNTRY',
    },
    {
      key: 'channel',
      title: 'Channel',
      form: 'score_map',
      input: 'channel',
      scores: { branch: 0, online: 2000 },
      on_missing: 'fail',
      weight_bps: 5000,
    },
  ],
  aggregation: 'weighted_sum',
  bands: { list_key: band_list, band_field: 'code', from_field: 'from_bps', to_field: 'to_bps' },
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
  ],
})

export interface Policy {
  readonly country_list: string
  readonly band_list: string
  readonly matrix_key: string
}

async function newList(
  t: ExampleTenant,
  name: string,
  fields: readonly string[],
  data: readonly object[],
): Promise<string> {
  const type_key = newKey(`type-${name}`)
  const bps = { type: 'integer', minimum: 0, maximum: 10000 }
  const schema = {
    type: 'object',
    properties: { code: { type: 'string', maxLength: 50 }, ...Object.fromEntries(fields.map((field) => [field, bps])) },
    required: ['code', ...fields],
    additionalProperties: false,
  }
  const about = { title: name, description: name, key_pointers: ['/code'], examples: [data[0]] }
  await t.make('POST /reference-data/types', { body: { type_key, schema, ...about } })
  const list_key = newKey(name)
  await t.make('POST /reference-data/datasets', { body: { list_key, type_key, title: name } })
  await publishList(t, list_key, data)
  return list_key
}

/** Creates a new version of a list and activates it. */
export async function publishList(t: ExampleTenant, list_key: string, data: readonly object[]): Promise<number> {
  const path = `/reference-data/datasets/${list_key}`
  const { version } = await t.make(`POST ${path}/versions`, { body: { data } })
  await t.make(`POST ${path}/activations`, { body: { version, reason: 'reviewed' } })
  return version
}

/** Publishes the open draft and activates the version. */
export async function publishMatrix(t: ExampleTenant, matrix_key: string): Promise<number> {
  const path = `/risk-matrices/${matrix_key}`
  const { version } = await t.make(`POST ${path}/versions/draft/publish`, { body: {} })
  await t.make(`POST ${path}/activations`, { body: { version, reason: 'reviewed' } })
  return version
}

/** Creates the policy with a new list of countries, unless another list is named. */
export async function newPolicy(t: ExampleTenant, other_list?: string): Promise<Policy> {
  const country_list = other_list ?? (await newList(t, 'countries', ['score_bps'], countries))
  const band_list = await newList(t, 'bands', ['from_bps', 'to_bps'], bands)
  const matrix_key = newKey('customer-risk')
  const definition = buildMatrix({ country_list, band_list })
  await t.make('POST /risk-matrices', { body: { matrix_key, title: 'Customer risk', definition } })
  await publishMatrix(t, matrix_key)
  return { country_list, band_list, matrix_key }
}

const oncePerTenant = createOncePerTenant()

export const ensurePolicy = (t: ExampleTenant): Promise<Policy> => oncePerTenant(t, 'policy', () => newPolicy(t))
