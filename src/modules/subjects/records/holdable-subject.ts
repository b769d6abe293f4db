/** What a legal hold on a subject keeps. */
import type { HoldableKind } from '#kernel/module.ts'
import { findSubject } from './queries.ts'

export const holdableSubject: HoldableKind = {
  kind: 'subject',
  find: async (tx, subject_id) => (await findSubject(tx, subject_id)) && { restriction_id: null },
  rows: {
    document_chunk: 'document.document_id.subject_id',
    owner_key: 'owner_id',
    provider_page: 'provider_call.call_id.subject_id',
    source_payload_content: 'source_payload.payload_id.owner_id',
  },
}
