/** Says in one sentence what a change request would do, with the name of what it concerns. */
import type { Schemas } from '@probity/client'
import { formatOperation, toWords } from '../format.ts'
import type { Origin, OwnedVersion } from '../origin.ts'

type ChangeRequest = Schemas['ChangeRequest']
type Body = Readonly<Record<string, unknown>>

export interface ChangeTarget {
  readonly kind:
    | 'list'
    | 'matrix'
    | 'rule'
    | 'contract'
    | 'provider'
    | 'plugin'
    | 'playbook'
    | 'tool-server'
    | 'server-tool'
    | 'credential'
    | 'type'
    | 'user'
    | 'subject'
    | 'evaluation'
    | 'schedule'
  readonly key: string
}

const targetParams: Readonly<Record<string, ChangeTarget['kind']>> = {
  list_key: 'list',
  matrix_key: 'matrix',
  rule_key: 'rule',
  contract_key: 'contract',
  provider_key: 'provider',
  plugin_key: 'plugin',
  playbook_key: 'playbook',
  server_key: 'tool-server',
  credential_id: 'credential',
  type_key: 'type',
  user_id: 'user',
  subject_id: 'subject',
  evaluation_id: 'evaluation',
  schedule_id: 'schedule',
}

/** What the request concerns; null where it creates something or concerns the tenant. */
export function getChangeTarget({ params }: Pick<ChangeRequest, 'params'>): ChangeTarget | null {
  const { server_key, tool_name } = params
  if (server_key !== undefined && tool_name !== undefined)
    return { kind: 'server-tool', key: `${server_key}/tools/${tool_name}` }
  return listTargets(params)[0] ?? null
}

/** What is named by its key or id in parameters, or in the arguments of a tool. */
export const listTargets = (params: Readonly<Record<string, unknown>>): readonly ChangeTarget[] =>
  Object.entries(params).flatMap(([name, key]) => {
    const kind = targetParams[name]
    return kind !== undefined && typeof key === 'string' ? [{ kind, key }] : []
  })

/** The change of one member, where the request names it. */
export const findMemberChange = ({ changes }: Pick<ChangeRequest, 'changes'>, member: string) =>
  changes?.find((change) => change.member === member) ?? null

const isVersion = (value: unknown): value is number => typeof value === 'number'

/** A pin concerns shared versions; every other request concerns versions of this tenant. */
export const getTargetOrigin = ({ operation }: Pick<ChangeRequest, 'operation'>): Origin =>
  /^(un)?pin/.test(operation) ? 'shared' : 'own'

interface VersionChange {
  /** Null: no version was in force. */
  readonly from: OwnedVersion | null
  readonly to: OwnedVersion
}

/** The version in force before and after, as stored with the request; null where the request names none. */
export function getVersionChange(request: Pick<ChangeRequest, 'operation' | 'body' | 'changes'>): VersionChange | null {
  const version = findMemberChange(request, 'version')
  const owner = findMemberChange(request, 'origin')
  const { version: named, to_version } = (request.body ?? {}) as Body
  const after = version?.after ?? named ?? to_version
  if (!isVersion(after)) return null
  const to = { version: after, origin: getTargetOrigin(request) }
  // A member that stays the same is not stored: both owners may have the same number.
  const before = version ? version.before : owner ? after : null
  if (!isVersion(before)) return { from: null, to }
  return { from: { version: before, origin: owner?.before === 'shared' ? 'shared' : to.origin }, to }
}

export interface VersionTarget {
  readonly param:
    | 'list_key'
    | 'matrix_key'
    | 'rule_key'
    | 'contract_key'
    | 'provider_key'
    | 'plugin_key'
    | 'playbook_key'
  readonly key: string
  readonly version: number
}

/** The newest of the requests that would put this version of the tenant in force. */
export const findOpenActivation = <R extends Pick<ChangeRequest, 'state' | 'operation' | 'params' | 'body'>>(
  requests: readonly R[],
  { param, key, version }: VersionTarget,
): R | null =>
  requests.find(
    (request) =>
      request.state === 'open' &&
      request.operation.startsWith('activate') &&
      request.params[param] === key &&
      ((request.body ?? {}) as Body)['version'] === version,
  ) ?? null

const joinRoles = (roles: unknown): string =>
  Array.isArray(roles) ? roles.map((role) => toWords(String(role))).join(', ') : ''

/** What a plugin is granted, in words. */
const joinNames = (...names: readonly unknown[]): string => names.flat().map(String).join(', ') || 'nothing'

type Describe = (name: string, body: Body, request: ChangeRequest) => string

const getVersion = (request: ChangeRequest, body: Body): unknown =>
  findMemberChange(request, 'version')?.after ?? body['version'] ?? body['to_version']

const byOperation: Readonly<Record<string, Describe>> = {
  createUser: (_, { name, roles }) => `Invite ${name} as ${joinRoles(roles)}`,
  reactivateUser: (name) => `Restore the access of ${name}`,
  updateUserRoles: (name) => `Change the roles of ${name}`,
  createApiKey: (_, { name, roles }) => `Create the API key “${name}” with the roles ${joinRoles(roles)}`,
  updateProviderMode: (name, { mode }) => `Answer calls of ${name} in the mode “${mode}”`,
  enablePlugin: (name) => `Let the plugin ${name} run again`,
  updatePluginGrants: (name, { lists, hosts }) => `Let the plugin ${name} reach ${joinNames(lists, hosts)}`,
  updatePluginConfiguration: (name) => `Change the configuration of the plugin ${name}`,
  activateCredentialVersion: (name, _, { params }) => `Use version ${params['version']} of the credential ${name}`,
  enableProviderCredential: (name) => `Use the credential ${name} again`,
  deleteProviderCredential: (name) => `Destroy the credential ${name}`,
  updateToolPolicy: () => 'Change the tool policy for AI assistants',
  createToolServer: (_, { title, server_key }) => `Register the tool server ${title ?? server_key}`,
  updateToolServer: (name) => `Change the tool server ${name}`,
  deleteToolServer: (name) => `Remove the tool server ${name}`,
  pinServerTool: (name, _, { params }) => `Pin the tool ${params['tool_name']} of ${name}`,
  updateTenant: () => 'Change the tenant profile',
  updateApprovalPolicy: () => 'Change the approval policy',
  updateRetentionPolicy: () => 'Change how long records are kept',
  createRiskOverride: (name, { band }) => `Override the rating of ${name}: ${band}`,
  overrideEvaluation: (name, { band }) => `Override the rating of ${name}: ${band}`,
  deleteRiskOverride: (name) => `End the override of ${name}`,
  createBatchSchedule: (_, { name }) => `Create the batch schedule “${name}”`,
  updateBatchSchedule: (name) => `Change the batch schedule ${name}`,
  deleteBatchSchedule: (name) => `Delete the batch schedule ${name}`,
  createDatasetType: (_, { type_key }) => `Create the list type ${type_key}`,
  createDatasetTypeVersion: (name) => `Publish a new version of the list type ${name}`,
  updateOverlay: (name) => `Change entries of ${name} for this tenant`,
  deleteOverlay: (name) => `Remove this tenant’s changes to ${name}`,
  rebaseOverlay: (name) => `Apply this tenant’s changes to the new version of ${name}`,
  createDataset: (_, { title, list_key }) => `Create the list ${title ?? list_key}`,
}

const byPattern: readonly [pattern: RegExp, describe: Describe][] = [
  [/^activate/, (name, body, request) => `Put version ${getVersion(request, body)} of ${name} in force`],
  [/^rollBack/, (name, body, request) => `Roll ${name} back to version ${getVersion(request, body) ?? 'before'}`],
  [/^pin/, (name, { version }) => `Pin ${name} to version ${version}`],
  [/^unpin/, (name) => `Follow the operator’s version of ${name} again`],
  [/^delete\w*Activation$/, (name) => `Cancel a scheduled version of ${name}`],
  [/^delete\w*Case$/, (name) => `Remove a golden case of ${name}`],
  [/^archive/, (name) => `Archive ${name}`],
  [/^update(Dataset|RiskMatrix|Rule|SourceContract|Provider)$/, (name) => `Change the settings of ${name}`],
]

export function describeChange(request: ChangeRequest, name: string | null): string {
  const { operation } = request
  const describe = byOperation[operation] ?? byPattern.find(([pattern]) => pattern.test(operation))?.[1]
  if (!describe) return name === null ? formatOperation(operation) : `${formatOperation(operation)}: ${name}`
  return describe(name ?? 'it', (request.body ?? {}) as Body, request)
}

/** The reason that the author gave, if the operation asks for one. */
export function getReason({ body, query }: Pick<ChangeRequest, 'body' | 'query'>): string | null {
  const { reason } = { ...query, ...((body ?? {}) as Body) }
  return typeof reason === 'string' && reason !== '' ? reason : null
}
