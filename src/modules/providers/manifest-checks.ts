/** Checks a manifest as far as it depends on what is in force for the tenant, and puts it into plain sentences. */
import type { documentStore } from '#modules/definitions/index.ts'
import { checkManifest } from '#provider/check-manifest.ts'

type Json = Readonly<Record<string, unknown>>
const toObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}

const listCapabilities = (text: Json): readonly (readonly [string, Json])[] =>
  Object.entries(toObject(text['capabilities'])).map(([name, value]) => [name, toObject(value)] as const)

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1')

/** Lists that built-in capabilities look up in. */
export function listProviderLists(text: Json): documentStore.ListReference[] {
  if (text['kind'] !== 'builtin') return []
  return listCapabilities(text).flatMap(([name, { list_key }]) =>
    typeof list_key === 'string'
      ? [{ list_key, pointer: `/capabilities/${escapePointer(name)}/list_key`, key: null, field: null }]
      : [],
  )
}

/** Contracts that judge what the capabilities answer. */
export const listContracts = (text: Json): { readonly contract_key: string; readonly pointer: string }[] =>
  listCapabilities(text).flatMap(([name, { contract_key }]) =>
    typeof contract_key === 'string'
      ? [{ contract_key, pointer: `/capabilities/${escapePointer(name)}/contract_key` }]
      : [],
  )

const error = (code: string, pointer: string, message: string): documentStore.Finding => ({
  code,
  pointer,
  message,
  severity: 'error',
})

/** Tools that the capabilities call. */
export const listToolUses = (
  text: Json,
): { readonly tool: string; readonly safe: boolean; readonly pointer: string }[] =>
  text['kind'] === 'mcp'
    ? listCapabilities(text).flatMap(([name, { tool, safe }]) =>
        typeof tool === 'string'
          ? [{ tool, safe: safe === true, pointer: `/capabilities/${escapePointer(name)}` }]
          : [],
      )
    : []

export interface InForce {
  /** Keys of the lists and contracts that are in force. */
  readonly lists: ReadonlySet<string>
  readonly contracts: ReadonlySet<string>
  /** Pinned tools of the server, by name, with whether they are annotated as repeatable; null: there is no such server. */
  readonly tools: ReadonlyMap<string, { readonly is_repeatable: boolean }> | null
  /** Null: no plugin is named. False: no version of it is in force. */
  readonly plugin_in_force: boolean | null
}

/** Every finding on a manifest. */
export function checkProvider(text: Json, in_force: InForce): documentStore.Finding[] {
  const { lists, contracts } = in_force
  return [
    ...checkManifest(text),
    ...checkTools(text, in_force),
    ...checkPlugin(text, in_force),
    ...listProviderLists(text)
      .filter(({ list_key }) => !lists.has(list_key))
      .map(({ list_key, pointer }) =>
        error('list_not_in_force', pointer, `No version of the list ${list_key} is in force.`),
      ),
    ...listContracts(text)
      .filter(({ contract_key }) => !contracts.has(contract_key))
      .map(({ contract_key, pointer }) =>
        error('contract_not_in_force', pointer, `No version of the contract ${contract_key} is in force.`),
      ),
  ]
}

function checkTools(text: Json, { tools }: InForce): documentStore.Finding[] {
  if (text['kind'] !== 'mcp') return []
  if (!tools) {
    return [
      error(
        'server_unknown',
        '/server_key',
        `There is no tool server ${String(text['server_key'])}: register it first.`,
      ),
    ]
  }
  return listToolUses(text).flatMap(({ tool, safe, pointer }): documentStore.Finding[] => {
    const pinned = tools.get(tool)
    if (!pinned)
      return [error('tool_not_pinned', `${pointer}/tool`, `The tool ${tool} is not pinned, or is in quarantine.`)]
    if (!safe || pinned.is_repeatable) return []
    const message = `The pinned tool ${tool} is annotated neither read-only nor idempotent: it is called once at most.`
    return [{ code: 'safe_without_effect', pointer: `${pointer}/safe`, message, severity: 'warning' }]
  })
}

const checkPlugin = (text: Json, { plugin_in_force }: InForce): documentStore.Finding[] =>
  plugin_in_force === false
    ? [
        error(
          'plugin_not_in_force',
          '/plugin_key',
          `No version of the plugin ${String(text['plugin_key'])} is in force.`,
        ),
      ]
    : []

function describeKind(text: Json): string {
  switch (text['kind']) {
    case 'builtin':
      return 'Answered by this service from the lists in force.'
    case 'mcp':
      return `Calls tools of the server ${String(text['server_key'])}.`
    case 'plugin':
      return `Called over HTTPS with requests that the plugin ${String(text['plugin_key'])} makes.`
    default:
      return 'Called over HTTPS.'
  }
}

export function describeProvider(text: Json): string[] {
  const kind = describeKind(text)
  const capabilities = listCapabilities(text).map(([name, capability]) => {
    const { list_key, contract_key, tool } = capability
    const from =
      typeof list_key === 'string' ? ` in the list ${list_key}` : typeof tool === 'string' ? ` by the tool ${tool}` : ''
    const contract = typeof contract_key === 'string' ? `, checked by the contract ${contract_key}` : ''
    return `Offers ${name}${from}${contract}.`
  })
  return [kind, ...capabilities]
}
