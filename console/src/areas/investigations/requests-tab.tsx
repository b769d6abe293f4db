/** What people outside the case were asked for, and what they answered. */
import { Button, Group, Stack, Text } from '@mantine/core'
import type { Schemas } from '@probity/client'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { ConfirmDialog, FormDialog } from '#console/ui/dialog.tsx'
import { EmptyState } from '#console/ui/empty-state.tsx'
import { FileChoice } from '#console/ui/file-choice.tsx'
import { ListSkeleton } from '#console/ui/list.tsx'
import { toInstant } from '#console/ui/local-time.ts'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { TextField, TimeField } from '#console/ui/text-field.tsx'
import { storeDocument } from './attach-evidence.tsx'
import { PlainState } from './case-badges.tsx'
import {
  hasEnded,
  type Investigation,
  isOpen,
  requestsQuery,
  touchedByEvidence,
  useEvidence,
  useListOfCase,
} from './investigation-queries.ts'

const MAX_TITLE = 300

type InformationRequest = Schemas['InformationRequest']

export function RequestsTab({ investigation }: { readonly investigation: Investigation }) {
  const may = usePermission()
  const [isAsking, setAsking] = useState(false)
  const { investigation_id } = investigation
  const requests = useListOfCase(requestsQuery(investigation_id), investigation)
  const canAnswer = !hasEnded(investigation) && may('fulfilInformationRequest')
  return (
    <Stack gap="sm" id="requests" tabIndex={-1}>
      {isOpen(investigation) && may('createInformationRequest') && (
        <div>
          <Button size="xs" variant="default" onClick={() => setAsking(true)}>
            Ask for information
          </Button>
        </div>
      )}
      {requests === undefined && <ListSkeleton />}
      {requests?.items.length === 0 && (
        <EmptyState
          title="Nobody was asked yet"
          about="Questions to the branch, the customer or another party are recorded here, with their answers. No message is sent."
        />
      )}
      <ol className="case-timeline" aria-label="Information requests">
        {requests?.items.map((request) => (
          <li key={request.request_id}>
            <RequestItem request={request} investigation={investigation} canAnswer={canAnswer} />
          </li>
        ))}
      </ol>
      {isAsking && <AskDialog investigation_id={investigation_id} onClose={() => setAsking(false)} />}
    </Stack>
  )
}

interface RequestItemProps {
  readonly request: InformationRequest
  readonly investigation: Investigation
  readonly canAnswer: boolean
}

function RequestItem({ request, investigation, canAnswer }: RequestItemProps) {
  const [act, setAct] = useState<'answer' | 'withdraw' | null>(null)
  const evidence = useEvidence(investigation.investigation_id)
  const { state, addressee, question, due_at, answer, evidence_id, ended_at, ended_by } = request
  const close = () => setAct(null)
  return (
    <Stack gap={4}>
      <div className="case-step-head">
        <b>{addressee}</b>
        <PlainState state={state} />
      </div>
      <div className="case-note">{question}</div>
      <Text size="xs" c="dimmed" component="div">
        Asked <DateTime at={request.asked_at} />, by <Principal of={request.asked_by} isAlwaysNamed />
        {due_at !== null && state === 'open' && (
          <>
            , due <RelativeTime at={due_at} />
          </>
        )}
      </Text>
      {answer !== null && <div className="case-note case-answer">{answer}</div>}
      {ended_at !== null && (
        <Text size="xs" c="dimmed" component="div">
          {state === 'fulfilled' ? 'Answered' : 'Withdrawn'} <DateTime at={ended_at} />
          {ended_by !== null && (
            <>
              , by <Principal of={ended_by} isAlwaysNamed />
            </>
          )}
          {evidence_id !== null && `, evidence ${evidence?.getEvidenceName(evidence_id) ?? ''}`}
        </Text>
      )}
      {canAnswer && state === 'open' && (
        <Group gap="xs">
          <Button size="compact-xs" variant="default" onClick={() => setAct('answer')}>
            Record the answer
          </Button>
          <Button size="compact-xs" variant="subtle" onClick={() => setAct('withdraw')}>
            Withdraw
          </Button>
        </Group>
      )}
      {act === 'answer' && <AnswerDialog {...{ request, investigation }} onClose={close} />}
      {act === 'withdraw' && <WithdrawDialog {...{ request, investigation }} onClose={close} />}
    </Stack>
  )
}

interface EndDialogProps {
  readonly request: InformationRequest
  readonly investigation: Investigation
  readonly onClose: () => void
}

interface Answer {
  readonly answer?: string
  readonly document_id?: string
}

const sendEnd = (
  { request: { request_id, revision }, investigation: { investigation_id } }: EndDialogProps,
  answer: Answer = {},
) =>
  probity.POST('/api/investigations/{investigation_id}/information-requests/{request_id}/fulfil', {
    params: { path: { investigation_id, request_id } },
    body: { ...answer, expected_revision: revision },
  })

function AnswerDialog(props: EndDialogProps) {
  const may = usePermission()
  const { investigation } = props
  const restriction_id = investigation.is_restricted ? investigation.restriction_id : null
  const [answer, setAnswer] = useState('')
  const [file, setFile] = useState<File | null>(null)
  // Evidence of a proposed case stays as it was proposed.
  const canAttach = isOpen(investigation) && may('createDocument')
  const fulfil = useApiMutation(
    async () => {
      const text = answer.trim() === '' ? {} : { answer }
      if (file === null) return await sendEnd(props, text)
      const upload = await probity.uploads.create(file, { ...(restriction_id !== null && { restriction_id }) })
      const document_id = await storeDocument(investigation, upload, file.name.slice(0, MAX_TITLE))
      return await sendEnd(props, { ...text, document_id })
    },
    {
      invalidates: touchedByEvidence,
      successMessage: ({ evidence_id }) =>
        evidence_id === null ? 'Answer stored' : 'Answer stored, its file is evidence now',
      onDone: props.onClose,
    },
  )
  return (
    <FormDialog
      title="Record the answer"
      isOpen
      onClose={props.onClose}
      // With neither the request would be withdrawn.
      onSubmit={() => (answer.trim() !== '' || file !== null) && fulfil.run(undefined)}
      submit="Store the answer"
      change={fulfil}
    >
      <ReasonField label="Answer" isFirst isRequired={file === null} value={answer} onChange={setAnswer} />
      {canAttach && (
        <>
          <FileChoice label="File of the answer" file={file} onChange={setFile} />
          <Text size="sm" c="dimmed">
            The file becomes evidence of the case, which the narrative can cite. Further files: Attach, in the evidence.
          </Text>
        </>
      )}
    </FormDialog>
  )
}

function WithdrawDialog(props: EndDialogProps) {
  const withdraw = useApiMutation(() => sendEnd(props), {
    invalidates: touchedByEvidence,
    successMessage: 'Withdrawn',
    onDone: props.onClose,
  })
  return (
    <ConfirmDialog
      title="Withdraw the request"
      isOpen
      onClose={props.onClose}
      onConfirm={() => withdraw.run(undefined)}
      confirm="Withdraw"
      change={withdraw}
    >
      The question to {props.request.addressee} stays in the record, without an answer.
    </ConfirmDialog>
  )
}

function AskDialog({ investigation_id, onClose }: { readonly investigation_id: string; readonly onClose: () => void }) {
  const [addressee, setAddressee] = useState('')
  const [question, setQuestion] = useState('')
  const [due, setDue] = useState('')
  const ask = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/information-requests', {
        params: { path: { investigation_id } },
        body: { addressee, question, due_at: toInstant(due) ?? null },
      }),
    { invalidates: touchedByEvidence, successMessage: 'Request recorded', onDone: onClose },
  )
  return (
    <FormDialog
      title="Ask for information"
      isOpen
      onClose={onClose}
      onSubmit={() => ask.run(undefined)}
      submit="Record the request"
      change={ask}
    >
      <Text size="sm">No message is sent. Ask as usual, and record here whom you asked and what.</Text>
      <TextField label="Who is asked" isRequired isFirst max={300} value={addressee} onChange={setAddressee} />
      <ReasonField label="Question" value={question} onChange={setQuestion} />
      <TimeField label="Due" value={due} onChange={setDue} />
    </FormDialog>
  )
}
