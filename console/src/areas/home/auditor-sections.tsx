/** What an auditor asks first: is the audit record intact, and which policy changed. */
import { Alert, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { formatCount } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { getDefinitionPath } from './definition-path.ts'
import { RowList } from './row-list.tsx'

type Auditor = Schemas['AuditorOverview']

export function LastVerification({ of }: { readonly of: Auditor['last_verification'] }) {
  return (
    <Section
      title="Audit record"
      actions={
        <PageLink to="/audit/verify" size="sm">
          All verifications
        </PageLink>
      }
    >
      {of === null ? (
        <>
          <Text size="sm" c="dimmed" mb="xs">
            The audit record was not verified yet. It is verified once a day, and whenever you ask for it.
          </Text>
          <ButtonLink to="/audit/verify" size="xs" variant="default" w="fit-content">
            Verify it now
          </ButtonLink>
        </>
      ) : (
        <Alert
          variant="light"
          color={of.intact === null ? 'gray' : of.intact ? 'teal' : 'red'}
          title={of.intact === null ? 'Verification is running' : of.intact ? 'Intact' : 'Altered'}
        >
          {of.intact === null ? 'Started ' : `${formatCount(of.events ?? 0, 'event')} checked `}
          <DateTime at={of.created_at} />
          {of.intact === false && `, ${formatCount(of.faults_total ?? 0, 'fault')} found`}
          {'. '}
          <SearchLink to="/audit/verify" search={{ run: of.verification_id }} size="sm">
            Open the report
          </SearchLink>
        </Alert>
      )}
    </Section>
  )
}

export function PolicyChanges({ of }: { readonly of: Auditor['policy_changes'] }) {
  return (
    <Section
      title="Recent changes of policy"
      actions={
        <PageLink to="/audit" size="sm">
          Audit record
        </PageLink>
      }
    >
      <RowList
        label="Recent changes of policy"
        rows={of.map((change) => ({
          key: change.activation_id,
          link: (
            <PageLink
              to={change.cr_id === null ? getDefinitionPath(change) : `/change-requests/${change.cr_id}`}
              size="sm"
              fw={500}
            >
              {change.summary}
            </PageLink>
          ),
          detail: (
            <>
              {change.proposed_by === null ? (
                <Principal of={change.actor} />
              ) : (
                <>
                  Proposed by <Principal of={change.proposed_by} />, approved by <Principal of={change.actor} />
                </>
              )}
              , <RelativeTime at={change.recorded_at} />: {change.reason}
            </>
          ),
        }))}
        empty="No list, matrix or rule of this tenant was put in force yet. Shared ones are changed by the operator."
      />
    </Section>
  )
}
