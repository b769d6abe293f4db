/**
 * Items of batches as they are stored: what they hold about people is encrypted for the subject of the item, or for the batch. The keyed
 * hash of an external id matches items of two batches that concern no subject.
 */
import type { Tx } from '#kernel/database/tx.ts'
import { decryptCopies, encryptCopies, prepareCopies, toCopyOwner } from '#kernel/encryption/copies.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { listSubjectsByIds } from '#modules/subjects/index.ts'
import type { BatchRow } from './batch.ts'
import type { ItemRow } from './decide/item-results.ts'
import type { InlineItem } from './source/input-rows.ts'

type ItemContent = Pick<ItemRow, 'external_id' | 'inputs' | 'document_salt' | 'findings'>

/** Either `content` is set or the members of the content; items of earlier releases are plain until a job has encrypted them. */
export interface StoredItemRow extends Omit<ItemRow, 'is_erased'> {
  readonly content: Buffer | null
}

export interface NewItemRow<T = Omit<ItemRow, keyof ItemContent | 'is_erased'>> {
  readonly item: T
  /** Null: the subject was erased while the item was decided. */
  readonly content: Buffer | null
  readonly external_id_hash: string | null
}

const HASH_PURPOSE = 'batch-external-id'

export const toItemPlace = ({ batch_id, seq, subject_id }: ItemName) => ({
  owner: toCopyOwner(subject_id, batch_id),
  at: { table: 'batch_item', row_id: `${batch_id}/${seq}`, column: 'content' },
})

interface ItemName {
  readonly batch_id: string
  readonly seq: number
  readonly subject_id: string | null
}

/**
 * Reads the keys that these items need. The function makes the stored row of an item without another statement; an item whose subject
 * was erased meanwhile fails.
 */
export async function prepareItemEncryption(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  batch_id: string,
  items: readonly ItemRow[],
): Promise<(item: ItemRow) => NewItemRow<ItemRow>> {
  const owners = items.map(({ subject_id }) => toCopyOwner(subject_id, batch_id))
  const encrypt = await prepareCopies(kernel, tx, owners)
  const hash = await prepareHashes(kernel, tx, items)
  return (item) => {
    const content = encrypt({ ...toItemPlace({ batch_id, ...item }), text: toItemText(item) })
    return { item: content === null ? toErasedItem(item) : item, content, external_id_hash: hash(item) }
  }
}

export const toItemText = ({ external_id, inputs, document_salt, findings }: ItemContent): string =>
  JSON.stringify({ external_id, inputs, document_salt, findings } satisfies ItemContent)

type ItemIds = Pick<ItemRow, 'subject_id' | 'external_id'>

/** The function returns the hash of the external id of an item that concerns no subject; null for others. */
export async function prepareHashes(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  items: readonly ItemIds[],
): Promise<(item: ItemIds) => string | null> {
  if (!items.some(isNamedOnly)) return () => null
  const hash = await kernel.encryption.prepareFingerprints(tx, HASH_PURPOSE)
  return (item) => (isNamedOnly(item) ? hash(Buffer.from(item.external_id as string)) : null)
}

/** Nothing but the external id tells what the item is about. */
const isNamedOnly = ({ subject_id, external_id }: ItemIds): boolean => subject_id === null && external_id !== null

export const ERASED = 'erased'

/** An item whose subject was erased while it was decided: nothing of it is kept. */
export const toErasedItem = (item: ItemRow): ItemRow => ({
  ...item,
  ...NO_CONTENT,
  state: 'failed',
  band: null,
  score_bps: null,
  hit: null,
  reason_codes: [],
  document_hash: null,
  previous_band: null,
  change: null,
  failure_code: ERASED,
})

const NO_CONTENT = { external_id: null, inputs: null, document_salt: null, findings: [], is_erased: true } as const

/** Items with their contents; those of erased subjects have none. */
export async function openItems(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  batch_id: string,
  rows: readonly StoredItemRow[],
): Promise<ItemRow[]> {
  const encrypted = rows.flatMap((row) =>
    row.content === null ? [] : [{ ...toItemPlace({ batch_id, ...row }), stored: row.content }],
  )
  const texts = (await decryptCopies(kernel, tx, encrypted)).values()
  return rows.map(({ content, ...row }): ItemRow => {
    if (content === null) return { ...row, is_erased: row.failure_code === ERASED }
    const text = texts.next().value ?? null
    return text === null ? { ...row, ...NO_CONTENT } : { ...row, ...parseContent(text), is_erased: false }
  })
}

const parseContent = (text: string): ItemContent => JSON.parse(text) as ItemContent

type OpenedContent = Pick<ItemRow, 'external_id' | 'inputs'>

/** External ids and inputs of items of several batches; nulls where the subject was erased. */
export async function openContents(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  items: readonly (ItemName & OpenedContent & { readonly content: Buffer | null })[],
): Promise<OpenedContent[]> {
  const encrypted = items.flatMap((item) =>
    item.content === null ? [] : [{ ...toItemPlace(item), stored: item.content }],
  )
  const texts = (await decryptCopies(kernel, tx, encrypted)).values()
  return items.map((item) => {
    if (item.content === null) return item
    const text = texts.next().value ?? null
    return text === null ? NO_CONTENT : parseContent(text)
  })
}

export interface StoredInlineItems {
  readonly items: readonly Buffer[]
  /** Subjects; null: the batch. */
  readonly item_owners: readonly (string | null)[]
}

const toInlinePlace = (batch_id: string, subject_id: string | null, index: number) => ({
  owner: toCopyOwner(subject_id, batch_id),
  at: { table: 'batch_evaluation', row_id: `${batch_id}/${index}`, column: 'items' },
})

/** Items of the request itself, each for the subject that it names by either id, or for the batch. */
export async function encryptInlineItems(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  batch_id: string,
  items: readonly InlineItem[],
): Promise<StoredInlineItems> {
  const external_ids = items.flatMap(({ subject_id, external_id }) => (subject_id ? [] : (external_id ?? [])))
  const found = await listSubjectsByIds(tx, { subject_ids: [], external_ids })
  const byName = new Map(found.map(({ external_id, subject_id }) => [external_id, subject_id]))
  const item_owners = items.map(({ subject_id, external_id }) => subject_id ?? byName.get(external_id ?? null) ?? null)
  const copies = items.map((item, index) => ({
    ...toInlinePlace(batch_id, item_owners[index] ?? null, index),
    text: JSON.stringify(item),
  }))
  const encrypted = await encryptCopies(kernel, tx, copies)
  // An item of an erased subject is never read again.
  return { items: encrypted.map((bytes) => bytes ?? Buffer.alloc(0)), item_owners }
}

/** The batch with the items of its request; null for those of erased subjects. */
export async function openInlineItems(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  batch: BatchRow & { readonly [M in keyof StoredInlineItems]: StoredInlineItems[M] | null },
): Promise<BatchRow> {
  const { items, item_owners, ...row } = batch
  if (items === null || item_owners === null) return row
  const kept = items.flatMap((stored, index) =>
    stored.length === 0 ? [] : [{ ...toInlinePlace(row.batch_id, item_owners[index] ?? null, index), stored, index }],
  )
  const texts = await decryptCopies(kernel, tx, kept)
  const opened: (InlineItem | null)[] = items.map(() => null)
  for (const [position, { index }] of kept.entries()) {
    const text = texts[position] ?? null
    opened[index] = text === null ? null : (JSON.parse(text) as InlineItem)
  }
  return { ...row, source: { items: opened } }
}
