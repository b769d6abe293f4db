/** Wire contract of suppressions. */
import {
  Count,
  closed,
  Id,
  nullable,
  oneOf,
  pageOf,
  pageQuery,
  reasonText,
  Timestamp,
  Type,
  text,
} from '#kernel/schema.ts'
import { DedupKey, PriorityName, ReasonCode, Source } from '../schema.ts'

const states = ['proposed', 'active', 'ended', 'expired'] as const
const Reason = reasonText(2000)

export const Suppression = closed(
  {
    suppression_id: Id(),
    source: text(40),
    subject_id: nullable(Id()),
    dedup_key: nullable(text(300)),
    up_to_priority: PriorityName,
    reason_code: text(60),
    reason: text(2000),
    state: oneOf(states),
    expires_at: Timestamp(),
    proposed_at: Timestamp(),
    proposed_by: text(200),
    confirmed_at: nullable(Timestamp()),
    confirmed_by: nullable(text(200)),
    ended_at: nullable(Timestamp()),
    ended_by: nullable(text(200)),
    end_reason: nullable(text(2000)),
    occurrences: Count,
    last_seen_at: nullable(Timestamp()),
  },
  { title: 'AlertSuppression' },
)
export const SuppressionPage = pageOf(Suppression)
export const SuppressionParams = closed({ suppression_id: Id() })
export const SuppressionQuery = closed({ ...pageQuery, state: Type.Optional(oneOf(states)) })
export const SuppressionRequest = closed({
  source: Source,
  subject_id: Type.Optional(
    nullable(Id({ description: 'Only reports about this subject. This or dedup_key is needed.' })),
  ),
  dedup_key: Type.Optional(nullable(DedupKey)),
  up_to_priority: PriorityName,
  reason_code: ReasonCode,
  reason: Reason,
  expires_at: Timestamp({ description: 'The list alert-settings says how far ahead it may be.' }),
})
export const EndRequest = closed({ reason: Reason })
