/** What happened to an alert, with the comments of people, and a field for another one. */
import { Button, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { toWords } from '#console/ui/format.ts'
import { PageLink } from '#console/ui/link.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { RestrictionMark } from '#console/ui/restriction/padlock.tsx'
import { type Alert, getAlertName } from './alert-queries.ts'
import { describeEntry } from './history-texts.ts'

type Entry = Schemas['AlertHistoryEntry']

export function AlertHistory({ alert }: { readonly alert: Alert }) {
  const may = usePermission()
  const { alert_id } = alert
  const { data } = useQuery({
    queryKey: ['alerts', 'history', alert_id, alert.revision],
    queryFn: ({ signal }) =>
      probity.GET('/api/alerts/{alert_id}/history', { params: { path: { alert_id }, query: { limit: 50 } }, signal }),
    throwOnError: false,
  })
  return (
    <Stack gap="sm">
      {may('createAlertComment') && <CommentForm alert_id={alert_id} />}
      <ul className="plain-list alert-history" aria-label="History">
        {data?.items.map((entry) => (
          <li key={entry.entry}>
            <HistoryLine entry={entry} />
          </li>
        ))}
      </ul>
    </Stack>
  )
}

function HistoryLine({ entry }: { readonly entry: Entry }) {
  return (
    <Text size="sm" component="div">
      <b>{describeEntry(entry)}</b>{' '}
      <Text span c="dimmed" size="sm">
        <RelativeTime at={entry.recorded_at} />, by <Principal of={entry.recorded_by} isAlwaysNamed />
      </Text>
      {entry.note !== null && <div className="alert-note">{entry.note}</div>}
    </Text>
  )
}

function CommentForm({ alert_id }: { readonly alert_id: string }) {
  const [text, setText] = useState('')
  const comment = useApiMutation(
    () => probity.POST('/api/alerts/{alert_id}/comments', { params: { path: { alert_id } }, body: { text } }),
    { invalidates: ['alerts'], successMessage: 'Comment stored', onDone: () => setText('') },
  )
  function send(event: FormEvent) {
    event.preventDefault()
    comment.run(undefined)
  }
  return (
    <form onSubmit={send}>
      <Stack gap={6} align="flex-start">
        <div className="full-width alert-comment">
          <ReasonField label="Comment" isRequired={false} value={text} onChange={setText} />
        </div>
        <Button type="submit" size="xs" variant="default" disabled={text.trim() === ''} loading={comment.isRunning}>
          Write comment
        </Button>
        <ProblemNote problem={comment.problem} />
      </Stack>
    </form>
  )
}

const MAX_OTHERS = 10

/** Earlier decisions about the same subject, so that people decide alike. */
export function OtherAlerts({ alert }: { readonly alert: Alert }) {
  const { subject_id } = alert
  const { data } = useQuery({
    queryKey: ['alerts', 'subject', subject_id],
    queryFn: ({ signal }) =>
      probity.GET('/api/alerts', {
        params: { query: { limit: MAX_OTHERS, ...(subject_id !== null && { subject_id }) } },
        signal,
      }),
    enabled: subject_id !== null,
    throwOnError: false,
  })
  const others = (data?.items ?? []).filter(({ alert_id }) => alert_id !== alert.alert_id)
  if (others.length === 0)
    return (
      <Text size="sm" c="dimmed">
        No other alert about {subject_id === null ? 'it' : 'this subject'}.
      </Text>
    )
  return (
    <ul className="plain-list alert-history" aria-label="Other alerts about the subject">
      {others.map((other) => (
        <li key={other.alert_id}>
          <Text size="sm" component="div" className="break">
            <PageLink to={`/inbox/alerts/${other.alert_id}`} size="sm">
              {getAlertName(other.alert_id)}
            </PageLink>
            <RestrictionMark restriction_id={other.is_restricted ? other.restriction_id : null} /> {other.title}
            <Text c="dimmed" size="xs">
              {toWords(other.state)}
              {other.dismissal?.state === 'done' && `: ${other.dismissal.reason_code}`},{' '}
              <RelativeTime at={other.updated_at} />
            </Text>
          </Text>
        </li>
      ))}
    </ul>
  )
}
