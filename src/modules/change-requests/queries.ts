/** SQL of change requests. */

import type { MemberChange } from '#kernel/audit/member-change.ts'
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'
import { type ChangeRequestRow, changeRequestColumns } from '#kernel/request/queries.ts'
import type { IdRange } from '#kernel/search/source.ts'

/** Newest first. With `awaiting`, only open requests that this principal may still approve. */
export const listChangeRequests = (
  tx: Tx,
  filter: {
    state: string | null
    action: string | null
    awaiting: { principal: string; roles: readonly string[] } | null
  },
  after: PagePosition,
  count: number,
) =>
  tx.query<ChangeRequestRow>(
    `select ${changeRequestColumns} from app.change_request c
      where tenant_id = $1 and ($2::text is null or state = $2) and ($3::text is null or action = $3)
        and ($4::timestamptz is null or (created_at, cr_id) < ($4, $5::uuid))
        and ($6::text is null or (state = 'open' and created_by <> $6 and required_role = any ($7::text[]) and not exists (
              select 1 from app.change_approval a where a.tenant_id = $1 and a.cr_id = c.cr_id and a.approved_by = $6)))
      order by created_at desc, cr_id desc limit $8`,
    [
      tx.tenant_id,
      filter.state,
      filter.action,
      after?.[0] ?? null,
      after?.[1] ?? null,
      filter.awaiting?.principal ?? null,
      filter.awaiting?.roles ?? [],
      count,
    ],
  )

export const findChangeRequest = (tx: Tx, cr_id: string) =>
  tx.find<ChangeRequestRow>(
    `select ${changeRequestColumns} from app.change_request c where tenant_id = $1 and cr_id = $2`,
    [tx.tenant_id, cr_id],
  )

export interface FoundChangeRequestRow {
  readonly cr_id: string
  readonly action: string
  readonly operation: string
  readonly params: Readonly<Record<string, unknown>>
  readonly state: string
  readonly required_role: string
  readonly created_at: string
  readonly restriction_id: string | null
}
const foundColumns = `cr_id, action, operation, params, state, required_role, created_at, ${restrictionInForce()}`

export const listChangeRequestsInRange = (tx: Tx, { from, to }: IdRange, count: number) =>
  tx.query<FoundChangeRequestRow>(
    `select ${foundColumns} from app.change_request
      where tenant_id = $1 and cr_id >= $2::uuid and cr_id <= $3::uuid order by cr_id limit $4`,
    [tx.tenant_id, from, to, count],
  )

export const listNewestChangeRequests = (tx: Tx, count: number) =>
  tx.query<FoundChangeRequestRow>(
    `select ${foundColumns} from app.change_request where tenant_id = $1 order by created_at desc, cr_id desc limit $2`,
    [tx.tenant_id, count],
  )

export const lockChangeRequest = (tx: Tx, cr_id: string) =>
  tx.find<ChangeRequestRow>(
    `select ${changeRequestColumns} from app.change_request c where tenant_id = $1 and cr_id = $2 for update`,
    [tx.tenant_id, cr_id],
  )

/** Constraints refuse the author, an API key and a second approval by the same person. */
export const insertApproval = (tx: Tx, request: { cr_id: string; created_by: string }, note: string | null) =>
  tx.run(
    'insert into app.change_approval (tenant_id, cr_id, created_by, approved_by, note) values ($1, $2, $3, $4, $5)',
    [tx.tenant_id, request.cr_id, request.created_by, tx.actor, note],
  )

/** Raises the revision: an approval changes the representation, although the request stays open. */
export const incrementChangeRequestRevision = (tx: Tx, cr_id: string) =>
  tx.run('update app.change_request set revision = revision + 1 where tenant_id = $1 and cr_id = $2', [
    tx.tenant_id,
    cr_id,
  ])

/** The changes as executed replace those of the dry run, which cannot know the instant of the approval. */
export const updateChangeRequestDecided = (
  tx: Tx,
  cr_id: string,
  decision: {
    readonly state: 'approved' | 'rejected' | 'withdrawn'
    readonly note: string | null
    readonly changes?: readonly MemberChange[] | null
  },
) =>
  tx.run(
    `update app.change_request set state = $3, decided_at = now(), decided_by = $4, decision_note = $5, revision = revision + 1,
            changes = coalesce($6::jsonb, changes)
      where tenant_id = $1 and cr_id = $2`,
    [
      tx.tenant_id,
      cr_id,
      decision.state,
      tx.actor,
      decision.note,
      decision.changes ? JSON.stringify(decision.changes) : null,
    ],
  )

/** For the isolation canary only: the constraints demand an approver other than the author. */
export const insertCanaryApproval = (tx: Tx, cr_id: string) =>
  tx.run(
    `insert into app.change_approval (tenant_id, cr_id, created_by, approved_by, note) values ($1, $2, $3, 'user:canary', 'canary')`,
    [tx.tenant_id, cr_id, tx.actor],
  )

const requestTexts = `concat_ws(E'\\n', app.json_texts(r.params), app.json_texts(r.body), app.json_texts(r.query), app.json_texts(r.changes), r.decision_note)`
const requestedSubject = (row: string): string =>
  `coalesce(app.subject_named(${row}.params), app.subject_named(${row}.body), app.subject_named(${row}.query))`

/**
 * A request about the subject loses its content, and becomes void if it is open. Of one that only mentions it, the texts that do so are
 * overwritten once it is decided. Of an approved one the hash stays: it is what the approvers saw.
 */
export const changeRequestErasure = createErasureClass(
  'change-requests',
  'Bodies, differences and notes of change requests',
  [
    {
      table: 'change_approval',
      id: 'r.cr_id',
      owner: `(select ${requestedSubject('q')} from app.change_request q where q.tenant_id = r.tenant_id and q.cr_id = r.cr_id)`,
      text: 'r.note',
      where: 'r.note is not null',
      set: 'note = null',
      restriction: 'r.restriction_id',
    },
    {
      table: 'change_request',
      id: 'r.cr_id',
      owner: requestedSubject('r'),
      text: requestTexts,
      where: `r.state = 'open'`,
      set: `body = null, query = '{}', changes = null, decision_note = null, content_hash = repeat('0', 64), state = 'void',
          decided_at = now(), decided_by = app.actor()`,
      by_mark: 'review',
      restriction: 'r.restriction_id',
    },
    {
      table: 'change_request',
      id: 'r.cr_id',
      owner: requestedSubject('r'),
      text: requestTexts,
      json: 'jsonb_build_array(r.body, r.changes)',
      where: `r.state <> 'open' and (num_nonnulls(r.body, r.changes, r.decision_note) > 0 or r.query <> '{}')`,
      set: `body = null, query = '{}', changes = null, decision_note = null,
          content_hash = case when r.state = 'approved' then r.content_hash else repeat('0', 64) end`,
      by_mark: `body = app.erase_texts(r.body, m.subject_id, m.own, m.marks), query = app.erase_texts(r.query, m.subject_id, m.own, m.marks),
          changes = app.erase_texts(r.changes, m.subject_id, m.own, m.marks),
          decision_note = app.erase_text(r.decision_note, m.subject_id, m.own, m.marks)`,
      restriction: 'r.restriction_id',
    },
  ],
)
