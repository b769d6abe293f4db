/** SQL of evidence items. */
import type { AuditEvent } from '#kernel/audit/chain.ts'
import { eitherInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'

export const ownerKinds = ['subject', 'alert', 'investigation'] as const
export const itemKinds = [
  'document',
  'provider_call',
  'match',
  'evaluation',
  'subject_version',
  'transaction',
  'ownership_graph',
  'external_reference',
] as const

/** Who entered an answer in place of the provider, and how that person knew what it is. */
export interface AnswerAuthor {
  readonly entered_by: string
  readonly reason: string | null
}

export interface EvidenceRow {
  readonly evidence_id: string
  readonly owner_kind: (typeof ownerKinds)[number]
  readonly owner_id: string
  readonly kind: (typeof itemKinds)[number]
  readonly object_id: string | null
  readonly object_version: number | null
  readonly title: string | null
  readonly reference: string | null
  readonly source: string | null
  readonly content_hash: string
  readonly obtained_at: string
  readonly added_at: string
  readonly added_by: string
  readonly detached_at: string | null
  readonly detached_by: string | null
  readonly detach_reason: string | null
  readonly erased_at: string | null
  /** An answer that no live provider gave, or a decision on one. */
  readonly is_test: boolean
  /** Of an answer that a person entered; null: the provider gave it, or it is none. */
  readonly entered: AnswerAuthor | null
  /** While it is in force. */
  readonly restriction_id: string | null
}

/** Of the call with this id, as JSON; null where the provider answered. */
export const selectEntered = (
  tenant_id: string,
  call_id: string,
): string => `(select jsonb_build_object('entered_by', a.answered_by, 'reason', a.reason) from app.provider_answer a
   where a.tenant_id = ${tenant_id} and a.call_id = ${call_id} and a.is_result and a.source = 'person')`

const columns = `e.evidence_id, e.owner_kind, e.owner_id, e.kind, e.object_id, e.object_version, e.title, e.reference, e.source,
  e.content_hash, e.obtained_at, e.added_at, e.added_by, e.detached_at, e.detached_by, e.detach_reason, e.erased_at, e.is_test,
  case when e.kind = 'provider_call' then ${selectEntered('e.tenant_id', 'e.object_id')} end as entered, ${eitherInForce('e')}`

export interface EvidenceFilter {
  readonly owner_kind?: string | undefined
  readonly owner_id?: string | undefined
  readonly object_id?: string | undefined
  readonly kind?: string | undefined
}

/** Newest first. Contains only the conditions that are set, so that every combination gets its own plan. */
export const listEvidence = (tx: Tx, filter: EvidenceFilter, after: PagePosition, count: number) => {
  const values: unknown[] = [tx.tenant_id, after?.[0] ?? null, after?.[1] ?? null, count]
  let where = ''
  for (const name of ['owner_kind', 'owner_id', 'object_id', 'kind'] as const)
    if (filter[name] !== undefined) where += ` and e.${name} = $${values.push(filter[name])}`
  return tx.query<EvidenceRow>(
    `select ${columns} from app.evidence_item e
      where e.tenant_id = $1 and ($2::timestamptz is null or (e.added_at, e.evidence_id) < ($2, $3::uuid))${where}
      order by e.added_at desc, e.evidence_id desc limit $4`,
    values,
  )
}

/** All of one owner, attached or not; oldest first. */
export const listEvidenceByOwner = (tx: Tx, owner_kind: string, owner_id: string) =>
  tx.query<EvidenceRow>(
    `select ${columns} from app.evidence_item e where e.tenant_id = $1 and e.owner_id = $3 and e.owner_kind = $2 order by e.added_at, e.evidence_id`,
    [tx.tenant_id, owner_kind, owner_id],
  )

export const findEvidence = (tx: Tx, evidence_id: string) =>
  tx.find<EvidenceRow>(`select ${columns} from app.evidence_item e where e.tenant_id = $1 and e.evidence_id = $2`, [
    tx.tenant_id,
    evidence_id,
  ])

export const lockEvidence = (tx: Tx, evidence_id: string) =>
  tx.find<EvidenceRow>(
    `select ${columns} from app.evidence_item e where e.tenant_id = $1 and e.evidence_id = $2 for update of e`,
    [tx.tenant_id, evidence_id],
  )

export type NewEvidence = Pick<
  EvidenceRow,
  | 'evidence_id'
  | 'owner_kind'
  | 'owner_id'
  | 'kind'
  | 'object_id'
  | 'object_version'
  | 'title'
  | 'reference'
  | 'source'
  | 'content_hash'
  | 'obtained_at'
  | 'restriction_id'
>

export const insertEvidence = (tx: Tx, item: NewEvidence) =>
  tx.find<EvidenceRow>(
    `insert into app.evidence_item as e (tenant_id, evidence_id, restriction_id, owner_kind, owner_id, kind, object_id, object_version,
       title, reference, source, content_hash, obtained_at, added_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) returning ${columns}`,
    [
      tx.tenant_id,
      item.evidence_id,
      item.restriction_id,
      item.owner_kind,
      item.owner_id,
      item.kind,
      item.object_id,
      item.object_version,
      item.title,
      item.reference,
      item.source,
      item.content_hash,
      item.obtained_at,
      tx.actor,
    ],
  )

/** Events by which it was attached, the first of them first. */
export const listAttachEvents = (tx: Tx, evidence_id: string) =>
  tx.query<AuditEvent & { readonly mac: string }>(
    `select tenant_id, event_id, recorded_at, actor, operation, object_type, object_id, request_id, detail, mac from app.audit_event
      where tenant_id = $1 and object_type = 'evidence' and object_id = $2::uuid::text
        and operation in ('createEvidence', 'attachEvidence') order by recorded_at, event_id`,
    [tx.tenant_id, evidence_id],
  )

export const updateDetached = (tx: Tx, evidence_id: string, reason: string) =>
  tx.find<EvidenceRow>(
    `update app.evidence_item e set detached_at = now(), detached_by = $3, detach_reason = $4
      where e.tenant_id = $1 and e.evidence_id = $2 returning ${columns}`,
    [tx.tenant_id, evidence_id, tx.actor, reason],
  )
