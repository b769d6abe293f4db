/** What else is stored about a subject: alerts, documents and legal holds. */
import { Badge, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SearchButton } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { PriorityBadge } from '#console/ui/work/priority.tsx'

const limit = 5

function useRelated<T>(subject_id: string, name: string, isAllowed: boolean, read: () => Promise<{ items: T[] }>): T[] {
  const { data } = useQuery({
    queryKey: [name, 'subject', subject_id, limit],
    queryFn: read,
    enabled: isAllowed,
    throwOnError: false,
  })
  return data?.items ?? []
}

const formatKinds = new Intl.ListFormat('en', { type: 'disjunction' })

/** Names only what the user may read. */
function NothingFound() {
  const may = usePermission()
  const kinds = [
    ...(may('listAlerts') ? ['open alerts'] : []),
    ...(may('listDocuments') ? ['documents'] : []),
    ...(may('listHolds') ? ['active holds'] : []),
  ]
  return (
    <Text size="sm" c="dimmed">
      No {formatKinds.format(kinds)} of this subject.
    </Text>
  )
}

function Actions({ subject_id }: { readonly subject_id: string }) {
  const may = usePermission()
  const buttonProps = { size: 'xs', variant: 'default' } as const
  return (
    <Group gap="xs">
      {may('createDocument') && (
        <SearchButton to="/documents" search={{ store_for: subject_id }} {...buttonProps}>
          Store a document
        </SearchButton>
      )}
      {may('createHold') && (
        <SearchButton to="/holds" search={{ object_kind: 'subject', object_id: subject_id }} {...buttonProps}>
          Place a hold
        </SearchButton>
      )}
      {may('createErasure') && (
        <SearchButton to="/erasures/new" search={{ subject: subject_id }} {...buttonProps}>
          Preview an erasure
        </SearchButton>
      )}
    </Group>
  )
}

export function RelatedWork({ subject: { subject_id, state } }: { readonly subject: Schemas['Subject'] }) {
  const may = usePermission()
  const alerts = useRelated(subject_id, 'alerts', may('listAlerts'), () =>
    probity.GET('/api/alerts', { params: { query: { subject_id, limit } } }),
  )
  const documents = useRelated(subject_id, 'documents', may('listDocuments'), () =>
    probity.GET('/api/documents', { params: { query: { subject_id, limit } } }),
  )
  const holds = useRelated(subject_id, 'holds', may('listHolds'), () =>
    probity.GET('/api/holds', { params: { query: { object_id: subject_id, state: 'active', limit } } }),
  )
  if (!may('listAlerts') && !may('listDocuments') && !may('listHolds')) return null
  const isEmpty = alerts.length + documents.length + holds.length === 0
  return (
    <Section title="Alerts, documents and holds" actions={state === 'active' && <Actions subject_id={subject_id} />}>
      <Stack gap={6} component="ul" className="plain-list">
        {holds.map((hold) => (
          <li key={hold.hold_id}>
            <Badge color="orange" variant="light" tt="none" mr={6}>
              legal hold
            </Badge>
            <PageLink to={`/holds/${hold.hold_id}`} size="sm">
              {hold.reason}
            </PageLink>
            <RestrictionMark restriction_id={hold.restriction_id} />
          </li>
        ))}
        {alerts.map((alert) => (
          <li key={alert.alert_id}>
            <PriorityBadge priority={alert.priority} />{' '}
            <PageLink to={`/inbox/alerts/${alert.alert_id}`} size="sm">
              {alert.title}
            </PageLink>
            <RestrictionMark restriction_id={alert.is_restricted ? alert.restriction_id : null} />
            <Text span size="xs" c="dimmed">
              {' '}
              {toWords(alert.state)}, <RelativeTime at={alert.updated_at} />
            </Text>
          </li>
        ))}
        {documents.map((document) => (
          <li key={document.document_id}>
            <PageLink to={`/documents/${document.document_id}`} size="sm">
              {document.title ?? `Document ${document.document_id.slice(-8)}`}
            </PageLink>
            <RestrictionMark restriction_id={document.restriction_id} />
            {document.state !== 'stored' && (
              <Text span size="xs" c="dimmed">
                {' '}
                {toWords(document.state)}
              </Text>
            )}
          </li>
        ))}
      </Stack>
      {isEmpty && <NothingFound />}
    </Section>
  )
}
