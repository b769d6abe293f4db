/** The legal hold of a document, with the padlock of the hold's own restriction. */
import { Badge, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { probity } from '#console/session/client.ts'
import { PageLink } from '#console/ui/link.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'

/** Nothing where the document has no hold that the user may see. */
export function HeldBadge({ document_id }: { readonly document_id: string }) {
  const { data } = useQuery({
    queryKey: ['holds', 'of', document_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/holds', { params: { query: { object_id: document_id, state: 'active', limit: 1 } }, signal }),
    throwOnError: false,
  })
  const [hold] = data?.items ?? []
  if (!hold) return null
  return (
    <Group gap="xs">
      <PageLink to={`/holds/${hold.hold_id}`} size="sm">
        <Badge variant="light" tt="none" miw="max-content" color="orange">
          legal hold
        </Badge>
      </PageLink>
      <RestrictionMark restriction_id={hold.restriction_id} />
    </Group>
  )
}
