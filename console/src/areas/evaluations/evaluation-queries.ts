/** Queries about one decision. A decision never changes, so responses stay cached. */
import { isProblem } from '@probity/client'
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

/** The decision, or null if the stored record was altered. */
export const recordQuery = (evaluation_id: string) =>
  queryOptions({
    queryKey: ['evaluations', 'record', evaluation_id],
    queryFn: async ({ signal }) => {
      try {
        return await probity.GET('/api/evaluations/{evaluation_id}', { params: { path: { evaluation_id } }, signal })
      } catch (error) {
        if (isProblem(error) && error.code === 'content_corrupt') return null
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
