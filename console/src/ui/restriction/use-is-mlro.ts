/** Whether the user is the designated MLRO. */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'

export function useIsMlro(): boolean {
  const { principal } = useMe()
  const may = usePermission()
  const user_id = principal.startsWith('user:') ? principal.slice('user:'.length) : ''
  const { data } = useQuery({
    queryKey: ['users', user_id, 'self'],
    queryFn: ({ signal }) => probity.GET('/api/users/{user_id}', { params: { path: { user_id } }, signal }),
    enabled: user_id !== '' && may('getUser'),
    throwOnError: false,
  })
  return data?.is_mlro ?? false
}
