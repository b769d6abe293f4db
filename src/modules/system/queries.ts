/** SQL of uploads: a header row and rows of 1 MiB, so that every worker on every machine can read the bytes. */

import { answerRestrictions } from '#kernel/database/restriction-column.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { createErasureClass } from '#kernel/erasure/queries.ts'

export interface UploadRow {
  readonly upload_id: string
  readonly state: 'receiving' | 'stored'
  readonly file_name: string | null
  readonly size_bytes: number
  readonly sha256: string | null
  readonly created_at: string
  readonly created_by: string
  readonly expires_at: string
  readonly used_at: string | null
}

const columns = 'upload_id, state, file_name, size_bytes, sha256, created_at, created_by, expires_at, used_at'

export const insertUpload = (tx: Tx, upload_id: string, file_name: string | null) =>
  tx.run(
    `insert into app.upload (tenant_id, upload_id, state, file_name, media_type, created_by, expires_at)
     values ($1, $2, 'receiving', $3, 'application/octet-stream', $4, now() + interval '1 hour')`,
    [tx.tenant_id, upload_id, file_name, tx.actor],
  )

export const insertUploadChunk = (tx: Tx, upload_id: string, seq: number, bytes: Buffer) =>
  tx.run('insert into app.upload_chunk (tenant_id, upload_id, seq, bytes) values ($1, $2, $3, $4)', [
    tx.tenant_id,
    upload_id,
    seq,
    bytes,
  ])

/** Makes the upload available to other requests. Unused, it expires after 24 hours. */
export const updateUploadStored = (
  tx: Tx,
  upload_id: string,
  facts: { size_bytes: number; sha256: string; chunks: number },
) =>
  tx.find<UploadRow>(
    `update app.upload set state = 'stored', size_bytes = $3, sha256 = $4, chunks = $5, expires_at = now() + interval '24 hours'
      where tenant_id = $1 and upload_id = $2 and state = 'receiving' returning ${columns}`,
    [tx.tenant_id, upload_id, facts.size_bytes, facts.sha256, facts.chunks],
  )

/** Removes the chunks too. A completed upload stays, because the caller may not know that completing it succeeded. */
export const removeUnstoredUpload = (tx: Tx, upload_id: string) =>
  tx.run(`delete from app.upload where tenant_id = $1 and upload_id = $2 and state = 'receiving'`, [
    tx.tenant_id,
    upload_id,
  ])

/**
 * What an upload is for may be restricted, so it exists for whoever sent it only, until something that everybody may see uses it. Jobs and
 * operators see every upload.
 */
const OPEN = `(created_by = $3 or (used_at is not null and not is_private) or $3 !~ '^(user|key):')`

export const findUpload = (tx: Tx, upload_id: string) =>
  tx.find<UploadRow>(`select ${columns} from app.upload where tenant_id = $1 and upload_id = $2 and ${OPEN}`, [
    tx.tenant_id,
    upload_id,
    tx.actor,
  ])

/** Keeps a used upload for 30 days, so that an interrupted job can start again from the stored bytes. */
export const updateUploadUsed = (tx: Tx, upload_id: string, is_private: boolean) =>
  tx.find<UploadRow>(
    `update app.upload set used_at = coalesce(used_at, now()), expires_at = greatest(expires_at, now() + interval '30 days'),
            is_private = is_private or $4
      where tenant_id = $1 and upload_id = $2 and state = 'stored' and ${OPEN} returning ${columns}`,
    [tx.tenant_id, upload_id, tx.actor, is_private],
  )

/** Locked, so that only one request takes its bytes over. */
export const lockUpload = (tx: Tx, upload_id: string) =>
  tx.find<UploadRow & { readonly chunks: number }>(
    `select ${columns}, coalesce(chunks, 0) as chunks from app.upload where tenant_id = $1 and upload_id = $2 and ${OPEN} for update`,
    [tx.tenant_id, upload_id, tx.actor],
  )

/** With its chunks. */
export const removeUpload = (tx: Tx, upload_id: string) =>
  tx.run('delete from app.upload where tenant_id = $1 and upload_id = $2', [tx.tenant_id, upload_id])

/** The number of chunks and the hash of a completed upload. */
export const findUploadContent = (tx: Tx, upload_id: string) =>
  tx.find<{ chunks: number; sha256: string }>(
    `select chunks, sha256 from app.upload
      where tenant_id = $1 and upload_id = $2 and state = 'stored' and ${OPEN}`,
    [tx.tenant_id, upload_id, tx.actor],
  )

/** The driver copies long values several times, and hex doubles their length. */
const PIECE_BYTES = 64 * 1024

/** One chunk as short base64 texts, in order; none when it does not exist. */
export const listUploadPieces = (tx: Tx, upload_id: string, seq: number) =>
  tx.query<{ text: string }>(
    `select encode(substring(bytes from piece * ${PIECE_BYTES} + 1 for ${PIECE_BYTES}), 'base64') as text
       from app.upload_chunk, generate_series(0, (octet_length(bytes) - 1) / ${PIECE_BYTES}) as piece
      where tenant_id = $1 and upload_id = $2 and seq = $3 order by piece`,
    [tx.tenant_id, upload_id, seq],
  )

export const insertCanaryAnswer = (tx: Tx) =>
  tx.run(
    `insert into app.idempotency (tenant_id, principal, operation, key, fingerprint, status, body, expires_at)
     values ($1, 'user:canary', 'canary', 'canary', 'canary', 200, 'canary', now() + interval '100 years')`,
    [tx.tenant_id],
  )

/** For the isolation canary only: last seen long ago, so that it does not count for rate limits. */
export const insertCanaryProcess = (tx: Tx) =>
  tx.run(
    `insert into app.process (tenant_id, process_id, serves_requests, runs_jobs, seen_at) values ($1, $1, false, false, 'epoch')`,
    [tx.tenant_id],
  )

/**
 * A repeated request is then answered with `erased`, and has no second effect. They are kept for a day: none is left for review. Nobody
 * but an erasure itself counts those of restricted objects.
 */
const inForce = `select o.id from unnest(${answerRestrictions('r')}) as o (id) where app.is_in_force(o.id)`
const storedResponses = {
  ...{ table: 'idempotency', id: null, owner: null, restriction: 'r.object_restriction_id' },
  other_restrictions: answerRestrictions('r'),
  where: `app.has_full_sight() or not exists (${inForce})`,
}
export const storedResponseErasure = createErasureClass('stored-responses', 'Answers kept for repeated requests', [
  // A key that names the subject cannot stay; the request can then be made again.
  { ...storedResponses, text: 'r.key', set: null },
  {
    ...storedResponses,
    text: 'app.json_texts(r.body)',
    where: `r.body is not null and (${storedResponses.where})`,
    set: 'body = null, erased_at = now()',
  },
])

/** A mark may begin in one row of bytes and end in the next. */
const MAX_MARK_BYTES = 4096

/** Bytes as encode(bytes, 'escape') writes them, in any encoding. Zero bytes separate words. */
const uploadedText = `replace(encode(c.bytes || coalesce(substr(n.bytes, 1, ${MAX_MARK_BYTES}), ''), 'escape'), '\\000', ' ')`

/** Whether a file contains something: each row of bytes together with the beginning of the next. Only the job reads bytes, no request. */
const contains = (condition: string): string =>
  `(app.erasing() is not null and exists (select 1 from app.upload_chunk c left join app.upload_chunk n on n.tenant_id = c.tenant_id and n.upload_id = c.upload_id and n.seq = c.seq + 1
    where c.tenant_id = $1 and c.upload_id = r.upload_id and ${condition}))`

/** Marks in the spelling of the bytes. */
const escaped = (marks: string): string =>
  `array(select encode(convert_to(mark, 'UTF8'), 'escape') from unnest(${marks}) as mark)`

/** Files of subjects are removed once they were imported: they may be compressed, and are of no further use. */
export const uploadErasure = createErasureClass('uploads', 'Uploaded files', [
  {
    table: 'upload',
    id: 'r.upload_id',
    owner: null,
    text: 'r.file_name',
    match: `case when ${contains(`strpos(lower(${uploadedText}), m.subject_id::text) > 0`)} then 'id'
      when app.mentions(r.file_name, m.sure, false) or ${contains(`app.mentions(${uploadedText}, ${escaped('m.sure')}, false)`)}
        or exists (select 1 from app.subject_bulk b where b.tenant_id = $1 and b.upload_id = r.upload_id and b.finished_at is not null) then 'mark'
      when app.mentions(r.file_name, m.marks, true) or ${contains(`app.mentions(${uploadedText}, ${escaped('m.marks')}, true)`)} then 'review' end`,
    set: null,
  },
])
