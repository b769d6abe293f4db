/** What a legal hold on a document keeps. */
import type { HoldableKind } from '#kernel/module.ts'
import { findDocument, findRestrictionId } from './queries.ts'

export const holdableDocument: HoldableKind = {
  kind: 'document',
  find: async (tx, document_id) =>
    (await findDocument(tx, document_id)) && { restriction_id: await findRestrictionId(tx, document_id) },
  rows: { document_chunk: 'document_id', owner_key: 'owner_id' },
}
