/** What happened in a case, newest first. */
import { SegmentedControl, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type ReactNode, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { formatCount, toSentence, toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { ListMore, ListSkeleton, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { SubjectName } from '#console/ui/subject-name.tsx'
import { CaseName } from '#console/ui/work/case-name.tsx'
import { CaseAuthor } from './case-author.tsx'
import { gatheringTexts } from './case-badges.tsx'
import { type Investigation, type NumberedEvidence, useEvidence } from './investigation-queries.ts'
import { groupTimeline, type TimelineGroup } from './timeline-groups.ts'

type Entry = Schemas['InvestigationEvent']
type Category = 'all' | Entry['category']

const categories = [
  { value: 'all', label: 'All' },
  { value: 'person', label: 'People' },
  { value: 'system', label: 'System' },
  { value: 'provider', label: 'Providers' },
]

/** So many that the opening of a usual case is on the first page. */
const PAGE_SIZE = 200

export function TimelineTab({ investigation }: { readonly investigation: Investigation }) {
  const { investigation_id, updated_at } = investigation
  const [category, setCategory] = useState<Category>('all')
  const list = usePages<Entry>(
    ['investigations', 'timeline', investigation_id, category, updated_at],
    (cursor, signal) =>
      probity.GET('/api/investigations/{investigation_id}/timeline', {
        params: {
          path: { investigation_id },
          query: { ...cursor, limit: PAGE_SIZE, ...(category !== 'all' && { category }) },
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
            {groupTimeline(entries).map((group) => (
              <li key={group.key}>
                <TimelineRows group={group} investigation={investigation} />
              </li>
            ))}
          </ol>
          <ListMore list={list} count={entries.length} />
        </>
      )}
    </Stack>
  )
}

interface TimelineRowsProps {
  readonly group: TimelineGroup
  readonly investigation: Investigation
}

function TimelineRows({ group: { entries, isMinor }, investigation }: TimelineRowsProps) {
  const rows = entries.map((entry) => (
    <TimelineEntry key={entry.event_id} entry={entry} investigation={investigation} />
  ))
  if (!isMinor) return rows
  return (
    <details>
      <summary>
        <Text span size="sm" c="dimmed">
          {formatCount(entries.length, 'event')} of steps under way
        </Text>
      </summary>
      <Stack gap="xs" mt="xs" pl="md">
        {rows.map((row) => (
          <div key={row.key}>{row}</div>
        ))}
      </Stack>
    </details>
  )
}

interface TimelineEntryProps {
  readonly entry: Entry
  readonly investigation: Investigation
}

function TimelineEntry({ entry, investigation }: TimelineEntryProps) {
  const evidence = useEvidence(investigation.investigation_id)
  const details = describe(entry.data, investigation, evidence)
  return (
    <>
      <Text size="sm" component="div">
        <b>{describeKind(entry)}</b>
        {details.length > 0 && ': '}
        {details.map(([name, content], place) => (
          <span key={name}>
            {place > 0 && ', '}
            {content}
          </span>
        ))}
      </Text>
      {entry.note !== null && <div className="case-note">{entry.note}</div>}
      {entry.note_state === 'erased' && <Text size="xs">What was written has been erased.</Text>}
      {entry.note_state === 'altered' && (
        <Text size="xs" c="red">
          What was written cannot be read: it was altered.
        </Text>
      )}
      <Text size="xs" c="dimmed" component="div">
        <DateTime at={entry.recorded_at} isExact />,{' '}
        <CaseAuthor of={entry.recorded_by} isStep={PLAYBOOK_EVENT.test(entry.kind)} />
      </Text>
    </>
  )
}

/** Kinds of events that the steps of the playbook cause. */
const PLAYBOOK_EVENT = /^(step|evidence|gathering|task|opened)/

const kindTexts: Readonly<Record<string, string>> = {
  proposed: 'Outcome proposed',
  withdrawn: 'Proposal withdrawn',
  returned: 'Proposal returned',
  noted: 'Note written',
  changed: 'Case changed',
  step_succeeded: 'Step done',
  step_running: 'Step begun',
  step_waiting: 'Step waits',
  step_indeterminate: 'Step with an unknown outcome',
  answer_entered: 'Answer entered in place of the provider',
}

/** A change of the title has no content of its own in the record: the title may name people. */
function describeKind({ kind, data }: Entry): string {
  if (kind === 'changed' && data['priority'] === undefined) return 'Title changed'
  if (kind === 'task_changed' && data['state'] === 'open') return 'Task opened again'
  return kindTexts[kind] ?? toSentence(kind)
}

const pages: Readonly<Record<string, string>> = {
  alert_id: '/inbox/alerts',
  call_id: '/providers/calls',
  evaluation_id: '/evaluations',
  document_id: '/documents',
  job_id: '/jobs',
}

/** Members whose value says enough. */
const plain = ['state', 'origin', 'kind', 'waiting_for', 'code', 'part']

const nameEvidence = (evidence: NumberedEvidence, evidence_id: string): string =>
  [evidence.getEvidenceName(evidence_id), evidence.find(evidence_id)?.title].filter(Boolean).join(' ')

/** What an event names, as people call it. Hashes and ids without a page are left out. */
function describe(
  data: Entry['data'],
  { steps, alerts, subject: { subject_id } }: Investigation,
  evidence: NumberedEvidence | undefined,
): [name: string, content: ReactNode][] {
  return Object.entries(data).flatMap(([name, value]): [string, ReactNode][] => {
    if (value === null || value === undefined || value === '' || typeof value === 'object') return []
    const text = String(value)
    const page = pages[name]
    if (name === 'subject_id') return [[name, <SubjectName key={name} subject_id={text} />]]
    if (name === 'merged_into') return [[name, <CaseName key={name} investigation_id={text} subject_id={subject_id} />]]
    if (page !== undefined)
      return [
        [
          name,
          <PageLink key={name} to={`${page}/${text}`} inherit>
            {alerts.find(({ alert_id }) => alert_id === text)?.title ?? toWords(name.replace(/_id$/, ''))}
          </PageLink>,
        ],
      ]
    if (name === 'step_key') return [[name, steps.find(({ step_key }) => step_key === text)?.title ?? text]]
    if (name === 'evidence_id') return evidence === undefined ? [] : [[name, nameEvidence(evidence, text)]]
    // The title says more than the kind.
    if (name === 'kind' && 'evidence_id' in data) return []
    if (name === 'gathering') return [[name, gatheringTexts[text as Investigation['gathering']] ?? toWords(text)]]
    if (name === 'due_at')
      return [
        [
          name,
          <span key={name}>
            due <DateTime at={text} />
          </span>,
        ],
      ]
    if (name === 'outcome') return [[name, <ReasonCodes key={name} of={[text]} />]]
    if (name === 'seal_no') return [[name, `seal ${text}`]]
    if (name === 'attempt') return Number(value) > 1 ? [[name, `attempt ${text}`]] : []
    if (/^(user|key|job):/.test(text)) return [[name, <Principal key={name} of={text} isAlwaysNamed />]]
    if (/_at$|^until$/.test(name)) return [[name, <DateTime key={name} at={text} />]]
    if (plain.includes(name)) return [[name, toWords(text)]]
    if (name === 'playbook_key') return [[name, text]]
    return /_id$|_kind$|hash/.test(name) ? [] : [[name, `${toWords(name)} ${text}`]]
  })
}
