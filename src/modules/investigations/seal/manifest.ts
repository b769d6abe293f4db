/**
 * What a case consists of, as ids, codes and hashes: the proposal of an outcome rests on it, and the seal signs it. Hashes of content are
 * keyed or salted, so that a manifest says nothing about a person.
 */
import { hash } from 'node:crypto'
import { signManifest } from '#kernel/audit/signed-manifest.ts'
import { canonicalJson } from '#kernel/canonical-json.ts'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { SEAL_FORMAT } from '#kernel/pack-formats.ts'
import type { InvestigationRow } from '../queries.ts'
import { encryptCaseFiles } from './case-files.ts'
import { findLastEvent, insertSeal, readSealedParts } from './queries.ts'

export const hashManifest = (manifest: object): string =>
  hash('sha256', canonicalJson(JSON.parse(JSON.stringify(manifest))), 'hex')

/** Everything that an outcome rests on. Acts of the proposal itself are not part of it. */
export async function readProposalContent(
  tx: Tx,
  row: InvestigationRow,
  { outcome, without }: { readonly outcome: string; readonly without: readonly string[] },
) {
  const parts = await readSealedParts(tx, row.investigation_id)
  return {
    investigation_id: row.investigation_id,
    reference: row.reference,
    subject_id: row.subject_id,
    playbook: {
      key: row.playbook_key,
      origin: row.playbook_origin,
      version: row.playbook_version,
      content_hash: row.playbook_hash,
    },
    outcome,
    // Absent where there are none: proposals of earlier releases have the same hash.
    ...(without.length > 0 && { without }),
    ...parts,
  }
}

/** Whether a proposed case is another one than the proposal rests on. */
export async function isProposalStale(tx: Tx, row: InvestigationRow): Promise<boolean> {
  const { state, proposed_outcome: outcome, proposed_without: without, proposal_hash } = row
  if (state !== 'proposed' || outcome === null) return false
  return hashManifest(await readProposalContent(tx, row, { outcome, without })) !== proposal_hash
}

interface Closing {
  readonly content: object
  readonly closed_by: string
  readonly note: string | null
}

/** Stores the signed seal of a case that the caller closes, and what its archive shows, before the case is closed. */
export async function sealCase(
  kernel: Capabilities<'auditKeys' | 'caches' | 'encryption'>,
  tx: Tx,
  row: InvestigationRow,
  { content, closed_by, note }: Closing,
): Promise<number> {
  const seal_no = row.seal_no + 1
  const { title, priority, proposed_by, proposed_outcome: outcome } = row
  const closing = { title, priority, outcome, proposed_by, closed_by, note }
  const sealed = await encryptCaseFiles(kernel, tx, row, { seal_no, closing })
  const manifest = signManifest(kernel.auditKeys, SEAL_FORMAT, {
    tenant_id: tx.tenant_id,
    seal_no,
    ...content,
    proposal: { proposed_by: row.proposed_by, proposed_at: row.proposed_at, proposal_hash: row.proposal_hash },
    closed_by,
    sealed_at: new Date().toISOString(),
    is_test: row.is_test,
    files: sealed.files,
    last_event: (await findLastEvent(tx, row.investigation_id)) ?? null,
  })
  const { key_id, signature } = manifest
  const manifest_hash = hashManifest(manifest)
  const stored = { seal_no, manifest: { ...manifest }, manifest_hash, key_id, signature, content: sealed.content }
  await insertSeal(tx, row.investigation_id, stored)
  return seal_no
}
