/** Examples of the operations of matrices and rules, on the lists every installation is seeded with. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from './example-tenant.ts'
import type { Fixture, Fixtures } from './fixtures.ts'

/** Two inputs, one factor, one trigger: small enough to be read at a glance. */
export const smallMatrix = () => ({
  inputs: [
    { name: 'country', title: 'Country', type: 'enum', one_of: { list_key: 'jurisdiction-risk' } },
    { name: 'pep', title: 'Politically exposed', type: 'boolean' },
  ],
  factors: [
    {
      key: 'country',
      title: 'Country',
      form: 'lookup',
      list_key: 'jurisdiction-risk',
      inputs: ['country'],
      field: 'score_bps',
      on_missing: 'fail',
    },
  ],
  aggregation: 'max',
  bands: { list_key: 'risk-bands', band_field: 'band', from_field: 'from_bps', to_field: 'to_bps' },
  triggers: [
    {
      key: 'pep',
      title: 'Politically exposed',
      when: [{ of: 'pep', test: 'true' }],
      floor_band: 'high',
      required_actions: ['enhanced-due-diligence'],
      reason_code: 'RAT_PEP',
      reason: 'The customer is politically exposed.',
    },
  ],
})

export const smallRule = () => ({
  inputs: [
    { name: 'country', title: 'Country', type: 'enum', one_of: { list_key: 'jurisdiction-risk' } },
    { name: 'amount', title: 'Amount', type: 'decimal', scale: 2, minimum: '0', maximum: '1000000' },
  ],
  table: {
    hit_policy: 'first',
    columns: ['country', 'amount'],
    outputs: [{ name: 'severity' }],
    rows: [
      {
        key: 'risky',
        when: ['in list(eu-high-risk-third-countries)', '>= 1000.00'],
        then: ['high'],
        reason: '{amount} with {country}.',
      },
    ],
  },
  required_actions: ['open-alert'],
  reason_code: 'TM_HIGH_RISK_COUNTRY',
  reason: 'Money moves to a country of high risk.',
})

/** More columns than can be gone through together. */
export const unprovableRule = () => {
  const columns = Array.from({ length: 14 }, (_, n) => `a${n}`)
  const rows = columns.map((key, n) => ({ key, when: columns.map((_, m) => (m === n ? '> 5' : '-')), then: ['hit'] }))
  return {
    inputs: columns.map((name) => ({ name, title: name, type: 'integer', minimum: 0, maximum: 10 })),
    table: { hit_policy: 'first', columns, outputs: [{ name: 'severity' }], rows },
    reason_code: 'TM_LARGE_CASH',
    reason: 'Large.',
  }
}

interface Family {
  readonly path: '/risk-matrices' | '/rules'
  readonly param: 'matrix_key' | 'rule_key'
  readonly noun: 'RiskMatrix' | 'Rule'
  readonly plural: 'RiskMatrices' | 'Rules'
  readonly text: () => { readonly inputs: readonly { readonly title: string }[] }
  readonly inputs: object
  readonly expected: object
  /** One that every installation is seeded with. */
  readonly shared: string
}
const matrices: Family = {
  path: '/risk-matrices',
  param: 'matrix_key',
  noun: 'RiskMatrix',
  plural: 'RiskMatrices',
  text: smallMatrix,
  // Not the country that other examples lay an overlay on.
  inputs: { country: 'FR', pep: false },
  expected: { band: 'low' },
  shared: 'customer-risk-person',
}
const rules: Family = {
  path: '/rules',
  param: 'rule_key',
  noun: 'Rule',
  plural: 'Rules',
  text: smallRule,
  inputs: { country: 'FR', amount: '5.00' },
  expected: { hit: false },
  shared: 'dormant-account',
}

const newKey = () => `definition-${uuidv7().slice(-12)}`
const knownKeys = new WeakMap<ExampleTenant, Map<string, Promise<string>>>()

function buildFixtures({ path, param, noun, plural, text, inputs, expected, shared }: Family): Fixtures {
  const drafted = async (t: ExampleTenant): Promise<string> => {
    const key = newKey()
    await t.make(`POST ${path}`, { body: { [param]: key, title: 'Small', definition: text() } })
    return key
  }
  /** Two versions, and no draft. */
  const published = async (t: ExampleTenant, active: readonly number[] = []): Promise<string> => {
    const key = await drafted(t)
    await t.make(`POST ${path}/${key}/versions/draft/publish`, { body: {} })
    const { inputs: declared, ...rest } = text()
    const renamed = { ...rest, inputs: declared.map((input) => ({ ...input, title: `${input.title}, as declared` })) }
    await t.make(`POST ${path}/${key}/versions`, { body: { definition: renamed } })
    await t.make(`POST ${path}/${key}/versions/draft/publish`, { body: { note: 'again' } })
    for (const version of active) {
      await t.make(`POST ${path}/${key}/activations`, { body: { version, reason: 'reviewed' } })
    }
    return key
  }
  const known = (t: ExampleTenant): Promise<string> => {
    const made = knownKeys.get(t) ?? new Map<string, Promise<string>>()
    knownKeys.set(t, made)
    const make = async () => {
      const key = await published(t, [1, 2])
      await t.make(`POST ${path}/${key}/test-cases`, { body: { name: 'known', inputs, expected } })
      return key
    }
    const one = made.get(path) ?? make()
    made.set(path, one)
    return one
  }
  const newCase = async (t: ExampleTenant) => {
    const key = await drafted(t)
    const { case_id } = await t.make(`POST ${path}/${key}/test-cases`, { body: { name: 'one', inputs, expected } })
    return { [param]: key, case_id: case_id as string }
  }
  const scheduled = async (t: ExampleTenant) => {
    const key = await published(t)
    const body = { version: 1, reason: 'later', effective_from: '2090-01-01T00:00:00Z' }
    const { activation_id } = await t.make(`POST ${path}/${key}/activations`, { body })
    return { [param]: key, activation_id: activation_id as string }
  }
  const onShared = { params: { [param]: shared }, shared: true as const }
  const pinning = async (t: ExampleTenant) => {
    const { active } = await t.make(`GET ${path}/${shared}`)
    return { version: (active as { version: number }).version, reason: 'in review' }
  }
  const one: Fixture = async (t) => ({ params: { [param]: await known(t) } })
  const version: Fixture = async (t) => ({ params: { [param]: await known(t), version: '1' } })
  const draft: Fixture = async (t) => ({ params: { [param]: await drafted(t), version: 'draft' } })
  const withBody =
    (fixture: Fixture, body: unknown): Fixture =>
    async (t, role) => ({ ...(await fixture(t, role)), body })

  return {
    [`list${plural}`]: () => ({}),
    [`create${noun}`]: () => ({ body: { [param]: newKey(), title: 'New', definition: text() } }),
    [`get${noun}`]: one,
    [`update${noun}`]: withBody(one, { owner: 'Risk' }),
    [`archive${noun}`]: async (t) => ({ params: { [param]: await drafted(t) } }),
    [`list${noun}Dependencies`]: one,
    [`list${noun}Versions`]: one,
    [`create${noun}Draft`]: async (t) => ({ params: { [param]: await published(t) }, body: {} }),
    [`get${noun}Version`]: version,
    [`update${noun}Draft`]: withBody(draft, { definition: text() }),
    [`delete${noun}Draft`]: draft,
    [`publish${noun}Draft`]: withBody(draft, {}),
    [`diff${noun}Versions`]: async (t) => ({ params: { [param]: await known(t) }, query: { from: '1', to: '2' } }),
    [`validate${noun}Version`]: version,
    [`simulate${noun}Version`]: withBody(version, { inputs }),
    [`test${noun}Version`]: withBody(version, { cases: [{ inputs, expected }] }),
    [`list${noun}Cases`]: one,
    [`create${noun}Case`]: async (t) => ({
      params: { [param]: await known(t) },
      body: { name: `case ${uuidv7()}`, inputs, expected },
    }),
    [`delete${noun}Case`]: async (t) => ({ params: await newCase(t) }),
    [`list${noun}Activations`]: one,
    [`activate${noun}Version`]: async (t) => ({
      params: { [param]: await published(t) },
      body: { version: 1, reason: 'reviewed' },
    }),
    [`submit${noun}Version`]: withBody(version, { reason: 'please' }),
    [`rollBack${noun}`]: async (t) => ({ params: { [param]: await published(t, [1, 2]) }, body: { reason: 'wrong' } }),
    [`delete${noun}Activation`]: async (t) => ({ params: await scheduled(t) }),
    [`pin${noun}`]: async (t) => ({ ...onShared, body: await pinning(t) }),
    [`unpin${noun}`]: async (t) => {
      await t.make(`POST ${path}/${shared}/pin`, { body: await pinning(t) })
      return { ...onShared, body: { reason: 'reviewed' } }
    },
  }
}

const table = {
  nodes: [
    {
      id: 'table',
      type: 'decisionTableNode',
      name: 'Large amount',
      content: {
        hitPolicy: 'first',
        inputs: [{ id: 'i', name: 'Amount', field: 'amount' }],
        outputs: [{ id: 'o', name: 'Severity', field: 'severity' }],
        rules: [{ _id: 'r', i: '>= 1000', o: '"high"' }],
      },
    },
  ],
  edges: [],
}

export const definitionFixtures: Fixtures = {
  ...buildFixtures(matrices),
  ...buildFixtures(rules),
  listRuleFunctions: () => ({}),
  listTypologies: () => ({}),
  importRules: () => ({
    body: { format: 'gorules', text: JSON.stringify(table), key_prefix: `r${uuidv7().slice(-12)}-` },
  }),
}
