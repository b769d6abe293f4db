/** How a tenant uses a plugin: whether it may run, what it may reach, and its configuration. */
import { hash } from 'node:crypto'
import { everyone } from '#kernel/auth/roles.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import type { PluginDependent } from '#kernel/module.ts'
import { paginate } from '#kernel/page.ts'
import { isHostAllowed } from '#kernel/plugin-policy.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import { findInheritedRule } from '#kernel/request/queries.ts'
import type { Route } from '#kernel/route.ts'
import { datasetStore, documentStore, resolver, versionStore } from '#modules/definitions/index.ts'
import { fillDefaults, findValueFaults, type ValueSchema } from '#plugin/value-schema.ts'
import { isReason, loadPlugin } from './load-plugin.ts'
import { type BindCapabilities, PLUGIN_FAMILY } from './model.ts'
import type { ReadPlugin } from './plugin-library.ts'
import { getPluginView } from './plugin-views.ts'
import {
  countInvocations,
  findKnownLists,
  findNewestValidVersion,
  insertConfiguration,
  insertGrant,
  listInvocations,
  listValidations,
  lockSettings,
  type SettingsRow,
  upsertSwitch,
} from './queries.ts'
import {
  ConfigurationRequest,
  Dependents,
  GrantRequest,
  InvocationPage,
  InvocationQuery,
  Plugin,
  PluginParams,
  SwitchRequest,
} from './schema.ts'
import { refreshStatus } from './status.ts'
import { getSettings, hasUsableSchemas, parseConfiguration, selectValidation } from './validity.ts'

/** Governed as `plugins`; where the policy does not name that, like an activation. */
const governBy = (revision: (settings: SettingsRow) => number) => ({
  action: 'plugins',
  head: async (tx: Tx, params: Record<string, string>): Promise<string> =>
    String(revision(await getSettings(tx, params['plugin_key'] as string))),
  findDefaultRule: (tx: Tx) => findInheritedRule(tx, 'activation'),
  has_impact: false,
})

const assertPlugin = async (tx: Tx, plugin_key: string): Promise<void> => {
  assertFound(await documentStore.findDefinition(tx, PLUGIN_FAMILY, plugin_key))
}

/** Serialised, so that revisions have no gaps and a stale one is refused. */
async function lockPluginSettings(tx: Tx, plugin_key: string): Promise<SettingsRow> {
  await assertPlugin(tx, plugin_key)
  await lockSettings(tx, plugin_key)
  return getSettings(tx, plugin_key)
}

function assertExpected(present: number, expected: number | undefined): void {
  if (expected !== undefined && expected !== present) fail('revision_stale', `Its revision is ${present}.`)
}

async function toChangedView(kernel: BindCapabilities, tx: Tx, plugin_key: string) {
  await refreshStatus(kernel, tx, plugin_key)
  return getPluginView(kernel, tx, plugin_key)
}

/** The version in force, else the newest valid one: an upload that is not valid says nothing about the plugin. Else the newest. */
async function findCurrent(tx: Tx, plugin_key: string): Promise<resolver.ContentPointer | null> {
  const pointer = (await resolver.findPointersInForce(tx, [plugin_key], {}, PLUGIN_FAMILY)).get(plugin_key)
  if (pointer) return pointer
  const dataset = assertFound(await datasetStore.findDataset(tx, plugin_key, PLUGIN_FAMILY))
  const valid = await findNewestValidVersion(tx, dataset)
  const newest = await versionStore.findVersion(tx, dataset, valid ?? dataset.head_version)
  return newest ? documentStore.toContentPointer(dataset, newest) : null
}

/** The current version with its schema of configurations, where one can be checked by it. */
async function loadCurrent(kernel: BindCapabilities, tx: Tx, plugin_key: string) {
  const pointer = await findCurrent(tx, plugin_key)
  const plugin = pointer && (await loadPlugin(kernel, tx, pointer))
  if (!plugin || isReason(plugin)) return { plugin: null, config_schema: undefined }
  const { dataset_tenant_id: tenant_id, dataset_id, version } = pointer
  const validation = selectValidation(await listValidations(tx, { tenant_id, dataset_id, version }))
  const isUsable = hasUsableSchemas(plugin, validation)
  return { plugin, config_schema: isUsable ? plugin.manifest?.config_schema : undefined }
}

export const settingRoutes: readonly Route[] = [
  tenantRoute('POST /plugins/:plugin_key/disable', {
    id: 'disablePlugin',
    summary: 'Stop a plugin at once: whatever runs it answers 503',
    description: 'Needs no approval. No other version is used instead.',
    roles: ['policy_editor', 'compliance_officer', 'tenant_admin'],
    tx: 'write',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: PluginParams,
    body: SwitchRequest,
    reply: [200, Plugin],
    problems: ['not_found'],
  }).handle(async ({ tx, params: { plugin_key }, body, kernel, audit }) => {
    const before = await lockPluginSettings(tx, plugin_key)
    await upsertSwitch(tx, plugin_key, true, body.reason)
    audit.recordDiff({ disabled: before.disabled }, { disabled: true, reason: body.reason })
    return toChangedView(kernel, tx, plugin_key)
  }),

  tenantRoute('POST /plugins/:plugin_key/enable', {
    id: 'enablePlugin',
    summary: 'Let a disabled plugin run again',
    roles: ['compliance_officer'],
    tx: 'write',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: PluginParams,
    body: SwitchRequest,
    reply: [200, Plugin],
    governed: governBy(({ switch_revision }) => switch_revision),
    problems: ['not_found', 'transition_not_allowed'],
  }).handle(async ({ tx, params: { plugin_key }, body, kernel, audit }) => {
    const before = await lockPluginSettings(tx, plugin_key)
    if (!before.disabled) fail('transition_not_allowed', 'The plugin is enabled.')
    await upsertSwitch(tx, plugin_key, false, body.reason)
    audit.recordDiff({ disabled: true }, { disabled: false, reason: body.reason })
    return toChangedView(kernel, tx, plugin_key)
  }),

  tenantRoute('PUT /plugins/:plugin_key/configuration', {
    id: 'updatePluginConfiguration',
    summary: 'Set the configuration of a plugin',
    description: 'Earlier configurations are kept: a decision is replayed with the one it was made with.',
    roles: ['policy_editor'],
    tx: 'write',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: PluginParams,
    body: ConfigurationRequest,
    reply: [200, Plugin],
    governed: governBy(({ configuration_revision }) => configuration_revision),
    problems: ['not_found', 'definition_invalid', 'revision_stale'],
  }).handle(async ({ tx, params: { plugin_key }, body, kernel, audit }) => {
    const before = await lockPluginSettings(tx, plugin_key)
    assertExpected(before.configuration_revision, body.expected_revision)
    const { config_schema } = await loadCurrent(kernel, tx, plugin_key)
    assertConfiguration(config_schema, body.configuration)
    const configuration = canonicalJson(body.configuration)
    await insertConfiguration(tx, {
      plugin_key,
      revision: before.configuration_revision + 1,
      configuration,
      configuration_hash: hash('sha256', configuration, 'hex'),
      reason: body.reason,
    })
    audit.recordDiff(
      { configuration: parseConfiguration(before) },
      { configuration: body.configuration, reason: body.reason },
    )
    return toChangedView(kernel, tx, plugin_key)
  }),

  tenantRoute('PUT /plugins/:plugin_key/grants', {
    id: 'updatePluginGrants',
    summary: 'Decide what a plugin may reach: lists it looks up, hosts its requests name',
    description:
      'Replaces what was granted before. Hosts must be allowed by the operator too. A plugin whose manifest asks for more than it was granted cannot run.',
    roles: ['tenant_admin'],
    tx: 'write',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: PluginParams,
    body: GrantRequest,
    reply: [200, Plugin],
    governed: governBy(({ grant_revision }) => grant_revision),
    problems: ['not_found', 'definition_invalid', 'revision_stale'],
  }).handle(async ({ tx, params: { plugin_key }, body, kernel, audit }) => {
    const before = await lockPluginSettings(tx, plugin_key)
    assertExpected(before.grant_revision, body.expected_revision)
    const { lists, hosts, reason } = body
    assertHosts(kernel, hosts)
    assertGrantable((await loadCurrent(kernel, tx, plugin_key)).plugin, hosts)
    await assertLists(tx, lists)
    await insertGrant(tx, { plugin_key, revision: before.grant_revision + 1, lists, hosts, reason })
    audit.recordDiff({ lists: before.lists, hosts: before.hosts }, { lists, hosts, reason })
    return toChangedView(kernel, tx, plugin_key)
  }),

  tenantRoute('GET /plugins/:plugin_key/dependents', {
    id: 'listPluginDependents',
    summary: 'What runs the plugin, and so answers 503 while it cannot run',
    description:
      'Matrices, providers and playbooks in force now, the adapter that the plugin is, in force or not, and imports that have not ended. Where `runs` of an item is false, each of its operations answers 503 for this object: the plugin cannot run, or the version in force is not one that the object can use. An import has no operations: it ends failed. Not listed are test runs of versions of the plugin itself.',
    roles: everyone,
    tx: 'read',
    uses: ['caches', 'forced_provider_mode', 'threads', 'plugin_policy', 'modules', 'routes'],
    params: PluginParams,
    reply: [200, Dependents],
    problems: ['not_found'],
  }).handle(async ({ tx, params: { plugin_key }, kernel }) => {
    const { active, runs, reasons } = await getPluginView(kernel, tx, plugin_key)
    const found: PluginDependent[] = []
    for (const { plugin_dependents } of kernel.modules) {
      found.push(...((await plugin_dependents?.(kernel, tx, plugin_key)) ?? []))
    }
    return {
      plugin_key,
      version: active?.version ?? null,
      runs,
      reasons,
      items: found.map((item) => ({
        ...item,
        runs: runs && item.reasons.length === 0,
        reasons: [...item.reasons],
        operations: kernel.routes.filter((route) => route.runs_plugins_of?.includes(item.kind)).map(({ id }) => id),
      })),
    }
  }),

  tenantRoute('GET /plugins/:plugin_key/invocations', {
    id: 'listPluginInvocations',
    summary: 'What the plugin was run for, newest first, and its failures with their stacks',
    roles: ['policy_editor', 'compliance_officer', 'auditor'],
    tx: 'read',
    uses: ['cursors'],
    params: PluginParams,
    query: InvocationQuery,
    reply: [200, InvocationPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, query } = input
    const { plugin_key } = input.params
    await assertPlugin(tx, plugin_key)
    const wanted = { plugin_key, failed_only: query.failed ?? false }
    const page = await paginate(
      input,
      `listPluginInvocations ${plugin_key}`,
      ['invoked_at', 'invocation_id'],
      (after, count) => listInvocations(tx, wanted, after, count),
    )
    return {
      items: page.items.map(({ cause_kind, cause_id, plugin_key: _, failures, ...row }) => ({
        ...row,
        cause: { kind: cause_kind, id: cause_id },
        failures: [...failures],
      })),
      next_cursor: page.next_cursor,
      last_30_days: assertFound(await countInvocations(tx, plugin_key)),
    }
  }),
]

function assertConfiguration(schema: ValueSchema | undefined, configuration: Readonly<Record<string, unknown>>): void {
  const faults = schema ? findValueFaults(schema, fillDefaults(schema, configuration)) : []
  if (faults.length === 0) return
  fail('definition_invalid', {
    detail: `The configuration does not fit the config_schema of the plugin: ${faults[0]?.message}`.slice(0, 1000),
    errors: faults.slice(0, 50).map(({ message, pointer }) => ({
      in: 'body' as const,
      pointer: `#/configuration${pointer}`,
      detail: message.slice(0, 500),
      keyword: 'config_schema',
    })),
  })
}

function assertHosts({ plugin_policy }: Pick<BindCapabilities, 'plugin_policy'>, hosts: readonly string[]): void {
  const refused = hosts.flatMap((host, index) => (isHostAllowed(plugin_policy.hosts, host) ? [] : [{ host, index }]))
  if (refused.length === 0) return
  fail('definition_invalid', {
    detail: `The operator does not allow plugins to name ${refused.map(({ host }) => host).join(', ')}.`.slice(0, 1000),
    errors: refused.map(({ host, index }) => ({
      in: 'body' as const,
      pointer: `#/hosts/${index}`,
      detail: `${host} is not among the hosts that the operator allows (PROBITY_PLUGIN_HOSTS).`,
      keyword: 'hosts',
    })),
  })
}

/** A grant of a list that does not exist yet would hold for whatever somebody creates under this key. */
async function assertLists(tx: Tx, lists: readonly string[]): Promise<void> {
  const known = await findKnownLists(tx, lists)
  const unknown = lists.flatMap((list_key, index) => (known.has(list_key) ? [] : [index]))
  if (unknown.length === 0) return
  fail('definition_invalid', {
    // By its place: what was sent may be a secret at the wrong place.
    detail: unknown.length === 1 ? 'One of the lists does not exist.' : `${unknown.length} of the lists do not exist.`,
    errors: unknown.slice(0, 50).map((index) => ({
      in: 'body' as const,
      pointer: `#/lists/${index}`,
      detail: 'There is no such list, neither of the tenant nor shared.',
      keyword: 'lists',
    })),
  })
}

/** A factor or adapter never reaches a host: the grant would be misunderstood. */
function assertGrantable(plugin: ReadPlugin | null, hosts: readonly string[]): void {
  const kind = plugin?.manifest?.kind
  if (hosts.length === 0 || kind === undefined || kind === 'provider') return
  fail('definition_invalid', {
    detail: `A plugin of kind ${kind} can be granted lists only.`,
    errors: [{ in: 'body', pointer: '#/hosts', detail: 'must be empty for this kind', keyword: 'hosts' }],
  })
}
