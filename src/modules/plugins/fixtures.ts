/** Test fixtures of the plugins router: one valid call per operation. */
import path from 'node:path'
import { uuidv7 } from '#kernel/uuid.ts'
import { projectRoot } from '#test/support/database.ts'
import { createExamplePlugin } from '#test/support/example-plugin.ts'
import type { ExampleTenant } from '#test/support/example-tenant.ts'
import {
  createOncePerTenant,
  type Fixture,
  type Fixtures,
  listReasonedOperations,
  noInput,
  type TextsInEvents,
} from '#test/support/operation-fixture.ts'
import { seedPlugins } from './folder-seeds.ts'

const at = '/plugins'
const LIST = 'jurisdiction-risk'
const oncePerTenant = createOncePerTenant()
const newKey = () => `shell-company-signals-${uuidv7().slice(-12)}`

/** Two versions that can run, because their list is granted. */
async function upload(t: ExampleTenant, active: readonly number[] = []): Promise<string> {
  const plugin_key = newKey()
  await t.make(`POST ${at}`, { body: { plugin_key, package: createExamplePlugin(plugin_key) } })
  const grants = { lists: [LIST], hosts: [], reason: 'It scores by country' }
  await t.make(`PUT ${at}/${plugin_key}/grants`, { body: grants })
  const second = createExamplePlugin(plugin_key, { version: '1.1.0', title: 'Shell company signals, revised' })
  await t.make(`POST ${at}/${plugin_key}/versions`, { body: { package: second, note: 'New title' } })
  for (const version of active) {
    await t.make(`POST ${at}/${plugin_key}/activations`, { body: { version, reason: 'Reviewed' } })
  }
  return plugin_key
}

const ensureActive = (t: ExampleTenant): Promise<string> => oncePerTenant(t, 'plugin', () => upload(t, [1, 2]))

/** A plugin of the operator's folder; repeatable. */
const SHARED = 'opening-hours-score'
async function ensureShared(t: ExampleTenant): Promise<void> {
  await oncePerTenant(t, 'shared plugin', () =>
    seedPlugins({
      steward: t.w.seedContext.steward,
      threads: t.w.kernel.threads,
      folder: path.join(projectRoot, 'test/fixtures/plugins'),
      onStep: () => {},
      onFault: (text) => {
        throw new Error(text)
      },
    }),
  )
}
const onShared = { params: { plugin_key: SHARED }, shared: true as const }
const pinRequest = { version: 1, reason: 'In review' }

const one: Fixture = async (t) => ({ params: { plugin_key: await ensureActive(t) } })
const version: Fixture = async (t) => ({ params: { plugin_key: await ensureActive(t), version: '1' } })
const withBody =
  (fixture: Fixture, body: unknown): Fixture =>
  async (t, role) => ({ ...(await fixture(t, role)), body })
const disabled: Fixture = async (t) => {
  const plugin_key = await upload(t, [1])
  await t.make(`POST ${at}/${plugin_key}/disable`, { body: { reason: 'Scores look wrong' } })
  return { params: { plugin_key } }
}

export const textsInEvents: TextsInEvents = [
  ...listReasonedOperations('Plugin'),
  'createPluginVersion',
  'disablePlugin',
  'enablePlugin',
  'updatePluginConfiguration',
  'updatePluginGrants',
]

export const fixtures: Fixtures = {
  listPluginExtensionPoints: noInput,
  listPlugins: noInput,
  createPlugin: () => {
    const plugin_key = newKey()
    return { body: { plugin_key, package: createExamplePlugin(plugin_key) } }
  },
  getPlugin: one,
  listPluginVersions: one,
  createPluginVersion: async (t) => {
    const plugin_key = await upload(t)
    const next = createExamplePlugin(plugin_key, { version: '9.0.0' })
    return { params: { plugin_key }, body: { package: next, note: 'Scores by the list of 2026' } }
  },
  getPluginVersion: version,
  getPluginSource: version,
  validatePluginVersion: version,
  runPluginVersion: withBody(version, { input: { country: 'AE', directors: 1 } }),
  diffPluginVersions: async (t) => ({ params: { plugin_key: await ensureActive(t) }, query: { from: '1', to: '2' } }),
  listPluginActivations: one,
  activatePluginVersion: async (t) => ({
    params: { plugin_key: await upload(t) },
    body: { version: 1, reason: 'Reviewed by the model team' },
  }),
  submitPluginVersion: withBody(version, { reason: 'The first version scored better' }),
  rollBackPlugin: async (t) => ({
    params: { plugin_key: await upload(t, [1, 2]) },
    body: { reason: 'Version 2 scores too high' },
  }),
  deletePluginActivation: async (t) => {
    const plugin_key = await upload(t)
    const body = { version: 1, reason: 'later', effective_from: '2090-01-01T00:00:00Z' }
    const { activation_id } = await t.make(`POST ${at}/${plugin_key}/activations`, { body })
    return { params: { plugin_key, activation_id: activation_id as string } }
  },
  pinPlugin: async (t) => {
    await ensureShared(t)
    return { ...onShared, body: pinRequest }
  },
  unpinPlugin: async (t) => {
    await ensureShared(t)
    await t.make(`POST ${at}/${SHARED}/pin`, { body: pinRequest })
    return { ...onShared, body: { reason: 'Reviewed' } }
  },
  disablePlugin: withBody(disabled, { reason: 'Scores look wrong since Monday' }),
  enablePlugin: withBody(disabled, { reason: 'The list was corrected' }),
  updatePluginConfiguration: withBody(one, { configuration: { surcharge_bps: 1500 }, reason: 'Stricter this year' }),
  updatePluginGrants: withBody(one, { lists: [LIST], hosts: [], reason: 'It scores by country' }),
  listPluginDependents: one,
  listPluginInvocations: one,
}
