/** Finds batches by id, and the newest ones by their matrix or rule and their note. */
import { rankHits, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'
import { type FoundBatchRow, listBatchesInRange, listNewestBatches } from './queries.ts'

/** Batches that are compared by words; older ones are found by id. */
const NEWEST = 100

const toHit = (row: FoundBatchRow, matched: SearchHit['matched']): SearchHit => ({
  id: row.batch_id,
  title: row.note ?? `Batch with ${row.definition_key}`,
  subtitle: [
    `Batch of ${row.created_at.slice(0, 10)}`,
    row.note !== null && row.definition_key,
    row.total !== null && (row.total === 1 ? '1 item' : `${row.total} items`),
    row.finished_at === null && 'not finished',
  ]
    .filter((part) => part !== false)
    .join(', '),
  matched,
  restriction_id: null,
})

export const batchSource: SearchSource = {
  kind: 'batch',
  title: 'Batches',
  operation: 'getBatchEvaluation',
  find: async ({ tx, terms: { text, id, has_words }, count }) => {
    const [byId, newest] = await Promise.all([
      id ? listBatchesInRange(tx, id, count + 1) : [],
      has_words ? listNewestBatches(tx, NEWEST) : [],
    ])
    const byWords = newest.flatMap((row) => {
      const matched = matchName(row.note ?? '', text) ?? matchName(`${row.definition_key} ${row.note ?? ''}`, text)
      return matched ? [toHit(row, matched)] : []
    })
    const hits = rankHits([...byId.map((row) => toHit(row, 'id')), ...byWords], count)
    return { hits, is_complete: newest.length < NEWEST }
  },
}
