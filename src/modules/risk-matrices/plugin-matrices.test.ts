/** Matrices with a plugin factor: what publishing and activation check, and what happens while the plugin cannot run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  buildPluginMatrix,
  createActiveMatrix,
  createActivePlugin,
  createPluginMatrix,
  pluginFactor,
} from '#test/support/plugin-matrix.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
let plugin_key: string
let count = 0

beforeAll(async () => {
  w = await startTestApp()
  t = await ExampleTenant.create(w)
  plugin_key = await createActivePlugin(t)
})
afterAll(() => w?.close())

const call = async (at: string, body?: unknown) =>
  w.call(at, { token: await t.token(), ...(body !== undefined && { body }) })
const createDraft = async (definition: object): Promise<string> => {
  const matrix_key = `plugin-matrix-${++count}`
  await t.make('POST /risk-matrices', { body: { matrix_key, title: 'Company risk', definition } })
  return `/risk-matrices/${matrix_key}`
}
const publish = (path: string) => call(`POST ${path}/versions/draft/publish`, {})

describe('publishing', () => {
  const withInputs = (inputs: readonly string[], change: object = {}) => {
    const built = buildPluginMatrix(plugin_key, { inputs })
    return { ...built, inputs: built.inputs.map((input) => ({ ...input, ...(input.name === 'directors' && change) })) }
  }
  const notDirectors = { type: 'string', minimum: undefined, maximum: undefined, default: 'x' }
  test.each([
    ['a plugin that does not exist', () => buildPluginMatrix('nobody'), 'plugin_invalid', '/factors/0/plugin_key'],
    [
      'a narrower range',
      () => buildPluginMatrix(plugin_key, { score_max_bps: 9000 }),
      'plugin_range',
      '/factors/0/score_max_bps',
    ],
    ['a missing input', () => withInputs(['country']), 'plugin_input_missing', '/factors/0/inputs'],
    [
      'an unknown input',
      () => withInputs(['country', 'directors', 'pep']),
      'plugin_input_unknown',
      '/factors/0/inputs/2',
    ],
    [
      'another type',
      () => withInputs(['country', 'directors'], notDirectors),
      'plugin_input_type',
      '/factors/0/inputs/1',
    ],
  ])('refuses %s', async (_, build, code, pointer) => {
    const path = await createDraft(build())
    const { status, json } = await publish(path)
    expect([status, json.code, json.findings[0].code, json.findings[0].pointer]).toEqual([
      ...[409, 'definition_invalid', code, pointer],
    ])
    const validated = await call(`POST ${path}/versions/draft/validate`)
    expect([validated.status, validated.json.valid]).toEqual([200, false])
  })

  test('proves completeness for every score of the range, with the scores in the example', async () => {
    const rows = [{ key: 'low', when: ['< 9000'], then: [100] }]
    const outputs = [{ name: 'score_bps' }]
    const table = { hit_policy: 'unique', columns: ['factor.shell'], outputs, rows }
    const built = buildPluginMatrix(plugin_key)
    const factors = [pluginFactor(plugin_key), { key: 'after', title: 'After', form: 'table', table }]
    const { json } = await publish(await createDraft({ ...built, factors }))
    expect(json.findings).toMatchObject([
      { code: 'table_gap', pointer: '/factors/1/table', example: { 'factor.shell': 10_000 } },
    ])
    const covered = { ...table, rows: [...rows, { key: 'high', when: ['>= 9000'], then: [200] }] }
    const complete = { ...built, factors: [factors[0], { ...factors[1], table: covered }] }
    expect((await publish(await createDraft(complete))).status).toBe(201)
  })

  test('runs golden cases through the plugin, and reads it in plain words', async () => {
    const path = await createDraft(buildPluginMatrix(plugin_key))
    const golden = (name: string, directors: number, score_bps: number) =>
      call(`POST ${path}/test-cases`, { name, inputs: { country: 'AE', directors }, expected: { score_bps } })
    await golden('few directors', 1, 2500)
    await golden('wrong', 5, 2500)
    const refused = await publish(path)
    expect(refused.json.findings).toMatchObject([
      {
        code: 'golden_case_failed',
        message: 'The golden case "wrong" is not met: score_bps is 1500, and 2500 is expected.',
      },
    ])
    const { json } = await call(`POST ${path}/versions/draft/test`, {})
    expect([json.passed, json.failed]).toEqual([1, 1])
    const draft = (await call(`GET ${path}/versions/draft`)).json
    expect(draft.reading[0]).toBe(
      `Shell company: scored by plugin ${plugin_key}, version in force, from Country and Directors; 0 to 10000.`,
    )
  })
})

describe('a run for the author', () => {
  const run = (key: string, body: object) => call(`POST /plugins/${key}/versions/1/run`, body)
  const input = { country: 'AE', directors: 1 }

  test.each([
    [null, '#/input'],
    [{ country: 'AE' }, '#/input/directors'],
    [{ country: 'AE', directors: 1001 }, '#/input/directors'],
    [{ country: 'UAE', directors: 1 }, '#/input/country'],
    [{ country: 'AE', directors: 1, more: 1 }, '#/input/more'],
  ])('returns 409 for the input %j, which the manifest does not allow', async (given, pointer) => {
    const { status, json } = await run(plugin_key, { input: given })
    expect([status, json.code, json.errors?.[0].pointer]).toEqual([409, 'inputs_refused', pointer])
  })

  test('returns 409 for entries of a list that the manifest does not name', async () => {
    const declared = await run(plugin_key, { input, entries: { 'jurisdiction-risk': { AE: { score_bps: 7 } } } })
    expect([declared.status, declared.json.output.score_bps]).toEqual([200, 1007])
    const { status, json } = await run(plugin_key, { input, entries: { countries: { AE: {} } } })
    expect([status, json.code, json.detail]).toEqual([409, 'conflict', expect.stringContaining('countries')])
  })

  test('gets the defaults of config_schema where nothing else is configured', async () => {
    const config_schema = {
      ...{ type: 'object', additionalProperties: false, required: ['surcharge_bps'] },
      properties: { surcharge_bps: { type: 'integer', minimum: 0, maximum: 5000, default: 1000 } },
    }
    const key = await createActivePlugin(t, { manifest: { config_schema } })
    expect((await run(key, { input })).json.output?.score_bps).toBe(2500)
    await t.make(`PUT /plugins/${key}/configuration`, { body: { configuration: { surcharge_bps: 2 }, reason: 'Less' } })
    expect((await run(key, { input })).json.output?.score_bps).toBe(1502)
    await t.make(`PUT /plugins/${key}/configuration`, { body: { configuration: {}, reason: 'As before' } })
    expect((await run(key, { input })).json.output?.score_bps).toBe(2500)
  })
})

describe('while the plugin cannot run', () => {
  test('simulations answer 503, the matrix is listed as dependent, and lists and other matrices go on', async () => {
    const known = await createPluginMatrix(t)
    const dependents = await call(`GET /plugins/${known.plugin_key}/dependents`)
    expect(dependents.json.items).toMatchObject([
      { kind: 'matrix', key: known.matrix_key, version: 1, title: 'Company risk' },
    ])
    expect(dependents.json.items[0].operations).toContain('createEvaluation')
    await call(`POST /plugins/${known.plugin_key}/disable`, { reason: 'Wrong scores' })
    const path = `/risk-matrices/${known.matrix_key}`
    const inputs = { country: 'AE' }
    const simulated = await call(`POST ${path}/versions/1/simulate`, { inputs })
    expect([simulated.status, simulated.json.code]).toEqual([503, 'plugin_invalid'])
    const tested = await call(`POST ${path}/versions/1/test`, { cases: [{ inputs }] })
    expect([tested.status, tested.json.code]).toEqual([503, 'plugin_invalid'])
    expect((await call(`POST ${path}/versions/1/validate`)).json.findings).toMatchObject([{ code: 'plugin_invalid' }])
    expect((await call(`GET ${path}`)).status).toBe(200)
    const other = await createActiveMatrix(t, buildPluginMatrix(plugin_key))
    expect((await call('POST /evaluations', { matrix_key: other, inputs })).status).toBe(201)
    const again = await call(`POST ${path}/activations`, { version: 1, reason: 'Again' })
    expect([again.status, again.json.code]).not.toEqual([503, 'plugin_invalid'])
  })
})
