/** Change requests in words: those waiting for the user's approval, and the user's own. */
import { Badge } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { RowList } from './row-list.tsx'

type Change = Schemas['ChangeInWords']

const toRow = (change: Change) => ({
  key: change.cr_id,
  link: (
    <>
      <PageLink to={`/change-requests/${change.cr_id}`} size="sm" fw={500}>
        {change.summary}
      </PageLink>
      <RestrictionMark restriction_id={change.restriction_id} />
    </>
  ),
  detail: (
    <>
      Proposed by <Principal of={change.created_by} /> <RelativeTime at={change.created_at} />
      {change.approvers !== null && change.approvers > 1 && `, ${change.approvals} of ${change.approvers} approvals`}
    </>
  ),
  mark:
    change.impact === 'missing' ? (
      <Badge color="orange" variant="light" tt="none" miw="max-content">
        impact not measured
      </Badge>
    ) : undefined,
})

export function ApprovalInbox({ of }: { readonly of: Schemas['ApprovalOverview'] }) {
  const { waiting, inbox } = of
  return (
    <Section
      title="Waiting for your approval"
      actions={
        <SearchLink to="/change-requests" search={{ view: 'mine' }} size="sm">
          {waiting.count === 0
            ? 'All change requests'
            : `${waiting.is_capped ? 'More than ' : ''}${formatCount(waiting.count, 'change request')}`}
        </SearchLink>
      }
    >
      <RowList
        label="Change requests waiting for you"
        rows={inbox.map(toRow)}
        empty="No changes wait for your approval. Changes that need approval appear here when somebody proposes them."
      />
    </Section>
  )
}

export function OpenProposals({ of }: { readonly of: readonly Change[] }) {
  return (
    <Section
      title="Your open proposals"
      actions={
        <SearchLink to="/change-requests" search={{ view: 'all', state: 'open' }} size="sm">
          All open change requests
        </SearchLink>
      }
    >
      <RowList label="Your open proposals" rows={of.map(toRow)} empty="None of your changes is waiting for approval." />
    </Section>
  )
}
