/** What always stays visible of a case: number, subject with rating, state, padlock, clocks, assignee and the next act. */
import { Alert, Anchor, Button, Group, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { TEST_CASE_TEXT } from '#console/ui/decision/is-test.ts'
import { TestMark } from '#console/ui/decision/is-test-mark.tsx'
import { BandMark } from '#console/ui/decision/outcome.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { formatCount, toSentence } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { usePageFocus } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { RestrictionNote } from '#console/ui/restriction/padlock.tsx'
import { riskQuery } from '#console/ui/subject-queries.ts'
import { useLastAct } from '#console/ui/work/case-acts.ts'
import { ClockMark } from '#console/ui/work/clock-mark.tsx'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import type { CaseAct } from './act-dialogs.tsx'
import { CaseState, GatheringState } from './case-badges.tsx'
import { CasePack } from './case-pack.tsx'
import { hasEnded, type Investigation, isOpen, touched, useHolds } from './investigation-queries.ts'
import { MainAction } from './main-action.tsx'
import { MissingList } from './missing-list.tsx'

interface CaseHeaderProps {
  readonly investigation: Investigation
  readonly act: CaseAct | null
  readonly onAct: (act: CaseAct | null) => void
  readonly onGoTo: (pointer: string) => void
  readonly onHelp: () => void
}

/** The columns begin below the header while the page scrolls, and its height depends on what it says. */
function useHeaderHeight() {
  const observer = useRef<ResizeObserver | null>(null)
  return useCallback((header: HTMLElement | null) => {
    observer.current?.disconnect()
    if (header === null) return
    observer.current = new ResizeObserver(() =>
      header.parentElement?.style.setProperty('--case-header-height', `${header.offsetHeight}px`),
    )
    observer.current.observe(header)
  }, [])
}

export function CaseHeader({ investigation, act, onAct, onGoTo, onHelp }: CaseHeaderProps) {
  // The number says nothing about the subject: people who look at the screen, and the history of the browser, see no name.
  const heading = usePageFocus(investigation.reference)
  const { is_restricted, restriction_id, counts } = investigation
  const measured = useHeaderHeight()
  return (
    <>
      <Text size="sm" component="div">
        <PageLink to="/investigations" inherit>
          Investigations
        </PageLink>
      </Text>
      <header className="case-header" ref={measured}>
        <div className="case-line">
          <Group gap="xs" miw={0}>
            <Title order={1} size="h3" ref={heading} tabIndex={-1} className="page-title">
              {investigation.reference}
            </Title>
            <CaseSubject of={investigation} />
            <CaseState of={investigation} />
            <TestMark of={investigation} text={TEST_CASE_TEXT} />
          </Group>
          <Group gap="xs">
            <Button variant="subtle" size="xs" visibleFrom="sm" onClick={onHelp}>
              Keys
            </Button>
            <CasePack investigation={investigation} />
            <MainAction investigation={investigation} act={act} onAct={onAct} />
          </Group>
        </div>
        <Group gap="md" className="case-facts">
          <span className="case-title">{investigation.title}</span>
          <GatheringState of={investigation} />
          <span>
            Priority <PriorityBadge priority={investigation.priority} />
          </span>
          <span className="case-people" title="People on the access list; the MLRO has access without being named">
            <Icon name={is_restricted ? 'lock' : 'people'} size={14} />{' '}
            {is_restricted ? formatCount(counts.people_with_access, 'person', 'people') : 'Not restricted'}
          </span>
          <CaseClocks of={investigation} />
          <span>
            {investigation.assignee === null ? (
              <Unassigned investigation={investigation} />
            ) : (
              <>
                Assigned to <Principal of={investigation.assignee} />
              </>
            )}
          </span>
          <HeldMark of={investigation} />
          <CaseOutcome of={investigation} />
        </Group>
        <MissingList investigation={investigation} onGoTo={onGoTo} onResume={() => onAct('resume')} />
      </header>
      <ReturnedNote investigation={investigation} />
      <RestrictionNote restriction_id={is_restricted ? restriction_id : null} />
    </>
  )
}

/** Until the outcome is proposed again. A return is always written about, so a case without notes has none. */
function ReturnedNote({ investigation }: { readonly investigation: Investigation }) {
  const act = useLastAct(investigation, isOpen(investigation) && investigation.counts.notes > 0)
  if (!isOpen(investigation) || act?.kind !== 'returned') return null
  return (
    <Alert color="yellow" role="note" aria-label="Returned" className="case-returned">
      <b>
        Returned by <Principal of={act.recorded_by} isAlwaysNamed />
      </b>
      , <RelativeTime at={act.recorded_at} />: {act.note}
    </Alert>
  )
}

/** Taking a case needs one click; giving it to somebody else has its dialog. */
function Unassigned({ investigation }: { readonly investigation: Investigation }) {
  const { principal } = useMe()
  const { investigation_id, revision, next_actions } = investigation
  const take = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/assign', {
        params: { path: { investigation_id } },
        body: { user_id: principal.replace(/^user:/, ''), expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'Assigned to you' },
  )
  const canTake = next_actions.some(({ action, is_permitted }) => action === 'assign' && is_permitted)
  return (
    <>
      Nobody works on it
      {canTake && (
        <>
          {' · '}
          <Anchor
            component="button"
            type="button"
            inherit
            disabled={take.isRunning}
            onClick={() => take.run(undefined)}
          >
            Take it
          </Anchor>
        </>
      )}
      <ProblemNote problem={take.problem} />
    </>
  )
}

/** A hold on the case or on its subject keeps everything from being deleted. */
function HeldMark({ of: { investigation_id, subject } }: { readonly of: Investigation }) {
  const holds = useHolds()
  const hold = holds(investigation_id) ?? holds(subject.subject_id)
  if (hold === undefined) return null
  return (
    <span title={hold.reason}>
      <PageLink to={`/holds/${hold.hold_id}`} inherit>
        On legal hold
      </PageLink>
    </span>
  )
}

function CaseSubject({ of: { subject } }: { readonly of: Investigation }) {
  const may = usePermission()
  const { data: risk } = useQuery({
    ...riskQuery(subject.subject_id),
    enabled: may('getSubjectRisk'),
    throwOnError: false,
  })
  return (
    <Group gap={6} wrap="nowrap" miw={0}>
      {may('getSubject') ? (
        <PageLink to={`/subjects/${subject.subject_id}`} fw={600} className="break">
          {subject.name}
        </PageLink>
      ) : (
        <Text span fw={600}>
          {subject.name}
        </Text>
      )}
      {risk !== undefined &&
        (risk.band === null ? <span className="quiet">not rated</span> : <BandMark band={risk.band} />)}
    </Group>
  )
}

/** Of each kind the clock that ends first. */
function CaseClocks({ of }: { readonly of: Investigation }) {
  if (hasEnded(of)) return null
  const open = of.clocks
    .filter(({ state }) => state !== 'met')
    .toSorted((one, other) => one.due_at.localeCompare(other.due_at))
  const shown = (['service', 'statutory'] as const).flatMap((kind) => open.find((clock) => clock.kind === kind) ?? [])
  return shown.map((clock) => (
    <span key={clock.clock_key} className="case-clock">
      {toSentence(clock.clock_key)} <ClockMark clock={clock} />
    </span>
  ))
}

function CaseOutcome({ of: { proposal, outcome, closed_by, closed_at, merged_into } }: { readonly of: Investigation }) {
  if (merged_into !== null) return <PageLink to={`/investigations/${merged_into}`}>Merged into another case</PageLink>
  if (outcome !== null && closed_by !== null)
    return (
      <span>
        Outcome:{' '}
        <b>
          <ReasonCodes of={[outcome]} />
        </b>
        {proposal !== null && (
          <>
            , proposed by <Principal of={proposal.proposed_by} isAlwaysNamed /> <DateTime at={proposal.proposed_at} />
          </>
        )}
        , closed by <Principal of={closed_by} isAlwaysNamed /> {closed_at !== null && <DateTime at={closed_at} />}
      </span>
    )
  if (proposal === null) return null
  return (
    <span>
      Proposed:{' '}
      <b>
        <ReasonCodes of={[proposal.outcome]} />
      </b>
      , by <Principal of={proposal.proposed_by} isAlwaysNamed /> <RelativeTime at={proposal.proposed_at} />
    </span>
  )
}
