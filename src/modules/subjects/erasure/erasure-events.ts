/** Events of erasures in the outbox. */
import { declareEvent } from '#kernel/events/event-type.ts'

export const erasureRequested = declareEvent({
  type: 'erasure.requested',
  summary: 'An erasure waits for a second person.',
  object_kind: 'erasure',
  data: { subject_id: 'The subject.' },
})
export const subjectErased = declareEvent({
  type: 'subject.erased',
  summary: 'The content of a subject is erased: erase your copies too.',
  object_kind: 'subject',
  data: { erasure_id: 'The erasure.' },
})
