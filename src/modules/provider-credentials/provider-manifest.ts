/**
 * Manifests of providers as stored definitions: how a document becomes entries and back, and which version is in force. The
 * credentials of a provider are checked against the members that its manifest declares.
 */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertReferenced, fail } from '#kernel/problem.ts'
import { documentStore, resolver } from '#modules/definitions/index.ts'
import { type CredentialMemberShape, listCredentialMembers } from '#provider/credential-members.ts'
import { listToolServerAuth, type ToolServerAuthRow } from './tool-servers/queries.ts'
import {
  expectServer,
  isServerKey,
  TOOL_SERVER_PREFIX,
  toCredentialKey,
  toServerManifest,
} from './tool-servers/server-auth.ts'

export const PROVIDER_FAMILY = 'provider'

interface ManifestEntry extends documentStore.DocumentEntry {
  readonly part: 'settings' | 'section' | 'capability' | 'fixture'
  readonly name: string
  readonly position: number
  readonly value: unknown
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One entry for each capability, fixture and section, so that differences between versions are shown part by part. */
export function toManifestEntries(text: documentStore.DefinitionText): ManifestEntry[] {
  const { capabilities, fixtures, ...rest } = text
  const sections = Object.entries(rest).filter(([, value]) => isObject(value))
  const settings = Object.fromEntries(Object.entries(rest).filter(([, value]) => !isObject(value)))
  return [
    { part: 'settings', name: 'provider', position: 0, value: settings },
    ...sections.map(([name, value], position): ManifestEntry => ({ part: 'section', name, position, value })),
    ...Object.entries(isObject(capabilities) ? capabilities : {}).map(
      ([name, value], position): ManifestEntry => ({ part: 'capability', name, position, value }),
    ),
    ...(Array.isArray(fixtures) ? fixtures : []).map(
      (value, position): ManifestEntry => ({ part: 'fixture', name: String(position), position, value }),
    ),
  ]
}

export function fromManifestEntries(entries: readonly documentStore.DocumentEntry[]): documentStore.DefinitionText {
  const parts = (part: ManifestEntry['part']) =>
    (entries as readonly ManifestEntry[])
      .filter((entry) => entry.part === part)
      .toSorted((a, b) => a.position - b.position)
  const fixtures = parts('fixture').map(({ value }) => value)
  return {
    ...(parts('settings')[0]?.value as object | undefined),
    ...Object.fromEntries(parts('section').map(({ name, value }) => [name, value])),
    capabilities: Object.fromEntries(parts('capability').map(({ name, value }) => [name, value])),
    ...(fixtures.length > 0 && { fixtures }),
  }
}

export interface ProviderInForce {
  readonly provider_key: string
  /** What its credential is kept under: its own key, or that of the tool server that it uses. */
  readonly credential_key: string
  readonly origin: 'own' | 'shared'
  readonly version: number
  readonly in_force_since: string
  readonly manifest: documentStore.DefinitionText
}

/** The manifests in force of these providers and tool servers; one that has no version in force is absent. */
export async function findProvidersInForce(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  keys: readonly string[],
): Promise<ReadonlyMap<string, ProviderInForce>> {
  const provider_keys = keys.filter((key) => !isServerKey(key))
  const pointers = await resolver.findPointersInForce(tx, provider_keys, {}, PROVIDER_FAMILY)
  const found = new Map<string, ProviderInForce>()
  for (const [provider_key, pointer] of pointers) {
    const content = (await resolver.loadList(kernel, tx, pointer)) ?? fail('content_corrupt')
    const manifest = fromManifestEntries([...content.entries.values()].map(({ entry }) => entry))
    found.set(provider_key, {
      provider_key,
      credential_key: getCredentialKey(provider_key, manifest),
      origin: pointer.dataset_tenant_id === tx.tenant_id ? 'own' : 'shared',
      version: pointer.version,
      in_force_since: pointer.effective_from,
      manifest,
    })
  }
  return addServers(tx, found, keys.filter(isServerKey))
}

const getCredentialKey = (provider_key: string, { kind, server_key }: documentStore.DefinitionText): string =>
  kind === 'mcp' ? toCredentialKey(String(server_key)) : provider_key

/** Servers that are asked for by key, and the authentication of those that providers use. */
async function addServers(
  tx: Tx,
  found: ReadonlyMap<string, ProviderInForce>,
  asked: readonly string[],
): Promise<ReadonlyMap<string, ProviderInForce>> {
  const used = [...found.values()].map(({ credential_key }) => credential_key).filter(isServerKey)
  if (asked.length === 0 && used.length === 0) return found
  const server_keys = [...new Set([...asked, ...used])].map((key) => key.slice(TOOL_SERVER_PREFIX.length))
  const rows = await listToolServerAuth(tx, server_keys)
  const servers = new Map(rows.map((row) => [toCredentialKey(row.server_key), row]))
  const providers = [...found].map(([key, provider]): [string, ProviderInForce] => {
    const server = servers.get(provider.credential_key)
    return [key, server ? { ...provider, manifest: { ...provider.manifest, ...toServerManifest(server) } } : provider]
  })
  const pseudo = asked.flatMap((key): [string, ProviderInForce][] => {
    const server = servers.get(key)
    return server ? [[key, toServerInForce(key, server)]] : []
  })
  return new Map([...providers, ...pseudo])
}

const toServerInForce = (key: string, server: ToolServerAuthRow): ProviderInForce => ({
  provider_key: key,
  credential_key: key,
  origin: 'own',
  version: server.revision,
  in_force_since: server.updated_at,
  manifest: toServerManifest(server),
})

/** The members that a credential of this provider has: by the version in force, else by the newest version. */
export async function getDeclaredMembers(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  provider_key: string,
): Promise<readonly CredentialMemberShape[]> {
  if (isServerKey(provider_key)) return listCredentialMembers(toServerManifest(await expectServer(tx, provider_key)))
  const dataset = assertReferenced(
    await documentStore.findDefinition(tx, PROVIDER_FAMILY, provider_key),
    `provider ${provider_key}`,
  )
  const { version, text } = await documentStore.getCurrentText(
    kernel,
    tx,
    { fromEntries: fromManifestEntries },
    dataset,
  )
  if (version === null) fail('conflict', `Publish the provider ${provider_key} first: it declares no members yet.`)
  return listCredentialMembers(text)
}

/** 409 unless there is a provider, or a tool server, with this key. */
export async function expectCredentialOwner(tx: Tx, key: string): Promise<void> {
  if (isServerKey(key)) await expectServer(tx, key)
  else assertReferenced(await documentStore.findDefinition(tx, PROVIDER_FAMILY, key), `provider with the key ${key}`)
}
