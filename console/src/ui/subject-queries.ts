/** Queries about subjects that several areas share. */
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
export const isSubjectId = (text: string | undefined): text is string => UUID.test(text ?? '')

export const subjectQuery = (subject_id: string) =>
  queryOptions({
    queryKey: ['subjects', 'one', subject_id],
    queryFn: ({ signal }) => probity.GET('/api/subjects/{subject_id}', { params: { path: { subject_id } }, signal }),
  })

export const riskQuery = (subject_id: string) =>
  queryOptions({
    queryKey: ['subjects', 'risk', subject_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/subjects/{subject_id}/risk', { params: { path: { subject_id } }, signal }),
  })

/** The segments and bands that occur, for filters. */
export const subjectFiltersQuery = queryOptions({
  queryKey: ['subjects', 'filters'],
  queryFn: async ({ signal }) => {
    const { segments, bands } = await probity.GET('/api/subjects/filters', { signal })
    return {
      segments: segments.map((segment) => ({ value: segment, label: segment })),
      bands: bands.map(({ band, title }) => ({ value: band, label: title })),
    }
  },
  staleTime: 60_000,
})
