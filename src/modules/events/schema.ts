/** Wire contract of events: the envelope of CloudEvents 1.0. */
import { Count, closed, Id, integer, listOf, oneOf, Timestamp, Type, text } from '#kernel/schema.ts'

const EventEnvelope = closed(
  {
    specversion: oneOf(['1.0']),
    id: Id({ description: 'The same whenever the event is read or delivered.' }),
    source: text(200, { description: 'The tenant.' }),
    type: text(100, { examples: ['subject.rating_changed'] }),
    subject: text(250, { description: 'Kind and id of the object.' }),
    time: Timestamp(),
    datacontenttype: oneOf(['application/json']),
    sequence: text(20, { description: 'Position of the event; send it as after to read on.' }),
    data: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'Ids, keys, states and numbers; the members of each type are in GET /events/types.',
    }),
  },
  { title: 'Event' },
)

export const EventQuery = closed({
  after: Type.Optional(
    integer(0, Number.MAX_SAFE_INTEGER, {
      default: 0,
      description: 'Only events after this position: `last` of the previous answer.',
    }),
  ),
  type: Type.Optional(text(100, { description: 'Only events of this type.', examples: ['subject.rating_changed'] })),
  limit: Type.Optional(integer(1, 200, { default: 50, description: 'How many events an answer holds.' })),
})
export const EventList = closed(
  {
    items: listOf(EventEnvelope, 200),
    last: integer(0, Number.MAX_SAFE_INTEGER, { description: 'Send it as after to read on.' }),
    has_more: Type.Boolean(),
  },
  { title: 'EventList' },
)

const EventTypeView = closed(
  {
    type: text(100),
    summary: text(300),
    object_kind: text(40),
    data: listOf(closed({ member: text(60), description: text(300) }), 20),
  },
  { title: 'EventType' },
)
export const EventTypeList = closed({ items: listOf(EventTypeView, 200), count: Count })
