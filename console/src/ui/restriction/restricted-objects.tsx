/** What belongs to a restriction, by name: cases, alerts and documents that the user may see. */
import { Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { PageLink } from '../link.tsx'

interface RestrictedObject {
  readonly restriction_id: string | null
  readonly name: string
  readonly to: string
}

const MAX_OBJECTS = 200
const MAX_SHOWN = 3

/** From lists, because a read of one restricted object is recorded. Only the newest of each kind are found. */
function useRestrictedObjects(): readonly RestrictedObject[] {
  const may = usePermission()
  const isAllowed = may('listInvestigations') && may('listAlerts') && may('listDocuments')
  const { data } = useQuery({
    queryKey: ['restrictions', 'objects'],
    queryFn: async ({ signal }): Promise<readonly RestrictedObject[]> => {
      const params = { query: { limit: MAX_OBJECTS } }
      const [cases, alerts, documents] = await Promise.all([
        probity.GET('/api/investigations', { params, signal }),
        probity.GET('/api/alerts', { params, signal }),
        probity.GET('/api/documents', { params, signal }),
      ])
      return [
        ...cases.items.map(({ restriction_id, investigation_id, reference }) => ({
          restriction_id,
          name: `Case ${reference}`,
          to: `/investigations/${investigation_id}`,
        })),
        ...alerts.items.map(({ restriction_id, alert_id, title }) => ({
          restriction_id,
          name: `Alert: ${title}`,
          to: `/inbox/alerts/${alert_id}`,
        })),
        ...documents.items.map(({ restriction_id, document_id, title }) => ({
          restriction_id,
          name: `Document: ${title ?? 'erased'}`,
          to: `/documents/${document_id}`,
        })),
      ]
    },
    enabled: isAllowed,
    staleTime: 30_000,
    throwOnError: false,
  })
  return data ?? []
}

interface RestrictedObjectsProps {
  readonly restriction_id: string
  /** How many are named. */
  readonly max?: number
}

export function RestrictedObjects({ restriction_id, max = MAX_SHOWN }: RestrictedObjectsProps) {
  const found = useRestrictedObjects().filter((one) => one.restriction_id === restriction_id)
  if (found.length === 0) return null
  return (
    <Text size="sm" component="ul" className="plain-list">
      {found.slice(0, max).map(({ to, name }) => (
        <li key={to}>
          <PageLink to={to} inherit>
            {name}
          </PageLink>
        </li>
      ))}
      {found.length > max && <li className="quiet">and {found.length - max} more</li>}
    </Text>
  )
}
