/** Wire contract of legal holds. */
import { closed, Id, nullable, oneOf, pageOf, pageQuery, reasonText, Timestamp, Type, text } from '#kernel/schema.ts'

const ObjectKind = text(40, {
  minLength: 1,
  pattern: '^[a-z][a-z_]*$',
  description: 'What kind of object is held.',
  examples: ['subject'],
})

export const Hold = closed(
  {
    hold_id: Id(),
    object_kind: ObjectKind,
    object_id: Id(),
    reason: text(2000),
    authority_reference: nullable(text(200, { description: 'Reference of the order or letter that asks for it.' })),
    state: oneOf(['active', 'released']),
    restriction_id: nullable(Id({ description: 'Who may see the hold; null: everybody whose role allows it.' })),
    placed_at: Timestamp(),
    placed_by: text(200),
    release_reason: nullable(text(2000)),
    released_at: nullable(Timestamp()),
    released_by: nullable(text(200)),
  },
  { title: 'Hold' },
)
export const HoldPage = pageOf(Hold)
export const HoldParams = closed({ hold_id: Id() })
export const HoldQuery = closed({
  ...pageQuery,
  state: Type.Optional(oneOf(['active', 'released'])),
  object_id: Type.Optional(Id({ description: 'Holds on this object.' })),
})
export const HoldRequest = closed({
  object_kind: ObjectKind,
  object_id: Id(),
  reason: reasonText(2000),
  authority_reference: Type.Optional(nullable(text(200, { minLength: 1, examples: ['Order 4 Js 1207/26'] }))),
  restriction_id: Type.Optional(
    nullable(
      Id({
        description:
          'A restriction that I have access to: only people with access see the hold. The hold of a restricted object has its restriction.',
      }),
    ),
  ),
})
export const ReleaseRequest = closed({ reason: reasonText(2000) })
