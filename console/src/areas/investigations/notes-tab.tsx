/** Notes of the people who work on a case. They are never changed. */
import { Button, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { type FormEvent, useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { DateTime } from '#console/ui/date-time.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { ListMore, ListSkeleton, usePages } from '#console/ui/list.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { type Investigation, isOpen, touched } from './investigation-queries.ts'

type Note = Schemas['InvestigationNote']

const stateTexts = { erased: 'Erased.', altered: 'It cannot be read: it was altered.' } as const

export function NotesTab({ investigation }: { readonly investigation: Investigation }) {
  const may = usePermission()
  const { investigation_id, counts } = investigation
  const list = usePages<Note>(['investigations', 'notes', investigation_id, counts.notes], (cursor, signal) =>
    probity.GET('/api/investigations/{investigation_id}/notes', {
      params: { path: { investigation_id }, query: { ...cursor, limit: 50 } },
      signal,
    }),
  )
  const notes = list.data?.pages.flatMap(({ items }) => items)
  return (
    <Stack gap="sm" id="notes" tabIndex={-1}>
      {isOpen(investigation) && may('createInvestigationNote') && <NoteForm investigation_id={investigation_id} />}
      {investigation.state === 'proposed' && (
        <Text size="xs" c="dimmed">
          No notes are added while an outcome is proposed. Write what is to be said about it when you close or return
          it.
        </Text>
      )}
      {notes === undefined && <ListSkeleton />}
      {notes?.length === 0 && (
        <EmptyState
          title="No notes yet"
          about="Notes for colleagues that do not belong in the narrative. A note cannot be changed."
        />
      )}
      {notes !== undefined && notes.length > 0 && (
        <>
          <ol className="case-timeline" aria-label="Notes, newest first">
            {notes.map((note) => (
              <li key={note.note_id}>
                <div className="case-note">{note.state === 'readable' ? note.text : stateTexts[note.state]}</div>
                <Text size="xs" c="dimmed" component="div">
                  <DateTime at={note.created_at} />, by <Principal of={note.created_by} isAlwaysNamed />
                </Text>
              </li>
            ))}
          </ol>
          <ListMore list={list} count={notes.length} />
        </>
      )}
    </Stack>
  )
}

function NoteForm({ investigation_id }: { readonly investigation_id: string }) {
  const [text, setText] = useState('')
  const write = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/notes', {
        params: { path: { investigation_id } },
        body: { text },
      }),
    { invalidates: touched, successMessage: 'Note stored', onDone: () => setText('') },
  )
  function send(event: FormEvent) {
    event.preventDefault()
    write.run(undefined)
  }
  return (
    <form onSubmit={send}>
      <Stack gap={6}>
        <ReasonField label="Note" isRequired={false} value={text} onChange={setText} />
        <ProblemNote problem={write.problem} />
        <div>
          <Button type="submit" size="xs" variant="default" disabled={text.trim() === ''} loading={write.isRunning}>
            Write the note
          </Button>
        </div>
      </Stack>
    </form>
  )
}
