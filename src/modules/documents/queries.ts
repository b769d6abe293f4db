/** SQL of documents and their encrypted chunks. */
import { restrictionInForce } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'
import type { PagePosition } from '#kernel/page.ts'

export const documentStates = ['storing', 'stored', 'damaged', 'failed', 'deleted', 'erased'] as const
export type DocumentState = (typeof documentStates)[number]
export const scanStates = ['not_scanned', 'clean', 'infected', 'failed'] as const
export type ScanState = (typeof scanStates)[number]

export interface DocumentRow {
  readonly document_id: string
  readonly subject_id: string | null
  readonly title: string | null
  readonly file_name: string | null
  readonly category: string | null
  readonly media_type: string
  readonly size_bytes: number
  readonly sha256: string | null
  readonly encrypted_sha256: string | null
  readonly state: DocumentState
  readonly scan_state: ScanState
  readonly scanned_at: string | null
  readonly scan_result: string | null
  readonly job_id: string | null
  readonly checked_at: string | null
  readonly stored_at: string | null
  readonly ended_at: string | null
  readonly ended_by: string | null
  readonly end_reason: string | null
  /** While it is in force. */
  readonly restriction_id: string | null
  readonly revision: number
  readonly created_at: string
  readonly created_by: string
  readonly updated_at: string
  readonly updated_by: string
}

const columns = `d.document_id, d.subject_id, d.title, d.file_name, d.category, d.media_type, d.size_bytes, d.sha256, d.encrypted_sha256,
  d.state, d.scan_state, d.scanned_at, d.scan_result, d.job_id, d.checked_at, d.stored_at, d.ended_at, d.ended_by, d.end_reason,
  ${restrictionInForce('d')}, d.revision, d.created_at, d.created_by, d.updated_at, d.updated_by`

export interface DocumentFilter {
  readonly subject_id?: string | undefined
  readonly state?: string | undefined
}

/** Newest first. Contains only the conditions that are set, so that every combination gets its own plan. */
export const listDocuments = (tx: Tx, filter: DocumentFilter, after: PagePosition, count: number) => {
  const values: unknown[] = [tx.tenant_id, after?.[0] ?? null, after?.[1] ?? null, count]
  let where = ''
  for (const name of ['subject_id', 'state'] as const)
    if (filter[name] !== undefined) where += ` and d.${name} = $${values.push(filter[name])}`
  return tx.query<DocumentRow>(
    `select ${columns} from app.document d
      where d.tenant_id = $1 and ($2::timestamptz is null or (d.created_at, d.document_id) < ($2, $3::uuid))${where}
      order by d.created_at desc, d.document_id desc limit $4`,
    values,
  )
}

export const findDocument = (tx: Tx, document_id: string) =>
  tx.find<DocumentRow>(`select ${columns} from app.document d where d.tenant_id = $1 and d.document_id = $2`, [
    tx.tenant_id,
    document_id,
  ])

export type DocumentFileRow = Pick<
  DocumentRow,
  'document_id' | 'media_type' | 'size_bytes' | 'sha256' | 'encrypted_sha256' | 'state'
>

/** Which files these documents are, as far as the transaction sees them. */
export const listDocumentFiles = (tx: Tx, ids: readonly string[]) =>
  tx.query<DocumentFileRow>(
    `select document_id, media_type, size_bytes, sha256, encrypted_sha256, state from app.document
      where tenant_id = $1 and document_id = any ($2::uuid[]) order by document_id`,
    [tx.tenant_id, ids],
  )

/** In force or not. */
export const findRestrictionId = async (tx: Tx, document_id: string): Promise<string | null> =>
  (
    await tx.find<{ restriction_id: string | null }>(
      'select restriction_id from app.document where tenant_id = $1 and document_id = $2',
      [tx.tenant_id, document_id],
    )
  )?.restriction_id ?? null

export const lockDocument = (tx: Tx, document_id: string) =>
  tx.find<DocumentRow>(
    `select ${columns} from app.document d where d.tenant_id = $1 and d.document_id = $2 for update`,
    [tx.tenant_id, document_id],
  )

/** With the upload whose bytes a job takes over. */
export const findStoring = (tx: Tx, document_id: string) =>
  tx.find<DocumentRow & { readonly upload_id: string }>(
    `select ${columns}, d.upload_id from app.document d where d.tenant_id = $1 and d.document_id = $2 and d.state = 'storing'`,
    [tx.tenant_id, document_id],
  )

/** Ids that begin with what was typed. */
export const listDocumentsInRange = (tx: Tx, range: { from: string; to: string }, count: number) =>
  tx.query<DocumentRow>(
    `select ${columns} from app.document d where d.tenant_id = $1 and d.document_id between $2 and $3
      order by d.document_id limit $4`,
    [tx.tenant_id, range.from, range.to, count],
  )

export interface NewDocument {
  readonly document_id: string
  readonly restriction_id: string | null
  readonly subject_id: string | null
  readonly title: string
  readonly file_name: string
  readonly category: string | null
  readonly media_type: string
  readonly size_bytes: number
  readonly upload_id: string
  readonly job_id: string | null
}

/** In the state `storing`. */
export const insertDocument = (tx: Tx, document: NewDocument) =>
  tx.run(
    `insert into app.document (tenant_id, document_id, restriction_id, subject_id, title, file_name, category, media_type, size_bytes,
       upload_id, job_id, state, created_by, updated_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'storing', $12, $12)`,
    [
      tx.tenant_id,
      document.document_id,
      document.restriction_id,
      document.subject_id,
      document.title,
      document.file_name,
      document.category,
      document.media_type,
      document.size_bytes,
      document.upload_id,
      document.job_id,
      tx.actor,
    ],
  )

export const insertChunk = (tx: Tx, document_id: string, seq: number, content: Buffer) =>
  tx.run('insert into app.document_chunk (tenant_id, document_id, seq, content) values ($1, $2, $3, $4)', [
    tx.tenant_id,
    document_id,
    seq,
    content,
  ])

export const removeChunks = (tx: Tx, document_ids: readonly string[]) =>
  tx.run('delete from app.document_chunk where tenant_id = $1 and document_id = any ($2::uuid[])', [
    tx.tenant_id,
    document_ids,
  ])

/** The driver copies long values several times, and hex doubles their length. */
const PIECE_BYTES = 64 * 1024

/** One chunk as short base64 texts, in order; none when it does not exist. */
export const listChunkPieces = (tx: Tx, document_id: string, seq: number) =>
  tx.query<{ text: string }>(
    `select encode(substring(content from piece * ${PIECE_BYTES} + 1 for ${PIECE_BYTES}), 'base64') as text
       from app.document_chunk, generate_series(0, (octet_length(content) - 1) / ${PIECE_BYTES}) as piece
      where tenant_id = $1 and document_id = $2 and seq = $3 order by piece`,
    [tx.tenant_id, document_id, seq],
  )

/** Within the transaction that inserts a document its revision stays 1. */
const touch = `revision = revision + case when created_at = now() then 0 else 1 end, updated_at = now(), updated_by = $3`

export const updateStored = (tx: Tx, document_id: string, hashes: { sha256: string; encrypted_sha256: string }) =>
  tx.run(
    `update app.document set state = 'stored', sha256 = $4, encrypted_sha256 = $5, upload_id = null, stored_at = now(),
            checked_at = now(), ${touch}
      where tenant_id = $1 and document_id = $2`,
    [tx.tenant_id, document_id, tx.actor, hashes.sha256, hashes.encrypted_sha256],
  )

export const updateFailed = (tx: Tx, document_id: string) =>
  tx.run(
    `update app.document set state = 'failed', upload_id = null, ${touch}
      where tenant_id = $1 and document_id = $2 and state = 'storing'`,
    [tx.tenant_id, document_id, tx.actor],
  )

export const updateScanned = (
  tx: Tx,
  document_id: string,
  scan: { state: Exclude<ScanState, 'not_scanned'>; result: string | null },
) =>
  tx.run(
    `update app.document set scan_state = $4, scan_result = $5, scanned_at = now(), ${touch}
      where tenant_id = $1 and document_id = $2 and state in ('stored', 'damaged')`,
    [tx.tenant_id, document_id, tx.actor, scan.state, scan.result],
  )

/** A document that changed its state meanwhile is left as it is. */
export const updateChecked = (tx: Tx, document_id: string, state: 'stored' | 'damaged') =>
  tx.run(
    `update app.document set checked_at = now(), state = $3,
            revision = revision + case when state = $3 then 0 else 1 end
      where tenant_id = $1 and document_id = $2 and state in ('stored', 'damaged')`,
    [tx.tenant_id, document_id, state],
  )

export const updateDescription = (
  tx: Tx,
  document_id: string,
  description: { title: string; category: string | null },
) =>
  tx.find<DocumentRow>(
    `update app.document d set title = $4, category = $5, ${touch}
      where d.tenant_id = $1 and d.document_id = $2 returning ${columns}`,
    [tx.tenant_id, document_id, tx.actor, description.title, description.category],
  )

/** Title, name and hash of the content go with the bytes; the category with the subject. */
export const updateEnded = (
  tx: Tx,
  document_ids: readonly string[],
  end: { state: 'deleted' | 'erased'; reason: string },
) =>
  tx.run(
    `update app.document set state = $4, title = null, file_name = null, sha256 = null, upload_id = null, scan_result = null,
            category = case when $4 = 'deleted' then category end, ended_at = now(), ended_by = $3, end_reason = $5, ${touch}
      where tenant_id = $1 and document_id = any ($2::uuid[]) and state not in ('deleted', 'erased')`,
    [tx.tenant_id, document_ids, tx.actor, end.state, end.reason],
  )

interface DocumentOfSubject {
  readonly document_id: string
  readonly upload_id: string | null
  readonly restriction_id: string | null
}

/** Documents of a subject that are not gone. */
export const lockDocumentsBySubject = (tx: Tx, subject_id: string) =>
  tx.query<DocumentOfSubject>(
    `select document_id, upload_id, restriction_id from app.document
      where tenant_id = $1 and subject_id = $2 and state not in ('deleted', 'erased') order by document_id for update`,
    [tx.tenant_id, subject_id],
  )

/** The subject that an evidence item is attached to, directly, by an alert or by a case. */
const subjectOfEvidence = `case r.owner_kind when 'subject' then r.owner_id
  when 'alert' then (select a.subject_id from app.alert a where a.tenant_id = r.tenant_id and a.alert_id = r.owner_id)
  when 'investigation' then (select i.subject_id from app.investigation i
                              where i.tenant_id = r.tenant_id and i.investigation_id = r.owner_id) end`

/** A category has hyphens where a name has spaces. */
const wordsOfCategory = `concat_ws(E'\\n', r.category, replace(r.category, '-', ' '))`
/** What is left of it: of a document of the subject nothing, of others what does not name the subject. */
const categoryLeft = `case when r.subject_id is null
  and app.erase_text(${wordsOfCategory}, m.subject_id, m.own, m.marks) = ${wordsOfCategory} then r.category end`

/** A document of no subject keeps its bytes: only its names are found, and it can be deleted by its own operation. */
export const documentRows = createErasureClass('documents', 'Documents and evidence about the subject', [
  {
    table: 'document',
    id: 'r.document_id',
    owner: 'r.subject_id',
    text: `concat_ws(E'\\n', r.title, r.file_name, ${wordsOfCategory})`,
    where: `r.state not in ('deleted', 'erased')`,
    set: `title = 'erased', file_name = 'erased', category = ${categoryLeft}, revision = r.revision + 1, updated_at = now(), updated_by = app.actor()`,
    held_by: ['r.document_id'],
    restriction: 'r.restriction_id',
  },
  {
    table: 'document',
    id: 'r.document_id',
    owner: 'r.subject_id',
    text: `concat_ws(E'\\n', r.end_reason, ${wordsOfCategory})`,
    where: `r.state = 'deleted' and (r.end_reason <> 'erased' or r.category is not null)`,
    set: `end_reason = 'erased', category = ${categoryLeft}`,
    held_by: ['r.document_id'],
    restriction: 'r.restriction_id',
  },
  {
    table: 'evidence_item',
    id: 'r.evidence_id',
    owner: subjectOfEvidence,
    text: `concat_ws(E'\\n', r.title, r.reference, r.source, r.detach_reason)`,
    where: 'r.erased_at is null',
    set: 'title = null, reference = null, source = null, detach_reason = null, erased_at = now()',
    held_by: ['r.owner_id'],
    restriction: 'r.restriction_id',
    other_restrictions: 'array[r.also_restriction_id]',
  },
])

export interface StoredDocument {
  readonly document_id: string
  readonly encrypted_sha256: string
  readonly size_bytes: number
  readonly state: 'stored' | 'damaged'
  readonly scan_state: ScanState
  readonly restriction_id: string | null
}

const listStored =
  (condition: string) =>
  (tx: Tx, after: string | null, count: number): Promise<StoredDocument[]> =>
    tx.query<StoredDocument>(
      `select document_id, encrypted_sha256, size_bytes, state, scan_state, restriction_id from app.document
        where tenant_id = $1 and ($2::uuid is null or document_id > $2) and state in ('stored', 'damaged') and ${condition}
        order by document_id limit $3`,
      [tx.tenant_id, after, count],
    )

/** With bytes, in the order of ids. */
export const listStoredAfter = listStored('true')

/** Of these, those with a restriction in force. */
export const listRestrictedAfter = listStored('restriction_id is not null and app.is_in_force(restriction_id)')

/** Whose job has ended without storing them, or is gone. */
export const updateAbandoned = (tx: Tx) =>
  tx.run(
    `update app.document d set state = 'failed', upload_id = null, revision = d.revision + 1, updated_at = now(), updated_by = $2
      where d.tenant_id = $1 and d.state = 'storing'
        and not exists (select 1 from app.job j where j.tenant_id = d.tenant_id and j.job_id = d.job_id and j.state in ('queued', 'running'))`,
    [tx.tenant_id, tx.actor],
  )

export interface CustodyEventRow {
  readonly event_id: string
  readonly recorded_at: string
  readonly actor: string
  readonly operation: string
  readonly detail: Record<string, unknown>
}

/** Events of the audit record about the document and about holds on it, newest first. */
export const listCustodyEvents = (tx: Tx, document_id: string, after: PagePosition, count: number) => {
  const select = (where: string): string =>
    `(select e.event_id, e.recorded_at, e.actor, e.operation, e.detail from app.audit_event e
       where e.tenant_id = $1 and ${where}
         and ($3::timestamptz is null or (e.recorded_at, e.event_id) < ($3, $4::uuid))
       order by e.recorded_at desc, e.event_id desc limit $5)`
  const ofDocument = select(`e.object_type = 'documents' and e.object_id = $2::uuid::text`)
  const ofHold = select(`e.object_type = 'holds' and e.object_id = h.hold_id::text`)
  return tx.query<CustodyEventRow>(
    `select c.event_id, c.recorded_at, c.actor, c.operation, c.detail::json as detail from (
       ${ofDocument}
       union all
       select o.* from app.hold h cross join lateral ${ofHold} o where h.tenant_id = $1 and h.object_id = $2::uuid) c
      order by c.recorded_at desc, c.event_id desc limit $5`,
    [tx.tenant_id, document_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )
}
