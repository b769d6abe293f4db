/** The overlay query, and the conversion of an overlay entry to a request. */
import { isProblem, type Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'

export type Overlay = Schemas['Overlay']
export type OverlayChange = NonNullable<Overlay['overlay']>['entries'][number]

/** Null if no version of the shared list is in force. */
export const overlayQuery = (list_key: string) =>
  queryOptions({
    queryKey: ['datasets', 'overlay', list_key],
    queryFn: ({ signal }) =>
      probity
        .GET('/api/reference-data/datasets/{list_key}/overlay', { params: { path: { list_key } }, signal })
        .catch((error: unknown) => {
          if (isProblem(error) && error.code === 'nothing_in_force') return null
          throw error
        }),
  })

/** Converts an entry to a request, because an overlay is always sent as a whole. */
export const toOperation = ({ key, op, value }: OverlayChange) => ({
  key,
  op,
  ...(op !== 'remove' && value !== null && { value }),
})
