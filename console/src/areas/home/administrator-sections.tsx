/** What an administrator looks after: credentials, API keys, people and failed jobs. */

import { Badge } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { formatJobKind } from '#console/ui/event-texts.ts'
import { useFirstAnswer } from '#console/ui/first-answers.tsx'
import { formatCount } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { BlockedDefinitions } from '#console/ui/provider/blocked-definitions.tsx'
import { JobFailure } from '#console/ui/provider/job-failure.tsx'
import { gapsQuery } from '#console/ui/provider/provider-queries.ts'
import { gapNames, gapTexts, toGapTarget } from '#console/ui/provider/provider-texts.ts'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Facts, Section } from '#console/ui/section.tsx'
import { TargetName } from '#console/ui/target-name.tsx'
import { RowList } from './row-list.tsx'

type Administrator = Schemas['AdministratorOverview']

export function AdministratorSections({ of }: { readonly of: Administrator }) {
  return (
    <>
      <People of={of.users} />
      <Health of={of.failed_jobs} />
    </>
  )
}

/** Providers that cannot be called, and what that blocks. */
export function MissingCredentials({ hidesEmpty }: { readonly hidesEmpty: boolean }) {
  const { data, isLoading } = useQuery({ ...gapsQuery, throwOnError: false })
  useFirstAnswer(isLoading)
  if (data === undefined || (hidesEmpty && data.items.length === 0)) return null
  return (
    <Section
      title="Credentials missing"
      actions={
        <PageLink to="/provider-credentials" size="sm">
          All credentials
        </PageLink>
      }
    >
      <RowList
        label="Credentials missing"
        rows={data.items.map((gap) => {
          const { to, search } = toGapTarget(gap)
          return {
            key: `${gap.provider_key} ${gap.environment}`,
            link: (
              <SearchLink to={to} search={search} size="sm" fw={500}>
                <TargetName kind="provider" target_key={gap.provider_key} />
              </SearchLink>
            ),
            detail: (
              <>
                {gapTexts[gap.reason]} Began <RelativeTime at={gap.blocked_since} />. Blocks:
                <BlockedDefinitions gap={gap} />
              </>
            ),
            mark: (
              <Badge variant="light" tt="none" miw="max-content" color="red">
                {gapNames[gap.reason]}
              </Badge>
            ),
          }
        })}
        empty="Every provider that is called live has a credential that can be used."
      />
    </Section>
  )
}

const keyTexts = { expired: 'expired', expiring: 'expires soon', unused: 'not used for 90 days' } as const

export function KeysToCheck({ of }: { readonly of: Administrator['keys_to_check'] }) {
  return (
    <Section
      title="API keys to check"
      actions={
        <SearchLink to="/api-keys" search={{ state: 'active' }} size="sm">
          All active keys
        </SearchLink>
      }
    >
      <RowList
        label="API keys to check"
        rows={of.map((key) => ({
          key: key.key_id,
          link: (
            <SearchLink to="/api-keys" search={{ state: 'active' }} size="sm" fw={500}>
              {key.name}
            </SearchLink>
          ),
          detail: (
            <>
              {key.why === 'unused' ? (
                <>
                  Last used <RelativeTime at={key.last_used_at} />, created <RelativeTime at={key.created_at} />
                </>
              ) : (
                <>
                  {key.why === 'expired' ? 'Expired' : 'Expires'} <RelativeTime at={key.expires_at} />
                </>
              )}
            </>
          ),
          mark: (
            <Badge
              variant="light"
              tt="none"
              miw="max-content"
              color={key.why === 'unused' ? 'gray' : key.why === 'expired' ? 'red' : 'orange'}
            >
              {keyTexts[key.why]}
            </Badge>
          ),
        }))}
        empty="No key expires within 30 days, and none was unused for 90 days."
      />
    </Section>
  )
}

const people = [
  ['Active', 'active'],
  ['Invited, not signed in yet', 'invited'],
  ['Deactivated', 'inactive'],
] as const

function People({ of }: { readonly of: Administrator['users'] }) {
  return (
    <Section
      title="People"
      actions={
        <PageLink to="/users" size="sm">
          All users
        </PageLink>
      }
    >
      <Facts
        of={people.map(([label, state]) => [
          label,
          <SearchLink key={state} to="/users" search={{ state }} size="sm">
            {`${of[state].is_capped ? 'More than ' : ''}${formatCount(of[state].count, 'user')}`}
          </SearchLink>,
        ])}
      />
    </Section>
  )
}

function Health({ of }: { readonly of: Administrator['failed_jobs'] }) {
  return (
    <Section
      title="Failed jobs of the last 24 hours"
      actions={
        <PageLink to="/operations" size="sm">
          Operations
        </PageLink>
      }
    >
      <RowList
        label="Failed jobs"
        rows={of.map((job) => ({
          key: job.job_id,
          link: (
            <>
              <PageLink to={`/jobs/${job.job_id}`} size="sm" fw={500}>
                {formatJobKind(job.kind)}
              </PageLink>
              <RestrictionMark restriction_id={job.restriction_id} />
            </>
          ),
          detail: (
            <>
              <JobFailure reason={job.reason ?? 'The job says no reason.'} /> <RelativeTime at={job.finished_at} />
            </>
          ),
        }))}
        empty="No job failed."
      />
    </Section>
  )
}
