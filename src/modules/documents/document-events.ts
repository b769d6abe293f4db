/** Events of documents in the outbox. */
import { declareEvent } from '#kernel/events/event-type.ts'

export const documentStored = declareEvent({
  type: 'document.stored',
  summary: 'The bytes of a document are stored.',
  object_kind: 'document',
  data: {},
})
export const documentDeleted = declareEvent({
  type: 'document.deleted',
  summary: 'The bytes of a document were deleted.',
  object_kind: 'document',
  data: {},
})
