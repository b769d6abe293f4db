/** What an analyst has to follow up: overrides that expire, failed batch items, refused rows, and required actions. */

import { Badge, Group, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { DefinitionName } from '#console/ui/decision/definition-name.tsx'
import { BandMark, HitMark } from '#console/ui/decision/outcome.tsx'
import { formatCount, toWords } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { RowList } from './row-list.tsx'

type Analyst = Schemas['AnalystOverview']

export function AnalystSections({ of }: { readonly of: Analyst }) {
  return (
    <>
      <FollowUps of={of} />
      <RequiredActions of={of.decisions_with_actions} />
    </>
  )
}

function FollowUps({ of }: { readonly of: Analyst }) {
  const { overrides_expiring, next_overrides, batches_with_failures, uploads_with_rejects } = of
  const rows = [
    ...batches_with_failures.map((batch) => ({
      key: batch.batch_id,
      link: (
        <SearchLink to={`/batches/${batch.batch_id}`} search={{ state: 'failed' }} size="sm" fw={500}>
          <DefinitionName {...batch} />
          {`: ${formatCount(batch.failed, 'item')} of ${batch.items.toLocaleString('en')} could not be decided`}
        </SearchLink>
      ),
      detail: (
        <>
          Batch, <RelativeTime at={batch.created_at} />
        </>
      ),
    })),
    ...uploads_with_rejects.map((upload) => ({
      key: upload.bulk_id,
      link: (
        <PageLink to={`/subjects/upload/${upload.bulk_id}`} size="sm" fw={500}>
          {`${upload.file_name ?? 'File of subjects'}: ${formatCount(upload.rejected, 'row')} of ${upload.rows.toLocaleString('en')} refused`}
        </PageLink>
      ),
      detail: (
        <>
          Upload, <RelativeTime at={upload.created_at} />
        </>
      ),
    })),
    ...next_overrides.map((override) => ({
      key: override.subject_id,
      link: (
        <PageLink to={`/subjects/${override.subject_id}`} size="sm" fw={500}>
          {override.name}
        </PageLink>
      ),
      detail: (
        <>
          Override expires <RelativeTime at={override.expires_at} />; the rating of the matrix then applies again
        </>
      ),
      mark: <BandMark band={override.band} />,
    })),
  ]
  const before = overrides_expiring.rows.query['override_expires_before'] ?? ''
  return (
    <Section
      title="Needs your attention"
      actions={
        overrides_expiring.count > 0 && (
          <SearchLink to="/subjects" search={{ override_expires_before: before, state: 'active' }} size="sm">
            {`${overrides_expiring.is_capped ? 'More than ' : ''}${formatCount(overrides_expiring.count, 'override')} expiring`}
          </SearchLink>
        )
      }
    >
      <RowList
        label="What needs you"
        rows={rows}
        empty="Nothing needs your attention. Overrides that expire within 14 days, batch items that could not be decided and refused rows of uploads appear here."
      />
    </Section>
  )
}

function RequiredActions({ of }: { readonly of: Analyst['decisions_with_actions'] }) {
  return (
    <Section
      title="Recent decisions with required actions"
      actions={
        <PageLink to="/evaluations" size="sm">
          All evaluations
        </PageLink>
      }
    >
      <RowList
        label="Recent decisions with required actions"
        rows={of.map((decision) => ({
          key: decision.evaluation_id,
          link: (
            <PageLink to={`/evaluations/${decision.evaluation_id}`} size="sm" fw={500}>
              {decision.subject_name ?? <DefinitionName {...decision} />}
            </PageLink>
          ),
          detail: (
            <Group gap={6}>
              {decision.required_actions.map((action) => (
                <Badge key={action} variant="default" tt="none" fw={500}>
                  {toWords(action).toLowerCase()}
                </Badge>
              ))}
              <RelativeTime at={decision.decided_at} />
            </Group>
          ),
          mark:
            decision.band !== null ? (
              <BandMark band={decision.band} />
            ) : (
              decision.hit !== null && <HitMark hit={decision.hit} />
            ),
        }))}
        empty={
          <>
            <Text size="sm" mb="xs">
              No recent decision requires an action. A matrix or rule names the actions that follow from its result.
            </Text>
            <ButtonLink to="/evaluations/new" size="xs" variant="default">
              Evaluate a subject
            </ButtonLink>
          </>
        }
      />
    </Section>
  )
}
