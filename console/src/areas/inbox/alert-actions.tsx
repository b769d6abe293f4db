/** What the user may do with an alert now. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { probity } from '#console/session/client.ts'
import { useMe, usePermission } from '#console/session/queries.ts'
import { useApiMutation } from '#console/ui/api-mutation.ts'
import { ProblemNote } from '#console/ui/problem-note.tsx'
import {
  type Alert,
  isOpen,
  isProposed,
  touched,
  useClaim,
  useConfirmDismissal,
  useIsTakeOver,
  useReturnDismissal,
} from './alert-queries.ts'

export type AlertAct =
  | 'take-over'
  | 'dismiss'
  | 'escalate'
  | 'snooze'
  | 'assign'
  | 'suppress'
  | 'restrict'
  | 'confirm'
  | 'return'

interface AlertActionsProps {
  readonly alert: Alert
  readonly onAct: (act: AlertAct) => void
}

export function AlertActions({ alert, onAct }: AlertActionsProps) {
  const may = usePermission()
  if (!isOpen(alert) || !may('dismissAlert')) return null
  return (
    <Stack gap={6}>
      {isProposed(alert) ? <ProposedActions alert={alert} /> : <OpenActions alert={alert} onAct={onAct} />}
      <Group gap={6}>
        {may('createAlertSuppression') && !alert.is_restricted && (
          <Button size="compact-xs" variant="subtle" onClick={() => onAct('suppress')}>
            Suppress
          </Button>
        )}
        {may('imposeRestriction') && !alert.is_restricted && (
          <Button size="compact-xs" variant="subtle" onClick={() => onAct('restrict')}>
            Restrict
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function OpenActions({ alert, onAct }: AlertActionsProps) {
  const me = useMe()
  const may = usePermission()
  const { alert_id, revision, assignee } = alert
  const claim = useClaim()
  const isTakeOver = useIsTakeOver()
  const release = useApiMutation(
    () =>
      probity.POST('/api/alerts/{alert_id}/release', {
        params: { path: { alert_id } },
        body: { expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'Returned to its queue' },
  )
  const wake = useApiMutation(
    () =>
      probity.POST('/api/alerts/{alert_id}/wake', {
        params: { path: { alert_id } },
        body: { expected_revision: revision },
      }),
    { invalidates: touched, successMessage: 'The alert is open again' },
  )
  const isMine = assignee === me.principal
  const canGiveAway = isMine || assignee === null || may('decideAlertSecondLook')
  const canRelease = isMine || (assignee !== null && may('decideAlertSecondLook'))
  return (
    <Stack gap={6}>
      <Group gap={6}>
        {canGiveAway && !isMine && (
          <Button
            size="xs"
            loading={claim.isRunning}
            onClick={() => (isTakeOver(alert) ? onAct('take-over') : claim.run(alert))}
          >
            Claim
          </Button>
        )}
        <Button size="xs" variant={isMine ? 'filled' : 'default'} onClick={() => onAct('dismiss')}>
          Dismiss
        </Button>
        <Button size="xs" variant="default" onClick={() => onAct('escalate')}>
          Escalate
        </Button>
        {alert.state === 'snoozed' ? (
          <Button size="xs" variant="default" loading={wake.isRunning} onClick={() => wake.run(undefined)}>
            Bring back now
          </Button>
        ) : (
          <Button size="xs" variant="default" onClick={() => onAct('snooze')}>
            Snooze
          </Button>
        )}
        {canGiveAway && (
          <Button size="xs" variant="default" onClick={() => onAct('assign')}>
            Assign
          </Button>
        )}
        {canRelease && (
          <Button size="xs" variant="default" loading={release.isRunning} onClick={() => release.run(undefined)}>
            Return to queue
          </Button>
        )}
      </Group>
      <ProblemNote problem={claim.problem ?? release.problem ?? wake.problem} />
    </Stack>
  )
}

function ProposedActions({ alert }: { readonly alert: Alert }) {
  const me = useMe()
  const confirm = useConfirmDismissal()
  const refuse = useReturnDismissal()
  const isOwn = alert.dismissal?.proposed_by === me.principal
  return (
    <Stack gap={6}>
      {isOwn && <Text size="sm">You proposed to dismiss it, so another person must confirm.</Text>}
      <Group gap={6}>
        {!isOwn && (
          <Button size="xs" loading={confirm.isRunning} onClick={() => confirm.run(alert)}>
            Confirm the dismissal
          </Button>
        )}
        <Button size="xs" variant="default" loading={refuse.isRunning} onClick={() => refuse.run(alert)}>
          {isOwn ? 'Withdraw' : 'Do not dismiss'}
        </Button>
      </Group>
      <ProblemNote problem={confirm.problem ?? refuse.problem} />
    </Stack>
  )
}
