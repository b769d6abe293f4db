/** What happened in a case, newest first. */
import { SegmentedControl, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type ReactNode, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { toSentence, toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListMore, ListSkeleton, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import type { Investigation } from './investigation-queries.ts'

type Entry = Schemas['InvestigationEvent']
type Category = 'all' | Entry['category']

const categories = [
  { value: 'all', label: 'All' },
  { value: 'person', label: 'People' },
  { value: 'system', label: 'System' },
  { value: 'provider', label: 'Providers' },
]

export function TimelineTab({
  investigation: { investigation_id, updated_at },
}: {
  readonly investigation: Investigation
}) {
  const [category, setCategory] = useState<Category>('all')
  const list = usePages<Entry>(
    ['investigations', 'timeline', investigation_id, category, updated_at],
    (cursor, signal) =>
      probity.GET('/api/investigations/{investigation_id}/timeline', {
        params: {
          path: { investigation_id },
          query: { ...cursor, limit: 50, ...(category !== 'all' && { category }) },
        },
        signal,
      }),
  )
  const entries = list.data?.pages.flatMap(({ items }) => items)
  return (
    <Stack gap="sm" id="timeline" tabIndex={-1}>
      <SegmentedControl
        size="xs"
        aria-label="Shown events"
        data={categories}
        value={category}
        onChange={(value) => setCategory(value as Category)}
        className="case-categories"
      />
      {entries === undefined && <ListSkeleton />}
      {entries?.length === 0 && (
        <EmptyState
          title="Nothing of this kind has happened"
          about="Acts of people, steps and answers of providers appear here."
        />
      )}
      {entries !== undefined && entries.length > 0 && (
        <>
          <ol className="case-timeline" aria-label="Timeline, newest first">
            {entries.map((entry) => (
              <li key={entry.event_id}>
                <TimelineEntry entry={entry} />
              </li>
            ))}
          </ol>
          <ListMore list={list} count={entries.length} />
        </>
      )}
    </Stack>
  )
}

function TimelineEntry({ entry }: { readonly entry: Entry }) {
  return (
    <>
      <Text size="sm" component="div">
        <b>{toSentence(entry.kind)}</b> <EventData data={entry.data} />
      </Text>
      {entry.note !== null && <div className="case-note">{entry.note}</div>}
      {entry.note_state === 'erased' && <Text size="xs">What was written has been erased.</Text>}
      {entry.note_state === 'altered' && (
        <Text size="xs" c="red">
          What was written cannot be read: it was altered.
        </Text>
      )}
      <Text size="xs" c="dimmed" component="div">
        <DateTime at={entry.recorded_at} />, by <Principal of={entry.recorded_by} isAlwaysNamed />
      </Text>
    </>
  )
}

const pages: Readonly<Record<string, string>> = {
  alert_id: '/inbox/alerts',
  call_id: '/providers/calls',
  evaluation_id: '/evaluations',
  document_id: '/documents',
  job_id: '/jobs',
  subject_id: '/subjects',
  merged_into: '/investigations',
}

/** Ids become links, people their names; hashes and other ids are left out. */
function EventData({ data }: { readonly data: Entry['data'] }) {
  const shown = Object.entries(data).flatMap(([name, value]): [string, ReactNode][] => {
    if (value === null || value === undefined || value === '') return []
    const text = String(value)
    const page = pages[name]
    if (page !== undefined) {
      const link = (
        <PageLink to={`${page}/${text}`} inherit>
          {toWords(name.replace(/_id$/, ''))}
        </PageLink>
      )
      return [[name, link]]
    }
    if (/^(user|key|job):/.test(text)) return [[name, <Principal key={name} of={text} isAlwaysNamed />]]
    if (typeof value === 'object' || /_id$|hash/.test(name)) return []
    return [[name, `${toWords(name)} ${typeof value === 'string' ? toWords(text) : text}`]]
  })
  return shown.map(([name, content], place) => (
    <span key={name}>
      {place > 0 && ' · '}
      {content}
    </span>
  ))
}
