/** What is left of a subject that was erased: when, and the erasure that did it. */
import { Alert, Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { PageLink } from '#console/ui/link.tsx'

export const ErasedBadge = () => (
  <Badge variant="light" color="gray" tt="none" miw="max-content">
    erased
  </Badge>
)

interface ErasedNoteProps {
  readonly subject_id: string
  readonly erased_at: string
}

export function ErasedNote({ subject_id, erased_at }: ErasedNoteProps) {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['erasures', 'of-subject', subject_id],
    queryFn: ({ signal }) => probity.GET('/api/erasures', { params: { query: { subject_id, limit: 10 } }, signal }),
    enabled: may('listErasures'),
    throwOnError: false,
  })
  const erasure = data?.items.find(({ state }) => state === 'done' || state === 'executing')
  return (
    <Alert color="gray" role="note" aria-label="Erased">
      What was stored about this subject was erased on <DateTime at={erased_at} />. No case can be opened and no dossier
      made.
      {erasure !== undefined && (
        <>
          {' '}
          <PageLink to={`/erasures/${erasure.erasure_id}`} inherit>
            Open the erasure
          </PageLink>
        </>
      )}
    </Alert>
  )
}
