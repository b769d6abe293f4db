/**
 * What is asked about a decision and may take seconds is computed in a thread of its own, while no transaction is open. It is
 * not the one that proofs are made in: no publication waits for somebody's curiosity.
 */
import type { PlainList } from '../../../decision/analysis/analysis-order.ts'
import { type Analyst, type AttributionOrder, createAnalyst, type Tried } from '../../../decision/analysis/analyst.ts'
import type { MinimalChanges } from '../../../decision/analysis/minimal-changes.ts'
import { failUndone } from '../../../kernel/bounded-thread.ts'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import { type ContentPointer, lookUpHashed, wholeList } from '../../reference-data/index.ts'

/** Opens a transaction for what is read of the tenant. */
export type Read = <T>(body: (tx: Tx) => Promise<T>) => Promise<T>

export type SearchOrder = Parameters<Analyst['search']>

const analysts = new WeakMap<Kernel, Analyst>()
function analystOf(kernel: Kernel): Analyst {
  let analyst = analysts.get(kernel)
  if (!analyst) {
    const made = createAnalyst({ script: kernel.script('analysis-worker'), admission: kernel.threads })
    analysts.set(kernel, made)
    kernel.onClose(() => made.close())
    analyst = made
  }
  return analyst
}

export const searchAside = (kernel: Kernel, order: SearchOrder): Promise<MinimalChanges> =>
  analystOf(kernel)
    .search(...order)
    .catch(failNotComputed)

export const attributeAside = (kernel: Kernel, order: AttributionOrder, caller: string): Promise<Tried> =>
  analystOf(kernel).attribute(order, caller).catch(failNotComputed)

const failNotComputed = (error: unknown): never =>
  failUndone(error, 'This could not be computed at this moment; repeat the request.')

/** A list as it can be handed to another thread: all of it, or where it is too large the keys that are named. */
export async function plainList(
  kernel: Kernel,
  tx: Tx,
  pointer: ContentPointer,
  keys: (list_key: string) => Iterable<string>,
): Promise<PlainList> {
  const { list_key, version, content_hash, overlay_hash } = pointer
  const whole = await wholeList(kernel, tx, pointer)
  const found = whole?.entries ?? (await lookUpHashed(kernel, tx, pointer, [...keys(list_key)]))
  const entries = [...found].map(([key, { entry, hash }]) => ({ key, entry, hash }))
  return { list_key, version, content_hash, overlay_hash, entries, whole: whole !== null }
}
