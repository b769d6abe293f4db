/** The event of a change request that was decided. */
import { declareEvent } from '#kernel/events/event-type.ts'

export const changeRequestDecided = declareEvent({
  type: 'change_request.decided',
  summary: 'A change request was approved and executed, rejected or withdrawn.',
  object_kind: 'change_request',
  data: { action: 'The governed action.', state: 'approved, rejected or withdrawn.' },
})
