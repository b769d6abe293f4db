/** Queries about one decision. A decision never changes, so responses stay cached. */
import { isProblem, type Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { readFile } from '#console/ui/read-file.ts'

export const evaluationQuery = (evaluation_id: string) =>
  queryOptions({
    queryKey: ['evaluations', 'one', evaluation_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/evaluations/{evaluation_id}', { params: { path: { evaluation_id } }, signal }),
    staleTime: 60_000,
  })

/** What the answer `erased` says of a decision whose subject was erased. */
export interface KeptDecision {
  readonly evaluation_id: string
  readonly subject_id: string | null
  readonly family: 'matrix' | 'rule'
  readonly definition_key: string
  readonly definition_version: number
  readonly band: string | null
  readonly score_bps: number | null
  readonly hit: boolean | null
  readonly decided_at: string
  readonly erased_at: string | null
  readonly document_hash: string
  readonly receipt_hash: string | null
}

type Members = Readonly<Record<string, unknown>>

/** Without these the problem is shown as any other: a proxy may have left them out. */
const isKeptDecision = (members: Members): members is Members & KeptDecision =>
  ['evaluation_id', 'family', 'definition_key', 'decided_at', 'document_hash'].every(
    (name) => typeof members[name] === 'string',
  ) && typeof members['definition_version'] === 'number'

type StoredDecision =
  | { readonly state: 'intact'; readonly one: Schemas['Evaluation'] }
  | { readonly state: 'altered' }
  | { readonly state: 'erased'; readonly kept: KeptDecision }

/** The decision, or what is left where the stored record was altered or its subject erased. */
export const recordQuery = (evaluation_id: string) =>
  queryOptions({
    queryKey: ['evaluations', 'record', evaluation_id],
    queryFn: async ({ signal }): Promise<StoredDecision> => {
      const params = { path: { evaluation_id } }
      try {
        return { state: 'intact', one: await probity.GET('/api/evaluations/{evaluation_id}', { params, signal }) }
      } catch (error) {
        if (isProblem(error) && error.code === 'content_corrupt') return { state: 'altered' }
        if (isProblem(error) && error.code === 'erased' && isKeptDecision(error.members))
          return { state: 'erased', kept: error.members }
        throw error
      }
    },
    staleTime: 60_000,
  })

export const explanationQuery = (evaluation_id: string) =>
  queryOptions({
    queryKey: ['evaluations', 'explanation', evaluation_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/evaluations/{evaluation_id}/explanation', { params: { path: { evaluation_id } }, signal }),
    staleTime: 60_000,
  })

export const inputsQuery = (evaluation_id: string) =>
  queryOptions({
    queryKey: ['evaluations', 'inputs', evaluation_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/evaluations/{evaluation_id}/inputs', { params: { path: { evaluation_id } }, signal }),
    staleTime: 60_000,
  })

/** Downloads the examiner’s package through the client, because a plain link sends no token. */
export const readPack = (evaluation_id: string): Promise<Blob> =>
  readFile(
    probity.raw.GET('/api/evaluations/{evaluation_id}/pack', {
      params: { path: { evaluation_id } },
      headers: { accept: '*/*' },
      parseAs: 'blob',
    }),
  )
