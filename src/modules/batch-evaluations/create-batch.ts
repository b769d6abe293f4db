/**
 * Creates, resumes and retries batches. The versions of one instant are pinned when a batch is created; all its items are decided
 * on them, retries included.
 */
import { hash } from 'node:crypto'
import type { DefinitionFamily } from '#decision/model.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { JobRow } from '#kernel/job/queries.ts'
import type { EnqueueRequest } from '#kernel/job/queue.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail } from '#kernel/problem.ts'
import type { Static } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { resolver } from '#modules/definitions/index.ts'

import { binding } from '#modules/risk-matrices/index.ts'

import { listSubjectsByIds } from '#modules/subjects/index.ts'
import { claimUpload } from '#modules/system/index.ts'
import type { BatchRow, ItemSource, NewBatch } from './batch.ts'
import { type BatchPlan, getBoundDefinition } from './decide/decide-rows.ts'
import { findBatch, insertBatch, lockBatch, updateBatchJob } from './queries.ts'
import type { BatchRequest } from './schema.ts'
import { explainUnreadable, failSourceInvalid } from './source/read-items.ts'
import { encryptInlineItems } from './stored-items.ts'

export type BatchInput = Static<typeof BatchRequest>

const BATCH_JOB_KIND = 'batch-evaluation'

function failRefused(pointer: string, keyword: string, detail: string): never {
  return fail('inputs_refused', { detail, errors: [{ in: 'body', pointer, detail, keyword }] })
}

/** Resolves the definition in force with its lists, and checks that they can be bound. */
export async function resolveBatchDefinition(
  kernel: binding.DecideCapabilities,
  tx: Tx,
  request: BatchInput,
  options: Pick<binding.ResolutionQuery, 'without_plugins'> = {},
): Promise<binding.Resolution> {
  const { matrix_key, rule_key, valid_at } = request
  if ((matrix_key === undefined) === (rule_key === undefined))
    failRefused('#', 'definition_unclear', 'Give either matrix_key or rule_key.')
  const family: DefinitionFamily = matrix_key === undefined ? 'rule' : 'matrix'
  const resolution = await binding.getResolution(kernel, tx, {
    family,
    key: (matrix_key ?? rule_key) as string,
    valid_at,
    ...options,
  })
  if (valid_at !== undefined && Date.parse(valid_at) > Date.parse(resolution.definition.now))
    failRefused('#/valid_at', 'valid_at_ahead', 'Nothing is rated for later: valid_at lies ahead.')
  await getBoundDefinition(kernel, tx, resolution)
  return resolution
}

type BatchSource = Pick<NewBatch, 'source_kind' | 'source' | 'upload_id' | 'total'>

/** Asserts that the request names exactly one source. */
export function toBatchSource({ upload_id, file, items, filter }: BatchInput): BatchSource {
  const given = [upload_id, items, filter].filter((source) => source !== undefined)
  if (given.length !== 1) failRefused('#', 'source_unclear', 'Give exactly one of upload_id, items and filter.')
  if (file !== undefined && upload_id === undefined)
    failRefused('#/file', 'source_unclear', 'There is no upload_id to read.')
  if (items !== undefined) return { source_kind: 'items', source: { items }, upload_id: null, total: items.length }
  if (filter !== undefined) return { source_kind: 'filter', source: { filter }, upload_id: null, total: null }
  const { mapping = {}, format = 'csv', ...reading } = file ?? {}
  const source = { file: { format, mapping, ...reading } }
  return { source_kind: 'upload', source, upload_id: upload_id as string, total: null }
}

/** Adds the upload's file name to the source and extends its lifetime. */
async function claimSource(tx: Tx, request: BatchInput): Promise<BatchSource> {
  const source = toBatchSource(request)
  if (source.upload_id === null) return source
  const { file_name, size_bytes } = await claimUpload(tx, source.upload_id)
  if (size_bytes === 0) failSourceInvalid('The file is empty.', { code: 'empty_source' })
  return { ...source, source: { ...source.source, file_name } as ItemSource }
}

/** Subjects are never removed, so the check still holds when the items are decided. */
export async function assertSubjectsExist(tx: Tx, items: BatchInput['items'] = []): Promise<void> {
  const wanted = new Set(items.flatMap(({ subject_id }) => subject_id ?? []))
  const known = await listSubjectsByIds(tx, { subject_ids: [...wanted], external_ids: [] })
  for (const { subject_id } of known) wanted.delete(subject_id)
  const [missing] = wanted
  if (missing !== undefined) fail('not_found', { detail: 'One of the items names a subject that is not there.' })
}

export const startBatch = async (
  kernel: binding.DecideCapabilities & Capabilities<'encryption' | 'jobs'>,
  tx: Tx,
  request: BatchInput,
): Promise<JobRow> => (await createBatch(kernel, tx, request)).job

/** All checks run before the first write. */
export async function createBatch(
  kernel: binding.DecideCapabilities & Capabilities<'encryption' | 'jobs'>,
  tx: Tx,
  request: BatchInput,
  how: Pick<EnqueueRequest, 'unlimited'> = {},
): Promise<{ batch_id: string; job: JobRow }> {
  await resolveBatchDefinition(kernel, tx, request, { without_plugins: true })
  await assertSubjectsExist(tx, request.items)
  const source = await claimSource(tx, request)
  // Whether the plugins can run is asked last.
  const resolution = await resolveBatchDefinition(kernel, tx, request)
  const batch_id = uuidv7()
  const clocks = { valid_at: request.valid_at }
  const receipt = await resolver.createReceipt(tx, `batch ${batch_id}`, binding.toPointers(resolution), clocks)
  const job = await enqueueBatchJob(kernel, tx, { batch_id, total: source.total }, how)
  const inline = request.items ? await encryptInlineItems(kernel, tx, batch_id, request.items) : null
  const row = {
    ...source,
    batch_id,
    job_id: job.job_id,
    family: resolution.definition.family as DefinitionFamily,
    definition_key: resolution.definition.list_key,
    definition_version: resolution.definition.version,
    engine: resolution.engine,
    receipt_id: receipt.receipt_id,
    receipt_hash: receipt.manifest_hash,
    asked_at: request.valid_at ?? null,
    valid_at: receipt.valid_at,
    known_at: receipt.known_at,
    note: request.note ?? null,
  }
  await insertBatch(tx, row, inline)
  return { batch_id, job }
}

const enqueueBatchJob = (
  kernel: Capabilities<'jobs'>,
  tx: Tx,
  { batch_id, total }: Pick<BatchRow, 'batch_id' | 'total'>,
  how: Pick<EnqueueRequest, 'unlimited'> = {},
): Promise<JobRow> =>
  kernel.jobs.enqueue(tx, {
    ...how,
    kind: BATCH_JOB_KIND,
    payload: { batch_id },
    resource: `/api/batch-evaluations/${batch_id}`,
    unit: 'items',
    ...(total !== null && { total }),
  })

async function lockAndFindBatch(tx: Tx, batch_id: string): Promise<BatchRow> {
  assertFound(await lockBatch(tx, batch_id))
  return assertFound(await findBatch(tx, batch_id))
}

type ContinueCapabilities = binding.BindCapabilities & Capabilities<'jobs'>

/** Resumes the batch where it stopped, with the same receipt. */
export async function resumeBatch(kernel: ContinueCapabilities, tx: Tx, batch_id: string): Promise<JobRow> {
  const batch = await lockAndFindBatch(tx, batch_id)
  if (batch.state !== 'failed' && batch.state !== 'cancelled')
    fail('transition_not_allowed', `The batch is ${batch.state}; only one that failed or was cancelled is resumed.`)
  const reason = explainUnreadable(batch)
  if (reason !== null) fail('transition_not_allowed', reason)
  await loadPlan(kernel, tx, batch, 'valid')
  const job = await enqueueBatchJob(kernel, tx, batch)
  await updateBatchJob(tx, batch_id, { ...batch, job_id: job.job_id })
  return job
}

/** Retries the failed items with the same receipt and the current attributes of their subjects. */
export async function retryFailed(kernel: ContinueCapabilities, tx: Tx, batch_id: string): Promise<JobRow> {
  const batch = await lockAndFindBatch(tx, batch_id)
  if (batch.state !== 'succeeded')
    fail('transition_not_allowed', explainUnreadable(batch) ?? `The batch is ${batch.state}; let it come to its end.`)
  await loadPlan(kernel, tx, batch, 'valid')
  const job = await enqueueBatchJob(kernel, tx, { batch_id, total: batch.failed })
  await updateBatchJob(tx, batch_id, { job_id: job.job_id, stage: 'again', after_seq: 0 })
  return job
}

/** Loads the pinned versions of a stored batch; fails when the receipt was altered. `valid`: its plugins must be able to run now. */
export async function loadPlan(
  kernel: binding.BindCapabilities,
  tx: Tx,
  batch: Pick<BatchRow, 'manifest' | 'receipt_hash' | 'engine' | 'asked_at' | 'known_at'>,
  plugins: 'pinned' | 'valid',
): Promise<BatchPlan> {
  const { manifest, receipt_hash, engine, asked_at, known_at } = batch
  if (hash('sha256', manifest, 'hex') !== receipt_hash) fail('content_corrupt')
  const resolution = await binding.restoreResolution(kernel, tx, JSON.parse(manifest) as resolver.PinnedVersion[], {
    engine,
    plugins,
  })
  return { resolution, asked_at, known_at }
}
