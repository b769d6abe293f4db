/** SQL of legal holds. */

import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'

export interface HoldRow {
  readonly hold_id: string
  readonly object_kind: string
  readonly object_id: string
  readonly reason: string
  readonly authority_reference: string | null
  readonly state: 'active' | 'released'
  readonly restriction_id: string | null
  readonly placed_at: string
  readonly placed_by: string
  readonly release_reason: string | null
  readonly released_at: string | null
  readonly released_by: string | null
}
export type NewHold = Pick<
  HoldRow,
  'hold_id' | 'object_kind' | 'object_id' | 'reason' | 'authority_reference' | 'restriction_id' | 'placed_by'
>

const columns = `hold_id, object_kind, object_id, reason, authority_reference, state, ${restrictionInForce()}, placed_at, placed_by,
  release_reason, released_at, released_by`

/** Newest first. */
export const listHolds = (
  tx: Tx,
  filter: { readonly state?: string | undefined; readonly object_id?: string | undefined },
  after: PagePosition,
  count: number,
) =>
  tx.query<HoldRow>(
    `select ${columns} from app.hold
      where tenant_id = $1 and ($2::text is null or state = $2) and ($3::uuid is null or object_id = $3)
        and ($4::timestamptz is null or (placed_at, hold_id) < ($4, $5::uuid))
      order by placed_at desc, hold_id desc limit $6`,
    [tx.tenant_id, filter.state ?? null, filter.object_id ?? null, after?.[0] ?? null, after?.[1] ?? null, count],
  )

export const findHold = (tx: Tx, hold_id: string) =>
  tx.find<HoldRow>(`select ${columns} from app.hold where tenant_id = $1 and hold_id = $2`, [tx.tenant_id, hold_id])

export const lockHold = (tx: Tx, hold_id: string) =>
  tx.find<HoldRow>(`select ${columns} from app.hold where tenant_id = $1 and hold_id = $2 for update`, [
    tx.tenant_id,
    hold_id,
  ])

/** Waits for deletions of the tenant that have not committed. */
export const insertHold = (tx: Tx, hold: NewHold) =>
  tx.find<HoldRow>(
    `insert into app.hold (tenant_id, hold_id, object_kind, object_id, reason, authority_reference, restriction_id, placed_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${columns}`,
    [
      tx.tenant_id,
      hold.hold_id,
      hold.object_kind,
      hold.object_id,
      hold.reason,
      hold.authority_reference,
      hold.restriction_id,
      hold.placed_by,
    ],
  )

export const countActiveHolds = async (tx: Tx): Promise<number> =>
  (
    await tx.find<{ holds: number }>(
      `select count(*) as holds from app.hold where tenant_id = $1 and state = 'active'`,
      [tx.tenant_id],
    )
  )?.holds ?? 0

export const updateReleased = (tx: Tx, hold_id: string, reason: string) =>
  tx.find<HoldRow>(
    `update app.hold set state = 'released', released_at = now(), released_by = $3, release_reason = $4
      where tenant_id = $1 and hold_id = $2 returning ${columns}`,
    [tx.tenant_id, hold_id, tx.actor, reason],
  )

/** Of the subject, and of its documents, investigations and reports. */
export const holdErasure = createErasureClass('holds', 'Reasons of released holds', [
  {
    table: 'hold',
    id: 'r.hold_id',
    owner: `coalesce((select s.subject_id from app.subject s where s.tenant_id = r.tenant_id and s.subject_id = r.object_id),
                     (select d.subject_id from app.document d where d.tenant_id = r.tenant_id and d.document_id = r.object_id),
                     (select i.subject_id from app.investigation i where i.tenant_id = r.tenant_id and i.investigation_id = r.object_id),
                     (select p.subject_id from app.report p where p.tenant_id = r.tenant_id and p.report_id = r.object_id))`,
    text: `concat_ws(E'\\n', r.reason, r.authority_reference, r.release_reason)`,
    where: `r.state = 'released'`,
    set: `reason = 'erased', authority_reference = null, release_reason = 'erased'`,
    held_by: ['r.object_id'],
    restriction: 'r.restriction_id',
  },
])

/** Whether a hold keeps one of these objects, also one that the caller cannot see. */
export const isHeld = async (tx: Tx, ids: readonly (string | null)[]): Promise<boolean> =>
  (
    await tx.find<{ is_held: boolean }>(
      'select exists (select 1 from app.hold_in_force where tenant_id = $1 and object_id = any ($2::uuid[])) as is_held',
      [tx.tenant_id, ids],
    )
  )?.is_held ?? false
