/**
 * What the audit record keeps of an evidence item as it was attached: a keyed hash of each member, in an event with an authentication
 * code and a place in the chain. Whoever alters the row alone is found by comparing both.
 */
import type { AuditKeys } from '#kernel/audit/chain.ts'
import { findObjectRestriction } from '#kernel/audit/queries.ts'
import { type AuditNotes, recordEvent } from '#kernel/audit/record.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { type EvidenceRow, listAttachEvents } from './queries.ts'

const texts = ['title', 'reference', 'source'] as const
const facts = [
  'owner_kind',
  'owner_id',
  'kind',
  'object_id',
  'object_version',
  'content_hash',
  'obtained_at',
  'added_at',
  'is_test',
] as const
/** The author is that of the event. */
export const attachedMembers = [...texts, ...facts, 'added_by'] as const
type AttachedMember = (typeof attachedMembers)[number]

export const attachmentRecords = ['complete', 'partial', 'none', 'damaged'] as const

interface Attachment {
  readonly record: (typeof attachmentRecords)[number]
  readonly altered: readonly AttachedMember[]
}

/** A text also where the member is null or a number, as events hash texts. */
const toText = (item: EvidenceRow, member: (typeof texts)[number] | (typeof facts)[number]): string =>
  canonicalJson(item[member])

/** Before hashes of single members there was one over these, with the two of a detachment. */
const together = ['kind', 'object_id', 'title', 'reference', 'content_hash'] as const
const toTogether = ({ kind, object_id, title, reference, content_hash }: EvidenceRow) =>
  canonicalJson({ kind, object_id, title, reference, content_hash, detached_at: null, detach_reason: null })

/** In the event of the request that attached it. */
export function noteAttachment(audit: Pick<AuditNotes, 'recordText'>, item: EvidenceRow): void {
  for (const member of [...texts, ...facts]) audit.recordText(member, toText(item, member))
}

/** As an event of its own, where it was attached by a job or by a request about something else. */
export async function recordAttachment(
  { auditKeys }: Capabilities<'auditKeys'>,
  tx: Tx,
  item: EvidenceRow,
  request_id: string | null,
): Promise<void> {
  const found = await findObjectRestriction(tx, 'evidence_item', item.evidence_id)
  recordEvent(tx, auditKeys, {
    operation: 'attachEvidence',
    object_type: 'evidence',
    object_id: item.evidence_id,
    request_id,
    detail: Object.fromEntries(
      [...texts, ...facts].map((member) => [
        `${member}_hash`,
        auditKeys.fingerprint(canonicalJson(toText(item, member))),
      ]),
    ),
    restriction_id: found?.restriction_id ?? null,
    also_restriction_id: found?.also_restriction_id ?? null,
  })
}

/** Texts of an erased item are gone and are not compared. */
export async function compareAttachment(
  { auditKeys }: Capabilities<'auditKeys'>,
  tx: Tx,
  item: EvidenceRow,
): Promise<Attachment> {
  const [row] = await listAttachEvents(tx, item.evidence_id)
  if (!row) return { record: 'none', altered: [] }
  const { mac, ...event } = row
  if (!auditKeys.verifyEventMac(event, mac)) return { record: 'damaged', altered: [] }
  const author: readonly AttachedMember[] = event.actor === item.added_by ? [] : ['added_by']
  const detail = JSON.parse(event.detail) as Readonly<Record<string, unknown>>
  return 'title_hash' in detail
    ? { record: 'complete', altered: [...listAltered(auditKeys, detail, item), ...author] }
    : { record: 'partial', altered: [...listAlteredTogether(auditKeys, detail, item), ...author] }
}

const listAltered = (
  keys: AuditKeys,
  detail: Readonly<Record<string, unknown>>,
  item: EvidenceRow,
): readonly AttachedMember[] =>
  [...(item.erased_at === null ? texts : []), ...facts].filter(
    (member) => !keys.verifyFingerprint(canonicalJson(toText(item, member)), String(detail[`${member}_hash`])),
  )

/** One of them was altered: the hash does not say which. */
const listAlteredTogether = (
  keys: AuditKeys,
  { after_hash }: Readonly<Record<string, unknown>>,
  item: EvidenceRow,
): readonly AttachedMember[] =>
  item.erased_at !== null || after_hash === undefined || keys.verifyFingerprint(toTogether(item), String(after_hash))
    ? []
    : together
