/** Examples of decisions: a small policy of the tenant's own (two lists and a matrix), a subject, and what was decided. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from './example-tenant.ts'
import type { Fixture, Fixtures } from './fixtures.ts'

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

/** Two factors of equal weight, one trigger; every policy value but the channel's comes from a list. */
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

/** A new version of a list, in force at once. */
export async function publishList(t: ExampleTenant, list_key: string, data: readonly object[]): Promise<number> {
  const path = `/reference-data/datasets/${list_key}`
  const { version } = await t.make(`POST ${path}/versions`, { body: { data } })
  await t.make(`POST ${path}/activations`, { body: { version, reason: 'reviewed' } })
  return version
}

/** The open draft becomes a version, in force at once. */
export async function publishMatrix(t: ExampleTenant, matrix_key: string): Promise<number> {
  const path = `/risk-matrices/${matrix_key}`
  const { version } = await t.make(`POST ${path}/versions/draft/publish`, { body: {} })
  await t.make(`POST ${path}/activations`, { body: { version, reason: 'reviewed' } })
  return version
}

/** With a list of countries of its own, unless it is to read another one. */
export async function newPolicy(t: ExampleTenant, other_list?: string): Promise<Policy> {
  const country_list = other_list ?? (await newList(t, 'countries', ['score_bps'], countries))
  const band_list = await newList(t, 'bands', ['from_bps', 'to_bps'], bands)
  const matrix_key = newKey('matrix')
  const definition = buildMatrix({ country_list, band_list })
  await t.make('POST /risk-matrices', { body: { matrix_key, title: 'Customer risk', definition } })
  await publishMatrix(t, matrix_key)
  return { country_list, band_list, matrix_key }
}

const created = new WeakMap<ExampleTenant, Map<string, Promise<unknown>>>()
function once<T>(t: ExampleTenant, name: string, make: () => Promise<T>): Promise<T> {
  const made = created.get(t) ?? new Map<string, Promise<unknown>>()
  created.set(t, made)
  const known = made.get(name) ?? make()
  made.set(name, known)
  return known as Promise<T>
}

export const ensurePolicy = (t: ExampleTenant): Promise<Policy> => once(t, 'policy', () => newPolicy(t))

export const newSubject = async (t: ExampleTenant, attributes: object = { country: 'DE' }): Promise<string> => {
  const body = { subject_type: 'person', name: 'Ada Lovelace', attributes }
  return (await t.make('POST /subjects', { body })).subject_id
}

const buildRequest = async (t: ExampleTenant) => {
  const subject_id = await once(t, 'subject', () => newSubject(t))
  return { matrix_key: (await ensurePolicy(t)).matrix_key, subject_id }
}
const newEvaluation = async (t: ExampleTenant): Promise<string> =>
  (await t.make('POST /evaluations', { body: await buildRequest(t) })).evaluation_id
export const ensureEvaluation = (t: ExampleTenant): Promise<string> => once(t, 'evaluation', () => newEvaluation(t))

const one: Fixture = async (t) => ({ params: { evaluation_id: await ensureEvaluation(t) } })

export const evaluationFixtures: Fixtures = {
  createEvaluation: async (t) => ({ body: await buildRequest(t) }),
  previewEvaluation: async (t) => ({ body: await buildRequest(t) }),
  listEvaluations: async (t) => {
    await ensureEvaluation(t)
    return {}
  },
  getEvaluation: one,
  getEvaluationExplanation: one,
  getEvaluationInputs: one,
  replayEvaluation: one,
  reevaluateEvaluation: one,
  exploreEvaluation: async (t) => ({
    params: { evaluation_id: await ensureEvaluation(t) },
    body: { inputs: { country: 'IR' }, search: true },
  }),
  compareEvaluations: async (t) => ({ body: { evaluation_ids: [await ensureEvaluation(t), await newEvaluation(t)] } }),
  getCertificate: one,
  getEvaluationPack: one,
  overrideEvaluation: async (t) => ({
    params: { evaluation_id: await newEvaluation(t) },
    body: { band: 'high', reason: 'known to us', expires_at: new Date(Date.now() + 86_400_000).toISOString() },
  }),
}
