/**
 * Kinds of versioned definitions have the same operations under their own names. They are typed once, as those of
 * matrices, so that one set of pages serves all of them.
 */
import type { Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { type Origin, type OwnedVersion, toDiffParams, toOriginParams } from '../origin.ts'

/** What a matrix or rule is meant for; other kinds have none of it. */
type Profile = 'subject_types' | 'products' | 'typologies'
type WithOptionalProfile<View extends Readonly<Record<Profile, unknown>>> = Omit<View, Profile> &
  Partial<Pick<View, Profile>>

export type DefinitionItem = WithOptionalProfile<Schemas['RiskMatrixItem']>
export type DefinitionView = WithOptionalProfile<Schemas['RiskMatrix']>
export type DefinitionText = Schemas['RiskMatrixText']
export type DefinitionVersion = Schemas['RiskMatrixVersion']
export type Finding = Schemas['Finding']

type DraftedNoun = 'RiskMatrix' | 'Rule' | 'SourceContract' | 'Provider' | 'Playbook'

/** Kinds whose versions are put in force, rolled back, pinned and compared. */
export interface VersionedKind {
  readonly family: 'matrix' | 'rule' | 'contract' | 'provider' | 'plugin' | 'playbook'
  readonly noun: DraftedNoun | 'Plugin'
  /** The path of its operations. */
  readonly apiPath: 'risk-matrices' | 'rules' | 'source-contracts' | 'providers' | 'plugins' | 'playbooks'
  /** The path parameter that names one. */
  readonly param: 'matrix_key' | 'rule_key' | 'contract_key' | 'provider_key' | 'plugin_key' | 'playbook_key'
  readonly word: 'matrix' | 'rule' | 'source contract' | 'provider' | 'plugin' | 'playbook'
  readonly words: 'matrices' | 'rules' | 'source contracts' | 'providers' | 'plugins' | 'playbooks'
  readonly title: 'Matrices' | 'Rules' | 'Source contracts' | 'Providers' | 'Plugins' | 'Playbooks'
  /** The base path of its pages. */
  readonly basePath: '/matrices' | '/rules' | '/source-contracts' | '/providers' | '/plugins' | '/playbooks'
}

/** Kinds whose versions are written as drafts. */
export interface DefinitionKind extends VersionedKind {
  readonly family: 'matrix' | 'rule' | 'contract' | 'provider' | 'playbook'
  readonly noun: DraftedNoun
}

/** What the actions on versions need of a definition. */
export interface VersionedDefinition {
  readonly title: string
  readonly origin: Origin
  readonly active: { readonly version: number; readonly via: string } | null
  /** Scheduled activations. */
  readonly pending: readonly unknown[]
  readonly versions: readonly { readonly version: number; readonly label?: string | null; readonly state: string }[]
}

/** Kinds that are listed and created on the same pages. */
export type ListedKind = DefinitionKind & { readonly family: 'matrix' | 'rule' | 'playbook' }

/** Kinds that decide: they have golden cases, simulations and backtests. */
export interface DecisionKind extends DefinitionKind {
  readonly family: 'matrix' | 'rule'
  readonly noun: 'RiskMatrix' | 'Rule'
}

export const matrixKind: DecisionKind = {
  family: 'matrix',
  noun: 'RiskMatrix',
  apiPath: 'risk-matrices',
  param: 'matrix_key',
  word: 'matrix',
  words: 'matrices',
  title: 'Matrices',
  basePath: '/matrices',
}
export const ruleKind: DecisionKind = {
  family: 'rule',
  noun: 'Rule',
  apiPath: 'rules',
  param: 'rule_key',
  word: 'rule',
  words: 'rules',
  title: 'Rules',
  basePath: '/rules',
}
export const contractKind: DefinitionKind & { readonly noun: 'SourceContract' } = {
  family: 'contract',
  noun: 'SourceContract',
  apiPath: 'source-contracts',
  param: 'contract_key',
  word: 'source contract',
  words: 'source contracts',
  title: 'Source contracts',
  basePath: '/source-contracts',
}
export const providerKind: DefinitionKind & { readonly noun: 'Provider' } = {
  family: 'provider',
  noun: 'Provider',
  apiPath: 'providers',
  param: 'provider_key',
  word: 'provider',
  words: 'providers',
  title: 'Providers',
  basePath: '/providers',
}
export const playbookKind: DefinitionKind & { readonly family: 'playbook'; readonly noun: 'Playbook' } = {
  family: 'playbook',
  noun: 'Playbook',
  apiPath: 'playbooks',
  param: 'playbook_key',
  word: 'playbook',
  words: 'playbooks',
  title: 'Playbooks',
  basePath: '/playbooks',
}
/** Versions of a plugin are uploaded, not drafted. */
export const pluginKind: VersionedKind & { readonly noun: 'Plugin' } = {
  family: 'plugin',
  noun: 'Plugin',
  apiPath: 'plugins',
  param: 'plugin_key',
  word: 'plugin',
  words: 'plugins',
  title: 'Plugins',
  basePath: '/plugins',
}
export const getKind = (family: 'matrix' | 'rule'): DecisionKind => (family === 'matrix' ? matrixKind : ruleKind)

/** The kind and key that the path parameters of an operation name; null where they name no definition. */
export function findDefinition(
  params: Readonly<Record<string, unknown>>,
): { readonly kind: VersionedKind; readonly key: string } | null {
  for (const kind of [matrixKind, ruleKind, contractKind, providerKind, pluginKind, playbookKind]) {
    const key = params[kind.param]
    if (typeof key === 'string') return { kind, key }
  }
  return null
}

/** Converts the path of a matrix operation to this kind. */
export const toApiPath = <const P extends string>({ apiPath, param }: VersionedKind, path: P): P =>
  path.replace('risk-matrices', apiPath).replace('{matrix_key}', `{${param}}`) as P

/** The path parameters that name a definition. */
export const toPathParams = ({ param }: VersionedKind, key: string): { matrix_key: string } =>
  ({ [param]: key }) as { matrix_key: string }

/** The key in a response of any kind. */
export function getDefinitionKey(answer: object): string {
  return findDefinition(answer as Readonly<Record<string, unknown>>)?.key ?? ''
}

/** Builds an operationId such as `createRiskMatrixDraft` from its verb and what follows the noun. */
export function toOperationId<K extends VersionedKind, V extends string>(kind: K, verb: V): `${V}${K['noun']}`
export function toOperationId<K extends VersionedKind, V extends string, R extends string>(
  kind: K,
  verb: V,
  rest: R,
): `${V}${K['noun']}${R}`
export function toOperationId({ noun }: VersionedKind, verb: string, rest = ''): string {
  return `${verb}${noun}${rest}`
}

const MAX_DEFINITIONS = 2000

/** Loads all definitions: there are tens, which are searched in the browser. */
export const definitionsQuery = (kind: DefinitionKind) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'all'],
    queryFn: async ({ signal }) => {
      const all: DefinitionItem[] = []
      const path = toApiPath(kind, '/api/risk-matrices')
      for await (const one of probity.paginate(path, { params: { query: { limit: 200 } }, signal })) {
        if (all.push(one) >= MAX_DEFINITIONS) break
      }
      return all
    },
  })

/** Without an owner, the definition in force is returned if there is one. */
export const definitionQuery = (kind: DefinitionKind, key: string, origin?: Origin) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'one', key, origin],
    queryFn: ({ signal }): Promise<DefinitionView> =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}'), {
        params: { path: toPathParams(kind, key), query: toOriginParams(origin) },
        signal,
      }),
  })

/** What is in force under a key, of either owner. */
export const inForceQuery = (kind: VersionedKind, key: string) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'one', key, undefined],
    queryFn: ({ signal }): Promise<Pick<VersionedDefinition, 'active' | 'origin'>> =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}'), {
        params: { path: toPathParams(kind, key) },
        signal,
      }),
  })

/** A version by number, or the draft, which always belongs to the tenant. */
export const textQuery = (kind: DefinitionKind, key: string, version: number | 'draft', origin: Origin) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'text', key, version, version === 'draft' ? 'own' : origin],
    queryFn: ({ signal }) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/versions/{version}'), {
        params: {
          path: { ...toPathParams(kind, key), version: String(version) },
          query: { origin: version === 'draft' ? ('own' as const) : origin },
        },
        signal,
      }),
    ...(version !== 'draft' && { staleTime: 300_000 }),
  })

export const differenceQuery = (kind: VersionedKind, key: string, from: OwnedVersion, to: OwnedVersion) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'difference', key, from, to],
    queryFn: ({ signal }) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/diff'), {
        params: { path: toPathParams(kind, key), query: { ...toDiffParams(from, to), limit: 200 } },
        signal,
      }),
    // Versions never change, so neither do their differences; what a contract refuses depends on the stored payloads.
    staleTime: kind.family === 'contract' ? 0 : Number.POSITIVE_INFINITY,
  })

export const timelineQuery = (kind: VersionedKind, key: string, scope: 'own' | 'shared') =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'activations', key, scope],
    queryFn: ({ signal }) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/activations'), {
        params: { path: toPathParams(kind, key), query: { scope, limit: 100 } },
        signal,
      }),
  })

/** The version in force, with its owner. */
export function getActiveVersion({
  active,
  origin,
}: Pick<VersionedDefinition, 'active' | 'origin'>): OwnedVersion | null {
  return active && { version: active.version, origin }
}

/** The version in force, else the newest; null if there is no version. */
export const getActiveOrLatest = ({ active, head_version }: Pick<DefinitionView, 'active' | 'head_version'>) =>
  active?.version ?? (head_version > 0 ? head_version : null)
