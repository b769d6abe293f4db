/** Compares two decisions: results, and differences in inputs, versions and reasons. */
import { Alert, Badge, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { queryOptions, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { Suspense } from 'react'
import { probity } from '#console/session/client.ts'
import { formatDateTime } from '#console/ui/date-format.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { Changes } from '#console/ui/decision/changes.tsx'
import { getKind, textQuery } from '#console/ui/decision/definition-kind.ts'
import { parseDefinition } from '#console/ui/decision/definition-model.ts'
import { FromTo, formatResult } from '#console/ui/decision/outcome.tsx'
import { ScoreOnBands } from '#console/ui/decision/verdict.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { useSetFilter } from '#console/ui/filters.tsx'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Section } from '#console/ui/section.tsx'
import { groupChangesByPart } from './changes-by-part.ts'
import { evaluationQuery } from './evaluation-queries.ts'

type Comparison = Schemas['EvaluationComparison']
type Item = Schemas['EvaluationItem']

const comparisonQuery = (before: string, after: string) =>
  queryOptions({
    queryKey: ['evaluations', 'comparison', before, after],
    queryFn: ({ signal }) =>
      probity.POST('/api/evaluations/compare', { body: { evaluation_ids: [before, after] }, signal }),
    // Decisions never change.
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Decisions about the same subject or, without a subject, by the same definition. */
const candidatesQuery = ({ subject_id, family, definition_key }: Item | Schemas['Evaluation']) =>
  queryOptions({
    queryKey: ['evaluations', 'others', subject_id, family, definition_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/evaluations', {
        params: {
          query: {
            limit: 100,
            ...(subject_id !== null
              ? { subject_id }
              : family === 'rule'
                ? { rule_key: definition_key }
                : { matrix_key: definition_key }),
          },
        },
        signal,
      }),
  })

export default function ComparePage() {
  const { one = '', other } = useSearch({ strict: false }) as { one?: string; other?: string }
  return (
    <Page
      title="Compare two decisions"
      about="The earlier decision is on the left. Only differences are shown."
      trail={
        <PageLink to="/evaluations" inherit>
          Evaluations
        </PageLink>
      }
    >
      {one === '' ? (
        <EmptyState
          title="No decision chosen yet"
          about="A comparison shows two decisions side by side. Open a decision and select Compare."
          action={
            <ButtonLink to="/evaluations" size="xs">
              Open evaluations
            </ButtonLink>
          }
        />
      ) : (
        <Suspense fallback={<ListSkeleton />}>
          <DecisionChoice one={one} other={other ?? null} />
        </Suspense>
      )}
    </Page>
  )
}

function DecisionChoice({ one, other }: { readonly one: string; readonly other: string | null }) {
  const set = useSetFilter()
  const { data: first } = useSuspenseQuery(evaluationQuery(one))
  const { data: others } = useSuspenseQuery(candidatesQuery(first))
  const choices = others.items.filter(({ evaluation_id }) => evaluation_id !== one)
  // The ids of decisions are ordered by time.
  const [before, after] = other !== null && other > one ? [one, other] : [other, one]
  return (
    <Stack gap="md">
      <Select
        label={`Compare the decision of ${formatDateTime(first.decided_at)} with`}
        placeholder={choices.length === 0 ? 'No other decision' : 'Choose another decision'}
        disabled={choices.length === 0}
        searchable
        maw={520}
        data={choices.map((item) => ({ value: item.evaluation_id, label: describeItem(item) }))}
        value={other}
        onChange={(chosen) => set('other', chosen)}
      />
      {before !== null && (
        <Suspense fallback={<ListSkeleton />}>
          <ComparisonView before={before} after={after} />
        </Suspense>
      )}
    </Stack>
  )
}

const describeItem = (item: Item): string =>
  `${formatDateTime(item.decided_at)}: ${formatResult(item)} by ${item.definition_key}, version ${item.definition_version}`

function ComparisonView({ before, after }: { readonly before: string; readonly after: string }) {
  const { data } = useSuspenseQuery(comparisonQuery(before, after))
  return (
    <>
      <OutcomeComparison of={data} />
      <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
        <VersionComparison name="Outcome" isSame={data.same_outcome} />
        <VersionComparison name="Inputs" isSame={data.same_inputs} />
        <VersionComparison name="Versions" isSame={data.same_versions} />
      </SimpleGrid>
      {data.changes.length === 0 && (
        <Alert color="teal" title="No differences" role="status">
          <Text size="sm">Both decision documents are identical.</Text>
        </Alert>
      )}
      {groupChangesByPart(data.changes).map(({ title, changes }) => (
        <Section key={title} title={title}>
          <Changes changes={changes} label={`${title}: differences`} sides={['Earlier', 'Later']} />
        </Section>
      ))}
    </>
  )
}

function VersionComparison({ name, isSame }: { readonly name: string; readonly isSame: boolean }) {
  return (
    <Group gap="xs">
      <Text size="sm" fw={600}>
        {name}
      </Text>
      <Badge variant="light" tt="none" color={isSame ? 'teal' : 'orange'}>
        {isSame ? 'the same' : 'different'}
      </Badge>
    </Group>
  )
}

function OutcomeComparison({ of: { before, after } }: { readonly of: Comparison }) {
  const kind = getKind(after.family)
  const { data: text } = useQuery({
    ...textQuery(kind, after.definition.key, after.definition.version, after.definition.origin),
    throwOnError: false,
  })
  const bands = text ? parseDefinition(text.definition).bands : undefined
  return (
    <Section title="Results">
      <Stack gap="sm">
        <Group gap="md">
          <FromTo from={before} to={after} />
          <Text size="sm" c="dimmed">
            <PageLink to={`/evaluations/${before.evaluation_id}`} inherit>
              <DateTime at={before.decided_at} />
            </PageLink>{' '}
            and{' '}
            <PageLink to={`/evaluations/${after.evaluation_id}`} inherit>
              <DateTime at={after.decided_at} />
            </PageLink>
          </Text>
        </Group>
        {bands && after.score_bps !== null && before.score_bps !== null && (
          <ScoreOnBands
            bands={bands}
            score_bps={after.score_bps}
            pinned={after.lists.find(({ list_key }) => list_key === bands.list_key)}
            other={{ name: 'earlier', score_bps: before.score_bps }}
          />
        )}
      </Stack>
    </Section>
  )
}
