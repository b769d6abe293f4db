/** Access of the user that ends by itself: with it nobody changes who has access, whatever their role. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { useIsMlro } from './use-is-mlro.ts'

const MAX_LISTED = 200

/** When it ends; null where it does not, and for the designated MLRO, who has access without a grant. */
export function useOwnAccessEnd(restriction_id: string | null): string | null {
  const { principal } = useMe()
  const may = usePermission()
  const isMlro = useIsMlro()
  const { data } = useQuery({
    queryKey: ['restrictions', 'access', restriction_id, 'own'],
    queryFn: ({ signal }) =>
      probity.GET('/api/restrictions/{restriction_id}/access', {
        params: { path: { restriction_id: restriction_id ?? '' }, query: { limit: MAX_LISTED } },
        signal,
      }),
    enabled: restriction_id !== null && may('updateRestrictionAccess'),
    throwOnError: false,
  })
  if (isMlro) return null
  return data?.items.find(({ user_id, effect }) => `user:${user_id}` === principal && effect === 'grant')?.until ?? null
}

export function EndingAccessNote({ until }: { readonly until: string }) {
  return (
    <Text size="sm" role="note">
      Your access ends by itself at <DateTime at={until} />. Somebody whose access does not end changes who has access.
    </Text>
  )
}
