/** States of a case, of its gathering and of its steps. Colour only repeats the text. */
import { Badge } from '@mantine/core'
import { toWords } from '#console/ui/format.ts'
import type { InvestigationSummary, Step } from './investigation-queries.ts'
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

export const GatheringState = ({ of }: { readonly of: Pick<InvestigationSummary, 'gathering'> }) => (
  <Mark state={of.gathering} text={gatheringTexts[of.gathering]} />
)

export const StepState = ({ state }: Pick<Step, 'state'>) => <Mark state={state} text={stepTexts[state]} />

export const PlainState = ({ state }: { readonly state: string }) => <Mark state={state} text={toWords(state)} />
