/**
 * The kinds of object that evidence can name and be attached to, as far as they exist here or above; modules below declare theirs.
 * The hash of each kind is one that nobody can find the content of by trying: of encrypted bytes, keyed, or salted.
 */
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import type { EvidenceKind, EvidenceOwner } from '#kernel/module.ts'
import { fail } from '#kernel/problem.ts'
import { decisionRecords } from '#modules/evaluations/index.ts'
import { findCall, listResults } from '#modules/providers/index.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { findSubject, readVersion } from '#modules/subjects/index.ts'
import { hashStoredBytes } from '../document-bytes.ts'
import { findDocument, findRestrictionId } from '../queries.ts'

/** Keyed, so that it says nothing about the content to whoever has only the database. */
export const hashContent = (kernel: Capabilities<'encryption'>, tx: Tx, content: object): Promise<string> =>
  kernel.encryption.fingerprint(tx, 'evidence', Buffer.from(canonicalJson(JSON.parse(JSON.stringify(content)))))

const documentKind: EvidenceKind = {
  kind: 'document',
  resolve: async (_, tx, { object_id }) => {
    const document = await findDocument(tx, object_id)
    if (!document) return undefined
    if (document.state === 'deleted' || document.state === 'erased') fail('erased')
    if (document.state === 'storing') fail('not_finished', 'The bytes of the document are being stored.')
    const content_hash = await hashStoredBytes((body) => body(tx), document)
    if (content_hash === null) fail('content_corrupt')
    return {
      content_hash,
      source: 'Uploaded document',
      obtained_at: document.created_at,
      restriction_id: await findRestrictionId(tx, object_id),
    }
  },
}

const callKind: EvidenceKind = {
  kind: 'provider_call',
  resolve: async (_, tx, { object_id }) => {
    const call = await findCall(tx, object_id)
    if (!call) return undefined
    const [result] = await listResults(tx, [object_id])
    const [payload] = result ? await payloadStore.findStoredPayloads(tx, [result.payload_id]) : []
    if (!result || !payload) fail('conflict', 'The call has no answer.')
    return {
      content_hash: payload.payload_hash,
      source:
        result.source === 'person'
          ? `Entered by hand for provider ${call.provider_key}`
          : `Provider ${call.provider_key}`,
      obtained_at: result.answered_at,
      restriction_id: call.restriction_id,
    }
  },
}

const evaluationKind: EvidenceKind = {
  kind: 'evaluation',
  resolve: async (kernel, tx, { object_id }) => {
    const stored = await decisionRecords.readEvaluation(kernel, tx, object_id).catch((error) => {
      if ((error as { code?: string }).code === 'not_found') return undefined
      throw error
    })
    if (!stored) return undefined
    if (stored.faults.length > 0) fail('content_corrupt')
    const { document_hash, definition_key, definition_version, decided_at } = stored.row
    return {
      content_hash: document_hash,
      source: `Decision of ${definition_key}, version ${definition_version}`,
      obtained_at: decided_at,
      restriction_id: null,
    }
  },
}

const subjectVersionKind: EvidenceKind = {
  kind: 'subject_version',
  resolve: async (kernel, tx, { object_id, object_version }) => {
    if (object_version === null) fail('conflict', 'A version of a subject needs object_version.')
    const version = await readVersion(kernel, tx, object_id, object_version)
    if (!version) return undefined
    // The end of a version is known only when the next one begins.
    const { recorded_until: _, is_erased: _erased, ...content } = version
    return {
      content_hash: await hashContent(kernel, tx, content),
      source: 'Record of the subject',
      obtained_at: version.recorded_from,
      restriction_id: null,
    }
  },
}

export const evidenceKinds: readonly EvidenceKind[] = [documentKind, callKind, evaluationKind, subjectVersionKind]

export const evidenceOwners: readonly EvidenceOwner[] = [
  {
    kind: 'subject',
    find: async (tx, owner_id) => ((await findSubject(tx, owner_id)) ? { restriction_id: null } : undefined),
  },
]
