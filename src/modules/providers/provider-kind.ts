/** Providers as a kind of definition: a manifest that says what can be asked, how, and what comes back. */
import { documentStore, resolver } from '#modules/definitions/index.ts'
import { fromManifestEntries, PROVIDER_FAMILY, toManifestEntries } from '#modules/provider-credentials/index.ts'
import { findPinnedTools } from '#modules/tool-servers/index.ts'
import { checkProvider, describeProvider, type InForce, listContracts, listProviderLists } from './manifest-checks.ts'

export const providerKind: documentStore.DefinitionKind = {
  family: PROVIDER_FAMILY,
  segment: 'providers',
  param: 'provider_key',
  noun: 'Provider',
  word: 'provider',
  type_key: 'provider-part',
  example: 'company-registry',
  reserved: ['calls', 'routing'],
  has_profile: false,
  has_impact: false,
  operations: {
    list: 'listProviders',
    create: 'createProvider',
    get: 'getProvider',
    update: 'updateProvider',
    archive: 'archiveProvider',
    listDependencies: 'listProviderDependencies',
    listVersions: 'listProviderVersions',
    createDraft: 'createProviderDraft',
    getVersion: 'getProviderVersion',
    updateDraft: 'updateProviderDraft',
    deleteDraft: 'deleteProviderDraft',
    publishDraft: 'publishProviderDraft',
    diffVersions: 'diffProviderVersions',
    listActivations: 'listProviderActivations',
    activateVersion: 'activateProviderVersion',
    submitVersion: 'submitProviderVersion',
    rollBack: 'rollBackProvider',
    pin: 'pinProvider',
    unpin: 'unpinProvider',
    deleteActivation: 'deleteProviderActivation',
  },
  toEntries: toManifestEntries,
  fromEntries: fromManifestEntries,
  async validate(_kernel, tx, { text }) {
    const { lists } = await findReferences(tx, text)
    const findings = checkProvider(text, await findInForce(tx, text, lists))
    return { findings, list_keys: [...lists.keys()], proof: { lists: documentStore.toListVersions(lists) } }
  },
  findReferences,
  async checkInForce(kernel, tx, key) {
    const dataset = await documentStore.findDefinition(tx, PROVIDER_FAMILY, key)
    if (!dataset) return []
    const { text } = await documentStore.getCurrentText(kernel, tx, providerKind, dataset)
    const { lists } = await findReferences(tx, text)
    return checkProvider(text, await findInForce(tx, text, lists))
  },
  describe: describeProvider,
}

async function findReferences(
  tx: Parameters<documentStore.DefinitionKind['findReferences']>[0],
  text: documentStore.DefinitionText,
) {
  const references = listProviderLists(text)
  const keys = [...new Set(references.map(({ list_key }) => list_key))]
  return { lists: await resolver.findPointersInForce(tx, keys, {}), references }
}

const isPluginInForce = async (tx: Parameters<typeof findPinnedTools>[0], plugin_key: string): Promise<boolean> =>
  (await resolver.findPointersInForce(tx, [plugin_key], {}, PLUGIN_FAMILY)).has(plugin_key)

const PLUGIN_FAMILY = 'plugin'

/** The family of contracts: their module declares it, and reading what is in force needs no more. */
const CONTRACT_FAMILY = 'contract'

async function findInForce(
  tx: Parameters<documentStore.DefinitionKind['findReferences']>[0],
  text: documentStore.DefinitionText,
  lists: ReadonlyMap<string, unknown>,
): Promise<InForce> {
  const keys = [...new Set(listContracts(text).map(({ contract_key }) => contract_key))]
  const contracts = await resolver.findPointersInForce(tx, keys, {}, CONTRACT_FAMILY)
  return {
    lists: new Set(lists.keys()),
    contracts: new Set(contracts.keys()),
    tools: text['kind'] === 'mcp' ? await findPinnedTools(tx, String(text['server_key'])) : null,
    plugin_in_force: text['kind'] === 'plugin' ? await isPluginInForce(tx, String(text['plugin_key'])) : null,
  }
}
