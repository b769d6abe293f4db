/** Wire contract of break-glass reviews. */
import { closed, Id, nullable, oneOf, pageOf, pageQuery, Timestamp, Type, text } from '#kernel/schema.ts'

export const BreakGlassReview = closed(
  {
    review_id: Id(),
    action: text(100, { description: 'The governed action whose approval was skipped.' }),
    operation: text(100, { description: 'operationId of what was done.' }),
    params: Type.Unsafe<Record<string, string>>({ type: 'object', additionalProperties: { type: 'string' } }),
    body: Type.Unsafe<unknown>({ description: 'The body of the request that was executed.' }),
    reason: text(2000, { description: 'Why it could not wait.' }),
    required_role: text(50, { description: 'Who could have approved it, and may acknowledge it.' }),
    created_at: Timestamp(),
    created_by: text(200),
    state: oneOf(['open', 'acknowledged']),
    acknowledged_at: nullable(Timestamp()),
    acknowledged_by: nullable(text(200)),
    note: nullable(text(2000)),
  },
  { title: 'BreakGlassReview' },
)
export const BreakGlassReviewPage = pageOf(BreakGlassReview)
export const ReviewParams = closed({ review_id: Id() })
export const ReviewQuery = closed({ ...pageQuery, state: Type.Optional(oneOf(['open', 'acknowledged'])) })
export const ReviewInboxQuery = closed(pageQuery)
export const Acknowledgement = closed({ note: Type.Optional(text(2000)) })
