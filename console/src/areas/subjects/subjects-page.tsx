/** All subjects, searchable by name, external id, type, segment and band. */
import { Button, Group, Pill, Table, Text, TextInput } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import type { Schemas } from '@probity/client'
import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { StateBadge } from '#console/ui/badges.tsx'
import { formatDateTime } from '#console/ui/date-format.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { BandMark } from '#console/ui/decision/outcome.tsx'
import { Filter, KnownFilter, UnknownFilter, useFilter, useKnownFilter, useSetFilter } from '#console/ui/filters.tsx'
import { omitUndefined } from '#console/ui/format.ts'
import { ButtonLink, PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Page } from '#console/ui/page.tsx'
import { subjectFiltersQuery } from '#console/ui/subject-queries.ts'
import { SubjectDialog } from './subject-dialog.tsx'

type Subject = Schemas['RatedSubject']

const types = ['person', 'company', 'other'] as const
const states = ['active', 'offboarded'] as const

export default function SubjectsPage() {
  const may = usePermission()
  const set = useSetFilter()
  const [isMaking, making] = useDisclosure(false)
  const search = useSearch({ strict: false }) as Readonly<Record<string, string | number | undefined>>
  const text = (name: string) => (search[name] === undefined ? undefined : String(search[name]))
  const { data: known } = useSuspenseQuery(subjectFiltersQuery)
  const segment = useKnownFilter('segment', known.segments)
  const band = useKnownFilter('band', known.bands)
  const query = omitUndefined({
    name: text('name'),
    external_id: text('external_id'),
    segment: segment.value,
    band: band.value,
    subject_type: useFilter('type', types),
    state: useFilter('state', states),
    override_expires_before: Number.isNaN(Date.parse(text('override_expires_before') ?? ''))
      ? undefined
      : text('override_expires_before'),
  })
  const list = usePages<Subject>(['subjects', 'list', query], (cursor, signal) =>
    probity.GET('/api/subjects', { params: { query: { ...cursor, ...query, limit: 50 } }, signal }),
  )
  const { data: total } = useQuery({
    queryKey: ['subjects', 'count', query],
    queryFn: ({ signal }) => probity.GET('/api/subjects/count', { params: { query }, signal }),
    throwOnError: false,
  })
  const field = (name: string, label: string, width: number, placeholder: string) => (
    <TextInput
      size="xs"
      w={width}
      placeholder={placeholder}
      type="search"
      label={label}
      value={text(name) ?? ''}
      onChange={(event) => set(name, event.currentTarget.value || null)}
    />
  )
  return (
    <Page
      title="Subjects"
      about="Customers and other parties that are rated. All versions of a record and all ratings are kept."
      actions={
        <>
          {may('startSubjectBulk') && (
            <ButtonLink to="/subjects/upload" variant="default">
              Upload a file
            </ButtonLink>
          )}
          {may('createSubject') && <Button onClick={making.open}>New subject</Button>}
        </>
      }
    >
      <Group gap="xs" mb="sm" align="flex-end">
        {field('name', 'Name', 170, 'Beginning of words')}
        {field('external_id', 'External id', 120, 'Exact')}
        <KnownFilter name="segment" label="Segment" choices={known.segments} everything="Any segment" />
        <KnownFilter name="band" label="Band" choices={known.bands} everything="Any band" />
        <Filter name="type" label="Type" values={types} everything="Any type" width={130} />
        <Filter name="state" label="State" values={states} everything="Any state" width={130} />
        {query.override_expires_before !== undefined && (
          <Pill
            size="md"
            withRemoveButton
            onRemove={() => set('override_expires_before', null)}
            removeButtonProps={{ 'aria-label': 'Show all subjects' }}
          >
            {`Override expires before ${formatDateTime(query.override_expires_before)}`}
          </Pill>
        )}
      </Group>
      {segment.unknown !== undefined && <UnknownFilter name="segment" word="segment" given={segment.unknown} />}
      {band.unknown !== undefined && <UnknownFilter name="band" word="band" given={band.unknown} />}
      {segment.unknown === undefined && band.unknown === undefined && (
        <ListTable<Subject>
          label="Subjects"
          list={list}
          {...(total && { total })}
          empty={{
            title: 'No subjects yet',
            about:
              'Subjects are the customers and other parties that are rated. Create one, or upload a file with many.',
            filters: ['name', 'external_id', 'segment', 'band', 'type', 'state'],
            action: may('createSubject') && (
              <Button size="xs" onClick={making.open}>
                Create the first subject
              </Button>
            ),
          }}
          head={[
            { name: 'Name' },
            { name: 'Rating' },
            { name: 'Type', from: 'sm' },
            { name: 'Segment', from: 'md' },
            { name: 'External id', from: 'md' },
            { name: 'Changed', from: 'lg' },
          ]}
          row={(one) => <SubjectRow key={one.subject_id} one={one} />}
        />
      )}
      {isMaking && <SubjectDialog subject={null} onClose={making.close} />}
    </Page>
  )
}

function SubjectRow({ one }: { readonly one: Subject }) {
  return (
    <Table.Tr>
      <Table.Td>
        <PageLink to={`/subjects/${one.subject_id}`} size="sm" fw={500}>
          {one.name}
        </PageLink>
        {one.state !== 'active' && <StateBadge state={one.state} />}
      </Table.Td>
      <Table.Td>
        {one.band === null ? (
          <Text size="sm" c="dimmed">
            not rated
          </Text>
        ) : (
          <BandMark band={one.band} />
        )}
        {one.rating_source === 'override' && (
          <Text size="xs" c="dimmed">
            override
          </Text>
        )}
      </Table.Td>
      <Table.Td visibleFrom="sm">{one.subject_type}</Table.Td>
      <Table.Td visibleFrom="md">{one.segment ?? <span className="quiet">–</span>}</Table.Td>
      <Table.Td visibleFrom="md" className="mono">
        {one.external_id ?? '–'}
      </Table.Td>
      <Table.Td visibleFrom="lg">
        <RelativeTime at={one.updated_at} />
      </Table.Td>
    </Table.Tr>
  )
}
