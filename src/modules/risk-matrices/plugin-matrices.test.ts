/** Matrices with a plugin factor: what publishing and activation check, and what happens while the plugin cannot run. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { activationStore } from '#modules/definitions/index.ts'
import { createSimplePlugin } from '#test/support/example-plugin.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  buildPluginMatrix,
  createActiveMatrix,
  createActivePlugin,
  createPluginMatrix,
  pluginFactor,
} from '#test/support/plugin-matrix.ts'
import { adapterPlugin } from '#test/support/plugins.ts'
import { shareTestApp, type TestApp } from '#test/support/test-app.ts'

let w: TestApp
let t: ExampleTenant
let plugin_key: string
let count = 0

beforeAll(async () => {
  w = await shareTestApp()
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

describe('inputs that the manifest does not allow', () => {
  const wide = () => {
    const built = buildPluginMatrix(plugin_key)
    const inputs = built.inputs.map((input) =>
      input.name === 'directors' ? { ...input, minimum: -5, maximum: 100_000 } : input,
    )
    return { ...built, inputs }
  }

  test('are reported when the matrix is published, and refused with 409 when they are decided on', async () => {
    const path = await createDraft(wide())
    const { json } = await call(`POST ${path}/versions/draft/validate`)
    expect([json.valid, json.findings]).toMatchObject([
      ...[true, [{ code: 'plugin_input_range', pointer: '/factors/0/inputs/1', severity: 'warning' }]],
    ])
    const matrix_key = await createActiveMatrix(t, wide())
    const evaluate = (inputs: object) => call('POST /evaluations', { matrix_key, inputs })
    for (const [inputs, pointer] of [
      [{ country: 'AE', directors: -1 }, '#/inputs/directors'],
      [{ country: 'AE', directors: 1001 }, '#/inputs/directors'],
      [{ country: 'DEUTSCHLAND' }, '#/inputs/country'],
    ] as const) {
      const refused = await evaluate(inputs)
      expect([refused.status, refused.json.code, refused.json.errors?.[0]]).toMatchObject([
        ...[409, 'inputs_refused', { pointer, keyword: 'input_refused_by_plugin' }],
      ])
    }
    expect((await evaluate({ country: 'AE', directors: 1000 })).status).toBe(201)
  })

  test('fail their item of a batch only', async () => {
    const matrix_key = await createActiveMatrix(t, wide())
    const items = [1, 1001].map((directors) => ({ inputs: { country: 'AE', directors } }))
    const { json } = await call('POST /batch-evaluations/estimate', { matrix_key, items })
    expect(json.tried).toMatchObject({ items: 2, failed: 1, failures: [{ code: 'input_refused_by_plugin', count: 1 }] })
  })
})

describe('a version that a matrix in force cannot use', () => {
  const simple = (key: string, version: string, manifest: object) => ({
    package: createSimplePlugin(key, { version, manifest: { ...manifest } }),
  })
  const upload = async (key: string, version: string, manifest: object): Promise<number> =>
    (await t.make(`POST /plugins/${key}/versions`, { body: simple(key, version, manifest) })).version
  const activate = (key: string, version: number) =>
    call(`POST /plugins/${key}/activations`, { version, reason: 'Reviewed' })
  const { inputs } = createSimplePlugin('x').manifest
  const examples = createSimplePlugin('x').manifest.examples

  test('does not come into force', async () => {
    const key = await createActivePlugin(t, {}, createSimplePlugin)
    const narrow = { score_max_bps: 1000 }
    const narrowed = await upload(key, '1.1.0', narrow)
    expect((await activate(key, narrowed)).status).toBe(201)
    const matrix_key = await createActiveMatrix(t, buildPluginMatrix(key, narrow))
    const required = [...inputs.required, 'zzz']
    const properties = { ...inputs.properties, zzz: { type: 'integer' } }
    const more = examples.map((example) => ({ ...example, input: { ...example.input, zzz: 1 } }))
    for (const [version, manifest, code] of [
      ['2.0.0', { score_max_bps: 9000 }, 'plugin_range'],
      ['2.0.1', { ...narrow, inputs: { ...inputs, required, properties }, examples: more }, 'plugin_input_missing'],
    ] as const) {
      const refused = await activate(key, await upload(key, version, manifest))
      const [gate] = refused.json.gates ?? []
      expect([refused.status, gate?.gate, gate?.overridable]).toEqual([409, 'referenced-by', false])
      expect(gate.facts.definitions).toMatchObject([{ key: matrix_key, version: 1, findings: [{ code }] }])
    }
    expect((await call('POST /evaluations', { matrix_key, inputs: { country: 'AE' } })).status).toBe(201)
    // A version that the matrix can use comes into force.
    const next = await upload(key, '3.0.0', { ...narrow, title: 'Renamed' })
    expect((await activate(key, next)).status).toBe(201)
  })

  test('does not come into force while a matrix that names it is scheduled, and such a matrix not before it', async () => {
    const later = { effective_from: '2090-01-01T00:00:00Z', reason: 'Reviewed' }
    const narrow = { score_max_bps: 1000 }
    const key = await createActivePlugin(t, {}, createSimplePlugin)
    const narrowed = await upload(key, '1.1.0', narrow)
    const wide = await upload(key, '2.0.0', { score_max_bps: 9000 })
    expect((await activate(key, narrowed)).status).toBe(201)
    const path = await createDraft(buildPluginMatrix(key, narrow))
    await publish(path)
    expect((await call(`POST ${path}/activations`, { version: 1, ...later })).status).toBe(201)
    const now = await activate(key, wide)
    expect([now.status, now.json.gates?.[0]?.facts.definitions[0].from]).toEqual([409, '2090-01-01T00:00:00.000000Z'])

    const other = await createActivePlugin(t, {}, createSimplePlugin)
    expect((await activate(other, await upload(other, '1.1.0', narrow))).status).toBe(201)
    const scheduled = await call(`POST /plugins/${other}/activations`, {
      version: await upload(other, '2.0.0', { score_max_bps: 9000 }),
      ...later,
    })
    expect(scheduled.status).toBe(201)
    const draft = await createDraft(buildPluginMatrix(other, narrow))
    await publish(draft)
    const refused = await call(`POST ${draft}/activations`, { version: 1, reason: 'Reviewed' })
    expect([refused.status, refused.json.gates?.[0]?.gate]).toEqual([409, 'proof'])
  })

  test('of another kind is not even stored', async () => {
    const { plugin_key: key } = await createPluginMatrix(t)
    const { manifest, files } = adapterPlugin(key)
    const refused = await call(`POST /plugins/${key}/versions`, {
      package: { manifest: { ...manifest, version: '5.0.0' }, files },
    })
    expect([refused.status, refused.json.code]).toEqual([409, 'conflict'])
    expect(refused.json.detail).toContain('is a plugin of kind factor')
  })

  test('answers 503, and is listed with its reasons, where it came into force nevertheless', async () => {
    const key = await createActivePlugin(t, {}, createSimplePlugin)
    const narrow = { score_max_bps: 1000 }
    await activate(key, await upload(key, '1.1.0', narrow))
    const matrix_key = await createActiveMatrix(t, buildPluginMatrix(key, narrow))
    // As a shared plugin of the operator may change: without a review by the tenant.
    await t.write((tx) =>
      activationStore.activateVersion(tx, {
        family: 'plugin',
        list_key: key,
        kind: 'activate',
        version: 1,
        reason: 'x',
      }),
    )
    const refused = await call('POST /evaluations', { matrix_key, inputs: { country: 'AE' } })
    expect([refused.status, refused.json.code, refused.json.reasons]).toMatchObject([
      ...[503, 'plugin_invalid', [{ code: 'plugin_range' }]],
    ])
    const { json } = await call(`GET /plugins/${key}/dependents`)
    expect(json.items).toMatchObject([{ key: matrix_key, runs: false, reasons: [{ code: 'plugin_range' }] }])
    await activate(key, 2)
    expect((await call(`GET /plugins/${key}/dependents`)).json.items).toMatchObject([{ runs: true, reasons: [] }])
  })
})

test('a plugin sees only the members of an entry that its manifest names', async () => {
  const permissions = { lists: [{ list_key: 'jurisdiction-risk', fields: ['score_bps'] }] }
  const source = `export const factor = ({ country }, lists) =>
    ({ score_bps: Object.keys(lists.get('jurisdiction-risk', country) ?? {}).length, reason_code: 'MEMBERS' })`
  const lists = { 'jurisdiction-risk': { AE: { country: 'AE', score_bps: 1500 } } }
  const examples = [1, 2, 3].map((directors) => ({
    ...{ name: `example ${directors}`, input: { country: 'AE', directors }, lists },
    output: { score_bps: 1, reason_code: 'MEMBERS' },
  }))
  const key = await createActivePlugin(t, { source, manifest: { permissions, examples } })
  const { json } = await call(`POST /plugins/${key}/versions/1/run`, { input: { country: 'AE', directors: 1 } })
  expect(json.output).toEqual({ score_bps: 1, reason_code: 'MEMBERS' })
})

test('a plugin that writes texts which no database takes fails with 503, and its upload is stored', async () => {
  const source = `export function factor({ directors }) {
    if (directors === 8) throw new Error('zero \\u0000, half \\ud800')
    if (directors === 9) return { score_bps: 1, reason_code: null, values: { text: 'zero \\u0000' } }
    return { score_bps: Math.max(0, 1000 - 100 * directors), reason_code: 'DIRECTORS' }
  }`
  const key = await createActivePlugin(t, { source }, createSimplePlugin)
  const matrix_key = await createActiveMatrix(t, buildPluginMatrix(key))
  for (const [directors, reason] of [
    [8, 'threw'],
    [9, 'output_invalid'],
  ] as const) {
    const { status, json } = await call('POST /evaluations', { matrix_key, inputs: { country: 'AE', directors } })
    expect([status, json.code, json.reason]).toEqual([503, 'plugin_failed', reason])
  }
  const examples = [8, 9, 9].map((directors, index) => ({
    ...{ name: `example ${index}`, input: { country: 'AE', directors } },
    output: { score_bps: 1, reason_code: null, values: { text: 'other' } },
  }))
  const body = { package: createSimplePlugin(key, { version: '2.0.0', source, manifest: { examples } }) }
  const uploaded = await call(`POST /plugins/${key}/versions`, body)
  expect([uploaded.status, uploaded.json.runs]).toEqual([201, false])
})

test('dependents lists every operation that answers 503 for it', async () => {
  const known = await createPluginMatrix(t)
  const { items } = (await call(`GET /plugins/${known.plugin_key}/dependents`)).json
  const marked = w.kernel.routes.filter(({ executes }) => executes === 'plugin')
  expect(marked.filter(({ runs_plugins_of }) => !runs_plugins_of).map(({ id }) => id)).toEqual(['runPluginVersion'])
  expect(items[0].operations).toEqual(
    expect.arrayContaining([
      'exploreEvaluation',
      'reevaluateEvaluation',
      'startDatasetImpact',
      'resumeBatchEvaluation',
    ]),
  )
  expect(items[0].operations).not.toContain('startRuleBacktest')
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
    expect([again.status, again.json.code]).toEqual([409, 'gates_closed'])
    expect(again.json.gates[0].detail).toMatch(new RegExp(`^${known.matrix_key} does not hold: The plugin`))
  })
})
