/** The subjects that a count by band stands for: who was in which band at the end of a day. */
import { Group, Table } from '@mantine/core'
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

type SubjectInBand = Schemas['SubjectInBand']

export default function BandPage() {
  const filters = useBandFilters()
  const { value: on, unknown } = useDay('on')
  const query = omitUndefined({ ...filters.query, on })
  const list = usePages<SubjectInBand>(
    ['subjects', 'in-band', query],
    (cursor, signal) =>
      probity.GET('/api/analytics/risk-distribution/subjects', {
        params: { query: { ...cursor, ...query, limit: 50 } },
        signal,
      }),
    { keeps_page: true },
  )
  const isKnown = filters.unknown === undefined && unknown === undefined
  return (
    <Page
      title="Subjects by band and day"
      about={`Active customers with the band that they had ${on === undefined ? 'now' : `at the end of ${formatUtcDay(on)} (UTC)`}, by valid time and as known today.`}
    >
      <Group gap="xs" mb="sm" align="flex-end">
        <DayFilter name="on" label="At the end of" />
        <BandFilter of={filters} />
      </Group>
      <UnknownBand of={filters} />
      <UnknownDay name="on" />
      <ProblemNote problem={isProblem(list.error) ? list.error : null} />
      {isKnown && hasRows(list) && (
        <ListTable<SubjectInBand>
          label="Subjects by band"
          list={list}
          empty={{
            title: 'No subject was rated',
            about: 'A rating counts from its valid time on. Choose a later day, or evaluate a subject.',
            filters: ['band', 'on', 'matrix_key'],
          }}
          head={[
            { name: 'Name' },
            { name: 'External id', from: 'md' },
            { name: 'Band' },
            { name: 'Set by', from: 'sm' },
            { name: 'Set' },
          ]}
          row={(one) => (
            <Table.Tr key={one.subject_id}>
              <SubjectCells of={one} />
              <Table.Td>
                <BandMark band={one.band} />
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
