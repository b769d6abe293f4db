/** Playbooks: what publishing proves, what validation lists, which steps apply to a subject, and what depends on what. */
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { modules } from '#app/modules.ts'
import { readProject } from '#app/project-root.ts'
import { declareReview } from '#kernel/request/declare-review.ts'
import { closed, Slug } from '#kernel/schema.ts'
import type { StepKind } from '#kernel/step-kind.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { activationStore } from '#modules/definitions/index.ts'
import { createProvider } from '#modules/providers/fixtures.ts'
import { ExampleTenant } from '#test/support/example-tenant.ts'
import { startTestApp, type TestApp } from '#test/support/test-app.ts'
import { findApplicable, toProviderInput } from './applicable-steps.ts'
import { readSubjectFacts } from './conditions.ts'
import { examplePlaybook } from './fixtures.ts'
import { loadPlaybook } from './load-playbook.ts'
import type { Playbook } from './model.ts'
import { toPlaybook } from './playbook-parts.ts'
import { readPlaybookSeeds } from './playbook-seeds.ts'
import { validatePlaybook } from './validate-playbook.ts'

/** A kind that only this test declares: playbooks accept it without a change of their module. */
const screeningStep: StepKind<{ readonly configuration: string }> = {
  kind: 'screening',
  title: 'Screening',
  schema: closed({ configuration: Slug() }),
  is_reusable: true,
  has_cost: false,
  listReferences: ({ configuration }) => [{ family: 'screening', key: configuration, pointer: '/with/configuration' }],
  check: async (_kernel, _tx, steps) =>
    steps.map((step) =>
      step.with.configuration === 'onboarding'
        ? []
        : [{ code: 'configuration_unknown', pointer: '/with/configuration', message: 'Unknown.', severity: 'error' }],
    ),
  listProviders: async () => [],
  run: async () => ({ state: 'given', store: async () => {} }),
}

/** What happens between the reviews of a change and the change itself. */
let between: (family: string) => Promise<unknown> = async () => {}
const reviewBetween = declareReview({
  uses: [],
  begin: async (_kernel, _tx, change) => {
    await between((change as activationStore.InForceChange).family)
    return async () => []
  },
})

let w: TestApp
let t: ExampleTenant
let registry: string
let priced: string
beforeAll(async () => {
  const reviews = { [activationStore.IN_FORCE_REVIEW]: reviewBetween }
  const screening = { ...modules[0], name: 'screening', segments: [], routes: [], step_kinds: [screeningStep], reviews }
  w = await startTestApp({ modules: [...modules, { ...screening, jobs: [], canary: async () => {} } as never] })
  t = await ExampleTenant.create(w)
  registry = await createProvider(t)
  priced = await createPricedProvider()
})
afterAll(() => w.close())

const [prohibited, rate, funds] = examplePlaybook().steps as unknown as [object, object, object]
const task = (key: string, more: object = {}) => ({ ...funds, key, required: false, ...more })
const findCodes = async (text: object): Promise<string[]> => {
  const { findings } = await t.write((tx) => validatePlaybook(w.kernel, tx, text as never))
  return findings.map(({ code, pointer, severity }) => `${severity === 'warning' ? 'warning ' : ''}${code} ${pointer}`)
}

const lookup = (more: object) => ({
  key: 'company',
  kind: 'provider',
  with: { provider: registry, capability: 'company.lookup', input: { number: { fact: 'external_id' } }, ...more },
})
/** Each lookup costs 0.40 EUR. */
async function createPricedProvider(): Promise<string> {
  const provider_key = await createProvider(t)
  const { definition } = await t.make(`GET /providers/${provider_key}/versions/1`)
  definition.capabilities['company.lookup'].cost = { amount: '0.40', currency: 'EUR' }
  await t.make(`POST /providers/${provider_key}/versions`, { body: { definition } })
  const { version } = await t.make(`POST /providers/${provider_key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /providers/${provider_key}/activations`, { body: { version, reason: 'Priced' } })
  return provider_key
}

const withSteps = (...steps: readonly object[]) => examplePlaybook({ steps, outcomes: ['INV_SUSPICION'] })

/** Each breaks the example at one place. */
const cases: readonly (readonly [string, () => object, readonly string[]])[] = [
  ['nothing', () => examplePlaybook(), []],
  ['a member that does not exist', () => examplePlaybook({ colour: 'red' }), ['playbook_invalid /colour']],
  ['no steps', () => examplePlaybook({ steps: [] }), ['playbook_invalid /steps']],
  [
    'more than 50 steps',
    () => withSteps(...Array.from({ length: 51 }, (_, n) => task(`step-${n}`))),
    ['playbook_invalid /steps'],
  ],
  ['a key twice', () => withSteps(task('a'), task('b'), task('a')), ['key_duplicate /steps/2/key']],
  [
    'a clock and an outcome twice',
    () =>
      examplePlaybook({
        clocks: [
          { key: 'close', hours: 1 },
          { key: 'close', hours: 2 },
        ],
        outcomes: ['INV_SUSPICION', 'INV_SUSPICION'],
      }),
    ['key_duplicate /clocks/1/key', 'key_duplicate /outcomes/1'],
  ],
  ['a need that is no step', () => withSteps(task('a', { needs: ['b'] })), ['needs_unknown /steps/0/needs/0']],
  ['a step that needs itself', () => withSteps(task('a', { needs: ['a'] })), ['needs_cycle /steps/0/needs']],
  [
    'steps that wait for each other',
    () =>
      withSteps(task('a'), task('b', { needs: ['a', 'd'] }), task('c', { needs: ['b'] }), task('d', { needs: ['c'] })),
    ['needs_cycle /steps/1/needs'],
  ],
  [
    'an outcome that needs no step of the playbook',
    () => examplePlaybook({ outcomes: [{ code: 'INV_EXIT', needs: ['plan'] }] }),
    ['needs_unknown /outcomes/0/needs/0'],
  ],
  ['an unknown kind', () => withSteps({ ...funds, kind: 'oracle' }), ['kind_unknown /steps/0/kind']],
  [
    'settings of another kind',
    () => withSteps({ ...funds, with: { matrix: 'x' } }),
    ['step_invalid /steps/0/with/title', 'step_invalid /steps/0/with/role', 'step_invalid /steps/0/with/matrix'],
  ],
  [
    'a task for a viewer',
    () => withSteps({ ...funds, with: { title: 'x', role: 'viewer' } }),
    ['step_invalid /steps/0/with/role'],
  ],
  ['a task that is reused', () => withSteps({ ...funds, reuse_days: 3 }), ['member_useless /steps/0/reuse_days']],
  [
    'a task that costs',
    () => withSteps({ ...funds, max_cost: { amount: '1', currency: 'EUR' } }),
    ['member_useless /steps/0/max_cost'],
  ],
  [
    'an unknown matrix',
    () => withSteps({ ...rate, needs: [], with: { matrix: 'no-such' } }),
    ['matrix_not_in_force /steps/0/with/matrix'],
  ],
  [
    'an unknown rule',
    () => withSteps({ ...rate, needs: [], with: { rule: 'no-such' } }),
    ['rule_not_in_force /steps/0/with/rule'],
  ],
  [
    'a matrix and a rule',
    () => withSteps({ ...rate, needs: [], with: { rule: 'a', matrix: 'b' } }),
    ['step_invalid /steps/0/with'],
  ],
  [
    'an unknown provider',
    () => withSteps(lookup({ provider: 'no-such' })),
    ['provider_not_in_force /steps/0/with/provider'],
  ],
  [
    'an unknown capability',
    () => withSteps(lookup({ capability: 'adverse.media' })),
    ['capability_unknown /steps/0/with/capability'],
  ],
  [
    'a capability that nobody has',
    () => withSteps({ ...prohibited, max_cost: undefined, with: { capability: 'adverse.media' } }),
    ['capability_unknown /steps/0/with/capability'],
  ],
  [
    'an input that the provider does not take',
    () => withSteps(lookup({ input: { number: { value: '1' }, name: { fact: 'name' } } })),
    ['input_unknown /steps/0/with/input/name'],
  ],
  [
    'an input from a fact that is not declared',
    () => withSteps(lookup({ input: { number: { fact: 'lei' } } })),
    ['fact_undeclared /steps/0/with/input/number/fact'],
  ],
  [
    'no source for a required input',
    () => withSteps(lookup({ input: {} })),
    ['input_missing /steps/0/with/input/number'],
  ],
  [
    'a value that the provider does not take',
    () => withSteps(lookup({ input: { number: { value: '' } } })),
    ['input_invalid /steps/0/with/input/number/value'],
  ],
  [
    'an input that is neither a value nor a fact',
    () => withSteps(lookup({ input: { number: { value: null } } })),
    ['step_invalid /steps/0/with/input/number'],
  ],
  [
    'an unknown currency',
    () => withSteps({ ...prohibited, max_cost: { amount: '1.00', currency: 'ZZZ' } }),
    ['currency_unknown /steps/0/max_cost/currency'],
  ],
  [
    'a limit of cost in another currency, and one below the price',
    () =>
      withSteps(
        { ...lookup({ provider: priced }), key: 'a', max_cost: { amount: '1.00', currency: 'USD' } },
        { ...lookup({ provider: priced }), key: 'b', max_cost: { amount: '0.39', currency: 'EUR' } },
        { ...lookup({ provider: priced }), key: 'c', max_cost: { amount: '0.4', currency: 'EUR' } },
      ),
    ['cost_currency /steps/0/max_cost/currency', 'cost_above_limit /steps/1/max_cost/amount'],
  ],
  [
    'a capability of several providers',
    () => withSteps(lookup({ provider: undefined })),
    ['warning provider_ambiguous /steps/0/with'],
  ],
  ['an unknown reason code', () => examplePlaybook({ outcomes: ['INV_NO_SUCH'] }), ['reason_code_unknown /outcomes/0']],
  [
    'a reason code of another area',
    () => examplePlaybook({ outcomes: ['ALR_TEST'] }),
    ['reason_code_area /outcomes/0'],
  ],
  [
    'an unknown calendar',
    () => examplePlaybook({ clocks: [{ key: 'close', days: 1, day_kind: 'business', calendar: 'mars' }] }),
    ['calendar_unknown /clocks/0/calendar'],
  ],
  [
    'clocks that count wrong',
    () =>
      examplePlaybook({
        clocks: [
          { key: 'a', hours: 1, days: 1, day_kind: 'calendar' },
          { key: 'b', days: 1 },
          { key: 'c', days: 1, day_kind: 'calendar', calendar: 'eu-target' },
        ],
      }),
    ['clock_invalid /clocks/0', 'clock_invalid /clocks/1/day_kind', 'clock_invalid /clocks/2/calendar'],
  ],
  [
    'a fact that every subject has',
    () => examplePlaybook({ facts: [{ name: 'segment', title: 'x', type: 'string' }] }),
    ['name_reserved /facts/0/name'],
  ],
  [
    'a fact of no type',
    () => examplePlaybook({ facts: [{ name: 'x', title: 'x', type: 'colour' }] }),
    ['shape_invalid /facts/0/type'],
  ],
  [
    'a condition on no fact',
    () => withSteps({ ...funds, when: { colour: '"red"' } }),
    ['fact_undeclared /steps/0/when/colour'],
  ],
  [
    'a condition that does not parse',
    () => withSteps({ ...funds, when: { subject_type: '"person' } }),
    ['test_syntax /steps/0/when/subject_type'],
  ],
  [
    'a condition of another type',
    () => withSteps({ ...funds, when: { years_known: '"many"' } }),
    ['test_type /steps/0/when/years_known'],
  ],
  [
    'a condition on a list that is not in force',
    () => withSteps({ ...funds, when: { segment: 'in list(no-such)' } }),
    ['list_not_in_force /steps/0/when/segment'],
  ],
  [
    'a required step that never applies',
    () => withSteps({ ...funds, when: { subject_type: '"company"' } }),
    ['step_never_applies /steps/0/when'],
  ],
  [
    'a step that never applies',
    () => withSteps(task('a', { when: { years_known: '> 100' } })),
    ['warning step_never_applies /steps/0/when'],
  ],
  [
    'an outcome that no path reaches',
    () =>
      examplePlaybook({
        steps: [task('young', { when: { years_known: '< 3' } }), task('old', { when: { years_known: '>= 3' } })],
        outcomes: ['INV_SUSPICION', { code: 'INV_EXIT', needs: ['young', 'old'] }],
      }),
    ['outcome_unreachable /outcomes/1'],
  ],
  [
    'a type of subject whose case could never be closed',
    () =>
      examplePlaybook({
        subject_types: ['person', 'company'],
        outcomes: [{ code: 'INV_EXIT', when: { subject_type: '"person"' } }],
      }),
    ['outcome_unreachable /subject_types/1'],
  ],
  [
    'outcomes that leave out some subjects',
    () => examplePlaybook({ outcomes: [{ code: 'INV_EXIT', when: { segment: '"retail"' } }] }),
    ['warning outcomes_incomplete /subject_types/0'],
  ],
  [
    'outcomes that share all subjects',
    () =>
      examplePlaybook({
        outcomes: [
          { code: 'INV_EXIT', when: { segment: '"retail"' } },
          { code: 'INV_SUSPICION', when: { segment: 'not("retail")' } },
        ],
      }),
    [],
  ],
  [
    'a kind that another module declares',
    () => withSteps({ key: 's', kind: 'screening', with: { configuration: 'onboarding' } }),
    [],
  ],
  [
    'a fault that another module finds',
    () => withSteps({ key: 's', kind: 'screening', with: { configuration: 'x' } }),
    ['configuration_unknown /steps/0/with/configuration'],
  ],
]
test.each(cases)('publishing proves: %s', async (_name, build, expected) => {
  expect(await findCodes(build())).toEqual(expected)
})

const call = async (at: string, body: object) => w.call(at, { token: await t.token(), body })

async function create(definition: object): Promise<string> {
  const playbook_key = `playbook-${uuidv7().slice(-12)}`
  await t.make('POST /playbooks', { body: { playbook_key, title: 'Example', definition } })
  return playbook_key
}
async function putInForce(definition: object): Promise<string> {
  const key = await create(definition)
  await t.make(`POST /playbooks/${key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /playbooks/${key}/activations`, { body: { version: 1, reason: 'Reviewed' } })
  return key
}

test('refuses to publish a draft with faults, at their places, and stores nothing', async () => {
  const key = await create(withSteps(task('a', { needs: ['a'] })))
  const refused = await call(`POST /playbooks/${key}/versions/draft/publish`, {})
  expect([refused.status, refused.json.code, refused.json.errors[0].pointer]).toEqual([
    409,
    'definition_invalid',
    '#/steps/0/needs',
  ])
  expect((await t.make(`GET /playbooks/${key}`)).versions).toEqual([])
})

test('a new draft has the title of its playbook, and its faults are said in plain words', async () => {
  const { title: _, ...untitled } = withSteps(funds)
  for (const definition of [undefined, untitled, { ...untitled, title: '' }]) {
    const playbook_key = `titled-${uuidv7().slice(-12)}`
    await t.make('POST /playbooks', { body: { playbook_key, title: 'Own title', ...(definition && { definition }) } })
    expect((await t.make(`GET /playbooks/${playbook_key}/versions/draft`)).definition.title).toBe('Own title')
  }
  const spoilt = { ...withSteps({ ...funds, key: 'Two Words' }), title: '', outcomes: ['lower'], clocks: 3 }
  const key = await create(withSteps(funds))
  const { findings } = await t.make(`PUT /playbooks/${key}/versions/draft`, { body: { definition: spoilt } })
  expect(findings.map(({ pointer, message }: { pointer: string; message: string }) => [pointer, message])).toEqual([
    ['/title', 'This must not be empty.'],
    ['/clocks', 'This must be a list.'],
    ['/steps/0/key', 'This must have 1 to 100 lower-case letters, digits, - and _, and begin with a letter or digit.'],
    ['/outcomes/0/code', 'This must be upper-case letters, digits and _, and begin with a letter.'],
  ])
})

test('validation lists every missing credential at once', async () => {
  const other = await createProvider(t)
  const key = await create(withSteps(lookup({}), { ...lookup({ provider: other }), key: 'second' }, prohibited))
  const { valid, providers, missing_credentials } = await t.make(`POST /playbooks/${key}/versions/draft/validate`)
  expect(valid).toBe(true)
  expect(providers).toEqual([registry, other, 'prohibited-jurisdiction-check'].sort())
  expect(missing_credentials).toEqual(
    [registry, other].sort().map((provider_key) => expect.objectContaining({ provider_key, reason: 'absent' })),
  )
  // Whose playbook of the key is checked can be said.
  const at = `POST /playbooks/${key}/versions/draft/validate?origin=shared`
  const { status } = await w.call(at, { token: await t.token() })
  expect(status).toBe(404)
  const asking = await putInForce(withSteps({ ...lookup({ provider: other }), required: true }, prohibited))
  const { items } = await t.make('GET /provider-credentials/gaps')
  const blocked = items.filter(({ blocks }: { blocks: { key: string }[] }) =>
    blocks.some((each) => each.key === asking),
  )
  const block = { kind: 'playbook', key: asking, version: 1, is_required: true, alternatives: [] }
  expect(blocked).toMatchObject([{ provider_key: other, blocks: [block] }])
})

test('loads the version in force with every member, and a pinned one after another came into force', async () => {
  const key = await putInForce(examplePlaybook())
  const first = await t.write((tx) => loadPlaybook(w.kernel, tx, key))
  expect(first).toMatchObject({ key, origin: 'own', version: 1, content: { typologies: ['pep'], description: null } })
  expect(first.content.outcomes[0]).toEqual({ code: 'INV_NO_SUSPICION', needs: [], when: null })
  expect(first.content.steps[1]).toMatchObject({
    kind: 'evaluation',
    required: false,
    reuse_days: null,
    max_cost: null,
  })
  await t.make(`POST /playbooks/${key}/versions`, { body: { definition: withSteps(funds) } })
  await t.make(`POST /playbooks/${key}/versions/draft/publish`, { body: {} })
  await t.make(`POST /playbooks/${key}/activations`, { body: { version: 2, reason: 'Shorter' } })
  expect((await t.write((tx) => loadPlaybook(w.kernel, tx, key))).content.steps).toHaveLength(1)
  const { origin, version } = first
  expect(await t.write((tx) => loadPlaybook(w.kernel, tx, key, { origin, version }))).toEqual(first)
  const drafted = await create(examplePlaybook())
  await expect(t.write((tx) => loadPlaybook(w.kernel, tx, drafted))).rejects.toMatchObject({ code: 'nothing_in_force' })
  await expect(t.write((tx) => loadPlaybook(w.kernel, tx, 'no-such'))).rejects.toMatchObject({
    code: 'not_found',
    extra: { detail: 'There is no playbook with this key.' },
  })
})

test('a published version reads as it was written', async () => {
  const key = await putInForce(examplePlaybook())
  const { definition, reading } = await t.make(`GET /playbooks/${key}/versions/1`)
  expect(definition).toEqual(examplePlaybook())
  expect(reading).toContain('Step rate: run the matrix customer-risk-person, after prohibited where years_known < 3.')
})

test('leaves a step out only where a known fact fails its condition', async () => {
  const playbook = toPlaybook(
    examplePlaybook({
      facts: [
        { name: 'years_known', title: 'Years known', type: 'integer' },
        { name: 'country', title: 'Country', type: 'string', default: 'CH' },
      ],
      steps: [
        task('young', { when: { years_known: '< 3' } }),
        task('person', { when: { subject_type: '"person"', years_known: '< 3' } }),
        task('high-risk', { when: { country: 'in list(eu-high-risk-third-countries)' } }),
      ],
      outcomes: ['INV_SUSPICION', { code: 'INV_EXIT', when: { years_known: '>= 3' } }],
    }),
  ) as Playbook
  const find = async (subject_type: string, attributes: object) => {
    const subject = { subject_type, name: 'A', external_id: null, segment: null, attributes: attributes as never }
    const { steps, outcomes } = await t.write((tx) => findApplicable(w.kernel, tx, playbook, subject))
    return [...steps, ...outcomes]
  }
  expect(await find('person', { years_known: 1 })).toEqual(['young', 'person', 'INV_SUSPICION'])
  expect(await find('person', { years_known: 3, country: 'KP' })).toEqual(['high-risk', 'INV_SUSPICION', 'INV_EXIT'])
  // An unknown fact leaves nothing out, and neither does a value of another type.
  expect(await find('company', {})).toEqual(['young', 'INV_SUSPICION', 'INV_EXIT'])
  expect(await find('person', { years_known: 'many' })).toEqual(['young', 'person', 'INV_SUSPICION', 'INV_EXIT'])
})

test('takes the input of a call from named sources, then from facts of the same name', () => {
  const subject = { subject_type: 'company', name: 'A', external_id: '7', segment: null, attributes: { x: 'y' } }
  const facts = readSubjectFacts({ facts: [{ name: 'x', title: 'X', type: 'string' }] }, subject)
  const settings = { capability: 'c', input: { number: { fact: 'external_id' }, mode: { value: 'full' } } }
  expect(toProviderInput(settings, ['number', 'mode', 'name', 'x', 'segment'], facts)).toEqual({
    number: '7',
    mode: 'full',
    name: 'A',
    x: 'y',
  })
})

/** Publishes a version of the provider whose capability has another name. */
async function publishRenamed(provider_key: string, name: string): Promise<number> {
  const { definition: manifest } = await t.make(`GET /providers/${provider_key}/versions/1`)
  const { test: _, fixtures: _f, ...rest } = manifest
  const definition = { ...rest, capabilities: { [name]: manifest.capabilities['company.lookup'] } }
  await t.make(`POST /providers/${provider_key}/versions`, { body: { definition } })
  return (await t.make(`POST /providers/${provider_key}/versions/draft/publish`, { body: {} })).version
}

/** Activates a version of the provider whose capability has another name. */
async function renameCapability(provider_key: string, name = 'company.find') {
  const version = await publishRenamed(provider_key, name)
  return call(`POST /providers/${provider_key}/activations`, { version, reason: 'Renamed' })
}

test('what a playbook in force names shows it, and cannot be taken away', async () => {
  const key = await putInForce(withSteps(lookup({})))
  const uses = await t.make(`GET /playbooks/uses?family=provider&key=${registry}`)
  expect(uses.items).toEqual([expect.objectContaining({ playbook_key: key, version: 1, steps: ['company'] })])
  const matrices = await t.make('GET /playbooks/uses?family=matrix&key=customer-risk-person')
  expect(matrices.items.map(({ playbook_key }: { playbook_key: string }) => playbook_key)).toEqual(
    expect.arrayContaining(['edd-person', 'sanctions-match']),
  )
  const { items } = await t.make('GET /reference-data/datasets/reason-codes/dependents')
  expect(items).toContainEqual(expect.objectContaining({ kind: 'playbook', key: 'edd-company' }))

  const refused = await renameCapability(registry)
  expect([refused.status, refused.json.gates[0]]).toMatchObject([409, { gate: 'referenced-by' }])
  expect(refused.json.gates[0].detail).toContain(`playbook ${key} would no longer hold`)
})

test('the last provider of a capability that a playbook names without a provider cannot lose it', async () => {
  const rare = await createProvider(t)
  expect((await renameCapability(rare, 'company.rare')).status).toBe(201)
  const { provider: _, ...settings } = lookup({}).with
  const key = await putInForce(withSteps({ ...lookup({}), with: { ...settings, capability: 'company.rare' } }))
  const refused = await call(`POST /providers/${rare}/activations`, { version: 1, reason: 'Back' })
  expect([refused.status, refused.json.gates[0]]).toMatchObject([409, { gate: 'referenced-by' }])
  expect(refused.json.gates[0].detail).toContain(`playbook ${key} would no longer hold`)
})

test('a playbook that comes into force while a provider is changed keeps what it names', async () => {
  const other = await createProvider(t)
  const key = await create(withSteps(lookup({ provider: other })))
  await t.make(`POST /playbooks/${key}/versions/draft/publish`, { body: {} })
  const version = await publishRenamed(other, 'company.find')
  const activated: number[] = []
  between = async (family) => {
    if (family !== 'provider') return
    activated.push((await call(`POST /playbooks/${key}/activations`, { version: 1, reason: 'Reviewed' })).status)
  }
  const refused = await call(`POST /providers/${other}/activations`, { version, reason: 'Renamed' })
  between = async () => {}
  expect([...activated, refused.status, refused.json.gates[0].gate]).toEqual([201, 409, 'referenced-by'])
})

test('a version whose references went away cannot be put in force, and one in force says so', async () => {
  const other = await createProvider(t)
  const key = await create(withSteps(lookup({ provider: other })))
  await t.make(`POST /playbooks/${key}/versions/draft/publish`, { body: {} })
  expect((await renameCapability(other)).status).toBe(201)
  const refused = await call(`POST /playbooks/${key}/activations`, { version: 1, reason: 'Reviewed' })
  expect([refused.status, refused.json.gates[0].gate]).toEqual([409, 'proof'])
})

test('the example of docs/playbooks.md can be published', async () => {
  const text = fs.readFileSync(path.join(readProject().root, 'docs/playbooks.md'), 'utf8')
  expect(await findCodes(JSON.parse(/```json playbook\n(.*?)```/s.exec(text)?.[1] ?? 'null'))).toEqual([])
})

test('every seeded playbook is in force without findings, and all three are there', async () => {
  const seeds = readPlaybookSeeds(path.join(readProject().root, 'db/seed'))
  expect(seeds.map(({ key }) => key)).toEqual(['edd-company', 'edd-person', 'sanctions-match'])
  for (const { key, versions } of seeds) {
    const view = await t.make(`GET /playbooks/${key}`)
    expect([key, view.attention]).toEqual([key, []])
    expect((await t.make(`GET /playbooks/${key}/versions/${view.active.version}`)).definition).toEqual(
      versions.at(-1)?.definition,
    )
  }
})
