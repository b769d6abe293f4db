/**
 * Safe retries. The response of a POST is stored in the transaction of its effect, keyed by tenant, principal, operation and the
 * caller's key; only committed 2xx responses are stored, so a failed request can be sent again.
 */
import { createHmac } from 'node:crypto'
import type { AuditNotesCollector } from '../audit/record.ts'
import { canonicalJson } from '../canonical-json.ts'
import type { Tx } from '../database/tx.ts'
import { fail } from '../problem.ts'
import { findStoredResponse, type IdempotencyScope, insertStoredResponse, tryLockIdempotencyKey } from './queries.ts'

/** A response ready to send: exact bytes, since a repeated one must be the same. */
export interface SerializedResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

export interface Idempotency extends IdempotencyScope {
  readonly secret: boolean
  /** Authenticates the stored response: one that was altered in the database is not sent. */
  readonly mac_key: Buffer
  /** Where the handler notes the restrictions of its object and of what is named besides. */
  readonly notes: Pick<AuditNotesCollector, 'restriction' | 'named_restriction_ids'>
}

const REPLAYED_HEADER = 'idempotency-replayed'
export const isReplayed = (answer: SerializedResponse): boolean => answer.headers[REPLAYED_HEADER] !== undefined

export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/

export function readIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined
  if (typeof header !== 'string' || !idempotencyKeyPattern.test(header)) {
    fail('malformed_request', 'Idempotency-Key must be 1 to 255 visible ASCII characters, sent once.')
  }
  return header
}

/** Keyed, so that a stored fingerprint does not reveal a guessable body. */
export const computeFingerprint = (key: Buffer, content: unknown): string =>
  createHmac('sha256', key).update(canonicalJson(content)).digest('hex')

/** Stored with a response: the fingerprint of its request, then an authentication code over both. */
function signStoredResponse(
  tx: Tx,
  idempotency: Idempotency,
  fingerprint: string,
  { status, headers, body }: SerializedResponse,
): string {
  const { principal, operation, key, mac_key: code_key } = idempotency
  const content = {
    tenant_id: tx.tenant_id,
    principal,
    operation,
    key,
    fingerprint,
    status,
    headers,
    body: body ?? null,
  }
  return `${fingerprint}.${computeFingerprint(code_key, content)}`
}

/** The response to an earlier request with the same key, ready to be sent again. */
export async function findReplay(
  tx: Tx,
  idempotency: Idempotency,
  fingerprint: string,
): Promise<SerializedResponse | undefined> {
  if (!(await tryLockIdempotencyKey(tx, idempotency))) fail('idempotency_in_progress', { retry_after_s: 1 })
  const stored = await findStoredResponse(tx, idempotency)
  if (!stored) return undefined
  const kept = { status: stored.status, headers: stored.headers, body: stored.body ?? undefined }
  const request = stored.fingerprint.slice(0, stored.fingerprint.lastIndexOf('.'))
  if (request !== fingerprint) fail('idempotency_key_reused')
  // The caller has lost access to the object since: it no longer exists for them.
  if (stored.is_hidden) fail('not_found')
  if (stored.is_erased) fail('erased', 'The answer to the first request was about a subject that was erased since.')
  if (stored.fingerprint !== signStoredResponse(tx, idempotency, fingerprint, kept))
    throw new Error('a stored answer was altered')
  if (stored.body === null && idempotency.secret) fail('idempotency_not_replayable')
  return { ...kept, headers: { ...kept.headers, [REPLAYED_HEADER]: 'true' } }
}

/** Runs `effect` once per key. Must be called inside the transaction that holds the effect. */
export async function runIdempotent(
  tx: Tx,
  idempotency: Idempotency | undefined,
  fingerprint: string,
  effect: () => Promise<SerializedResponse>,
): Promise<SerializedResponse> {
  if (!idempotency) return effect()
  const replay = await findReplay(tx, idempotency, fingerprint)
  if (replay) return replay
  const answer = await effect()
  // A change that waits for approval (202) has no secret yet, and a retry must not create a second one.
  const holdsSecret = idempotency.secret && answer.status !== 202
  const kept = { ...answer, body: holdsSecret ? undefined : answer.body }
  const { restriction_id, also_restriction_id = null } = idempotency.notes.restriction
  await insertStoredResponse(tx, idempotency, {
    fingerprint: signStoredResponse(tx, idempotency, fingerprint, kept),
    status: kept.status,
    headers: kept.headers,
    body: kept.body ?? null,
    restriction_id,
    also_restriction_id,
    named_restriction_ids: idempotency.notes.named_restriction_ids,
  })
  return answer
}
