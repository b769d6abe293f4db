/** Banner of a case that was returned or opened again, or whose proposal waits for another person. */
import { Alert } from '@mantine/core'
import { RelativeTime } from '#console/ui/date-time.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { useLastAct } from '#console/ui/work/case-acts.ts'
import { type Investigation, isOpen, isPermitted } from './investigation-queries.ts'

/** A return and opening again are always written about, so an open case without notes has neither. */
const isWanted = (of: Investigation): boolean => of.state === 'proposed' || (isOpen(of) && of.counts.notes > 0)

export function CaseActNote({ investigation }: { readonly investigation: Investigation }) {
  const act = useLastAct(investigation, isWanted(investigation))
  const { state, assignee } = investigation
  if (state === 'proposed') return <ProposedNote investigation={investigation} note={act?.note ?? null} />
  if (!isOpen(investigation) || (act?.kind !== 'returned' && act?.kind !== 'reopened')) return null
  const isReturn = act.kind === 'returned'
  return (
    <Alert color="yellow" role="note" aria-label={isReturn ? 'Returned' : 'Opened again'} className="case-act-note">
      <b>
        {isReturn ? 'Returned' : 'Opened again'} by <Principal of={act.recorded_by} isAlwaysNamed />
      </b>
      , <RelativeTime at={act.recorded_at} />: {act.note}
      {!isReturn && assignee === null && act.worker !== null && (
        <div>
          Before it was closed, <Principal of={act.worker} isAlwaysNamed /> worked on it.
        </div>
      )}
    </Alert>
  )
}

interface ProposedNoteProps {
  readonly investigation: Investigation
  readonly note: string | null
}

function ProposedNote({ investigation, note }: ProposedNoteProps) {
  const { proposal } = investigation
  const canDecide = isPermitted(investigation, 'close')
  if (proposal === null || (canDecide && note === null)) return null
  return (
    <Alert color="indigo" role="note" aria-label="Proposed" className="case-act-note">
      {!canDecide && (
        <div>
          <b>Waits for another compliance officer</b>, who closes the case or returns it.
        </div>
      )}
      {note !== null && (
        <div>
          <b>
            Note of <Principal of={proposal.proposed_by} isAlwaysNamed />:
          </b>{' '}
          {note}
        </div>
      )}
    </Alert>
  )
}
