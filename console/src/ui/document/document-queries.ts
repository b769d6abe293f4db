/** Documents as the API returns them, and their bytes. */
import type { Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { readFile } from '#console/ui/read-file.ts'

export type StoredDocument = Schemas['Document']

/** A document that is being stored or scanned changes by itself. */
const isChanging = ({ state, scan_state, job_id }: StoredDocument): boolean =>
  state === 'storing' || (state === 'stored' && job_id !== null && scan_state === 'not_scanned')

export const documentQuery = (document_id: string) =>
  queryOptions({
    queryKey: ['documents', 'one', document_id],
    queryFn: ({ signal }) => probity.GET('/api/documents/{document_id}', { params: { path: { document_id } }, signal }),
    refetchInterval: ({ state: { data } }) => (data && isChanging(data) ? 2000 : false),
  })

/** Each call is recorded as a read of the document. */
export const readContent = (document_id: string): Promise<Blob> =>
  readFile(
    probity.raw.GET('/api/documents/{document_id}/content', {
      params: { path: { document_id } },
      headers: { accept: 'application/octet-stream' },
      parseAs: 'blob',
    }),
  )

export const hasBytes = ({ state }: StoredDocument): boolean => state === 'stored' || state === 'damaged'
