/** The dialog of an act on one alert. */
import type { AlertAct } from './alert-actions.tsx'
import { AssignDialog, DismissDialog, EscalateDialog } from './alert-dialogs.tsx'
import type { Alert } from './alert-queries.ts'
import { NewSuppression } from './new-suppression.tsx'
import { RestrictDialog } from './restrict-dialog.tsx'
import { SnoozeDialog } from './snooze-dialog.tsx'

interface AlertActDialogProps {
  readonly alert: Alert
  readonly act: AlertAct | null
  readonly onClose: () => void
}

export function AlertActDialog({ alert, act, onClose }: AlertActDialogProps) {
  if (act === 'dismiss') return <DismissDialog alert={alert} onClose={onClose} />
  if (act === 'escalate') return <EscalateDialog alert={alert} onClose={onClose} />
  if (act === 'assign') return <AssignDialog alert={alert} onClose={onClose} />
  if (act === 'suppress') return <NewSuppression alert={alert} onClose={onClose} />
  if (act === 'restrict') return <RestrictDialog alert={alert} onClose={onClose} />
  return act === 'snooze' ? <SnoozeDialog alert={alert} onClose={onClose} /> : null
}
