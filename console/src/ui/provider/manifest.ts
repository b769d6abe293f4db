/** The parts of a manifest that pages show. A draft may be any JSON, so every part may be missing. Pure. */
import type { CapabilityPromise, ProviderStatus } from './provider-texts.ts'

export interface InputProperty {
  readonly type: 'string' | 'integer' | 'number' | 'boolean'
  readonly title?: string
  readonly description?: string
  readonly enum?: readonly (string | number | boolean)[]
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly format?: 'date'
}
export interface InputSchema {
  readonly properties: Readonly<Record<string, InputProperty>>
  readonly required: readonly string[]
}
export interface ManifestCapability {
  readonly name: string
  readonly title: string | null
  readonly contract_key: string | null
  readonly promise: CapabilityPromise
  readonly input: InputSchema
  readonly list_key: string | null
  readonly cost: string | null
  /** As the manifest writes it: `GET https://…`. */
  readonly request: string | null
  /** The tool of the server that is called. */
  readonly tool: string | null
}
export interface Manifest {
  readonly kind: ProviderStatus['kind']
  /** The tool server whose tools it calls. */
  readonly server_key: string | null
  /** The plugin that makes its requests and reads the responses. */
  readonly plugin_key: string | null
  readonly capabilities: readonly ManifestCapability[]
  readonly hosts: readonly string[]
  readonly auth: string
  readonly fixtures: number
  readonly hasTest: boolean
}

type Json = Readonly<Record<string, unknown>>
const toObject = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
const toText = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null)
const toArray = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Look-ups in a list take the key of an entry. */
const LOOKUP_INPUT: InputSchema = {
  properties: { key: { type: 'string', title: 'Key', description: 'The key of the entry, exactly.', maxLength: 1000 } },
  required: ['key'],
}

export const authNames: Readonly<Record<string, string>> = {
  header: 'Key in a header',
  basic: 'User name and password',
  oauth2_client_credentials: 'OAuth 2.0 client credentials',
  mtls: 'Client certificate',
}

const kinds: readonly Manifest['kind'][] = ['builtin', 'mcp', 'plugin']

export function parseManifest(text: Json): Manifest {
  const kind = kinds.find((one) => one === text['kind']) ?? 'http'
  return {
    kind,
    server_key: kind === 'mcp' ? toText(text['server_key']) : null,
    plugin_key: kind === 'plugin' ? toText(text['plugin_key']) : null,
    capabilities: Object.entries(toObject(text['capabilities'])).map(([name, value]) =>
      parseCapability(name, toObject(value), kind === 'builtin'),
    ),
    hosts: toArray(text['hosts']).filter((host) => typeof host === 'string'),
    auth: authNames[String(toObject(text['auth'])['kind'])] ?? 'None',
    fixtures: toArray(text['fixtures']).length,
    hasTest: toText(toObject(text['test'])['capability']) !== null,
  }
}

function parseCapability(name: string, of: Json, isBuiltin: boolean): ManifestCapability {
  const { method, url } = toObject(of['request'])
  const { amount, currency } = toObject(of['cost'])
  const input = toObject(of['input'])
  return {
    name,
    title: toText(of['title']),
    contract_key: toText(of['contract_key']),
    promise: isBuiltin || of['safe'] === true ? 'free' : toText(of['idempotency_header']) !== null ? 'keyed' : 'once',
    input: isBuiltin
      ? LOOKUP_INPUT
      : {
          properties: toObject(input['properties']) as InputSchema['properties'],
          required: toArray(input['required']).filter((one) => typeof one === 'string'),
        },
    list_key: toText(of['list_key']),
    cost: toText(amount) !== null && toText(currency) !== null ? `${amount} ${currency}` : null,
    request: toText(url) !== null ? `${toText(method) ?? 'GET'} ${url}` : null,
    tool: toText(of['tool']),
  }
}

/** The contracts that judge its answers, each once. */
export const listContractKeys = ({ capabilities }: Manifest): readonly string[] => [
  ...new Set(capabilities.flatMap(({ contract_key }) => contract_key ?? [])),
]

/** Errors of an input by the name of the member: `#/input/number` → `number`, and so is `#/input/number/value`. */
export const toInputFaults = (
  errors: readonly { readonly pointer: string; readonly detail: string }[],
  prefix = '#/input/',
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    errors
      .filter(({ pointer }) => pointer.startsWith(prefix))
      .map(({ pointer, detail }) => [pointer.slice(prefix.length).split('/')[0], detail]),
  )
