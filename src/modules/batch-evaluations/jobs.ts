/**
 * The job of a batch: reads, decides and stores groups of items; the next group is decided while one is stored. Items, ratings
 * and progress are committed together, so another worker resumes without repeating or losing items.
 */
import { setImmediate } from 'node:timers/promises'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { emit } from '#kernel/events/emit.ts'
import { declareEvent } from '#kernel/events/event-type.ts'
import { defineJob } from '#kernel/job/define-job.ts'
import type { JobContext } from '#kernel/job/kind.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { assertFound, fail, Problem } from '#kernel/problem.ts'
import { closed, Id, type Static } from '#kernel/schema.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { raiseDecisionAlerts } from '#modules/alerts/index.ts'
import { recordFailure } from '#modules/plugins/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'
import { ratingStore } from '#modules/subjects/index.ts'
import { advanceBatch, type BatchRow, toDigest, toRating } from './batch.ts'
import { loadPlan } from './create-batch.ts'
import { type BatchPlan, decideRows } from './decide/decide-rows.ts'
import type { ItemRow } from './decide/item-results.ts'
import {
  findBatchWithItems,
  insertItems,
  listFailedItems,
  lockBatchProgress,
  updateBatchFinished,
  updateBatchProgress,
  updateBatchTotal,
  updateItems,
} from './queries.ts'
import type { InputRow } from './source/input-rows.ts'
import { countFileRows, type RunInTx, readRemainingRows } from './source/read-items.ts'
import { type NewItemRow, openInlineItems, openItems, prepareItemEncryption, toErasedItem } from './stored-items.ts'

/** Items per step and per audit event. */
const STEP_ITEMS = 2000

const MAX_REPEATS = 5

/** Serializing a statement blocks the event loop; this keeps it at about ten milliseconds. */
const STATEMENT_ITEMS = 500

const Payload = closed({ batch_id: Id() })
type Context = JobContext<
  Static<typeof Payload>,
  unknown,
  Capabilities<'auditKeys' | 'encryption' | 'transactions'> & binding.DecideCapabilities
>

export const batchCompleted = declareEvent({
  type: 'batch_evaluation.completed',
  summary: 'Every item of a batch was decided or has failed.',
  object_kind: 'batch_evaluation',
  data: { done: 'Number of items.', failed: 'How many of them failed.' },
})

export const batchEvaluationJob = defineJob({
  kind: 'batch-evaluation',
  summary: 'Decides about many subjects or inputs on one receipt.',
  payload: Payload,
  // The batch row holds the progress.
  resumes: 'restart',
  uses: ['auditKeys', 'caches', 'encryption', 'metrics', 'plugin_policy', 'threads', 'transactions'],
  run: async (context: Context) => {
    const { read, finish, kernel, payload, job_id } = context
    const { batch, plan } = await read(async (tx) => {
      const stored = await openInlineItems(kernel, tx, assertFound(await findBatchWithItems(tx, payload.batch_id)))
      return { batch: stored, plan: await loadPlan(kernel, tx, stored, 'valid') }
    })
    if (batch.job_id !== job_id) fail('conflict', 'Another job has taken this batch over.')
    const surveyed = await countItems(context, batch)
    const rows = batch.stage === 'again' ? readFailedRows(kernel, read, batch) : readUndecidedRows(read, surveyed, plan)
    const reached = await processRows(context, surveyed, plan, rows)
    await finish(async (tx) => {
      await updateBatchFinished(tx, reached.batch_id)
      const { batch_id: object_id, done, failed } = reached
      await emit(tx, batchCompleted, { object_id, restriction_id: null, data: { done, failed } })
      return { batch_id: reached.batch_id, done: reached.done, failed: reached.failed }
    })
    return null
  },
})

const readUndecidedRows = (read: RunInTx, batch: BatchRow, plan: BatchPlan) =>
  readRemainingRows(read, batch, plan.resolution.compiled.definition.inputs, STEP_ITEMS)

/** Reads the whole file before anything is decided. */
async function countItems({ step, signal, read }: Context, batch: BatchRow): Promise<BatchRow> {
  if (batch.source_kind !== 'upload' || batch.total !== null) return batch
  const total = await countFileRows(read, batch, signal)
  await step(async (tx) => {
    await updateBatchTotal(tx, batch.batch_id, total)
    return { progress: { done: 0, total, unit: 'items' } }
  })
  return { ...batch, total }
}

/** Rebuilds the input row of a failed item from its stored inputs. */
async function* readFailedRows(
  kernel: Capabilities<'encryption'>,
  read: RunInTx,
  { batch_id, after_seq }: BatchRow,
): AsyncGenerator<InputRow[], void, undefined> {
  let after = after_seq
  for (;;) {
    const items = await read(async (tx) =>
      openItems(kernel, tx, batch_id, await listFailedItems(tx, batch_id, after, STEP_ITEMS)),
    )
    const readable = items.filter(({ inputs }) => inputs !== null)
    if (readable.length > 0) yield readable.map(toRetryRow)
    if (items.length < STEP_ITEMS) return
    after = (items.at(-1) as ItemRow).seq
  }
}

const toRetryRow = ({ seq, line, subject_id, external_id, inputs }: ItemRow): InputRow => ({
  seq,
  line,
  subject_id,
  external_id,
  inputs,
  findings: [],
})

async function processRows(
  context: Context,
  batch: BatchRow,
  plan: BatchPlan,
  rows: AsyncIterable<InputRow[]>,
): Promise<BatchRow> {
  const { step, signal, kernel, read } = context
  const observed = { ...plan, plugin_runs: { signal, record: createRecorder(context, batch) } }
  const decided = async function* () {
    for await (const portion of rows) yield await decideRows(kernel, read, observed, portion)
  }
  let reached = batch
  let tried = 0
  for await (const results of prefetchOne(decided())) {
    signal.throwIfAborted()
    let next = reached
    tried += results.length
    const store = () =>
      step(async (tx) => {
        if (!(await lockBatchProgress(tx, reached))) fail('conflict', 'Another job has taken this batch over.')
        const items = await storeItems(kernel, tx, reached, results)
        next = advanceBatch(reached, items)
        await updateBatchProgress(tx, next)
        await raiseItemAlerts(kernel, tx, plan, { batch_id: batch.batch_id, items })
        await assertPluginsRun(kernel, tx, plan)
        return {
          progress:
            batch.stage === 'again'
              ? { done: tried, total: batch.failed, unit: 'items' }
              : { done: next.done + next.failed, total: next.total, unit: 'items' },
          audit: {
            batch_id: batch.batch_id,
            first_seq: (items[0] as ItemRow).seq,
            last_seq: (items.at(-1) as ItemRow).seq,
            items: items.length,
            // A keyed hash: the event proves which decisions were stored without revealing them.
            digest: kernel.auditKeys.fingerprint(canonicalJson(items.map(toDigest))),
          },
        }
      })
    await repeatIfErased(store)
    reached = next
  }
  return reached
}

/** A batch as of another time says nothing about now. */
async function raiseItemAlerts(
  kernel: Capabilities<'caches'>,
  tx: Tx,
  { resolution: { definition }, asked_at }: BatchPlan,
  { batch_id, items }: { readonly batch_id: string; readonly items: readonly ItemRow[] },
): Promise<void> {
  if (asked_at !== null) return
  const family = definition.family as 'matrix' | 'rule'
  const outcomes = items
    .filter(({ state }) => state === 'done')
    .map(({ band, hit, reason_codes, required_actions = [], subject_id, seq }) => ({
      ...{ family, band, hit, reason_codes, required_actions, subject_id },
      reference: `batch:${batch_id}/${seq}`,
    }))
  await raiseDecisionAlerts(kernel, tx, { key: definition.list_key, version: definition.version }, outcomes)
}

/** Checked last in the transaction: results of a plugin that was disabled meanwhile are not stored. */
const assertPluginsRun = (kernel: binding.BindCapabilities, tx: Tx, { resolution: { plugins } }: BatchPlan) =>
  binding.bindPinnedPlugins(kernel, tx, binding.toPluginPointers(plugins), { must_be_valid: true })

/** Records runs of plugins, whatever becomes of the items. */
const createRecorder =
  ({ kernel, scope }: Context, { batch_id }: BatchRow): NonNullable<binding.RunOptions['record']> =>
  (bound, results) =>
    recordFailure(kernel, scope, bound, {
      results,
      caused_by: { kind: 'batch', id: batch_id },
    })

/**
 * Stores results and ratings. In portions, since encrypting blocks the event loop; the database stores one while the next one is
 * encrypted. Returns the items as they are stored: those whose subject was erased meanwhile have failed.
 */
async function storeItems(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  batch: BatchRow,
  results: readonly ItemRow[],
): Promise<ItemRow[]> {
  const erased = await findErased(tx, results)
  const toRow = await prepareItemEncryption(kernel, tx, batch.batch_id, results)
  const store = batch.stage === 'again' ? updateItems : insertItems
  const items: ItemRow[] = []
  let storing: Promise<unknown> = Promise.resolve()
  for (let from = 0; from < results.length; from += STATEMENT_ITEMS) {
    const rows = results
      .slice(from, from + STATEMENT_ITEMS)
      .map((result) => (erased.has(result.subject_id) ? toErasedRow(result) : toRow(result)))
    items.push(...rows.map(({ item }) => item))
    await storing
    storing = store(tx, batch.batch_id, rows)
    // Its failure is thrown when it is awaited; until then it must not be an unhandled rejection.
    storing.catch(() => {})
    // Sends the statement before the next portion is encrypted.
    await setImmediate()
  }
  const ratings = items.flatMap((item) => toRating(batch, item, uuidv7()) ?? [])
  await storing
  if (ratings.length > 0) await ratingStore.insertRatings(tx, ratings)
  return items
}

const toErasedRow = (result: ItemRow): NewItemRow<ItemRow> => ({
  item: toErasedItem(result),
  content: null,
  external_id_hash: null,
})

async function findErased(tx: Tx, items: readonly ItemRow[]): Promise<ReadonlySet<string | null>> {
  const subject_ids = items.flatMap(({ subject_id }) => subject_id ?? [])
  if (subject_ids.length === 0) return new Set()
  return new Set((await ratingStore.listErased(tx, subject_ids)).map(({ subject_id }) => subject_id))
}

/** An erasure that begins after the portion was checked refuses its ratings: the next attempt finds the subject erased. */
async function repeatIfErased(store: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await store()
    } catch (error) {
      if (!(error instanceof Problem && error.code === 'erased') || attempt === MAX_REPEATS) throw error
    }
  }
}

/** Yields each value while the next one is being computed. */
async function* prefetchOne<T>(source: AsyncGenerator<T, void, undefined>): AsyncGenerator<T, void, undefined> {
  const pull = () => {
    const next = source.next()
    // Its failure is thrown when it is awaited; until then it must not be an unhandled rejection.
    next.catch(() => {})
    return next
  }
  let next = pull()
  try {
    for (;;) {
      const { done, value } = await next
      if (done) return
      next = pull()
      yield value as T
    }
  } finally {
    await next.catch(() => {})
    await source.return()
  }
}
