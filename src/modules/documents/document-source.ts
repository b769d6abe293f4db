/** Finds documents by id, and the newest ones by their title. */
import { rankHits, type SearchHit, type SearchSource } from '#kernel/search/source.ts'
import { matchName } from '#registry/search/match-name.ts'
import { type DocumentRow, listDocuments, listDocumentsInRange } from './queries.ts'

/** Documents that are compared by words; older ones are found by id, or from their subject. */
const NEWEST = 200

const toHit = (document: DocumentRow, matched: SearchHit['matched']): SearchHit => ({
  id: document.document_id,
  title: document.title ?? 'Document without bytes',
  subtitle: `Document of ${document.created_at.slice(0, 10)}, ${document.media_type}, ${document.state}`,
  matched,
  restriction_id: document.restriction_id,
})

export const documentSource: SearchSource = {
  kind: 'document',
  title: 'Documents',
  operation: 'getDocument',
  find: async ({ tx, terms: { text, id, has_words }, count }) => {
    const [byId, newest] = await Promise.all([
      id ? listDocumentsInRange(tx, id, count + 1) : [],
      has_words ? listDocuments(tx, {}, null, NEWEST) : [],
    ])
    const byTitle = newest.flatMap((document) => {
      const matched = document.title === null ? undefined : matchName(document.title, text)
      return matched ? [toHit(document, matched)] : []
    })
    const hits = rankHits([...byId.map((document) => toHit(document, 'id')), ...byTitle], count)
    return { hits, is_complete: newest.length < NEWEST }
  },
}
