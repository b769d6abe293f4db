/** SQL of batches and their items. Decided items never change. */
import type { Tx } from '#kernel/database/tx.ts'
import type { PagePosition } from '#kernel/page.ts'
import type { IdRange } from '#kernel/search/source.ts'
import type { BatchRow, ItemSource, ItemTally, NewBatch } from './batch.ts'
import type { BandChange, ItemRow } from './decide/item-results.ts'
import type { NewItemRow, StoredInlineItems, StoredItemRow } from './stored-items.ts'

const columns = `b.batch_id, b.job_id, b.family, b.definition_key, b.definition_version, b.engine, b.receipt_id, b.receipt_hash,
  b.asked_at, b.valid_at, b.known_at, b.source_kind, b.source, b.upload_id, b.note, b.stage, b.after_subject, b.after_seq, b.total,
  b.done, b.failed, b.created_at, b.created_by, coalesce(b.finished_at, j.finished_at) as finished_at, j.problem,
  coalesce(j.state, case when b.finished_at is null then 'failed' else 'succeeded' end) as state, r.manifest, u.sha256 as upload_sha256`
/** The state is that of the job; after the job is removed, only the outcome remains. */
const batches = `app.batch_evaluation b left join app.job j on j.tenant_id = b.tenant_id and j.job_id = b.job_id
  join app.resolution_receipt r on r.tenant_id = b.tenant_id and r.receipt_id = b.receipt_id
  left join app.upload u on u.tenant_id = b.tenant_id and u.upload_id = b.upload_id`

/** Items of the request are stored encrypted, beside a source without items. */
export const insertBatch = (tx: Tx, row: NewBatch, inline: StoredInlineItems | null) =>
  tx.run(
    `insert into app.batch_evaluation (tenant_id, batch_id, job_id, family, definition_key, definition_version, engine, receipt_id,
       receipt_hash, asked_at, valid_at, known_at, source_kind, source, upload_id, note, total, created_by, items, item_owners)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14::jsonb, $15, $16, $17, $18, $19::bytea[], $20::uuid[])`,
    [
      tx.tenant_id,
      row.batch_id,
      row.job_id,
      row.family,
      row.definition_key,
      row.definition_version,
      row.engine,
      row.receipt_id,
      row.receipt_hash,
      row.asked_at,
      row.valid_at,
      row.known_at,
      row.source_kind,
      JSON.stringify(inline ? { items: [] } : row.source),
      row.upload_id,
      row.note,
      row.total,
      tx.actor,
      inline?.items ?? null,
      inline?.item_owners ?? null,
    ],
  )

export const findBatch = (tx: Tx, batch_id: string) =>
  tx.find<BatchRow>(`select ${columns} from ${batches} where b.tenant_id = $1 and b.batch_id = $2`, [
    tx.tenant_id,
    batch_id,
  ])

/** With the encrypted items of its request. */
export const findBatchWithItems = (tx: Tx, batch_id: string) =>
  tx.find<BatchRow & { readonly [M in keyof StoredInlineItems]: StoredInlineItems[M] | null }>(
    `select ${columns}, b.items, b.item_owners from ${batches} where b.tenant_id = $1 and b.batch_id = $2`,
    [tx.tenant_id, batch_id],
  )

/** Serializes resuming and retrying a batch. */
export const lockBatch = (tx: Tx, batch_id: string) =>
  tx.find<{ batch_id: string }>(
    'select batch_id from app.batch_evaluation where tenant_id = $1 and batch_id = $2 for update',
    [tx.tenant_id, batch_id],
  )

/** Newest first. */
export const listBatches = (tx: Tx, after: PagePosition, count: number) =>
  tx.query<BatchRow>(
    `select ${columns} from ${batches}
      where b.tenant_id = $1 and ($2::timestamptz is null or (b.created_at, b.batch_id) < ($2, $3::uuid))
      order by b.created_at desc, b.batch_id desc limit $4`,
    [tx.tenant_id, after?.[0] ?? null, after?.[1] ?? null, count],
  )

/** Hands the batch to another job, which resumes it or retries the failed items. */
export const updateBatchJob = (
  tx: Tx,
  batch_id: string,
  { job_id, stage, after_seq }: Pick<BatchRow, 'job_id' | 'stage' | 'after_seq'>,
) =>
  tx.run(
    `update app.batch_evaluation set job_id = $3, stage = $4, after_seq = $5, finished_at = null
      where tenant_id = $1 and batch_id = $2`,
    [tx.tenant_id, batch_id, job_id, stage, after_seq],
  )

export const updateBatchTotal = (tx: Tx, batch_id: string, total: number) =>
  tx.run('update app.batch_evaluation set total = $3 where tenant_id = $1 and batch_id = $2', [
    tx.tenant_id,
    batch_id,
    total,
  ])

/** Whether the batch has this progress and belongs to this job; if so, no other job changes it until the transaction ends. */
export const lockBatchProgress = async (
  tx: Tx,
  {
    batch_id,
    job_id,
    done,
    failed,
    after_seq,
  }: Pick<BatchRow, 'batch_id' | 'job_id' | 'done' | 'failed' | 'after_seq'>,
) =>
  (await tx.find(
    `select 1 from app.batch_evaluation
      where tenant_id = $1 and batch_id = $2 and job_id = $3 and done = $4 and failed = $5 and after_seq = $6 for update`,
    [tx.tenant_id, batch_id, job_id, done, failed, after_seq],
  )) !== undefined

export const updateBatchProgress = (
  tx: Tx,
  {
    batch_id,
    done,
    failed,
    after_subject,
    after_seq,
  }: Pick<BatchRow, 'batch_id' | 'done' | 'failed' | 'after_subject' | 'after_seq'>,
) =>
  tx.run(
    `update app.batch_evaluation set done = $3, failed = $4, after_subject = $5, after_seq = $6 where tenant_id = $1 and batch_id = $2`,
    [tx.tenant_id, batch_id, done, failed, after_subject, after_seq],
  )

export const updateBatchFinished = (tx: Tx, batch_id: string) =>
  tx.run(
    `update app.batch_evaluation set finished_at = now(), total = done + failed where tenant_id = $1 and batch_id = $2`,
    [tx.tenant_id, batch_id],
  )

const resultColumns = `seq, line, subject_id, state, band, score_bps, hit, reason_codes, document_hash, previous_band, change,
  failure_code`
const storedColumns = `${resultColumns}, content`
const itemColumns = `${storedColumns}, external_id, inputs, document_salt, findings`

/** One array per column; JSON columns as texts. The contents are one value with their places: an array of bytes would be sent as text. */
const toColumnArrays = (rows: readonly NewItemRow[]): unknown[] => [
  rows.map(({ item }) => item.seq),
  rows.map(({ item }) => item.line),
  rows.map(({ item }) => item.subject_id),
  rows.map(({ item }) => item.state),
  rows.map(({ item }) => item.band),
  rows.map(({ item }) => item.score_bps),
  rows.map(({ item }) => item.hit),
  rows.map(({ item }) => JSON.stringify(item.reason_codes)),
  rows.map(({ item }) => item.document_hash),
  rows.map(({ item }) => item.previous_band),
  rows.map(({ item }) => item.change),
  rows.map(({ item }) => item.failure_code),
  rows.map(({ external_id_hash }) => external_id_hash),
  Buffer.concat(rows.flatMap(({ content }) => content ?? [])),
  ...toPlaces(rows),
]

/** First byte, from 1, and length of each content; nulls where there is none. */
function toPlaces(rows: readonly NewItemRow[]): [from: (number | null)[], length: (number | null)[]] {
  let next = 1
  const from = rows.map(({ content }) => {
    if (content === null) return null
    next += content.length
    return next - content.length
  })
  return [from, rows.map(({ content }) => content?.length ?? null)]
}

const given = `unnest($3::bigint[], $4::bigint[], $5::uuid[], $6::text[], $7::text[], $8::bigint[], $9::boolean[], $10::jsonb[],
  $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $17::int[], $18::int[])
  as g (${resultColumns}, external_id_hash, content_from, content_length)`
const content = 'substring($16::bytea from g.content_from for g.content_length)'

export const insertItems = (tx: Tx, batch_id: string, items: readonly NewItemRow[]) =>
  tx.run(
    `insert into app.batch_item (tenant_id, batch_id, ${resultColumns}, external_id_hash, content, findings)
     select $1, $2, ${resultColumns}, external_id_hash, ${content}, '[]' from ${given}`,
    [tx.tenant_id, batch_id, ...toColumnArrays(items)],
  )

/** Replaces failed items by the results of the retry. */
export const updateItems = (tx: Tx, batch_id: string, items: readonly NewItemRow[]) =>
  tx.run(
    `update app.batch_item i set (subject_id, state, band, score_bps, hit, reason_codes, document_hash, previous_band, change,
       failure_code, content, external_id_hash, external_id, inputs, document_salt, findings) = (g.subject_id, g.state, g.band, g.score_bps,
       g.hit, g.reason_codes, g.document_hash, g.previous_band, g.change, g.failure_code, ${content}, g.external_id_hash, null, null, null, '[]')
       from ${given} where i.tenant_id = $1 and i.batch_id = $2 and i.seq = g.seq`,
    [tx.tenant_id, batch_id, ...toColumnArrays(items)],
  )

/**
 * Plans the statements of this transaction again. A cached plan from when the tables were small would scan all subjects to find a
 * thousand external ids.
 */
export const forceCustomPlans = (tx: Tx) => tx.run(`select set_config('plan_cache_mode', 'force_custom_plan', true)`)

/** The latest rated band of each subject at an instant, in one statement. */
export const listPreviousBands = (tx: Tx, subject_ids: readonly string[], matrix_key: string, known_at: string) =>
  tx.query<{ subject_id: string; band: string }>(
    `select distinct on (subject_id) subject_id, band from app.rating
      where tenant_id = $1 and subject_id = any($2::uuid[]) and matrix_key = $3 and recorded_at <= $4
      order by subject_id, valid_at desc, recorded_at desc`,
    [tx.tenant_id, subject_ids, matrix_key, known_at],
  )

/** Failed items that may have inputs, in order. */
export const listFailedItems = (tx: Tx, batch_id: string, after_seq: number, count: number) =>
  tx.query<StoredItemRow>(
    `select ${itemColumns} from app.batch_item
      where tenant_id = $1 and batch_id = $2 and seq > $3 and state = 'failed' and (inputs is not null or content is not null)
      order by seq limit $4`,
    [tx.tenant_id, batch_id, after_seq, count],
  )

export const findItem = (tx: Tx, batch_id: string, seq: number) =>
  tx.find<StoredItemRow>(
    `select ${itemColumns} from app.batch_item where tenant_id = $1 and batch_id = $2 and seq = $3`,
    [tx.tenant_id, batch_id, seq],
  )

export interface ItemFilter {
  readonly state?: ItemRow['state'] | undefined
  readonly change?: BandChange | undefined
  readonly band?: string | undefined
  readonly previous_band?: string | undefined
  readonly failure_code?: string | undefined
  readonly hit?: 'hit' | 'no_hit' | undefined
  readonly subject_id?: string | undefined
}

/**
 * In order. Contains only the conditions that are set; values from a fixed set are literals, so that partial indexes match.
 */
export const listItems = (
  tx: Tx,
  batch_id: string,
  filter: ItemFilter,
  page: { readonly after_seq: number; readonly count: number },
) => {
  const values: unknown[] = [tx.tenant_id, batch_id, page.after_seq, page.count]
  const where = ['tenant_id = $1', 'batch_id = $2', 'seq > $3']
  if (filter.state !== undefined) where.push(`state = '${filter.state}'`)
  if (filter.change !== undefined) where.push(`change = '${filter.change}'`)
  if (filter.hit !== undefined) where.push(filter.hit === 'hit' ? 'hit' : "not hit and state = 'done'")
  for (const name of ['band', 'previous_band', 'failure_code', 'subject_id'] as const) {
    if (filter[name] !== undefined) where.push(`${name} = $${values.push(filter[name])}`)
  }
  return tx.query<StoredItemRow>(
    `select ${itemColumns} from app.batch_item where ${where.join(' and ')} order by seq limit $4`,
    values,
  )
}

/** Counts of items by every dimension of the summary. */
export const tallyItems = (tx: Tx, batch_id: string) =>
  tx.query<ItemTally>(
    `select state, subject_id is not null as known, previous_band, band, hit, change, failure_code, count(*) as count
       from app.batch_item where tenant_id = $1 and batch_id = $2 group by 1, 2, 3, 4, 5, 6, 7`,
    [tx.tenant_id, batch_id],
  )

export interface FoundBatchRow {
  readonly batch_id: string
  readonly definition_key: string
  readonly note: string | null
  readonly total: number | null
  readonly created_at: string
  readonly finished_at: string | null
}
const foundColumns = 'batch_id, definition_key, note, total, created_at, finished_at'

export const listBatchesInRange = (tx: Tx, { from, to }: IdRange, count: number) =>
  tx.query<FoundBatchRow>(
    `select ${foundColumns} from app.batch_evaluation
      where tenant_id = $1 and batch_id >= $2::uuid and batch_id <= $3::uuid order by batch_id limit $4`,
    [tx.tenant_id, from, to, count],
  )

export const listNewestBatches = (tx: Tx, count: number) =>
  tx.query<FoundBatchRow>(
    `select ${foundColumns} from app.batch_evaluation where tenant_id = $1 order by created_at desc, batch_id desc limit $2`,
    [tx.tenant_id, count],
  )

export type PlainItemRow = Pick<
  ItemRow,
  'seq' | 'subject_id' | 'external_id' | 'inputs' | 'document_salt' | 'findings'
> & { readonly batch_id: string }

/** Plain items of earlier releases, of one subject or of all. Locked rows are left to whoever works on them. */
export const lockPlainItems = (tx: Tx, subject_id: string | null, count: number) =>
  tx.query<PlainItemRow>(
    `select batch_id, seq, subject_id, external_id, inputs, document_salt, findings from app.batch_item
      where tenant_id = $1 and content is null and failure_code is distinct from 'erased'
        ${subject_id === null ? '' : 'and subject_id = $3'}
      order by batch_id, seq limit $2 for update skip locked`,
    [tx.tenant_id, count, ...(subject_id === null ? [] : [subject_id])],
  )

export const updateItemsEncrypted = (
  tx: Tx,
  items: readonly (Omit<NewItemRow, 'item'> & { readonly batch_id: string; readonly seq: number })[],
) =>
  tx.run(
    `update app.batch_item i set content = g.content, external_id_hash = g.external_id_hash, external_id = null, inputs = null,
            document_salt = null, findings = '[]'
       from unnest($2::uuid[], $3::bigint[], $4::bytea[], $5::text[]) as g (batch_id, seq, content, external_id_hash)
      where i.tenant_id = $1 and i.batch_id = g.batch_id and i.seq = g.seq`,
    [
      tx.tenant_id,
      items.map(({ batch_id }) => batch_id),
      items.map(({ seq }) => seq),
      items.map(({ content }) => content),
      items.map(({ external_id_hash }) => external_id_hash),
    ],
  )

/** Batches with plain items of their requests. */
export const lockPlainBatches = (tx: Tx, count: number) =>
  tx.query<{ readonly batch_id: string; readonly source: Extract<ItemSource, { items: unknown }> }>(
    `select batch_id, source from app.batch_evaluation where tenant_id = $1 and source_kind = 'items' and items is null
      order by batch_id limit $2 for update skip locked`,
    [tx.tenant_id, count],
  )

export const updateBatchItemsEncrypted = (tx: Tx, batch_id: string, { items, item_owners }: StoredInlineItems) =>
  tx.run(
    `update app.batch_evaluation set source = '{"items": []}', items = $3::bytea[], item_owners = $4::uuid[]
      where tenant_id = $1 and batch_id = $2`,
    [tx.tenant_id, batch_id, items, item_owners],
  )
