/** Estimates a batch: number of items, duration, and the findings of its first items. Stores nothing. */
import { listPluginFactors } from '#decision/analysis/plugin-scores.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { datasetStore } from '#modules/definitions/index.ts'

import type { binding } from '#modules/risk-matrices/index.ts'
import { countSubjects } from '#modules/subjects/index.ts'
import { assertSubjectsExist, type BatchInput, resolveBatchDefinition, toBatchSource } from './create-batch.ts'
import { type BatchPlan, decideRows } from './decide/decide-rows.ts'
import type { ItemRow } from './decide/item-results.ts'
import { type BatchProgress, type RunInTx, readRemainingRows, withActiveState } from './source/read-items.ts'

/** Measured by the bench on two cores, rounded down. */
const ITEMS_PER_S = 2000
/** Each call has a context of its own, which takes a few milliseconds. */
const PLUGIN_CALLS_PER_S = 150
const TRIED_ITEMS = 100
const MAX_COUNTED = 1_000_000
/** Limit for counting the rows of a file. */
const MAX_COUNTING_MS = 2000

export async function estimateBatch(kernel: binding.DecideCapabilities, read: RunInTx, request: BatchInput) {
  const resolution = await read(async (tx) => {
    await assertSubjectsExist(tx, request.items)
    return resolveBatchDefinition(kernel, tx, request)
  })
  const item_source = toBatchSource(request)
  const progress: BatchProgress = { ...item_source, batch_id: uuidv7(), done: 0, failed: 0, after_subject: null }
  const plan: BatchPlan = { resolution, asked_at: request.valid_at ?? null, known_at: resolution.definition.now }
  const { items, is_exact, tried } = await tryFirstItems(kernel, read, progress, plan)
  const plugin_calls = items * listPluginFactors(resolution.compiled.definition).length
  const plugin_seconds = Math.ceil(plugin_calls / PLUGIN_CALLS_PER_S)
  return {
    items,
    is_exact,
    seconds: Math.ceil(items / ITEMS_PER_S) + plugin_seconds,
    provider_calls: 0,
    plugin_calls,
    plugin_seconds,
    missing_credentials: [],
    definition_version: resolution.definition.version,
    definition_origin: datasetStore.getOrigin(resolution.definition.dataset_tenant_id),
    tried: tallyFailures(tried),
  }
}

async function tryFirstItems(
  kernel: binding.DecideCapabilities,
  read: RunInTx,
  progress: BatchProgress,
  plan: BatchPlan,
) {
  const { source } = progress
  const until_ms = performance.now() + MAX_COUNTING_MS
  let tried: ItemRow[] | undefined
  let items = 0
  let is_exact = true
  for await (const rows of readRemainingRows(read, progress, plan.resolution.compiled.definition.inputs, TRIED_ITEMS)) {
    tried ??= await decideRows(kernel, read, plan, rows.slice(0, TRIED_ITEMS))
    items += rows.length
    if ('filter' in source) {
      items = await read((tx) => countSubjects(tx, withActiveState(source.filter), MAX_COUNTED))
      is_exact = items < MAX_COUNTED
      break
    }
    is_exact = performance.now() < until_ms
    if (!is_exact) break
  }
  return { items, is_exact, tried: tried ?? [] }
}

function tallyFailures(tried: readonly ItemRow[]) {
  const failures = new Map<string, { code: string; count: number; message: string }>()
  for (const { failure_code, findings } of tried) {
    if (failure_code === null) continue
    const known = failures.get(failure_code)
    const count = (known?.count ?? 0) + 1
    failures.set(failure_code, { code: failure_code, count, message: known?.message ?? findings[0]?.message ?? '' })
  }
  const failed = tried.filter(({ state }) => state === 'failed').length
  return { items: tried.length, failed, failures: [...failures.values()].sort((a, b) => b.count - a.count) }
}
