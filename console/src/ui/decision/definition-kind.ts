/**
 * Matrices and rules have the same operations under their own names. They are typed once, as those of matrices, so that
 * one set of pages serves both.
 */
import type { Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { type Origin, type OwnedVersion, toDiffParams, toOriginParams } from '../origin.ts'

export type DefinitionItem = Schemas['RiskMatrixItem']
export type DefinitionView = Schemas['RiskMatrix']
export type DefinitionText = Schemas['RiskMatrixText']
export type DefinitionVersion = Schemas['RiskMatrixVersion']
export type Finding = Schemas['Finding']

type Noun = 'RiskMatrix' | 'Rule'

export interface DefinitionKind {
  readonly family: 'matrix' | 'rule'
  readonly noun: Noun
  readonly word: 'matrix' | 'rule'
  readonly words: 'matrices' | 'rules'
  readonly title: 'Matrices' | 'Rules'
  /** The base path of its pages. */
  readonly basePath: '/matrices' | '/rules'
}

export const matrixKind: DefinitionKind = {
  family: 'matrix',
  noun: 'RiskMatrix',
  word: 'matrix',
  words: 'matrices',
  title: 'Matrices',
  basePath: '/matrices',
}
export const ruleKind: DefinitionKind = {
  family: 'rule',
  noun: 'Rule',
  word: 'rule',
  words: 'rules',
  title: 'Rules',
  basePath: '/rules',
}
export const getKind = (family: 'matrix' | 'rule'): DefinitionKind => (family === 'matrix' ? matrixKind : ruleKind)

/** Converts the path of a matrix operation to this kind. */
export const toApiPath = <const P extends string>({ family }: DefinitionKind, path: P): P =>
  (family === 'matrix' ? path : path.replace('/risk-matrices', '/rules').replace('{matrix_key}', '{rule_key}')) as P

/** The path parameters that name a definition. */
export const toPathParams = ({ family }: DefinitionKind, key: string): { matrix_key: string } =>
  (family === 'matrix' ? { matrix_key: key } : { rule_key: key }) as { matrix_key: string }

/** The key in a response of either kind. */
export function getDefinitionKey(answer: object): string {
  const { matrix_key, rule_key } = answer as { matrix_key?: string; rule_key?: string }
  return matrix_key ?? rule_key ?? ''
}

/** Builds an operationId such as `createRiskMatrixDraft` from its verb and what follows the noun. */
export function toOperationId<V extends string>(kind: DefinitionKind, verb: V): `${V}${Noun}`
export function toOperationId<V extends string, R extends string>(
  kind: DefinitionKind,
  verb: V,
  rest: R,
): `${V}${Noun}${R}`
export function toOperationId({ noun }: DefinitionKind, verb: string, rest = ''): string {
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
    queryFn: ({ signal }) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}'), {
        params: { path: toPathParams(kind, key), query: toOriginParams(origin) },
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

export const differenceQuery = (kind: DefinitionKind, key: string, from: OwnedVersion, to: OwnedVersion) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'difference', key, from, to],
    queryFn: ({ signal }) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/diff'), {
        params: { path: toPathParams(kind, key), query: { ...toDiffParams(from, to), limit: 200 } },
        signal,
      }),
    // Versions never change, so neither do their differences.
    staleTime: Number.POSITIVE_INFINITY,
  })

export const timelineQuery = (kind: DefinitionKind, key: string, scope: 'own' | 'shared') =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'activations', key, scope],
    queryFn: ({ signal }) =>
      probity.GET(toApiPath(kind, '/api/risk-matrices/{matrix_key}/activations'), {
        params: { path: toPathParams(kind, key), query: { scope, limit: 100 } },
        signal,
      }),
  })

/** The version in force under a key, of either owner. */
export const getActiveVersion = ({ active, origin }: Pick<DefinitionView, 'active' | 'origin'>): OwnedVersion | null =>
  active && { version: active.version, origin }

/** The version in force, else the newest; null if there is no version. */
export const getActiveOrLatest = ({ active, head_version }: Pick<DefinitionView, 'active' | 'head_version'>) =>
  active?.version ?? (head_version > 0 ? head_version : null)
