/**
 * The portfolio: active subjects by risk band now, and how the bands moved. Counts and changes open their subjects; the page
 * address holds period and matrix, so that the same figures are shown after going back.
 */
import { Group, SegmentedControl, Select, Skeleton, Text } from '@mantine/core'
import { isProblem, type Schemas } from '@probity/client'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { formatUtcDay } from '#console/ui/date-format.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { getSeverity } from '#console/ui/decision/band-chart.tsx'
import { describeUnknown, UnknownFilter, useSetFilter } from '#console/ui/filters.tsx'
import { toSentence } from '#console/ui/format.ts'
import { ButtonLink } from '#console/ui/link.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { SearchLink } from '#console/ui/search-link.tsx'
import { Section } from '#console/ui/section.tsx'
import { PortfolioChart } from './portfolio-chart.tsx'

type Distribution = Schemas['RiskDistribution']

const A_YEAR = { value: '365', label: 'A year' }
const periods = [{ value: '30', label: '30 days' }, { value: '90', label: '90 days' }, A_YEAR]
const DAY_MS = 86_400_000

export function Portfolio() {
  const search = useSearch({ strict: false }) as Readonly<Record<string, unknown>>
  const set = useSetFilter()
  const given = String(search['days'] ?? A_YEAR.value)
  const period = periods.find(({ value }) => value === given)
  const days = (period ?? A_YEAR).value
  const matrix_key = search['matrix_key'] === undefined ? null : String(search['matrix_key'])
  const from_on = new Date(Date.now() - (Number(days) - 1) * DAY_MS).toISOString().slice(0, 10)
  const { data, error } = useQuery({
    queryKey: ['risk-distribution', from_on, matrix_key],
    queryFn: ({ signal }) =>
      probity.GET('/api/analytics/risk-distribution', {
        params: { query: { from_on, ...(matrix_key !== null && { matrix_key }) } },
        signal,
      }),
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    throwOnError: false,
  })
  return (
    <Section
      title="Portfolio by risk band"
      actions={
        <SegmentedControl
          size="xs"
          aria-label="Period"
          data={periods}
          value={days}
          onChange={(chosen) => set('days', chosen === A_YEAR.value ? null : Number(chosen))}
        />
      }
    >
      {period === undefined && (
        <Text size="sm" c="red">
          {describeUnknown(given)}
        </Text>
      )}
      {matrix_key !== null && isProblem(error) && [409, 422].includes(error.status) ? (
        <UnknownFilter name="matrix_key" word="matrix" given={matrix_key} />
      ) : (
        <ProblemNote problem={isProblem(error) ? error : null} />
      )}
      {data === undefined && error === null && <Skeleton height={260} role="status" aria-label="Loading" />}
      {data !== undefined && data.matrices.length > 1 && (
        <Select
          size="xs"
          mb="sm"
          maw={280}
          label="Rated by"
          placeholder="Any matrix"
          clearable
          data={data.matrices.map((key) => ({ value: key, label: toSentence(key) }))}
          value={matrix_key}
          onChange={(chosen) => set('matrix_key', chosen)}
          clearButtonProps={{ 'aria-label': 'Any matrix' }}
        />
      )}
      {data !== undefined && (data.latest === null ? <NoRatings /> : <Counts of={data} latest={data.latest} />)}
    </Section>
  )
}

function NoRatings() {
  const may = usePermission()
  return (
    <>
      <Text size="sm" c="dimmed" mb="xs">
        No active subject is rated yet, so there is nothing to count. Each rating counts from its valid time on.
      </Text>
      {may('createEvaluation') && (
        <ButtonLink to="/evaluations/new" size="xs" variant="default" w="fit-content">
          Evaluate a subject
        </ButtonLink>
      )}
    </>
  )
}

interface CountsProps {
  readonly of: Distribution
  readonly latest: NonNullable<Distribution['latest']>
}

function Counts({ of, latest }: CountsProps) {
  const first = of.days[0]?.on ?? latest.on
  const matrix = of.matrix_key === null ? {} : { matrix_key: of.matrix_key }
  const isNow = latest.counted_at !== null
  return (
    <>
      <ul className="portfolio-bands" aria-label="Active subjects by band">
        {of.bands.map(({ band, title, subjects, change }, place) => (
          <li key={band}>
            <span className={`swatch severity-${getSeverity(place, of.bands.length)}`} aria-hidden="true" />
            <span>{title}</span>
            <SearchLink
              to={isNow ? '/subjects' : '/subjects/bands'}
              search={isNow ? { band, state: 'active' } : { band, on: latest.on, ...matrix }}
              fw={700}
              size="lg"
              className="number"
            >
              {subjects.toLocaleString('en')}
            </SearchLink>
            <SearchLink
              to="/subjects/movements"
              search={{ band, from_on: first, ...(!isNow && { until_on: latest.on }), ...matrix }}
              size="xs"
            >
              {change === 0 ? 'unchanged' : formatChange(change)}
              <span className="sr-only">{` since ${formatUtcDay(first)}`}</span>
            </SearchLink>
          </li>
        ))}
      </ul>
      <PortfolioChart bands={of.bands} days={of.days} matrix_key={of.matrix_key} />
      <Group gap="xs" justify="space-between">
        <Text size="xs" c="dimmed">
          {latest.counted_at === null ? (
            `As of the end of ${formatUtcDay(latest.on)} (UTC)`
          ) : (
            <>
              Counted <DateTime at={latest.counted_at} />
            </>
          )}
          {`; changes since ${formatUtcDay(first)}. By valid time, overrides included. `}A count opens the customers who
          are in the band, a change those who came into it or left it.
        </Text>
      </Group>
    </>
  )
}

const formatChange = (change: number): string => `${change > 0 ? '+' : '−'}${Math.abs(change).toLocaleString('en')}`
