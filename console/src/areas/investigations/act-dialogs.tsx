/** The dialogs of the acts on a case as a whole. */
import { Alert, Select, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe } from '#console/session/queries.ts'
import { type ApiMutation, useApiMutation } from '#console/ui/api-mutation.ts'
import { TEST_CASE_TEXT } from '#console/ui/decision/is-test.ts'
import { listContentQuery } from '#console/ui/decision/list-entries.ts'
import { REASON_CODES, ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { FormDialog } from '#console/ui/dialog.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { useLastAct } from '#console/ui/work/case-acts.ts'
import { WorkerSelect } from '#console/ui/work/worker-select.tsx'
import { type Investigation, touched } from './investigation-queries.ts'
import { MergeDialog, WaitDialog } from './other-act-dialogs.tsx'
import { listMissingSteps, toOutcomes } from './outcome-choice.ts'
import { usePinnedPlaybook } from './use-step-conditions.ts'

export type CaseAct = Investigation['next_actions'][number]['action']

interface ActDialogProps {
  readonly investigation: Investigation
  readonly act: CaseAct
  readonly onClose: () => void
}
type DialogProps = Omit<ActDialogProps, 'act'>

export function ActDialog({ act, ...props }: ActDialogProps) {
  switch (act) {
    case 'propose_outcome':
      return <ProposeDialog {...props} />
    case 'close':
      return <CloseDialog {...props} />
    case 'assign':
      return <AssignDialog {...props} />
    case 'wait':
      return <WaitDialog {...props} />
    case 'merge':
      return <MergeDialog {...props} />
    default:
      return <NoteDialog act={act} {...props} />
  }
}

/** What is sent to each act beside its own members. */
const toCall = ({ investigation_id, revision }: Investigation, note: string) => ({
  params: { path: { investigation_id } },
  body: { note: note.trim() === '' ? null : note, expected_revision: revision },
})

function useAct<Output extends object>(
  send: () => Promise<Output>,
  { onClose }: DialogProps,
  successMessage: string,
): ApiMutation<undefined> {
  return useApiMutation((_: undefined) => send(), { invalidates: touched, successMessage, onDone: onClose })
}

function ProposeDialog(props: DialogProps) {
  const { investigation, onClose } = props
  const { principal } = useMe()
  const [outcome, setOutcome] = useState<string | null>(null)
  const [note, setNote] = useState('')
  const { data } = useQuery(listContentQuery(REASON_CODES))
  const getEntry = (code: string) => data?.entries.find(({ key }) => key === code)?.entry
  const outcomes = toOutcomes(usePinnedPlaybook(investigation))
  const missing = listMissingSteps(outcomes, investigation.outcomes, investigation.steps)
  const getMissing = (code: string) => missing.get(code) ?? []
  const call = toCall(investigation, note)
  const propose = useAct(
    async () => {
      // Whoever proposes works on the case: it comes back to them if it is returned.
      if (investigation.assignee === null)
        await probity.POST('/api/investigations/{investigation_id}/assign', {
          params: call.params,
          body: { user_id: principal.replace(/^user:/, '') },
        })
      return await probity.POST('/api/investigations/{investigation_id}/propose-outcome', {
        ...call,
        body: { ...call.body, outcome: outcome ?? '' },
      })
    },
    props,
    'Proposed: another person closes the case',
  )
  return (
    <FormDialog
      title="Propose an outcome"
      isOpen
      onClose={onClose}
      onSubmit={() => outcome !== null && propose.run(undefined)}
      submit="Propose"
      change={propose}
    >
      <Text size="sm">
        Another compliance officer closes the case or returns it to you. Until then nothing in it can be changed.
      </Text>
      <Select
        label="Outcome"
        required
        data-autofocus
        data={investigation.outcomes.map((code) => ({
          value: code,
          label: String(getEntry(code)?.['title'] ?? code),
          disabled: getMissing(code).length > 0,
        }))}
        value={outcome}
        onChange={setOutcome}
        renderOption={({ option }) => (
          <div>
            {option.label}
            {getMissing(option.value).length > 0 && (
              <Text size="xs">Not ready, needs first: {getMissing(option.value).join(', ')}</Text>
            )}
          </div>
        )}
        {...(outcome !== null && { description: String(getEntry(outcome)?.['text'] ?? '') })}
        inputWrapperOrder={['label', 'input', 'description', 'error']}
      />
      <ReasonField label="Note for whoever closes it" isRequired={false} value={note} onChange={setNote} />
    </FormDialog>
  )
}

/** What the proposer wrote for whoever closes the case. */
function ProposerNote({ investigation }: { readonly investigation: Investigation }) {
  const act = useLastAct(investigation, true)
  if (act?.kind !== 'proposed' || act.note === null) return null
  return (
    <div className="case-note case-answer">
      <b>Note of the proposer:</b> {act.note}
    </div>
  )
}

function CloseDialog(props: DialogProps) {
  const { investigation, onClose } = props
  const { proposal } = investigation
  const [note, setNote] = useState('')
  const call = toCall(investigation, note)
  const close = useAct(
    () =>
      probity.POST('/api/investigations/{investigation_id}/close', {
        ...call,
        body: { ...call.body, proposal_hash: proposal?.proposal_hash ?? '' },
      }),
    props,
    'Closed and sealed',
  )
  return (
    <FormDialog
      title="Close the case"
      isOpen
      onClose={onClose}
      onSubmit={() => close.run(undefined)}
      submit="Close the case"
      change={close}
    >
      {proposal !== null && (
        <Text size="sm">
          Outcome:{' '}
          <b>
            <ReasonCodes of={[proposal.outcome]} />
          </b>
          , proposed by <Principal of={proposal.proposed_by} isAlwaysNamed />.
        </Text>
      )}
      <ProposerNote investigation={investigation} />
      {investigation.is_test && (
        <Alert color="yellow" role="note" aria-label="Test">
          {TEST_CASE_TEXT}
        </Alert>
      )}
      <Text size="sm">
        Narrative, steps, tasks and the hashes of the evidence are sealed with a signature, so that anybody can verify
        them later.
      </Text>
      <ReasonField label="Note" isRequired={false} isFirst value={note} onChange={setNote} />
    </FormDialog>
  )
}

function AssignDialog(props: DialogProps) {
  const { investigation, onClose } = props
  const me = useMe()
  const [user_id, setUser] = useState<string | null>(me.principal.replace(/^user:/, ''))
  const [note, setNote] = useState('')
  const call = toCall(investigation, note)
  const assign = useAct(
    () =>
      probity.POST('/api/investigations/{investigation_id}/assign', {
        ...call,
        body: { ...call.body, user_id: user_id ?? '' },
      }),
    props,
    'Assigned',
  )
  return (
    <FormDialog
      title="Assign the case"
      isOpen
      onClose={onClose}
      onSubmit={() => user_id !== null && assign.run(undefined)}
      submit="Assign"
      change={assign}
    >
      <WorkerSelect user_id={user_id} onChange={setUser} />
      <ReasonField label="Note" isRequired={false} value={note} onChange={setNote} />
    </FormDialog>
  )
}

type NoteAct = 'withdraw_proposal' | 'return' | 'reopen' | 'resume'

const noteTexts: Readonly<
  Record<NoteAct, { title: string; submit: string; about: string; done: string; isRequired: boolean }>
> = {
  withdraw_proposal: {
    title: 'Withdraw the proposal',
    submit: 'Withdraw',
    about: 'The case becomes open again and can be worked on.',
    done: 'Withdrawn: the case is open again',
    isRequired: false,
  },
  return: {
    title: 'Return the case',
    submit: 'Return',
    about: 'The case becomes open again. Whoever works on it sees who returned it and why.',
    done: 'Returned',
    isRequired: true,
  },
  reopen: {
    title: 'Open the case again',
    submit: 'Open again',
    about: 'The existing seal stays valid. Closing the case again adds another one.',
    done: 'The case is open again',
    isRequired: true,
  },
  resume: {
    title: 'Resume the case',
    submit: 'Resume',
    about: 'The case stops waiting, and its service clocks run again.',
    done: 'Case resumed',
    isRequired: false,
  },
}

function NoteDialog({ act, ...props }: DialogProps & { readonly act: NoteAct }) {
  const { investigation, onClose } = props
  const [note, setNote] = useState('')
  const { title, submit, about, done, isRequired } = noteTexts[act]
  const call = toCall(investigation, note)
  const reasoned = { ...call, body: { ...call.body, note } }
  const send = useAct(
    () => {
      if (act === 'return') return probity.POST('/api/investigations/{investigation_id}/return', reasoned)
      if (act === 'reopen') return probity.POST('/api/investigations/{investigation_id}/reopen', reasoned)
      if (act === 'resume') return probity.POST('/api/investigations/{investigation_id}/resume', call)
      return probity.POST('/api/investigations/{investigation_id}/withdraw-proposal', call)
    },
    props,
    done,
  )
  return (
    <FormDialog
      title={title}
      isOpen
      onClose={onClose}
      onSubmit={() => send.run(undefined)}
      submit={submit}
      change={send}
    >
      <Text size="sm">{about}</Text>
      <ReasonField
        label={isRequired ? 'Reason' : 'Note'}
        isRequired={isRequired}
        isFirst
        value={note}
        onChange={setNote}
      />
    </FormDialog>
  )
}
