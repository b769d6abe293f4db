/** SQL of break-glass reviews. */

import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface ReviewRow {
  readonly review_id: string
  readonly action: string
  readonly operation: string
  readonly params: Record<string, string>
  readonly body: unknown
  readonly reason: string
  readonly required_role: string
  readonly created_at: string
  readonly created_by: string
  readonly state: 'open' | 'acknowledged'
  readonly acknowledged_at: string | null
  readonly acknowledged_by: string | null
  readonly note: string | null
}

const columns = `review_id, action, operation, params, body, reason, required_role, created_at, created_by, state, acknowledged_at,
  acknowledged_by, note`

/** Newest first. With `inbox_of`, only open ones that this person may acknowledge. */
export const listReviews = (
  tx: Tx,
  filter: { state: string | null; inbox_of: { principal: string; roles: readonly string[] } | null },
  after: PagePosition,
  count: number,
) =>
  tx.query<ReviewRow>(
    `select ${columns} from app.break_glass_review
      where tenant_id = $1 and ($2::text is null or state = $2)
        and ($3::timestamptz is null or (created_at, review_id) < ($3, $4::uuid))
        and ($5::text is null or (state = 'open' and created_by <> $5 and required_role = any ($6::text[])))
      order by created_at desc, review_id desc limit $7`,
    [
      tx.tenant_id,
      filter.state,
      after?.[0] ?? null,
      after?.[1] ?? null,
      filter.inbox_of?.principal ?? null,
      filter.inbox_of?.roles ?? [],
      count,
    ],
  )

export const findReview = (tx: Tx, review_id: string) =>
  tx.find<ReviewRow>(`select ${columns} from app.break_glass_review where tenant_id = $1 and review_id = $2`, [
    tx.tenant_id,
    review_id,
  ])

export const lockReview = (tx: Tx, review_id: string) =>
  tx.find<ReviewRow>(
    `select ${columns} from app.break_glass_review where tenant_id = $1 and review_id = $2 for update`,
    [tx.tenant_id, review_id],
  )

export const updateReviewAcknowledged = (tx: Tx, review_id: string, note: string | null) =>
  tx.find<ReviewRow>(
    `update app.break_glass_review set state = 'acknowledged', acknowledged_at = now(), acknowledged_by = $3, note = $4
      where tenant_id = $1 and review_id = $2 returning ${columns}`,
    [tx.tenant_id, review_id, tx.actor, note],
  )

/** Of one that only mentions the subject, the texts that do so are overwritten. */
export const breakGlassErasure = createErasureClass(
  'break-glass-reviews',
  'Bodies, reasons and notes of emergency changes',
  [
    {
      table: 'break_glass_review',
      id: 'r.review_id',
      owner: 'coalesce(app.subject_named(r.params), app.subject_named(r.body))',
      text: `concat_ws(E'\\n', app.json_texts(r.params), app.json_texts(r.body), r.reason, r.note)`,
      json: 'r.body',
      set: `body = null, reason = 'erased', note = null`,
      by_mark: `body = app.erase_texts(r.body, m.subject_id, m.own, m.marks), reason = app.erase_text(r.reason, m.subject_id, m.own, m.marks),
          note = app.erase_text(r.note, m.subject_id, m.own, m.marks)`,
    },
  ],
)
