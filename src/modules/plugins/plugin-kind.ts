/**
 * Plugins as a kind of versioned definition. Their versions are uploaded, not drafted, so only the routes that put versions in force
 * and compare them are those of definitions.
 */
import type { Route } from '#kernel/route.ts'
import { createDefinitionRoutes, type documentStore } from '#modules/definitions/index.ts'
import { PLUGIN_FAMILY } from './model.ts'

/** Words that stand beside keys in paths. */
export const RESERVED_KEYS: readonly string[] = ['extension-points', 'new']

export const pluginKind: documentStore.DefinitionKind = {
  family: PLUGIN_FAMILY,
  segment: 'plugins',
  param: 'plugin_key',
  noun: 'Plugin',
  word: 'plugin',
  type_key: 'plugin-part',
  example: 'shell-company-signals',
  reserved: RESERVED_KEYS,
  has_profile: false,
  has_impact: true,
  operations: {
    list: 'listPlugins',
    create: 'createPlugin',
    get: 'getPlugin',
    update: 'updatePlugin',
    archive: 'archivePlugin',
    listDependencies: 'listPluginDependencies',
    listVersions: 'listPluginVersions',
    createDraft: 'createPluginDraft',
    getVersion: 'getPluginVersion',
    updateDraft: 'updatePluginDraft',
    deleteDraft: 'deletePluginDraft',
    publishDraft: 'publishPluginDraft',
    diffVersions: 'diffPluginVersions',
    listActivations: 'listPluginActivations',
    activateVersion: 'activatePluginVersion',
    submitVersion: 'submitPluginVersion',
    rollBack: 'rollBackPlugin',
    pin: 'pinPlugin',
    unpin: 'unpinPlugin',
    deleteActivation: 'deletePluginActivation',
  },
  toEntries: () => [],
  fromEntries: () => ({}),
  validate: async () => ({ findings: [], list_keys: [], proof: {} }),
  findReferences: async () => ({ lists: new Map(), references: [] }),
  checkInForce: async () => [],
  describe: () => [],
}

const { operations } = pluginKind
const reused = new Set<string>([
  operations.diffVersions,
  operations.listActivations,
  operations.activateVersion,
  operations.submitVersion,
  operations.rollBack,
  operations.pin,
  operations.unpin,
  operations.deleteActivation,
])

/** Who may read the code of a plugin. Each read is recorded. */
export const sourceReaders = ['policy_editor', 'compliance_officer', 'auditor'] as const

/** A difference shows the code of both versions. */
const restrictDifference = (route: Route): Route =>
  route.id === operations.diffVersions ? { ...route, roles: sourceReaders, audited: true } : route

export const activationRoutes = createDefinitionRoutes(pluginKind)
  .filter(({ id }) => reused.has(id))
  .map(restrictDifference)
