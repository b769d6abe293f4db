/** Test fixtures of the operations that matrices and rules share, on the seeded lists. */
import { uuidv7 } from '#kernel/uuid.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import { createOncePerTenant, type Fixture, type Fixtures, noInput } from '#test/support/operation-fixture.ts'

export interface DefinitionFixtureOptions {
  readonly path: '/risk-matrices' | '/rules'
  readonly param: 'matrix_key' | 'rule_key'
  /** What the keys of new definitions begin with. */
  readonly key: string
  readonly title: string
  readonly noun: 'RiskMatrix' | 'Rule'
  readonly plural: 'RiskMatrices' | 'Rules'
  readonly text: () => { readonly inputs: readonly { readonly title: string }[] }
  readonly inputs: object
  readonly expected: object
  /** Key of a seeded definition. */
  readonly shared: string
}

const oncePerTenant = createOncePerTenant()

/** Longer than 80 lines: one fixture per operation. */
export function buildDefinitionFixtures(options: DefinitionFixtureOptions): Fixtures {
  const { path, param, noun, plural, text, inputs, expected, shared } = options
  const newKey = () => `${options.key}-${uuidv7().slice(-12)}`
  const drafted = async (t: ExampleTenant): Promise<string> => {
    const key = newKey()
    await t.make(`POST ${path}`, { body: { [param]: key, title: options.title, definition: text() } })
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
  const known = (t: ExampleTenant): Promise<string> =>
    oncePerTenant(t, path, async () => {
      const key = await published(t, [1, 2])
      await t.make(`POST ${path}/${key}/test-cases`, { body: { name: 'known', inputs, expected } })
      return key
    })
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
    [`list${plural}`]: noInput,
    [`create${noun}`]: () => ({ body: { [param]: newKey(), title: options.title, definition: text() } }),
    [`get${noun}`]: one,
    [`update${noun}`]: withBody(one, { owner: 'Financial crime policy' }),
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
      body: { name: `Ordinary customer ${uuidv7()}`, inputs, expected },
    }),
    [`delete${noun}Case`]: async (t) => ({ params: await newCase(t) }),
    [`list${noun}Activations`]: one,
    [`activate${noun}Version`]: async (t) => ({
      params: { [param]: await published(t) },
      body: { version: 1, reason: 'reviewed' },
    }),
    [`submit${noun}Version`]: withBody(version, { reason: 'Annual review' }),
    [`rollBack${noun}`]: async (t) => ({
      params: { [param]: await published(t, [1, 2]) },
      body: { reason: 'Version 2 rates students too high' },
    }),
    [`delete${noun}Activation`]: async (t) => ({ params: await scheduled(t) }),
    [`pin${noun}`]: async (t) => ({ ...onShared, body: await pinning(t) }),
    [`unpin${noun}`]: async (t) => {
      await t.make(`POST ${path}/${shared}/pin`, { body: await pinning(t) })
      return { ...onShared, body: { reason: 'reviewed' } }
    },
  }
}
