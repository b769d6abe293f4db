/** The state of a document, and what the malware scanner says about it. */
import { Badge } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import type { StoredDocument } from '#console/ui/document/document-queries.ts'
import { PageLink } from '#console/ui/link.tsx'

const stateColors = {
  storing: 'blue',
  stored: 'teal',
  damaged: 'red',
  failed: 'red',
  deleted: 'gray',
  erased: 'gray',
} as const

export const StateBadge = ({ state }: Pick<StoredDocument, 'state'>) => (
  <Badge variant="light" tt="none" miw="max-content" color={stateColors[state]}>
    {state}
  </Badge>
)

/** Nothing where the document has no hold that the user may see. */
export function HeldBadge({ document_id }: Pick<StoredDocument, 'document_id'>) {
  const { data } = useQuery({
    queryKey: ['holds', 'of', document_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/holds', { params: { query: { object_id: document_id, state: 'active', limit: 1 } }, signal }),
    throwOnError: false,
  })
  const [hold] = data?.items ?? []
  if (!hold) return null
  return (
    <PageLink to={`/holds/${hold.hold_id}`} size="sm">
      <Badge variant="light" tt="none" miw="max-content" color="orange">
        legal hold
      </Badge>
    </PageLink>
  )
}

export const scanTexts = {
  not_scanned: 'not scanned',
  clean: 'clean',
  infected: 'infected',
  failed: 'the scan failed',
} as const
