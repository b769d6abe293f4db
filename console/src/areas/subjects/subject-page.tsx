/** One subject: current risk, details, rating history and event history. */
import { Alert, Badge, Button, Group, SimpleGrid, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { CopyValue } from '#console/ui/copy-value.tsx'
import { CalendarDay, DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { DefinitionName } from '#console/ui/decision/definition-name.tsx'
import { DeclaredValue } from '#console/ui/decision/inputs-form.tsx'
import { getTestDecisionIds, TEST_DECISION_TEXT } from '#console/ui/decision/is-test.ts'
import { TestMark } from '#console/ui/decision/is-test-mark.tsx'
import { BandMark } from '#console/ui/decision/outcome.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { useDeclaredInputs } from '#console/ui/decision/subject-matrices.ts'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { toSentence, toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListSkeleton, ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { SearchButton, SearchLink } from '#console/ui/search-link.tsx'
import { type Fact, Facts, Section } from '#console/ui/section.tsx'
import { riskQuery, subjectQuery } from '#console/ui/subject-queries.ts'
import { formatEntryValue } from '#console/ui/type-texts.ts'
import { OpenCase } from '#console/ui/work/open-case.tsx'
import { ErasedBadge, ErasedNote } from './erased-note.tsx'
import { OffboardDialog } from './offboard.tsx'
import { EndOverride, OverrideDialog } from './override.tsx'
import { OverrideReason, RatingAuthor } from './override-words.tsx'
import { RatingReasons } from './rating-reasons.tsx'
import { RelatedWork } from './related-work.tsx'
import { RiskChart } from './risk-chart.tsx'
import { SubjectDialog } from './subject-dialog.tsx'

type Subject = Schemas['Subject']
type Rating = Schemas['Rating']
type Event = Schemas['SubjectEvent']

export default function SubjectPage() {
  const { subject_id = '' } = useParams({ strict: false }) as { subject_id?: string }
  const { data: subject } = useSuspenseQuery(subjectQuery(subject_id))
  const may = usePermission()
  const [isChanging, changing] = useDisclosure(false)
  const [isLeaving, leaving] = useDisclosure(false)
  const [isOpening, opening] = useDisclosure(false)
  const isErased = subject.erased_at !== null
  return (
    <Page
      title={subject.name}
      mark={isErased ? <ErasedBadge /> : <StateBadge state={subject.state} />}
      about={`${toSentence(subject.subject_type)}${subject.segment === null ? '' : `, ${subject.segment}`}`}
      trail={
        <>
          <PageLink to="/subjects" inherit>
            Subjects
          </PageLink>
          {may('listInvestigations') && (
            <>
              {' · '}
              <SearchLink to="/investigations" search={{ subject: subject_id }} inherit>
                Investigations of this subject
              </SearchLink>
            </>
          )}
        </>
      }
      actions={
        <>
          {may('createEvaluation') && subject.state === 'active' && (
            <SearchButton to="/evaluations/new" search={{ subject: subject_id }}>
              Evaluate
            </SearchButton>
          )}
          {may('createInvestigation') && !isErased && (
            <Button variant="default" onClick={opening.open}>
              Open a case
            </Button>
          )}
          {may('createReport') && !isErased && (
            <SearchButton to="/reports" search={{ request: 'subject-dossier', subject_id }} variant="default">
              Dossier
            </SearchButton>
          )}
          {may('updateSubject') && subject.state === 'active' && (
            <Button variant="default" onClick={changing.open}>
              Edit
            </Button>
          )}
          {may('offboardSubject') && subject.state === 'active' && (
            <Button variant="subtle" color="red" onClick={leaving.open}>
              Offboard
            </Button>
          )}
        </>
      }
    >
      <Stack gap="md">
        {subject.erased_at !== null && <ErasedNote subject_id={subject_id} erased_at={subject.erased_at} />}
        <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
          <Risk subject={subject} />
          <SubjectRecord subject={subject} />
        </SimpleGrid>
        {may('listSubjectRatings') && (
          <Suspense fallback={<ListSkeleton />}>
            <Ratings subject_id={subject_id} />
          </Suspense>
        )}
        <RelatedWork subject={subject} />
        {may('listSubjectEvents') && <Events subject_id={subject_id} />}
      </Stack>
      {isChanging && <SubjectDialog subject={subject} onClose={changing.close} />}
      {isOpening && <OpenCase subject_id={subject_id} onClose={opening.close} />}
      {isLeaving && <OffboardDialog subject={subject} onClose={leaving.close} />}
    </Page>
  )
}

function Risk({ subject }: { readonly subject: Subject }) {
  const may = usePermission()
  const { data: risk } = useSuspenseQuery(riskQuery(subject.subject_id))
  const [isOverriding, overriding] = useDisclosure(false)
  const { rating, override } = risk
  const isTest = useTestDecisions(subject.subject_id).has(rating?.evaluation_id ?? null)
  return (
    <Section
      title="Current risk"
      actions={
        subject.state === 'active' && (
          <Group gap="xs">
            {override !== null && may('deleteRiskOverride') && <EndOverride subject_id={subject.subject_id} />}
            {may('createRiskOverride') && (
              <Button size="xs" variant="default" onClick={overriding.open}>
                Override
              </Button>
            )}
          </Group>
        )
      }
    >
      <Stack gap="sm">
        {risk.band === null ? <Text size="sm">Not rated yet.</Text> : <BandMark band={risk.band} isLarge />}
        {isTest && (
          <Alert color="yellow" title="The rating is a test" role="status">
            {TEST_DECISION_TEXT} It is not based on what the provider says now.
          </Alert>
        )}
        {override !== null && (
          <Alert color="orange" title="Override in force" role="status">
            <Text size="sm">
              <OverrideReason of={override} /> <RatingAuthor of={override} />
              {override.expires_at !== null && (
                <>
                  , until <DateTime at={override.expires_at} /> (<RelativeTime at={override.expires_at} />)
                </>
              )}
            </Text>
          </Alert>
        )}
        {rating !== null && (
          <Facts
            of={[
              ['Rating', <BandMark key="band" band={rating.band} />],
              rating.score_bps !== null && ['Score', `${rating.score_bps.toLocaleString('en')} of 10,000`],
              rating.matrix_key !== null && [
                'Matrix',
                <PageLink key="by" to={`/matrices/${rating.matrix_key}`} size="sm">
                  <DefinitionName family="matrix" definition_key={rating.matrix_key} />, version {rating.matrix_version}
                </PageLink>,
              ],
              ['Holds from', <DateTime key="from" at={rating.valid_at} />],
              ['Recorded', <DateTime key="when" at={rating.recorded_at} />],
              ['Decision', <DecisionLink key="decision" of={rating} />],
            ]}
          />
        )}
        {rating !== null && <RatingReasons rating={rating} />}
      </Stack>
      {isOverriding && <OverrideDialog subject={subject} onClose={overriding.close} />}
    </Section>
  )
}

/** The newest decisions are enough: tests are made before a provider goes live. */
const MAX_DECISIONS = 100

/** Ids of the decisions about a subject that are tests; empty until they are loaded. */
function useTestDecisions(subject_id: string): ReadonlySet<string | null> {
  const may = usePermission()
  const { data } = useQuery({
    queryKey: ['evaluations', 'tests', subject_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/evaluations', { params: { query: { subject_id, limit: MAX_DECISIONS } }, signal }),
    enabled: may('listEvaluations'),
    throwOnError: false,
  })
  return getTestDecisionIds(data?.items ?? [])
}

/** Links to the decision of a rating, or to its batch. */
function DecisionLink({ of }: { readonly of: Rating }) {
  if (of.evaluation_id !== null) {
    return (
      <PageLink to={`/evaluations/${of.evaluation_id}`} size="sm">
        View decision
      </PageLink>
    )
  }
  if (of.batch_id !== null) {
    return (
      <SearchLink to={`/batches/${of.batch_id}`} search={{ subject: of.subject_id }} size="sm">
        View in batch
      </SearchLink>
    )
  }
  return <span className="quiet">{of.reason ?? '–'}</span>
}

function SubjectRecord({ subject }: { readonly subject: Subject }) {
  const inputs = useDeclaredInputs(subject.subject_type)
  const toFact = ([name, value]: [string, unknown]): Fact => {
    const input = inputs?.find((one) => one.name === name)
    return input
      ? [input.title, <DeclaredValue key={name} input={input} value={value} />]
      : [toSentence(name), formatEntryValue(value)]
  }
  return (
    <Section title="Details">
      <Facts
        of={[
          ...Object.entries(subject.attributes).map(toFact),
          ['External id', subject.external_id],
          ['Subject id', <CopyValue key="id" value={subject.subject_id} name="the subject id" />],
          [
            'Last changed',
            <span key="changed">
              <DateTime at={subject.updated_at} />, by <Principal of={subject.updated_by} />
            </span>,
          ],
          subject.offboard_reason !== null && ['Offboarded', subject.offboard_reason],
        ]}
      />
    </Section>
  )
}

const notRated = {
  title: 'Not rated yet',
  about: 'Each rating of this subject appears here with its cause and the decision behind it.',
}

function NotRated({ subject_id }: { readonly subject_id: string }) {
  const may = usePermission()
  return (
    <EmptyState
      {...notRated}
      action={
        may('createEvaluation') && (
          <SearchButton to="/evaluations/new" search={{ subject: subject_id }} size="xs">
            Rate the subject
          </SearchButton>
        )
      }
    />
  )
}

function Ratings({ subject_id }: { readonly subject_id: string }) {
  const list = usePages<Rating>(['subjects', 'ratings', subject_id], (cursor, signal) =>
    probity.GET('/api/subjects/{subject_id}/risk-history', {
      params: { path: { subject_id }, query: { ...cursor, limit: 50 } },
      signal,
    }),
  )
  const tests = useTestDecisions(subject_id)
  if (!list.data) return <ListSkeleton />
  const ratings = list.data.pages.flatMap(({ items }) => items)
  return (
    <Section title="Rating history">
      {ratings.length === 0 ? (
        <NotRated subject_id={subject_id} />
      ) : (
        <Stack gap="md">
          <RiskChart ratings={ratings} />
          <ListTable<Rating>
            label="Ratings, newest first"
            list={list}
            empty={notRated}
            head={[
              { name: 'Rating' },
              { name: 'Score', from: 'sm' },
              { name: 'Cause', from: 'sm' },
              { name: 'Holds from' },
              { name: 'Recorded', from: 'sm' },
              { name: 'By', from: 'md' },
              { name: 'Decision' },
            ]}
            row={(one) => (
              <Table.Tr key={one.rating_id}>
                <Table.Td>
                  <Group gap={6}>
                    <BandMark band={one.band} />
                    <TestMark of={{ is_test: tests.has(one.evaluation_id) }} />
                  </Group>
                </Table.Td>
                <Table.Td visibleFrom="sm">{one.score_bps?.toLocaleString('en') ?? '–'}</Table.Td>
                <Table.Td visibleFrom="sm">
                  {toWords(one.cause)}
                  {one.reason_code !== null && (
                    <Text size="xs" c="dimmed">
                      <ReasonCodes of={[one.reason_code]} />
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>
                  <CalendarDay at={one.valid_at} />
                </Table.Td>
                <Table.Td visibleFrom="sm">
                  <RelativeTime at={one.recorded_at} />
                </Table.Td>
                <Table.Td visibleFrom="md">
                  {one.proposed_by === null ? <Principal of={one.actor} /> : <RatingAuthor of={one} />}
                </Table.Td>
                <Table.Td>
                  <DecisionLink of={one} />
                </Table.Td>
              </Table.Tr>
            )}
          />
        </Stack>
      )}
    </Section>
  )
}

function Events({ subject_id }: { readonly subject_id: string }) {
  const list = usePages<Event>(['subjects', 'events', subject_id], (cursor, signal) =>
    probity.GET('/api/subjects/{subject_id}/timeline', {
      params: { path: { subject_id }, query: { ...cursor, limit: 20 } },
      signal,
    }),
  )
  return (
    <Section title="Event history">
      <ListTable<Event>
        label="Events, newest first"
        list={list}
        empty={{
          title: 'No events yet',
          about: 'Changes of the record, ratings and overrides of this subject appear here.',
        }}
        head={[{ name: 'Event' }, { name: 'When' }, { name: 'By', from: 'sm' }]}
        row={(one) => (
          <Table.Tr key={one.event_id}>
            <Table.Td>
              {toWords(one.kind)} {one.band !== null && <BandMark band={one.band} />}{' '}
              {one.members.map((member) => (
                <Badge key={member} variant="default" tt="none" fw={500} mr={4}>
                  {toWords(member)}
                </Badge>
              ))}
              {one.reason !== null && <Text size="xs">“{one.reason}”</Text>}
            </Table.Td>
            <Table.Td>
              <DateTime at={one.at} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              <Principal of={one.actor} />
            </Table.Td>
          </Table.Tr>
        )}
      />
    </Section>
  )
}
