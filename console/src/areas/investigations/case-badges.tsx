/** States of a case, of its gathering and of its steps. Colour only repeats the text. */
import { Badge } from '@mantine/core'
import { toWords } from '#console/ui/format.ts'
import { hasEnded, type InvestigationSummary, type Step } from './investigation-queries.ts'
import { stepTexts } from './missing.ts'

const colors: Readonly<Record<string, string>> = {
  open: 'cyan',
  proposed: 'indigo',
  closed: 'teal',
  merged: 'gray',
  ended: 'gray',
  running: 'cyan',
  waiting: 'yellow',
  succeeded: 'teal',
  done: 'teal',
  fulfilled: 'teal',
  failed: 'red',
  blocked: 'red',
  indeterminate: 'orange',
  partial: 'orange',
}

export const gatheringTexts: Readonly<Record<InvestigationSummary['gathering'], string>> = {
  none: 'not begun',
  running: 'gathering',
  blocked: 'blocked',
  done: 'gathered',
  partial: 'partly gathered',
}

function Mark({ state, text }: { readonly state: string; readonly text: string }) {
  return (
    <Badge variant="light" tt="none" miw="max-content" color={colors[state] ?? 'gray'}>
      {text}
    </Badge>
  )
}

export const CaseState = ({ of }: { readonly of: Pick<InvestigationSummary, 'state' | 'waiting_for'> }) => (
  <>
    <Mark state={of.state} text={of.state === 'proposed' ? 'outcome proposed' : of.state} />
    {of.waiting_for !== null && (
      <Mark state="waiting" text={of.waiting_for === 'other' ? 'waiting' : `waits for ${of.waiting_for}`} />
    )}
  </>
)

/** Nothing is gathered for a case that has ended, so it says nothing there. */
export const GatheringState = ({ of }: { readonly of: Pick<InvestigationSummary, 'gathering' | 'state'> }) =>
  hasEnded(of) ? null : <Mark state={of.gathering} text={gatheringTexts[of.gathering]} />

interface PartStateProps {
  readonly state: string
  /** The state of its case. */
  readonly of: Pick<InvestigationSummary, 'state'>
}

/** A step or task of a case that has ended is not waited for any more. */
export const isNotNeeded = ({ state, of }: PartStateProps): boolean =>
  hasEnded(of) && ['pending', 'waiting', 'open'].includes(state)

/** Why a step or task of a case that has ended is not needed. */
export const describeNotNeeded = ({ state }: Pick<InvestigationSummary, 'state'>): string =>
  state === 'merged'
    ? 'The case was merged before it was done.'
    : state === 'ended'
      ? 'The case ended with the erasure of its subject.'
      : 'The case was closed without it.'

export const StepState = ({ state, of }: PartStateProps & Pick<Step, 'state'>) =>
  isNotNeeded({ state, of }) ? (
    <Mark state="skipped" text="not needed" />
  ) : (
    <Mark state={state} text={stepTexts[state]} />
  )

export const TaskState = ({ state, isNeeded }: { readonly state: string; readonly isNeeded: boolean }) =>
  !isNeeded ? <Mark state="skipped" text="not needed" /> : <PlainState state={state} />

export const PlainState = ({ state }: { readonly state: string }) => <Mark state={state} text={toWords(state)} />
