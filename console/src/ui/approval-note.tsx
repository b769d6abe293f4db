/** What a governed change turns into where the tenant asks for four eyes. */
import { Alert, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { PageLink } from './link.tsx'
import { plural, spaced } from './words.ts'

export function ApprovalNote({ request }: { readonly request: Schemas['ChangeRequest'] | null }) {
  if (request === null) return null
  return (
    <Alert color="cyan" title="Waits for approval" role="status">
      <Text size="sm">
        Nothing has changed yet. {plural(request.approvers, 'person', 'people')} with the role{' '}
        {spaced(request.required_role)} must approve it first.{' '}
        <PageLink to={`/change-requests/${request.cr_id}`} inherit fw={600}>
          Open the change request
        </PageLink>
      </Text>
    </Alert>
  )
}
