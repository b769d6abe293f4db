/** Items of batches that earlier releases stored plain. */
import { encryptOrDiscard, type PlainCopies } from '#kernel/encryption/copies.ts'
import { lockPlainBatches, lockPlainItems, updateBatchItemsEncrypted, updateItemsEncrypted } from './queries.ts'
import { encryptInlineItems, prepareHashes, toItemPlace, toItemText } from './stored-items.ts'

export const plainItems: PlainCopies = {
  table: 'batch_item',
  encrypt: async (kernel, tx, { subject_id, count }) => {
    const rows = await lockPlainItems(tx, subject_id, count)
    const copies = rows.map((row) => ({ ...toItemPlace(row), text: toItemText(row) }))
    const encrypted = await encryptOrDiscard(kernel, tx, copies)
    const hash = await prepareHashes(kernel, tx, rows)
    const items = rows.map((row, index) => ({
      batch_id: row.batch_id,
      seq: row.seq,
      content: encrypted[index] as Buffer,
      external_id_hash: hash(row),
    }))
    if (items.length > 0) await updateItemsEncrypted(tx, items)
    return rows.length
  },
}

/** One batch at a time, since it may hold a thousand items. Which subjects they name is known only when they are read. */
export const plainInlineItems: PlainCopies = {
  table: 'batch_evaluation',
  encrypt: async (kernel, tx) => {
    const [batch] = await lockPlainBatches(tx, 1)
    if (!batch) return 0
    const items = batch.source.items.filter((item) => item !== null)
    await updateBatchItemsEncrypted(tx, batch.batch_id, await encryptInlineItems(kernel, tx, batch.batch_id, items))
    return 1
  },
}
