/** The event of a changed rating. The trigger `subject_risk_event` writes it: batches rate in bulk, single decisions with their commit. */
import { declareEvent } from '#kernel/events/event-type.ts'

export const ratingChanged = declareEvent({
  type: 'subject.rating_changed',
  summary: 'A decision or an override changed the risk band in force of a subject that was rated before.',
  object_kind: 'subject',
  data: {},
})
