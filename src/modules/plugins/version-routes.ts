/** Routes of versions: read them, their source, validate and run them. */
import { everyone } from '#kernel/auth/roles.ts'
import { mapWithPrecompute } from '#kernel/database/precompute.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { datasetStore, documentStore, versionStore } from '#modules/definitions/index.ts'
import { isSchemaReason } from '#plugin/validate-plugin.ts'
import { SANDBOX_HASH } from '#sandbox/builds.ts'
import { getCodeValidation, wasAccepted } from './code-validation.ts'
import { isReason, loadPlugin } from './load-plugin.ts'
import { PLUGIN_FAMILY } from './model.ts'
import { sourceReaders } from './plugin-kind.ts'
import { getPluginVersion, getVersionView, loadVersionContext, toPluginReasons, toVersionItem } from './plugin-views.ts'
import { listValidations } from './queries.ts'
import {
  OriginQuery,
  PluginParams,
  PluginSource,
  PluginVersion,
  PluginVersionPage,
  PluginVersionParams,
  PluginVersionQuery,
  RunReply,
  RunRequest,
  ValidationResult,
} from './schema.ts'
import { runOnce } from './try-run.ts'
import { findContextReasons, getSettings } from './validity.ts'

export const versionRoutes: readonly Route[] = [
  tenantRoute('GET /plugins/:plugin_key/versions', {
    id: 'listPluginVersions',
    summary: 'Versions of a plugin, newest first, with whether each can run',
    roles: everyone,
    tx: 'read',
    uses: ['caches', 'threads', 'plugin_policy', 'cursors'],
    params: PluginParams,
    query: PluginVersionQuery,
    reply: [200, PluginVersionPage],
    problems: ['not_found'],
  }).handle(async (input) => {
    const { tx, params, query, kernel } = input
    const dataset = assertFound(await datasetStore.findDataset(tx, params.plugin_key, PLUGIN_FAMILY, query.origin))
    const page = await paginate(input, `listPluginVersions ${dataset.dataset_id}`, ['version'], (after, count) =>
      versionStore.listVersions(tx, { dataset, state: null }, after, count),
    )
    const context = await loadVersionContext(tx, dataset.list_key)
    const items = await mapWithPrecompute(
      page.items,
      async (row) => (await toVersionItem(kernel, tx, { dataset, row }, context)).item,
    )
    return { items, next_cursor: page.next_cursor }
  }),

  tenantRoute('GET /plugins/:plugin_key/versions/:version', {
    id: 'getPluginVersion',
    summary: 'A version of a plugin: its manifest, its examples, and every reason why it cannot run',
    roles: everyone,
    tx: 'read',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: PluginVersionParams,
    query: OriginQuery,
    reply: [200, PluginVersion],
    problems: ['not_found'],
  }).handle(async ({ tx, params, query, kernel }) =>
    getVersionView(kernel, tx, await getPluginVersion(tx, params, query.origin)),
  ),

  tenantRoute('GET /plugins/:plugin_key/versions/:version/source', {
    id: 'getPluginSource',
    summary: 'The files of a version',
    description: 'Whoever reads it is recorded.',
    roles: sourceReaders,
    tx: 'read',
    uses: ['caches'],
    params: PluginVersionParams,
    query: OriginQuery,
    reply: [200, PluginSource],
    audited: true,
    problems: ['not_found', 'content_corrupt'],
  }).handle(async ({ tx, params, query, kernel, audit }) => {
    const { dataset, row } = await getPluginVersion(tx, params, query.origin)
    const plugin = await loadPlugin(kernel, tx, documentStore.toContentPointer(dataset, row))
    if (isReason(plugin)) return fail('content_corrupt')
    audit.recordDiff(null, { plugin_key: dataset.list_key, version: row.version, content_hash: plugin.content_hash })
    return {
      plugin_key: dataset.list_key,
      version: row.version,
      content_hash: plugin.content_hash,
      entry: plugin.manifest?.entry ?? null,
      files: Object.entries(plugin.files).map(([path, text]) => ({ path, text })),
    }
  }),

  tenantRoute('POST /plugins/:plugin_key/versions/:version/validate', {
    id: 'validatePluginVersion',
    summary: 'Validate a version again, with the grants and configuration of the tenant',
    description: 'Stores nothing, and answers 200 also where the version is not valid.',
    roles: ['policy_editor'],
    tx: 'read',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: PluginVersionParams,
    reply: [200, ValidationResult],
    stores_nothing: true,
    problems: ['not_found'],
  }).handle(async ({ tx, params, kernel }) => {
    const { dataset, row } = await getPluginVersion(tx, params)
    const named = { plugin_key: dataset.list_key, version: row.version, sandbox_hash: SANDBOX_HASH }
    const plugin = await loadPlugin(kernel, tx, documentStore.toContentPointer(dataset, row))
    if (isReason(plugin)) return { ...named, valid: false, reasons: toPluginReasons([plugin]), fuel_max: null }
    const code = getCodeValidation(kernel, tx, plugin, wasAccepted(plugin, await listValidations(tx, row)))
    const context = await findContextReasons(kernel, tx, plugin, {
      settings: await getSettings(tx, dataset.list_key),
      is_shared: dataset.tenant_id !== tx.tenant_id,
      is_usable: !code.reasons.some(isSchemaReason),
    })
    const reasons = [...code.reasons, ...context]
    return { ...named, valid: reasons.length === 0, reasons: toPluginReasons(reasons), fuel_max: code.fuel_max }
  }),

  tenantRoute('POST /plugins/:plugin_key/versions/:version/run', {
    id: 'runPluginVersion',
    summary: 'Run a version once with a given input',
    description:
      'Stores nothing. The input must be one that the manifest allows. Entries that the plugin looks up come from the lists in force, unless they are given for a list that it declares. A provider is not called: of such a plugin, request and parse are run alone.',
    roles: ['policy_editor'],
    tx: 'self',
    uses: ['caches', 'threads', 'metrics', 'plugin_policy'],
    params: PluginVersionParams,
    body: RunRequest,
    reply: [200, RunReply],
    stores_nothing: true,
    executes: 'plugin',
    problems: ['not_found', 'conflict', 'inputs_refused', 'content_corrupt'],
  }).handle(({ params, body, kernel, read, actor, request }) =>
    runOnce(kernel, { read, tenant_id: actor.tenant_id, signal: request.signal }, params, body),
  ),
]
