/** Wire contract of activations: which version is in force from when, recorded when, by whom and why. */
import { closed, Id, integer, listOf, nullable, oneOf, pageQuery, Timestamp, Type, text } from '#kernel/schema.ts'
import { ListKey, Origin, Reason, Sha256, VersionNumber } from '../schema.ts'

export const Activation = closed(
  {
    activation_id: Id(),
    list_key: ListKey,
    layer: oneOf(['base', 'overlay']),
    seq: integer(1, Number.MAX_SAFE_INTEGER, { description: 'Gapless per list: the order in which they were made.' }),
    kind: oneOf(['activate', 'rollback', 'pin', 'unpin', 'overlay', 'overlay-removed', 'seed']),
    version: nullable(VersionNumber),
    origin: nullable(Origin),
    effective_from: Timestamp(),
    expires_at: nullable(Timestamp()),
    recorded_at: Timestamp(),
    retroactive: Type.Boolean({ description: 'It takes effect before it was recorded.' }),
    reason: text(2000),
    actor: text(200),
    cr_id: nullable(Id()),
    revoked_at: nullable(Timestamp()),
    revoked_by: nullable(text(200)),
    revoke_reason: nullable(text(2000)),
    prev_hash: Sha256,
    hash: Sha256,
  },
  { title: 'Activation' },
)

const InForce = closed({
  version: nullable(VersionNumber),
  origin: nullable(Origin),
  from: Timestamp(),
  until: nullable(Timestamp({ description: 'Null: until further notice.' })),
  activation_id: Id(),
})
export const Timeline = closed(
  {
    items: Type.Array(Activation),
    in_force: listOf(InForce, 1000, {
      description: 'Which version is in force between which instants, as known now, oldest first; with the first page.',
    }),
    next_cursor: Type.Unsafe<string | null>({ type: ['string', 'null'] }),
  },
  { title: 'Timeline' },
)
export const TimelineQuery = closed({
  ...pageQuery,
  scope: Type.Optional(
    oneOf(['own', 'shared'], {
      default: 'own',
      description: 'own: activations of this tenant. shared: activations of the operator.',
    }),
  ),
})

export const ExpectedActive = nullable(
  integer(1, Number.MAX_SAFE_INTEGER, {
    description: 'A gate blocks the change unless this version is in force now; null for none.',
  }),
)
const effectiveFrom = Type.Optional(
  Timestamp({ description: 'From when; now when absent. A past instant is marked as retroactive.' }),
)
export const ActivationRequest = closed({
  version: VersionNumber,
  effective_from: effectiveFrom,
  reason: Reason,
  expected_active: Type.Optional(ExpectedActive),
})
export const SubmissionRequest = closed({ effective_from: effectiveFrom, reason: Reason })
export const BreakGlass = closed(
  { reason: Reason },
  { description: 'An emergency: made immediately, without the approval the policy requires; recorded as such.' },
)
export const RollbackRequest = closed({
  to_version: Type.Optional(VersionNumber),
  reason: Reason,
  keep_scheduled: Type.Optional(
    Type.Boolean({ default: false, description: 'Scheduled activations are revoked unless this is true.' }),
  ),
  expected_active: Type.Optional(ExpectedActive),
  break_glass: Type.Optional(BreakGlass),
})
export const BreakGlassReviewId = Type.Optional(
  Id({
    description: 'With break_glass, when an approval was skipped: the review that another person must acknowledge.',
  }),
)
export const RollbackReply = closed(
  {
    activation: Activation,
    revoked: listOf(Activation, 1000, { description: 'Scheduled activations that were revoked.' }),
    review_id: BreakGlassReviewId,
  },
  { title: 'Rollback' },
)
export const PinRequest = closed({
  version: VersionNumber,
  reason: Reason,
  effective_from: effectiveFrom,
  expires_at: Type.Optional(
    nullable(Timestamp({ description: 'At most 90 days ahead where the list’s policy is none or tighten_only.' })),
  ),
})
export const ReasonBody = closed({ reason: Reason })
export const ActivationParams = closed({ list_key: ListKey, activation_id: Id() })
export const RevokeQuery = closed({ reason: Type.Optional(Reason) })
