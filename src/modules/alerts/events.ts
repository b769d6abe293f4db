/** Events of alerts in the outbox: ids and words of the model only. */
import { declareEvent } from '#kernel/events/event-type.ts'

const data = { priority: 'Its priority.' } as const

export const alertOpened = declareEvent({
  type: 'alert.opened',
  summary: 'An alert was opened.',
  object_kind: 'alert',
  data: { ...data, source: 'Who reported it.' },
})
export const alertClaimed = declareEvent({
  type: 'alert.claimed',
  summary: 'Somebody works on the alert.',
  object_kind: 'alert',
  data: { ...data, assignee: 'Who.' },
})
export const alertReleased = declareEvent({
  type: 'alert.released',
  summary: 'The alert was returned to its queue.',
  object_kind: 'alert',
  data,
})
export const alertSnoozed = declareEvent({
  type: 'alert.snoozed',
  summary: 'The alert was snoozed.',
  object_kind: 'alert',
  data: { ...data, until: 'Until when.' },
})
export const alertWoken = declareEvent({
  type: 'alert.woken',
  summary: 'A snoozed alert is open again.',
  object_kind: 'alert',
  data,
})
export const dismissalProposed = declareEvent({
  type: 'alert.dismissal_proposed',
  summary: 'A dismissal waits for a second person.',
  object_kind: 'alert',
  data: { ...data, reason_code: 'The reason code.' },
})
export const alertDismissed = declareEvent({
  type: 'alert.dismissed',
  summary: 'The alert was dismissed.',
  object_kind: 'alert',
  data: { ...data, reason_code: 'The reason code.' },
})
export const alertEscalated = declareEvent({
  type: 'alert.escalated',
  summary: 'The alert needs an investigation.',
  object_kind: 'alert',
  data,
})
export const alertReopened = declareEvent({
  type: 'alert.reopened',
  summary: 'A second look disagreed with the dismissal.',
  object_kind: 'alert',
  data,
})

export const alertEvents = [
  alertOpened,
  alertClaimed,
  alertReleased,
  alertSnoozed,
  alertWoken,
  dismissalProposed,
  alertDismissed,
  alertEscalated,
  alertReopened,
]
