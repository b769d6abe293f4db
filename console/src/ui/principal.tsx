/** The name of a person, with a link where the viewer may open the account. Keys have names too; jobs are shown by their recorded id. */
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { PageLink } from './link.tsx'
import { LoadingText } from './loading-text.tsx'

const kinds: Readonly<Record<string, string>> = { key: 'API key', job: 'Job', seed: 'Set-up', operator: 'Operator' }
const UUID = /^[0-9a-f-]{36}$/

interface PrincipalProps {
  readonly of: string
  /** Shows the viewer by name too, as evidence does, instead of as "you". */
  readonly isAlwaysNamed?: boolean
}

export function Principal({ of, isAlwaysNamed = false }: PrincipalProps) {
  const me = useMe()
  const may = usePermission()
  const [kind = '', id = ''] = of.split(/:(.*)/)
  const isMe = of === me.principal
  const { data: name, isLoading } = useQuery({
    queryKey: ['users', 'name', kind, id],
    queryFn: async ({ signal }) =>
      kind === 'key'
        ? (await probity.GET('/api/api-keys/{key_id}/name', { params: { path: { key_id: id } }, signal })).name
        : (await probity.GET('/api/users/{user_id}/name', { params: { path: { user_id: id } }, signal })).name,
    enabled:
      UUID.test(id) && !isMe && ((kind === 'user' && may('getUserName')) || (kind === 'key' && may('getApiKeyName'))),
    staleTime: 300_000,
    throwOnError: false,
  })
  if (isMe) return <span title={of}>{isAlwaysNamed && me.name !== null ? `${me.name} (you)` : 'you'}</span>
  if (isLoading) return <LoadingText />
  if (name !== undefined && kind === 'key') return <span title={of}>API key {name}</span>
  if (name !== undefined) {
    return may('getUser') ? (
      <PageLink to={`/users/${id}`} inherit>
        {name}
      </PageLink>
    ) : (
      <span title={of}>{name}</span>
    )
  }
  const words = (
    <>
      {kinds[kind] ?? formatPrincipal(kind)} <span className="mono">{id.slice(-8)}</span>
    </>
  )
  return kind === 'job' && UUID.test(id) && may('getJob') ? (
    <PageLink to={`/jobs/${id}`} inherit>
      {words}
    </PageLink>
  ) : (
    <span title={of}>{words}</span>
  )
}

const formatPrincipal = (kind: string): string => (kind === 'user' ? 'Person' : kind)
