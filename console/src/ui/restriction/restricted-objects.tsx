/** What belongs to a restriction, by name: cases, alerts, documents, holds and reports that the user may see. */
import { Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { toWords } from '../format.ts'
import { PageLink } from '../link.tsx'

interface RestrictedObject {
  readonly restriction_id: string | null
  readonly name: string
  readonly to: string
}

const MAX_OBJECTS = 200
const MAX_SHOWN = 3

/** From lists, because a read of one restricted object is recorded. Only the newest of each kind are found. */
function useRestrictedObjects(): readonly RestrictedObject[] | null {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['restrictions', 'objects'],
    queryFn: async ({ signal }): Promise<readonly RestrictedObject[]> => {
      const request = { params: { query: { limit: MAX_OBJECTS } }, signal }
      const found = await Promise.all([
        may('listInvestigations') && probity.GET('/api/investigations', request).then(nameCases),
        may('listAlerts') && probity.GET('/api/alerts', request).then(nameAlerts),
        may('listDocuments') && probity.GET('/api/documents', request).then(nameDocuments),
        may('listHolds') && probity.GET('/api/holds', request).then(nameHolds),
        may('listReports') && probity.GET('/api/reports', request).then(nameReports),
      ])
      return found.flatMap((objects) => objects || [])
    },
    staleTime: 30_000,
    throwOnError: false,
  })
  return data ?? null
}

interface Items<T> {
  readonly items: readonly T[]
}

const nameCases = ({ items }: Items<Schemas['InvestigationSummary']>) =>
  items.map(({ restriction_id, investigation_id, reference }) => ({
    restriction_id,
    name: `Case ${reference}`,
    to: `/investigations/${investigation_id}`,
  }))

const nameAlerts = ({ items }: Items<Schemas['Alert']>) =>
  items.map(({ restriction_id, alert_id, title }) => ({
    restriction_id,
    name: `Alert: ${title}`,
    to: `/inbox/alerts/${alert_id}`,
  }))

const nameDocuments = ({ items }: Items<Schemas['Document']>) =>
  items.map(({ restriction_id, document_id, title }) => ({
    restriction_id,
    name: `Document: ${title ?? 'erased'}`,
    to: `/documents/${document_id}`,
  }))

const nameHolds = ({ items }: Items<Schemas['Hold']>) =>
  items.map(({ restriction_id, hold_id, reason }) => ({
    restriction_id,
    name: `Hold: ${reason}`,
    to: `/holds/${hold_id}`,
  }))

const nameReports = ({ items }: Items<Schemas['Report']>) =>
  items.map(({ restriction_id, report_id, template_key }) => ({
    restriction_id,
    name: `Report: ${toWords(template_key)}`,
    to: `/reports/${report_id}`,
  }))

interface RestrictedObjectsProps {
  readonly restriction_id: string
  /** How many are named. */
  readonly max?: number
  /** Shown where nothing is found. */
  readonly empty?: string
}

export function RestrictedObjects({ restriction_id, max = MAX_SHOWN, empty }: RestrictedObjectsProps) {
  const found = useRestrictedObjects()?.filter((one) => one.restriction_id === restriction_id)
  if (found === undefined) return null
  if (found.length === 0) return empty === undefined ? null : <Text size="sm">{empty}</Text>
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
