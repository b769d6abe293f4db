/** What always stays visible of a case: number, subject with rating, state, padlock, clocks, assignee and the next act. */
import { Button, Group, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useRef } from 'react'
import { usePermission } from '#console/session/queries.ts'
import { DateTime, RelativeTime } from '#console/ui/date-time.tsx'
import { TEST_CASE_TEXT } from '#console/ui/decision/is-test.ts'
import { TestMark } from '#console/ui/decision/is-test-mark.tsx'
import { BandMark } from '#console/ui/decision/outcome.tsx'
import { ReasonCodes } from '#console/ui/decision/reason-codes.tsx'
import { formatCount } from '#console/ui/format.ts'
import { Icon } from '#console/ui/icons.tsx'
import { PageLink } from '#console/ui/link.tsx'
import { usePageFocus } from '#console/ui/page.tsx'
import { Principal } from '#console/ui/principal.tsx'
import { RestrictionNote } from '#console/ui/restriction/padlock.tsx'
import { riskQuery } from '#console/ui/subject-queries.ts'
import { useCase } from '#console/ui/work/case-name.tsx'
import { ClockMark } from '#console/ui/work/clock-mark.tsx'
import { PriorityBadge } from '#console/ui/work/priority.tsx'
import type { CaseAct } from './act-dialogs.tsx'
import { CaseActNote } from './case-act-note.tsx'
import { CaseState, GatheringState } from './case-badges.tsx'
import { CasePack } from './case-pack.tsx'
import { CaseSeals } from './case-seals.tsx'
import { formatClockName } from './clock-name.ts'
import { hasEnded, type Investigation, useHolds } from './investigation-queries.ts'
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
          <span className="case-title break">{investigation.title}</span>
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
              'Nobody works on it'
            ) : (
              <>
                Assigned to <Principal of={investigation.assignee} />
              </>
            )}
          </span>
          <HeldMark of={investigation} />
          <CaseOutcome of={investigation} />
          <CaseSeals investigation={investigation} />
        </Group>
        <MissingList investigation={investigation} onGoTo={onGoTo} onResume={() => onAct('resume')} />
      </header>
      <CaseActNote investigation={investigation} />
      <RestrictionNote restriction_id={is_restricted ? restriction_id : null} />
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
      {formatClockName(clock.clock_key, of.clocks)} <ClockMark clock={clock} />
    </span>
  ))
}

function MergedInto({ of: { subject }, into }: { readonly of: Investigation; readonly into: string }) {
  const { reference } = useCase({ investigation_id: into, subject_id: subject.subject_id }) ?? {}
  return (
    <PageLink to={`/investigations/${into}`} inherit>
      Merged into {reference ?? 'another case'}
    </PageLink>
  )
}

function CaseOutcome({ of }: { readonly of: Investigation }) {
  const { proposal, outcome, closed_by, closed_at, merged_into } = of
  if (merged_into !== null) return <MergedInto of={of} into={merged_into} />
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
