/** What is asked about an overlay, and the form in which it is sent back. */
import { isProblem, type Schemas } from '@probity/client'
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'

export type Overlay = Schemas['Overlay']
export type OverlayChange = NonNullable<Overlay['overlay']>['entries'][number]

/** Null where nothing lies under an overlay, which is no failure of the page. */
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

/** As it is sent again with the others: an overlay is always replaced as a whole. */
export const toOperation = ({ key, op, value }: OverlayChange) => ({
  key,
  op,
  ...(op !== 'remove' && value !== null && { value }),
})
