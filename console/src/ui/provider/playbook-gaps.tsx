/** Providers of a version of a playbook that cannot be called for want of a credential. Publishing and activation do not refuse it. */
import { Alert, List, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { Icon } from '../icons.tsx'
import { PageLink } from '../link.tsx'
import type { Origin } from '../origin.ts'
import { gapTexts } from './provider-texts.ts'

interface PlaybookGapsProps {
  readonly playbook_key: string
  readonly version: number | 'draft'
  /** Whose it is; the tenant and the operator may each have a playbook of this key. */
  readonly origin: Origin
  /** Of the draft: it is checked again after each change. */
  readonly revision?: number
}

export function PlaybookGaps({ playbook_key, version, origin, revision = 0 }: PlaybookGapsProps) {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['provider-credentials', 'gaps', 'playbook', playbook_key, version, origin, revision],
    queryFn: ({ signal }) =>
      probity.POST('/api/playbooks/{playbook_key}/versions/{version}/validate', {
        params: { path: { playbook_key, version: String(version) }, query: { origin } },
        signal,
      }),
    enabled: may('validatePlaybookVersion'),
    placeholderData: (before) => before,
    throwOnError: false,
  })
  if (!data || data.missing_credentials.length === 0) return null
  return (
    <Alert color="yellow" icon={<Icon name="warning" />} title="Credentials are missing" role="status">
      <Text size="sm">
        Steps call providers that have no usable credential. While a required step has no other provider, no case can be
        opened by this playbook:
      </Text>
      <List size="sm">
        {data.missing_credentials.map(({ provider_key, environment, reason }) => (
          <List.Item key={`${provider_key} ${environment}`}>
            <PageLink to={`/providers/${provider_key}`} inherit>
              {provider_key}
            </PageLink>
            {environment === 'test' && ' (test system)'}: {gapTexts[reason]}
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
