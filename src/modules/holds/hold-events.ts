/** Events of legal holds in the outbox. */
import { declareEvent } from '#kernel/events/event-type.ts'

const data = { object_kind: 'Kind of the object.', held_object_id: 'Its id.' } as const

export const holdPlaced = declareEvent({
  type: 'hold.placed',
  summary: 'A legal hold keeps an object.',
  object_kind: 'hold',
  data,
})
export const holdReleased = declareEvent({
  type: 'hold.released',
  summary: 'A legal hold was released.',
  object_kind: 'hold',
  data,
})
