/** The note shown when a change became a change request. */
import { Alert, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { formatCount, toWords } from './format.ts'
import { PageLink } from './link.tsx'

export function ApprovalNote({ request }: { readonly request: Schemas['ChangeRequest'] | null }) {
  if (request === null) return null
  return (
    <Alert color="cyan" title="Waiting for approval" role="status">
      <Text size="sm">
        Nothing has changed yet. {formatCount(request.approvers, 'person', 'people')} with the role{' '}
        {toWords(request.required_role)} must approve it first.{' '}
        <PageLink to={`/change-requests/${request.cr_id}`} inherit fw={600}>
          Open the change request
        </PageLink>
      </Text>
    </Alert>
  )
}
