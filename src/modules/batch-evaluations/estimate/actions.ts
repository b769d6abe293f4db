/** What a batch would be, before it is started: how many items, how long, and what its first items would meet. Nothing is stored. */
import type { Kernel } from '../../../kernel/kernel.ts'
import { uuidv7 } from '../../../kernel/uuid.ts'
import { originOf } from '../../reference-data/index.ts'
import { countSubjects } from '../../subjects/index.ts'
import { expectSubjects, type Order, resolveOrder, sourceOf } from '../actions.ts'
import { decideRows, type Plan } from '../decide/actions.ts'
import type { ItemRow } from '../decide/rules.ts'
import { activeOnly, type ReadTx, remaining, type Standing } from '../source/actions.ts'

/** As measured end to end by the bench on two cores, rounded down. */
const ITEMS_PER_S = 2000
const TRIED_ITEMS = 100
const MAX_COUNTED = 1_000_000
/** A file is counted no longer than this. */
const COUNTING_MS = 2000

export async function estimateBatch(kernel: Kernel, read: ReadTx, order: Order) {
  const resolution = await read(async (tx) => {
    await expectSubjects(tx, order.items)
    return resolveOrder(kernel, tx, order)
  })
  const ordered = sourceOf(order)
  const standing: Standing = { ...ordered, batch_id: uuidv7(), done: 0, failed: 0, after_subject: null }
  const plan: Plan = { resolution, asked_at: order.valid_at ?? null, known_at: resolution.definition.now }
  const { items, is_exact, tried } = await look(kernel, read, standing, plan)
  return {
    items,
    is_exact,
    seconds: Math.ceil(items / ITEMS_PER_S),
    provider_calls: 0,
    missing_credentials: [],
    definition_version: resolution.definition.version,
    definition_origin: originOf(resolution.definition.dataset_tenant_id),
    tried: talliedFailures(tried),
  }
}

async function look(kernel: Kernel, read: ReadTx, standing: Standing, plan: Plan) {
  const { source } = standing
  const until_ms = performance.now() + COUNTING_MS
  let tried: ItemRow[] | undefined
  let items = 0
  let is_exact = true
  for await (const rows of remaining(read, standing, plan.resolution.compiled.definition.inputs, TRIED_ITEMS)) {
    tried ??= await decideRows(kernel, read, plan, rows.slice(0, TRIED_ITEMS))
    items += rows.length
    if ('filter' in source) {
      items = await read((tx) => countSubjects(tx, activeOnly(source.filter), MAX_COUNTED))
      is_exact = items < MAX_COUNTED
      break
    }
    is_exact = performance.now() < until_ms
    if (!is_exact) break
  }
  return { items, is_exact, tried: tried ?? [] }
}

function talliedFailures(tried: readonly ItemRow[]) {
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
