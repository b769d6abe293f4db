/** The one act that brings a case forward for this user, and the others in a menu. */
import { ActionIcon, Button, Menu } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { Icon } from '#console/ui/icons.tsx'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import { AccessDialog } from './access-dialog.tsx'
import { ActDialog, type CaseAct } from './act-dialogs.tsx'
import { hasEnded, type Investigation, isPermitted, touched } from './investigation-queries.ts'
import { chooseMainAct } from './main-act.ts'

const mainTexts: Readonly<Partial<Record<CaseAct, string>>> = {
  propose_outcome: 'Propose an outcome',
  withdraw_proposal: 'Withdraw the proposal',
  close: 'Close the case',
  resume: 'Resume',
}

const menuTexts: readonly (readonly [act: CaseAct, text: string])[] = [
  ['assign', 'Assign'],
  ['wait', 'Wait for something'],
  ['resume', 'Resume'],
  ['withdraw_proposal', 'Withdraw the proposal'],
  ['return', 'Return'],
  ['reopen', 'Open again'],
  ['merge', 'Merge into another case'],
]

interface MainActionProps {
  readonly investigation: Investigation
  readonly act: CaseAct | null
  readonly onAct: (act: CaseAct | null) => void
}

export function MainAction({ investigation, act, onAct }: MainActionProps) {
  const { roles } = useMe()
  const may = usePermission()
  const [isRestricting, setRestricting] = useState(false)
  const canRestrict = may('updateInvestigationAccess') && !hasEnded(investigation)
  const main = chooseMainAct(investigation)
  // Whoever only reads has no acts.
  if (!roles.some((role) => role === 'analyst' || role === 'compliance_officer')) return null
  const others = menuTexts.filter(([one]) => one !== main && one !== 'return' && isPermitted(investigation, one))
  return (
    <>
      {isPermitted(investigation, 'return') && (
        <Button variant="default" onClick={() => onAct('return')}>
          Return
        </Button>
      )}
      <TakeCase investigation={investigation} isMain={main === 'assign'} />
      {main !== null && main !== 'assign' && (
        <Button
          // The next act belongs to another officer: withdrawing is offered, not suggested.
          variant={main === 'withdraw_proposal' ? 'default' : 'filled'}
          disabled={!isPermitted(investigation, main)}
          onClick={() => onAct(main)}
        >
          {mainTexts[main] ?? main}
        </Button>
      )}
      {(others.length > 0 || canRestrict || may('createReport')) && (
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <ActionIcon variant="default" size="lg" aria-label="Other acts">
              <Icon name="more" size={18} />
            </ActionIcon>
          </Menu.Target>
          <Menu.Dropdown>
            {others.map(([one, text]) => (
              <Menu.Item key={one} onClick={() => onAct(one)}>
                {text}
              </Menu.Item>
            ))}
            {may('createReport') && <ReportItem of={investigation} />}
            {canRestrict && (
              <Menu.Item onClick={() => setRestricting(true)}>
                {investigation.is_restricted ? 'Lift the restriction' : 'Restrict'}
              </Menu.Item>
            )}
          </Menu.Dropdown>
        </Menu>
      )}
      {isRestricting && <AccessDialog investigation={investigation} onClose={() => setRestricting(false)} />}
      {act !== null && <ActDialog investigation={investigation} act={act} onClose={() => onAct(null)} />}
    </>
  )
}

/** Assigns the case to the caller. Another assignee is chosen in the dialog "Assign". */
function TakeCase({ investigation, isMain }: { readonly investigation: Investigation; readonly isMain: boolean }) {
  const { principal } = useMe()
  const { investigation_id, revision, assignee, state } = investigation
  const take = useApiMutation(
    () =>
      probity.POST('/api/investigations/{investigation_id}/assign', {
        params: { path: { investigation_id } },
        body: { user_id: principal.replace(/^user:/, ''), expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'Assigned to you' },
  )
  if (assignee !== null || state !== 'open' || !isPermitted(investigation, 'assign')) return null
  return (
    <>
      <ProblemNote problem={take.problem} />
      <Button
        variant={isMain ? 'filled' : 'default'}
        // A phone has space for one act beside the menu, which offers to assign it.
        {...(!isMain && { visibleFrom: 'sm' })}
        loading={take.isRunning}
        onClick={() => take.run(undefined)}
      >
        Take the case
      </Button>
    </>
  )
}

/** Opens the form for a report about the case, which has the restriction of the case. */
function ReportItem({ of }: { readonly of: Investigation }) {
  const navigate = useNavigate()
  const { investigation_id, subject, is_restricted, restriction_id } = of
  const search = {
    request: 'case',
    investigation_id,
    subject_id: subject.subject_id,
    ...(is_restricted && { restriction_id }),
  }
  return <Menu.Item onClick={() => navigate({ to: '/reports', search })}>Request a report</Menu.Item>
}
