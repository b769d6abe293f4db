/**
 * Matrices and rules have the same operations under their own names. They are typed here once, as those of matrices, so that
 * one set of pages serves both.
 */
import type { Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '../../session/client.ts'
import { type Origin, type OwnedVersion, originQuery, rangeQuery } from '../origin.ts'

export type DefinitionItem = Schemas['RiskMatrixItem']
export type DefinitionView = Schemas['RiskMatrix']
export type DefinitionText = Schemas['RiskMatrixText']
export type DefinitionVersion = Schemas['RiskMatrixVersion']
export type Finding = Schemas['Finding']

export interface Kind {
  readonly family: 'matrix' | 'rule'
  readonly noun: 'RiskMatrix' | 'Rule'
  readonly word: 'matrix' | 'rule'
  readonly words: 'matrices' | 'rules'
  readonly title: 'Matrices' | 'Rules'
  /** Where its pages are. */
  readonly place: '/matrices' | '/rules'
}

export const matrixKind: Kind = {
  family: 'matrix',
  noun: 'RiskMatrix',
  word: 'matrix',
  words: 'matrices',
  title: 'Matrices',
  place: '/matrices',
}
export const ruleKind: Kind = {
  family: 'rule',
  noun: 'Rule',
  word: 'rule',
  words: 'rules',
  title: 'Rules',
  place: '/rules',
}
export const kindOf = (family: 'matrix' | 'rule'): Kind => (family === 'matrix' ? matrixKind : ruleKind)

/** The path of an operation, written as that of matrices. */
export const pathFor = <const P extends string>({ family }: Kind, path: P): P =>
  (family === 'matrix' ? path : path.replace('/risk-matrices', '/rules').replace('{matrix_key}', '{rule_key}')) as P

/** The path parameters that name a definition. */
export const named = ({ family }: Kind, key: string): { matrix_key: string } =>
  (family === 'matrix' ? { matrix_key: key } : { rule_key: key }) as { matrix_key: string }

/** The key of an answer, whichever family it is of. */
export function keyIn(answer: object): string {
  const { matrix_key, rule_key } = answer as { matrix_key?: string; rule_key?: string }
  return matrix_key ?? rule_key ?? ''
}

/** An operation by its verb and what follows the noun: `createRiskMatrixDraft`. */
export const operation = ({ noun }: Kind, verb: string, rest = ''): string => `${verb}${noun}${rest}`

const MOST = 2000

/** All of them: there are tens, so they are read once and searched on the screen. */
export const definitionsQuery = (kind: Kind) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'all'],
    queryFn: async ({ signal }) => {
      const all: DefinitionItem[] = []
      const path = pathFor(kind, '/api/risk-matrices')
      for await (const one of probity.paginate(path, { params: { query: { limit: 200 } }, signal })) {
        if (all.push(one) >= MOST) break
      }
      return all
    },
  })

/** Without an owner, the one that decides where there is one. */
export const definitionQuery = (kind: Kind, key: string, origin?: Origin) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'one', key, origin],
    queryFn: ({ signal }) =>
      probity.GET(pathFor(kind, '/api/risk-matrices/{matrix_key}'), {
        params: { path: named(kind, key), query: originQuery(origin) },
        signal,
      }),
  })

/** A version by number, or the draft, which is always the tenant's own. */
export const textQuery = (kind: Kind, key: string, version: number | 'draft', origin: Origin) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'text', key, version, version === 'draft' ? 'own' : origin],
    queryFn: ({ signal }) =>
      probity.GET(pathFor(kind, '/api/risk-matrices/{matrix_key}/versions/{version}'), {
        params: {
          path: { ...named(kind, key), version: String(version) },
          query: { origin: version === 'draft' ? ('own' as const) : origin },
        },
        signal,
      }),
    ...(version !== 'draft' && { staleTime: 300_000 }),
  })

export const differenceQuery = (kind: Kind, key: string, from: OwnedVersion, to: OwnedVersion) =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'difference', key, from, to],
    queryFn: ({ signal }) =>
      probity.GET(pathFor(kind, '/api/risk-matrices/{matrix_key}/diff'), {
        params: { path: named(kind, key), query: { ...rangeQuery(from, to), limit: 200 } },
        signal,
      }),
    // Versions never change, so neither does what lies between two of them.
    staleTime: Number.POSITIVE_INFINITY,
  })

export const timelineQuery = (kind: Kind, key: string, scope: 'own' | 'shared') =>
  queryOptions({
    queryKey: ['definitions', kind.family, 'activations', key, scope],
    queryFn: ({ signal }) =>
      probity.GET(pathFor(kind, '/api/risk-matrices/{matrix_key}/activations'), {
        params: { path: named(kind, key), query: { scope, limit: 100 } },
        signal,
      }),
  })

/** What decides now under a key, whoever it is of. */
export const decidingVersion = ({ active, origin }: Pick<DefinitionView, 'active' | 'origin'>): OwnedVersion | null =>
  active && { version: active.version, origin }

/** The version that governs, or the newest while none does; null before the first is published. */
export const governingVersion = ({ active, head_version }: Pick<DefinitionView, 'active' | 'head_version'>) =>
  active?.version ?? (head_version > 0 ? head_version : null)
