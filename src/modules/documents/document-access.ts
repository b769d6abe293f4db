/** Whether the bytes of a document may be given out, and whether it may be deleted. */
import type { Tx } from '#kernel/database/tx.ts'
import { fail } from '#kernel/problem.ts'
import { isHeld } from '#modules/holds/index.ts'
import { findRetentionPolicy } from '#modules/tenant/index.ts'
import type { DocumentRow } from './queries.ts'

const DAY_MS = 86_400_000

/** With a scanner, only what it found clean is given out: a scanner that fails opens nothing. */
export function expectReadable({ state, scan_state, scan_result }: DocumentRow, hasScanner: boolean): void {
  if (state === 'deleted' || state === 'erased') fail('erased')
  if (state === 'storing') fail('not_finished', 'The bytes are being stored.')
  if (state === 'failed') fail('transition_not_allowed', 'The bytes could not be stored.')
  if (state === 'damaged') fail('content_corrupt')
  if (scan_state === 'infected') fail('document_infected', scan_result ?? {})
  if (!hasScanner || scan_state === 'clean') return
  if (scan_state === 'failed')
    fail('dependency_unavailable', {
      detail: 'The malware scanner gave no verdict on the document.',
      retry_after_s: 60,
    })
  fail('not_finished', 'The document has not been scanned for malware yet.')
}

/** Holds first: the period passes by itself. A class that the policy does not name is kept, and so is one without a period. */
export async function expectDeletable(tx: Tx, document: DocumentRow): Promise<void> {
  const { document_id, subject_id, state, stored_at } = document
  if (state === 'storing') fail('not_finished', 'The bytes are being stored.')
  if (state === 'deleted' || state === 'erased') fail('transition_not_allowed', `The document is ${state}.`)
  if (await isHeld(tx, [document_id, subject_id])) fail('legal_hold')
  // Nothing was stored that could be kept.
  if (state === 'failed' || stored_at === null) return
  const policy = await findRetentionPolicy(tx)
  const keep_days = policy?.classes.find(({ record_class }) => record_class === 'documents')?.keep_days ?? null
  if (keep_days === null)
    fail('retention', { detail: 'The retention policy keeps documents without limit.', members: { keep_until: null } })
  const keep_until = new Date(Date.parse(stored_at) + keep_days * DAY_MS).toISOString()
  if (Date.parse(keep_until) > Date.now())
    fail('retention', { detail: `The retention policy keeps it until ${keep_until}.`, members: { keep_until } })
}
