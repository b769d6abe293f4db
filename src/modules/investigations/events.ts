/** Events of investigations in the outbox: ids and words of the model only. */
import { declareEvent } from '#kernel/events/event-type.ts'

export const investigationOpened = declareEvent({
  type: 'investigation.opened',
  summary: 'An investigation was opened.',
  object_kind: 'investigation',
  data: { playbook_key: 'Its playbook.', origin: 'What opened it.', priority: 'Its priority.' },
})
export const investigationProposed = declareEvent({
  type: 'investigation.outcome_proposed',
  summary: 'An outcome waits for a second person.',
  object_kind: 'investigation',
  data: { outcome: 'The reason code.' },
})
export const investigationClosed = declareEvent({
  type: 'investigation.closed',
  summary: 'The investigation was closed and sealed.',
  object_kind: 'investigation',
  data: { outcome: 'The reason code.', seal_no: 'How often it was closed.' },
})
export const investigationReopened = declareEvent({
  type: 'investigation.reopened',
  summary: 'A closed investigation is open again.',
  object_kind: 'investigation',
  data: {},
})

export const investigationEvents = [
  investigationOpened,
  investigationProposed,
  investigationClosed,
  investigationReopened,
]
