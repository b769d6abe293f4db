/** The dialog of an act on one alert. */
import type { AlertAct } from './alert-actions.tsx'
import { DismissDialog, EscalateDialog, SnoozeDialog } from './alert-dialogs.tsx'
import type { Alert } from './alert-queries.ts'

interface AlertActDialogProps {
  readonly alert: Alert
  readonly act: AlertAct | null
  readonly onClose: () => void
}

export function AlertActDialog({ alert, act, onClose }: AlertActDialogProps) {
  if (act === 'dismiss') return <DismissDialog alert={alert} onClose={onClose} />
  if (act === 'escalate') return <EscalateDialog alert={alert} onClose={onClose} />
  return act === 'snooze' ? <SnoozeDialog alert={alert} onClose={onClose} /> : null
}
