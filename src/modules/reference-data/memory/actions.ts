/**
 * Pointers remembered between requests. Every activation moves a number in its own transaction; where that number, read inside
 * the request, has not moved, and no activation has begun or ended by the clock, what was resolved before holds on every replica.
 */
import { LRUCache } from 'lru-cache'
import type { Tx } from '../../../kernel/database/tx.ts'
import type { Kernel } from '../../../kernel/kernel.ts'
import type { Family } from '../datasets/queries.ts'
import type { ListPointer, Pointer } from '../resolve/actions.ts'
import { type EpochRow, findEpochs, type PointerRow } from '../resolve/queries.ts'

export interface Wanted {
  readonly family: Family
  readonly key: string
}

/** A definition with every list that was asked for beside it, all of one statement. */
interface Remembered {
  readonly definition: Pointer
  /** In this order, and no others. */
  readonly list_keys: readonly string[]
  readonly lists: ReadonlyMap<string, ListPointer>
  /** The first instant at which any of them changes by itself. */
  readonly until: string | null
}

interface Memory {
  readonly pointers: LRUCache<string, Pointer>
  readonly definitions: LRUCache<string, Remembered>
}

const MAX_POINTERS = 50_000
/** Each holds the pointers of its lists, some ten as a rule. */
const MAX_DEFINITIONS = 5_000
const memories = new WeakMap<Kernel, Memory>()

function memoryOf(kernel: Kernel): Memory {
  let memory = memories.get(kernel)
  if (!memory) {
    memory = { pointers: new LRUCache({ max: MAX_POINTERS }), definitions: new LRUCache({ max: MAX_DEFINITIONS }) }
    memories.set(kernel, memory)
  }
  return memory
}

/** Nothing was activated since, and nothing has begun or ended by the clock. */
const holds = (known: Pick<PointerRow, keyof EpochRow>, until: string | null, current: EpochRow): boolean =>
  known.own_epoch === current.own_epoch &&
  known.shared_epoch === current.shared_epoch &&
  (until === null || current.now < until)

const idOf = (tenant_id: string, family: Family, key: string): string => `${tenant_id}:${family}:${key}`

/** All of them, in the order asked for, or null when any must be asked for anew. Sends at most one statement. */
export async function recall(kernel: Kernel, tx: Tx, wanted: readonly Wanted[]): Promise<Pointer[] | null> {
  const memory = memoryOf(kernel).pointers
  const pointers: Pointer[] = []
  for (const { family, key } of wanted) {
    const pointer = memory.get(idOf(tx.tenant_id, family, key))
    if (!pointer) return null
    pointers.push(pointer)
  }
  const current = await findEpochs(tx)
  if (!current) return null
  if (!pointers.every((pointer) => holds(pointer, pointer.until, current))) return null
  return pointers.map((pointer) => ({ ...pointer, now: current.now }))
}

/** A row as it comes is a dictionary to the engine, and dear to copy each time it is recalled; a copy of it is not. */
const packed = (row: Pointer): Pointer => ({ ...row })

/** Only what is in force now is kept: rows of another instant, or of nothing, are not. */
export function remember(kernel: Kernel, tx: Tx, rows: readonly PointerRow[]): void {
  const memory = memoryOf(kernel).pointers
  for (const row of rows) {
    if (row.via !== null) memory.set(idOf(tx.tenant_id, row.family, row.list_key), packed(row as Pointer))
  }
}

/**
 * A definition with all of these lists, or null when it must be asked for anew. While nothing moves the map of lists is the very
 * same object: whoever derives something from it may keep that by it.
 */
export async function recallWithLists(
  kernel: Kernel,
  tx: Tx,
  { family, key }: Wanted,
  list_keys: readonly string[],
): Promise<Pick<Remembered, 'definition' | 'lists'> | null> {
  const known = memoryOf(kernel).definitions.get(idOf(tx.tenant_id, family, key))
  if (!known || !isSame(known.list_keys, list_keys)) return null
  const current = await findEpochs(tx)
  if (!current || !holds(known.definition, known.until, current)) return null
  return { definition: { ...known.definition, now: current.now }, lists: known.lists }
}

const isSame = (known: readonly string[], keys: readonly string[]): boolean =>
  known === keys || (known.length === keys.length && known.every((key, index) => key === keys[index]))

/** To be given what one statement gave, and all of the lists: one that is missing may be there a moment later. */
export function rememberWithLists(
  kernel: Kernel,
  tx: Tx,
  definition: Pointer,
  list_keys: readonly string[],
  lists: ReadonlyMap<string, ListPointer>,
): void {
  const ends = [definition, ...lists.values()].flatMap(({ until }) => until ?? []).sort()
  const id = idOf(tx.tenant_id, definition.family, definition.list_key)
  memoryOf(kernel).definitions.set(id, { definition: packed(definition), list_keys, lists, until: ends[0] ?? null })
}
