/** Makes a document of an upload: checks the file, takes its bytes over or starts the job that does, and removes the upload. */
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, assertReferenced, fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { findRestriction, prepareRestriction } from '#modules/restrictions/index.ts'
import { findSubject } from '#modules/subjects/index.ts'
import { claimUpload, lockUpload, readUploadChunk, removeUpload, type UploadRow } from '#modules/system/index.ts'
import { assertContentType, createTextCheck, findDocumentType, refuse } from './content-type.ts'
import { CHUNK_BYTES, DocumentDigest, MAX_DOCUMENT_BYTES, storeChunk } from './document-bytes.ts'
import { PROCESS_DOCUMENT } from './processing-job.ts'
import { type DocumentRow, findDocument, insertDocument, updateStored } from './queries.ts'

export interface DocumentRequest {
  readonly upload_id: string
  readonly title: string
  readonly category?: string | null
  readonly subject_id?: string | null
  readonly restriction_id?: string | null
  readonly media_type?: string
  readonly sha256?: string
}

/** Of a file that can become a document; another request that names the upload waits. */
async function takeUpload(tx: Tx, { upload_id, sha256 }: DocumentRequest): Promise<UploadRow & { file_name: string }> {
  const upload = assertReferenced(await lockUpload(tx, upload_id), 'upload with this id')
  if (upload.state !== 'stored') fail('upload_incomplete')
  if (upload.used_at !== null) fail('conflict', 'Something else uses the upload. Upload the file again.')
  const { file_name } = upload
  if (upload.size_bytes === 0) refuse('upload_id', 'The file is empty.')
  if (upload.size_bytes > MAX_DOCUMENT_BYTES)
    refuse('upload_id', `A document has at most ${MAX_DOCUMENT_BYTES} bytes, and the file has ${upload.size_bytes}.`)
  if (sha256 !== undefined && sha256 !== upload.sha256)
    refuse('sha256', 'The bytes that arrived have another hash: the file was not received as you have it.')
  if (file_name === null) return refuse('upload_id', 'The upload has no file name. Upload the file with one.')
  return { ...upload, file_name }
}

/** The one that the caller names and may see; otherwise a new one, so that the document can be restricted later. */
async function chooseRestriction(tx: Tx, named: string | null, document_id: string): Promise<string> {
  if (named === null) return prepareRestriction(tx, `Document ${document_id}`, 'document')
  return assertReferenced(await findRestriction(tx, named), 'restriction with this id').restriction_id
}

export async function createDocument(
  kernel: Capabilities<'caches' | 'encryption' | 'jobs' | 'scanner'>,
  tx: Tx,
  request: DocumentRequest,
): Promise<DocumentRow> {
  const { upload_id, title, category = null, subject_id = null } = request
  const upload = await takeUpload(tx, request)
  const { file_name, size_bytes } = upload
  if (subject_id !== null) assertReferenced(await findSubject(tx, subject_id), 'subject with this id')
  const type = await findDocumentType(kernel, tx, file_name)
  const { media_type } = type
  if (request.media_type !== undefined && request.media_type !== media_type)
    refuse('media_type', `The name of the file promises ${media_type}.`)
  const first = await readUploadChunk(tx, upload_id, 0)
  await assertContentType(type, first)
  const isSmall = size_bytes <= CHUNK_BYTES
  const text = createTextCheck(type)
  text.add(first)
  if (isSmall) text.end()

  const document_id = uuidv7()
  const restriction_id = await chooseRestriction(tx, request.restriction_id ?? null, document_id)
  const job_id = isSmall && !kernel.scanner ? null : uuidv7()
  const document = {
    document_id,
    subject_id,
    restriction_id,
    title,
    category,
    file_name,
    media_type,
    size_bytes,
    job_id,
  }
  await insertDocument(tx, { ...document, upload_id })
  if (isSmall) {
    const digest = new DocumentDigest()
    digest.add(first, await storeChunk(kernel, tx, document, { seq: 0, plain: first }))
    const hashes = digest.end()
    if (hashes.sha256 !== upload.sha256) fail('content_corrupt')
    await updateStored(tx, document_id, hashes)
    await removeUpload(tx, upload_id)
  } else await claimUpload(tx, upload_id, true)
  if (job_id !== null)
    await kernel.jobs.enqueue(tx, {
      kind: PROCESS_DOCUMENT,
      payload: { document_id, is_text: type.content === 'text' },
      job_id,
      resource: `/api/documents/${document_id}`,
      restriction_id,
    })
  return assertFound(await findDocument(tx, document_id))
}
