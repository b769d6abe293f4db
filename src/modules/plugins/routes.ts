/** Routes of plugins: what can be extended, which plugins there are, and their uploads. */
import { everyone } from '#kernel/auth/roles.ts'
import { tenantRoute } from '#kernel/declare-route.ts'
import { paginate } from '#kernel/page.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Route } from '#kernel/route.ts'
import { datasetStore, documentStore } from '#modules/definitions/index.ts'
import { listExtensionPoints } from './extension-points.ts'
import { PLUGIN_FAMILY } from './model.ts'
import { type ReadPlugin, readStoredPackage } from './plugin-library.ts'
import { getPluginView, getVersionView, toPluginViews } from './plugin-views.ts'
import { lockSettings } from './queries.ts'
import {
  ExtensionPoints,
  NewPlugin,
  NewPluginVersion,
  OriginQuery,
  Plugin,
  PluginPage,
  PluginParams,
  PluginQuery,
  PluginVersion,
} from './schema.ts'
import { createPlugin, publishPlugin, readPluginUpload } from './upload.ts'

const UPLOADED =
  'The package is validated at once: its manifest, its code, and its examples in the sandbox. One that is not valid is stored too, with every reason, ' +
  'and can neither be run nor put in force. The same content again gives the version that exists.'

export const pluginRoutes: readonly Route[] = [
  tenantRoute('GET /plugins/extension-points', {
    id: 'listPluginExtensionPoints',
    summary: 'What plugins can extend: kinds, the functions they export, and their limits',
    roles: everyone,
    tx: 'read',
    reply: [200, ExtensionPoints],
  }).handle(async () => listExtensionPoints()),

  tenantRoute('GET /plugins', {
    id: 'listPlugins',
    summary: 'List plugins with the version in force and whether it can run',
    roles: everyone,
    tx: 'read',
    uses: ['caches', 'threads', 'plugin_policy', 'cursors'],
    query: PluginQuery,
    reply: [200, PluginPage],
  }).handle(async (input) => {
    const { origin = null, key_prefix = null } = input.query
    const filter = { family: PLUGIN_FAMILY, origin, state: null, type_key: null, key_prefix }
    const page = await paginate(input, 'listPlugins', ['list_key', 'dataset_id'], (after, count) =>
      datasetStore.listDatasets(input.tx, filter, after, count),
    )
    return { items: await toPluginViews(input.kernel, input.tx, page.items), next_cursor: page.next_cursor }
  }),

  tenantRoute('POST /plugins', {
    id: 'createPlugin',
    summary: 'Upload a new plugin as its first version',
    description: `${UPLOADED} A tenant may have its own plugin under the key of a shared one, which goes on running until a version of the own one is put in force.`,
    roles: ['policy_editor'],
    tx: 'write',
    uses: ['caches', 'threads', 'plugin_policy'],
    body: NewPlugin,
    reply: [201, PluginVersion],
    location: ({ plugin_key, version }) => `/plugins/${plugin_key}/versions/${version}?origin=own`,
    links: { getPluginVersion: { plugin_key: 'plugin_key', version: 'version', origin: 'origin' } },
    problems: ['conflict', 'list_key_reserved', 'version_conflict'],
  }).handle(async ({ tx, body, kernel, audit }) => {
    const { plugin_key, note } = body
    const stored = await readPluginUpload(body)
    // Two uploads of a new key at the same time are one after the other.
    await lockSettings(tx, plugin_key)
    const existing = await datasetStore.findDatasetForWrite(tx, plugin_key, PLUGIN_FAMILY)
    const isOwn = existing?.tenant_id === tx.tenant_id
    const read = await readStoredPackage(plugin_key, stored)
    if (!isOwn) assertNamedKey(plugin_key, read)
    const dataset = isOwn
      ? await documentStore.lockOwnDefinition(tx, PLUGIN_FAMILY, plugin_key)
      : await createPlugin(tx, plugin_key, read)
    const published = await publishPlugin(kernel, tx, dataset, { stored, read, note })
    if (isOwn && published.is_new) {
      fail('version_conflict', {
        detail: `The plugin ${plugin_key} exists: upload this as a new version of it.`,
        members: { plugin_key, version: published.version.version, label: published.version.label },
      })
    }
    const view = await getVersionView(kernel, tx, { dataset, row: published.version })
    recordUpload(audit, view)
    return view
  }),

  tenantRoute('GET /plugins/:plugin_key', {
    id: 'getPlugin',
    summary: 'One plugin: the version in force, whether it can run, its grants and its configuration',
    roles: everyone,
    tx: 'read',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: PluginParams,
    query: OriginQuery,
    reply: [200, Plugin],
    problems: ['not_found'],
  }).handle(({ tx, params, query, kernel }) => getPluginView(kernel, tx, params.plugin_key, query.origin)),

  tenantRoute('POST /plugins/:plugin_key/versions', {
    id: 'createPluginVersion',
    summary: 'Upload a version of a plugin',
    description: `${UPLOADED} It does not come into force by this.`,
    roles: ['policy_editor'],
    tx: 'write',
    uses: ['caches', 'threads', 'plugin_policy'],
    params: PluginParams,
    body: NewPluginVersion,
    reply: [201, PluginVersion],
    location: ({ plugin_key, version }) => `/plugins/${plugin_key}/versions/${version}?origin=own`,
    links: { getPluginVersion: { plugin_key: 'plugin_key', version: 'version', origin: 'origin' } },
    problems: ['not_found', 'conflict', 'transition_not_allowed', 'version_conflict'],
  }).handle(async ({ tx, params: { plugin_key }, body, kernel, audit }) => {
    const dataset = await documentStore.lockOwnDefinition(tx, PLUGIN_FAMILY, plugin_key)
    const stored = await readPluginUpload(body)
    const read = await readStoredPackage(plugin_key, stored)
    const published = await publishPlugin(kernel, tx, dataset, { stored, read, note: body.note })
    const updated = assertFound(await datasetStore.findDataset(tx, plugin_key, PLUGIN_FAMILY, 'own'))
    const view = await getVersionView(kernel, tx, { dataset: updated, row: published.version })
    recordUpload(audit, view)
    return view
  }),
]

/** A plugin whose first version names another one could never run, and is never removed. */
function assertNamedKey(plugin_key: string, { written }: ReadPlugin): void {
  const named = written?.['plugin_key']
  if (typeof named !== 'string' || named === plugin_key) return
  fail('conflict', `The manifest names the plugin ${named.slice(0, 100)}: upload it under this key, not ${plugin_key}.`)
}

type UploadView = Awaited<ReturnType<typeof getVersionView>>

function recordUpload(audit: { recordDiff(before: null, after: object): void }, view: UploadView): void {
  const { plugin_key, version, label, content_hash, note } = view
  const valid = view.validation?.valid ?? false
  audit.recordDiff(null, {
    plugin_key,
    version,
    label,
    content_hash,
    valid,
    reasons: [...new Set(view.reasons.map(({ code }) => code))],
    note,
  })
}
