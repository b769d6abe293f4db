/** The name of a user if the viewer may look it up, otherwise the recorded id. */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { PageLink } from './link.tsx'

const kinds: Readonly<Record<string, string>> = { key: 'API key', job: 'Job', seed: 'Set-up', operator: 'Operator' }

export function Principal({ of }: { readonly of: string }) {
  const me = useMe()
  const may = usePermission()
  const [kind = '', id = ''] = of.split(/:(.*)/)
  const isMe = of === me.principal
  const { data: user } = useQuery({
    queryKey: ['users', id],
    queryFn: ({ signal }) => probity.GET('/api/users/{user_id}', { params: { path: { user_id: id } }, signal }),
    enabled: kind === 'user' && !isMe && may('getUser'),
    staleTime: 300_000,
    throwOnError: false,
  })
  if (isMe) return <span title={of}>you</span>
  if (user)
    return (
      <PageLink to={`/users/${id}`} inherit>
        {user.name}
      </PageLink>
    )
  return (
    <span title={of}>
      {kinds[kind] ?? formatPrincipal(kind)} <span className="mono">{id.slice(-8)}</span>
    </span>
  )
}

const formatPrincipal = (kind: string): string => (kind === 'user' ? 'Person' : kind)
