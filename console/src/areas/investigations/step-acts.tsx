/** What people do with a step: begin it again, settle an unknown outcome, waive it. */
import { Button, Group, SegmentedControl, Select, Text, Textarea } from '@mantine/core'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { FormDialog } from '#console/ui/dialog.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { ReasonField } from '#console/ui/reason-field.tsx'
import { type Investigation, isOpen, isSettled, type Step, touchedByEvidence } from './investigation-queries.ts'

interface StepActsProps {
  readonly investigation: Investigation
  readonly step: Step
}

/** A pending step with a problem waits for a credential. */
const canRetry = ({ state, problem }: Step): boolean =>
  state === 'failed' || (problem !== null && ['skipped', 'pending'].includes(state))
/** Waived before it was tried. */
const canTakeBack = ({ state, problem }: Step): boolean => state === 'waived' && problem === null
const canWaive = ({ state, problem }: Step): boolean =>
  ['pending', 'waiting', 'failed', 'indeterminate'].includes(state) || (state === 'skipped' && problem !== null)

export function StepActs({ investigation, step }: StepActsProps) {
  const may = usePermission()
  const [act, setAct] = useState<'waive' | 'settle' | null>(null)
  const path = { investigation_id: investigation.investigation_id, step_key: step.step_key }
  const retry = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/steps/{step_key}/retry', {
        params: { path },
      }),
    { invalidates: touchedByEvidence, successMessage: 'Step restarted' },
  )
  if (!isOpen(investigation)) return null
  const offers = {
    retry: canRetry(step) && may('retryInvestigationStep'),
    takeBack: canTakeBack(step) && may('retryInvestigationStep'),
    settle: step.state === 'indeterminate' && may('settleInvestigationStep'),
    waive: canWaive(step) && may('waiveInvestigationStep'),
  }
  const isStuck =
    ['failed', 'indeterminate'].includes(step.state) || (step.state === 'skipped' && step.problem !== null)
  const byOfficer = isStuck && canWaive(step) && !may('waiveInvestigationStep') && (
    <Text size="xs" c="dimmed">
      A compliance officer can waive it.
    </Text>
  )
  if (!Object.values(offers).some(Boolean)) return byOfficer || null
  const name = step.title ?? step.step_key
  const isTroubled = offers.retry || offers.settle
  return (
    <>
      <ProblemNote problem={retry.problem} />
      <Group gap={6} mt={isTroubled ? 4 : 0} className={isTroubled ? '' : 'case-quiet-acts'}>
        {offers.retry && (
          <Button
            size="compact-xs"
            variant="default"
            loading={retry.isRunning}
            aria-label={`Retry ${name}`}
            onClick={() => retry.run(undefined)}
          >
            Retry
          </Button>
        )}
        {offers.settle && (
          <Button size="compact-xs" color="orange.9" aria-label={`Settle ${name}`} onClick={() => setAct('settle')}>
            Settle
          </Button>
        )}
        {offers.takeBack && (
          <Button
            {...quiet}
            loading={retry.isRunning}
            aria-label={`Begin ${name} after all`}
            onClick={() => retry.run(undefined)}
          >
            Begin after all
          </Button>
        )}
        {offers.waive && <WaiveButton name={name} isQuiet={!isTroubled} onClick={() => setAct('waive')} />}
      </Group>
      {byOfficer}
      {act === 'waive' && (
        <WaiveDialog path={path} name={name} isUnknown={step.state === 'indeterminate'} onClose={() => setAct(null)} />
      )}
      {act === 'settle' && <SettleDialog path={path} name={name} onClose={() => setAct(null)} />}
    </>
  )
}

/** Can begin, or waits for a credential or its provider. */
const isLeft = (steps: readonly Step[], { state, needs, not_before }: Step): boolean =>
  state === 'pending' ? needs.every((key) => isSettled(steps, key)) : state === 'waiting' && not_before !== null

/** Where the job was cancelled or failed: all that it left begins together. */
export function BeginLeftSteps({ investigation }: { readonly investigation: Investigation }) {
  const may = usePermission()
  const { investigation_id, steps, gathering } = investigation
  const begin = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/steps/retry', { params: { path: { investigation_id } } }),
    { invalidates: touchedByEvidence, successMessage: 'Steps restarted' },
  )
  const isStopped = isOpen(investigation) && gathering !== 'running' && gathering !== 'none'
  if (!isStopped || !may('retryInvestigationSteps') || !steps.some((step) => isLeft(steps, step))) return null
  return (
    <>
      <ProblemNote problem={begin.problem} />
      <Button size="compact-xs" variant="default" loading={begin.isRunning} onClick={() => begin.run(undefined)}>
        Begin the remaining steps
      </Button>
    </>
  )
}

/** Is there, but does not ask for attention. */
const quiet = { size: 'compact-xs', variant: 'transparent', className: 'case-quiet-act' } as const

interface WaiveButtonProps {
  readonly name: string
  /** The step can still go its way. */
  readonly isQuiet: boolean
  readonly onClick: () => void
}

const WaiveButton = ({ name, isQuiet, onClick }: WaiveButtonProps) => (
  <Button
    {...(isQuiet ? quiet : { size: 'compact-xs', variant: 'default' })}
    aria-label={`Waive ${name}`}
    onClick={onClick}
  >
    Waive
  </Button>
)

interface StepDialogProps {
  readonly path: { readonly investigation_id: string; readonly step_key: string }
  readonly name: string
  readonly onClose: () => void
}

interface WaiveDialogProps extends StepDialogProps {
  /** Nobody knows whether its call was answered. */
  readonly isUnknown: boolean
}

function WaiveDialog({ path, name, isUnknown, onClose }: WaiveDialogProps) {
  const [reason, setReason] = useState('')
  const waive = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/steps/{step_key}/waive', {
        params: { path },
        body: { reason },
      }),
    { invalidates: touchedByEvidence, successMessage: 'Step waived', onDone: onClose },
  )
  return (
    <FormDialog
      title={`Waive ${name}`}
      isOpen
      onClose={onClose}
      onSubmit={() => waive.run(undefined)}
      submit="Waive the step"
      change={waive}
    >
      <Text size="sm">
        Steps that follow it continue as if it were done. Your name and the reason are recorded in the case.
      </Text>
      {isUnknown && (
        <Text size="sm">
          The provider may have answered this call, and may charge for it. A step that was waived after a call cannot be
          taken up again: settle it instead if its answer may be needed.
        </Text>
      )}
      <ReasonField isFirst label="Why the case can do without it" value={reason} onChange={setReason} />
    </FormDialog>
  )
}

const mediaTypes = ['application/json', 'application/xml', 'text/plain']
const choices = [
  { value: 'call_again', label: 'Call again' },
  { value: 'enter_answer', label: 'Enter the answer' },
]
const results = [
  { value: 'found', label: 'Found' },
  { value: 'not_found', label: 'Not found' },
] as const

function SettleDialog({ path, name, onClose }: StepDialogProps) {
  const [action, setAction] = useState<'call_again' | 'enter_answer'>('call_again')
  const [reason, setReason] = useState('')
  const [answer, setAnswer] = useState({
    result: 'found' as 'found' | 'not_found',
    media_type: 'application/json',
    content: '',
  })
  const settle = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/steps/{step_key}/settle', {
        params: { path },
        body: { action, reason, ...(action === 'enter_answer' && { answer }) },
      }),
    { invalidates: touchedByEvidence, successMessage: 'Settled. The step continues', onDone: onClose },
  )
  return (
    <FormDialog
      title={`Settle ${name}`}
      isOpen
      onClose={onClose}
      onSubmit={() => settle.run(undefined)}
      submit={action === 'call_again' ? 'Call again' : 'Store the answer'}
      change={settle}
    >
      <Text size="sm">
        The request was sent, and it is not known whether the provider acted on it. Find out from the provider first.
      </Text>
      <SegmentedControl
        aria-label="What to do"
        data={choices}
        value={action}
        onChange={(value) => setAction(value as typeof action)}
      />
      <Text size="sm" c="dimmed">
        {action === 'call_again'
          ? 'A new call is made. If the first one arrived, the provider may charge for both.'
          : 'Nothing is sent. The answer is checked like any other, and your name is recorded with it.'}
      </Text>
      {action === 'enter_answer' && (
        <>
          <Select
            label="Result"
            allowDeselect={false}
            data={results}
            value={answer.result}
            onChange={(result) => result !== null && setAnswer({ ...answer, result })}
          />
          <Select
            label="Type"
            allowDeselect={false}
            data={mediaTypes}
            value={answer.media_type}
            onChange={(media_type) => media_type !== null && setAnswer({ ...answer, media_type })}
          />
          <Textarea
            label="Answer"
            required
            autosize
            minRows={4}
            maxRows={12}
            value={answer.content}
            onChange={(event) => setAnswer({ ...answer, content: event.currentTarget.value })}
          />
        </>
      )}
      <ReasonField label="How it is known what the provider did" value={reason} onChange={setReason} />
    </FormDialog>
  )
}
