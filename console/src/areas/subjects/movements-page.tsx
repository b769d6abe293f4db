/** The subjects behind a change of the portfolio: whose band is another at the end of a period. */
import { Group, Table, Text } from '@mantine/core'
import { isProblem, type Schemas } from '@probity/client'
import { probity } from '#console/session/client.ts'
import { formatUtcDay } from '#console/ui/date-format.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { BandMark } from '#console/ui/decision/outcome.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { BandFilter, CauseCell, hasRows, SubjectCells, UnknownBand, useBandFilters } from './band-list.tsx'
import { DayFilter, UnknownDay, useDay } from './day-filter.tsx'

type Movement = Schemas['RiskMovement']

export default function MovementsPage() {
  const filters = useBandFilters()
  const { value: from_on, unknown: unknown_from } = useDay('from_on')
  const { value: until_on, unknown: unknown_until } = useDay('until_on')
  const query = omitUndefined({ ...filters.query, from_on, until_on })
  const list = usePages<Movement>(
    ['subjects', 'movements', query],
    (cursor, signal) =>
      probity.GET('/api/analytics/risk-movements', { params: { query: { ...cursor, ...query, limit: 50 } }, signal }),
    { keeps_page: true },
  )
  const isKnown = filters.unknown === undefined && unknown_from === undefined && unknown_until === undefined
  const from = from_on === undefined ? 'a year before' : `at the end of ${formatUtcDay(from_on)} (UTC)`
  const until = until_on === undefined ? 'now' : `at the end of ${formatUtcDay(until_on)} (UTC)`
  return (
    <Page
      title="Movements between bands"
      about={`Customers whose band ${until} is not the one they had ${from}. Those who came into a band, less those who left it, are its change.`}
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <DayFilter name="from_on" label="From the end of" />
        <DayFilter name="until_on" label="To the end of" />
        <BandFilter of={filters} />
      </Group>
      <UnknownBand of={filters} />
      <UnknownDay name="from_on" />
      <UnknownDay name="until_on" />
      <ProblemNote problem={isProblem(list.error) ? list.error : null} />
      {isKnown && hasRows(list) && (
        <ListTable<Movement>
          label="Movements"
          list={list}
          empty={{
            title: 'Nobody moved',
            about: 'A customer is listed when a rating, an override or the end of the relationship changed the band.',
            filters: ['band', 'from_on', 'until_on', 'matrix_key'],
          }}
          head={[
            { name: 'Name' },
            { name: 'External id', from: 'md' },
            { name: 'Movement' },
            { name: 'Set by', from: 'sm' },
            { name: 'Set' },
          ]}
          row={(one) => (
            <Table.Tr key={one.subject_id}>
              <SubjectCells of={one} />
              <Table.Td>
                <Group gap="xs" wrap="nowrap">
                  {one.from_band === null ? (
                    <Text size="sm" c="dimmed">
                      not rated
                    </Text>
                  ) : (
                    <BandMark band={one.from_band} />
                  )}
                  <Text span aria-hidden="true">
                    →
                  </Text>
                  <span className="sr-only">becomes</span>
                  {one.to_band === null ? (
                    <Text size="sm" c="dimmed">
                      not active
                    </Text>
                  ) : (
                    <BandMark band={one.to_band} />
                  )}
                </Group>
              </Table.Td>
              <CauseCell of={one.cause} />
              <Table.Td>
                <DateTime at={one.set_at} />
              </Table.Td>
            </Table.Tr>
          )}
        />
      )}
    </Page>
  )
}
