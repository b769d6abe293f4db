/** The dialog of an act on one alert. */
import { useState } from 'react'
import { ConfirmDialog } from '#console/ui/dialog.tsx'
import { Principal } from '#console/ui/principal.tsx'
import type { AlertAct } from './alert-actions.tsx'
import { AssignDialog, DismissDialog, EscalateDialog } from './alert-dialogs.tsx'
import { type Alert, useClaim, useConfirmDismissal, useReturnDismissal } from './alert-queries.ts'
import { NewSuppression } from './new-suppression.tsx'
import { RestrictDialog } from './restrict-dialog.tsx'
import { SnoozeDialog } from './snooze-dialog.tsx'

interface AlertActDialogProps {
  readonly alert: Alert
  readonly act: AlertAct | null
  readonly onClose: () => void
}

export function AlertActDialog({ alert, act, onClose }: AlertActDialogProps) {
  if (act === 'take-over') return <TakeOverDialog alert={alert} onClose={onClose} />
  if (act === 'dismiss') return <DismissDialog alert={alert} onClose={onClose} />
  if (act === 'escalate') return <EscalateDialog alert={alert} onClose={onClose} />
  if (act === 'assign') return <AssignDialog alert={alert} onClose={onClose} />
  if (act === 'suppress') return <NewSuppression alert={alert} onClose={onClose} />
  if (act === 'restrict') return <RestrictDialog alert={alert} onClose={onClose} />
  if (act === 'confirm' || act === 'return') return <SecondPersonDialog alert={alert} act={act} onClose={onClose} />
  return act === 'snooze' ? <SnoozeDialog alert={alert} onClose={onClose} /> : null
}

/** One key must not take away what a colleague works on. */
function TakeOverDialog({ alert, onClose }: Pick<AlertActDialogProps, 'alert' | 'onClose'>) {
  // The one of whom it was asked, also while the answer shows the new one.
  const [assignee] = useState(alert.assignee)
  const claim = useClaim(onClose)
  return (
    <ConfirmDialog
      title="Take over the alert"
      isOpen
      onClose={onClose}
      onConfirm={() => claim.run(alert)}
      confirm="Take over"
      change={claim}
      isConfirmFirst
    >
      <Principal of={assignee ?? ''} isAlwaysNamed /> works on this alert. Take it over?
    </ConfirmDialog>
  )
}

interface SecondPersonDialogProps {
  readonly alert: Alert
  readonly act: 'confirm' | 'return'
  readonly onClose: () => void
}

/** For the keys: one letter alone must not decide. */
function SecondPersonDialog({ alert, act, onClose }: SecondPersonDialogProps) {
  const confirm = useConfirmDismissal(onClose)
  const giveBack = useReturnDismissal(onClose)
  const change = act === 'confirm' ? confirm : giveBack
  return (
    <ConfirmDialog
      title={act === 'confirm' ? 'Confirm the dismissal?' : 'Return the alert?'}
      isOpen
      onClose={onClose}
      onConfirm={() => change.run(alert)}
      confirm={act === 'confirm' ? 'Confirm the dismissal' : 'Return'}
      change={change}
      isConfirmFirst
    >
      {alert.title}
    </ConfirmDialog>
  )
}
