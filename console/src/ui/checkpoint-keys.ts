/** The public keys that sign checkpoints. */
import { queryOptions } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'

export const keysQuery = queryOptions({
  queryKey: ['audit', 'keys'],
  queryFn: async ({ signal }) => {
    const page = await probity.GET('/api/audit/checkpoints', { params: { query: { limit: 1 } }, signal })
    const { key_id, public_key, earlier_keys } = page
    return { key_id, public_key, earlier_keys }
  },
  staleTime: 300_000,
})
