/**
 * Pointers remembered between requests. Every activation moves a number in its own transaction; where that number, read inside
 * the request, has not moved, and no activation has begun or ended by the clock, what was resolved before holds on every replica.
 */
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import type { Family } from '../datasets/queries.ts'
import type { Pointer } from '../resolve/actions.ts'
import { findEpochs, type PointerRow } from '../resolve/queries.ts'

export interface Wanted {
  readonly family: Family
  readonly key: string
}

const MAX_POINTERS = 50_000
const memories = new WeakMap<Kernel, LRUCache<string, Pointer>>()

function memoryOf(kernel: Kernel): LRUCache<string, Pointer> {
  let memory = memories.get(kernel)
  if (!memory) {
    memory = new LRUCache<string, Pointer>({ max: MAX_POINTERS })
    memories.set(kernel, memory)
  }
  return memory
}

const idOf = (tenant_id: string, family: Family, key: string): string => `${tenant_id}:${family}:${key}`

/** All of them, in the order asked for, or null when any must be asked for anew. Sends at most one statement. */
export async function recall(kernel: Kernel, tx: Tx, wanted: readonly Wanted[]): Promise<Pointer[] | null> {
  const memory = memoryOf(kernel)
  const pointers: Pointer[] = []
  for (const { family, key } of wanted) {
    const pointer = memory.get(idOf(tx.tenant_id, family, key))
    if (!pointer) return null
    pointers.push(pointer)
  }
  const current = await findEpochs(tx)
  if (!current) return null
  const { own_epoch, shared_epoch, now } = current
  const holds = pointers.every(
    (pointer) =>
      pointer.own_epoch === own_epoch &&
      pointer.shared_epoch === shared_epoch &&
      (pointer.until === null || now < pointer.until),
  )
  return holds ? pointers.map((pointer) => ({ ...pointer, now })) : null
}

/** Only what is in force now is kept: rows of another instant, or of nothing, are not. */
export function remember(kernel: Kernel, tx: Tx, rows: readonly PointerRow[]): void {
  const memory = memoryOf(kernel)
  for (const row of rows) {
    if (row.via !== null) memory.set(idOf(tx.tenant_id, row.family, row.list_key), row as Pointer)
  }
}
