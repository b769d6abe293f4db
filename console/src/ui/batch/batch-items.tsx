/** The items of a batch, filtered by result, state, change and failure. */

import { Badge, Group, Pill, Table, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useSearch } from '@tanstack/react-router'
import { probity } from '#console/session/client.ts'
import { BandMark, ResultMark } from '#console/ui/decision/outcome.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { Filter, UnknownFilter, useFilter, useKnownFilter, useSetFilter } from '#console/ui/filters.tsx'
import { omitUndefined, toSentence, toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListTable, usePages } from '#console/ui/list.tsx'
import { Section } from '#console/ui/section.tsx'
import { useSubjectName } from '../subject-name.ts'
import { SubjectName } from '../subject-name.tsx'
import { isSubjectId } from '../subject-queries.ts'
import { type Batch, isOngoing } from './batch-state.ts'

type Item = Schemas['BatchItem']
type Change = NonNullable<Item['change']>

const states = ['done', 'failed'] as const
const hits = ['hit', 'no_hit'] as const
const changes: readonly Change[] = ['first', 'raised', 'lowered', 'moved', 'same']

interface BatchItemsProps {
  readonly batch: Batch
  /** Names the bands and failures that can be filtered by; undefined while the batch is running. */
  readonly summary: Schemas['BatchSummary'] | undefined
  readonly title?: string
}

const distinct = (names: readonly (string | null)[]): string[] => [
  ...new Set(names.filter((name): name is string => name !== null)),
]

export function BatchItems({ batch, summary, title = 'Items' }: BatchItemsProps) {
  const { batch_id } = batch
  // A rule produces no rating, so there is no change to filter by.
  const rates = batch.family === 'matrix'
  const codes = (summary?.failures ?? []).map(({ code }) => code)
  const bands = (summary?.bands ?? []).map(({ band }) => band)
  const previous = distinct((summary?.migration ?? []).map(({ from }) => from))
  const subject_id = useSubjectFilter()
  // A band that was chosen for other decisions may not occur here.
  const band = useKnownFilter('band', summary && bands.map((value) => ({ value, label: toSentence(value) })))
  const query = omitUndefined({
    band: band.value,
    previous_band: useFilter('previous', previous),
    hit: useFilter('hit', hits),
    subject_id,
    state: useFilter('state', states),
    change: useFilter('change', changes) as Change | undefined,
    failure_code: useFilter('failure', codes),
  })
  const list = usePages<Item>(
    // With the state: what was read before the batch ended is read again.
    ['batches', 'items', batch_id, batch.state, query],
    (cursor, signal) =>
      probity.GET('/api/batch-evaluations/{batch_id}/items', {
        params: { path: { batch_id }, query: { ...cursor, ...query, limit: 50 } },
        signal,
      }),
    isOngoing(batch) ? { refetch_ms: 3000 } : {},
  )
  return (
    <Section
      title={title}
      actions={<ItemFilters rates={rates} subject_id={subject_id} bands={bands} previous={previous} codes={codes} />}
    >
      {band.unknown !== undefined ? (
        <UnknownFilter name="band" word="decision of this batch with the band" given={band.unknown} />
      ) : (
        <ListTable<Item>
          label={title}
          list={list}
          empty={
            isOngoing(batch)
              ? {
                  title: 'No decisions yet',
                  about: 'The batch is running. Its decisions appear here as they are made.',
                }
              : {
                  title: 'No items',
                  about: 'No subject matched when the batch was started.',
                  filters: ['subject', 'band', 'previous', 'hit', 'state', 'change', 'failure'],
                }
          }
          head={[
            { name: '#' },
            { name: 'Subject' },
            { name: 'Result' },
            ...(rates ? [{ name: 'Previous rating', from: 'sm' } as const] : []),
            { name: 'Reasons', from: 'md' },
          ]}
          row={(item) => <Row key={item.seq} item={item} rates={rates} batch_id={batch_id} />}
        />
      )}
    </Section>
  )
}

interface ItemFiltersProps {
  readonly rates: boolean
  readonly subject_id: string | undefined
  readonly bands: readonly string[]
  readonly previous: readonly string[]
  readonly codes: readonly string[]
}

function ItemFilters({ rates, subject_id, bands, previous, codes }: ItemFiltersProps) {
  return (
    <Group gap="xs">
      {subject_id !== undefined && <SubjectPill subject_id={subject_id} />}
      {bands.length > 0 && <Filter name="band" label="Band" values={bands} everything="Any band" />}
      {previous.length > 0 && (
        <Filter name="previous" label="Previous band" values={previous} everything="Any previous band" />
      )}
      {!rates && <Filter name="hit" label="Result" values={hits} everything="Hits and no hits" />}
      <Filter name="state" label="State" values={states} everything="Any state" />
      {rates && <Filter name="change" label="Change of rating" values={changes} everything="Any change" />}
      {codes.length > 0 && <Filter name="failure" label="Failure" values={codes} everything="Any failure" />}
    </Group>
  )
}

/** A link from a subject shows its item only. */
function useSubjectFilter(): string | undefined {
  const { subject } = useSearch({ strict: false }) as { subject?: unknown }
  return typeof subject === 'string' && isSubjectId(subject) ? subject : undefined
}

/** Says that only the items of one subject are shown, and shows all of them again. */
function SubjectPill({ subject_id }: { readonly subject_id: string }) {
  const set = useSetFilter()
  const name = useSubjectName(subject_id) ?? subject_id.slice(-8)
  return (
    <Pill
      size="md"
      withRemoveButton
      onRemove={() => set('subject', null)}
      removeButtonProps={{ 'aria-label': 'Show the items of all subjects', 'aria-hidden': false, tabIndex: 0 }}
    >
      {`Only ${name}`}
    </Pill>
  )
}

interface RowProps {
  readonly item: Item
  readonly rates: boolean
  readonly batch_id: string
}

function Row({ item, rates, batch_id }: RowProps) {
  return (
    <Table.Tr>
      <Table.Td className="nowrap">
        {item.seq}
        {item.line !== null && (
          <Text size="xs" c="dimmed">
            line {item.line}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        {item.subject_id !== null ? (
          <>
            <SubjectName subject_id={item.subject_id} />
            {item.external_id !== null && (
              <Text size="xs" c="dimmed">
                {item.external_id}
              </Text>
            )}
          </>
        ) : (
          (item.external_id ?? <span className="quiet">none</span>)
        )}
      </Table.Td>
      <Table.Td>
        {item.state === 'failed' ? (
          <ItemFailure item={item} />
        ) : (
          <Group gap={6} wrap="nowrap">
            <ResultMark of={item} />
            {item.is_erased ? (
              <span className="quiet">subject erased</span>
            ) : (
              <PageLink to={`/batches/${batch_id}/items/${item.seq}`} size="sm">
                Why<span className="sr-only"> item {item.seq}</span>
              </PageLink>
            )}
          </Group>
        )}
      </Table.Td>
      {rates && (
        <Table.Td visibleFrom="sm">
          <BandMark band={item.previous_band} />{' '}
          {item.change !== null && item.change !== 'same' && <span className="quiet">{toWords(item.change)}</span>}
        </Table.Td>
      )}
      <Table.Td visibleFrom="md">
        <Text size="xs" className="cell-text">
          <ReasonCodes of={item.reason_codes} />
        </Text>
      </Table.Td>
    </Table.Tr>
  )
}

function ItemFailure({ item }: { readonly item: Item }) {
  return (
    <div>
      <Badge variant="light" color="red" tt="none">
        failed
      </Badge>
      {item.findings.map(({ code, pointer, message, column }) => (
        <Text size="xs" key={`${code} ${pointer}`}>
          <span className="mono">{column ?? pointer.slice(1)}</span> {message}
        </Text>
      ))}
    </div>
  )
}
