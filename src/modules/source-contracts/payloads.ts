/** Stores payloads as they arrived, encrypted under the key of their owner, and reads them. */
import type { TaskPayload } from '#contract/contract-runner.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { OwnerKeyDestroyed } from '#kernel/encryption/failures.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { fail } from '#kernel/problem.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { deferPayloadContent, findPayloadOfSource, insertPayload, type StoredPayload } from './queries.ts'

export interface NewPayload {
  readonly contract_key: string
  /** The subject whom the payload is about; without one the payload has a key of its own. */
  readonly subject_id?: string | null
  readonly media_type: string
  readonly bytes: Buffer
  /** What it came from, such as `provider_call` with the id of the call: one payload for each. */
  readonly source_kind: string
  readonly source_id: string
  readonly received_at: string
  readonly restriction_id?: string | null
}

/** Source of payloads that have the credential of their provider in them: the bytes are kept, and never opened. */
export const REPEATS_CREDENTIAL = 'answer_with_credential'

export const isWithheld = ({ source_kind }: Pick<StoredPayload, 'source_kind'>): boolean =>
  source_kind === REPEATS_CREDENTIAL

const contentLocation = (payload_id: string) => ({
  table: 'source_payload_content',
  row_id: payload_id,
  column: 'content',
})

/** Returns the id of the payload. Storing the same source again changes nothing and returns the first one. */
export async function storePayload(
  tx: Tx,
  kernel: Capabilities<'encryption'>,
  { bytes, subject_id, ...payload }: NewPayload,
): Promise<string> {
  const known = await findPayloadOfSource(tx, payload.source_kind, payload.source_id)
  if (known) return known.payload_id
  const payload_id = uuidv7()
  const owner = subject_id
    ? ({ kind: 'subject', id: subject_id } as const)
    : ({ kind: 'object', id: payload_id } as const)
  const payload_hash = await kernel.encryption.fingerprint(tx, 'source-payload', bytes)
  const row = await insertPayload(tx, {
    ...payload,
    payload_id,
    owner_kind: owner.kind,
    owner_id: owner.id,
    byte_size: bytes.length,
    payload_hash,
    media_type: payload.media_type.slice(0, 200),
    restriction_id: payload.restriction_id ?? null,
  })
  if (!row) {
    // Another transaction was first.
    const first = await findPayloadOfSource(tx, payload.source_kind, payload.source_id)
    return first?.payload_id ?? fail('conflict', 'The payload of this source is being stored already.')
  }
  const content = await kernel.encryption.encrypt(tx, owner, contentLocation(payload_id), bytes)
  deferPayloadContent(tx, payload_id, content, payload.received_at)
  return payload_id
}

export const getOwner = ({ owner_kind, owner_id }: Pick<StoredPayload, 'owner_kind' | 'owner_id'>) => ({
  kind: owner_kind,
  id: owner_id,
})

/** The decrypted payload; null when it has a credential in it, its bytes were removed or the key of its owner was destroyed. */
export async function openPayload(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  stored: StoredPayload,
): Promise<TaskPayload | null> {
  const { payload_id, media_type, content } = stored
  if (content === null || isWithheld(stored)) return null
  try {
    const bytes = await kernel.encryption.decrypt(tx, getOwner(stored), contentLocation(payload_id), content)
    return { payload_id, media_type, bytes }
  } catch (error) {
    if (error instanceof OwnerKeyDestroyed) return null
    throw error
  }
}

/** Why `openPayload` gave nothing. */
export const describeUnopened = (stored: StoredPayload | undefined): string =>
  stored && isWithheld(stored)
    ? 'The payload contains the credential of its provider, so it cannot be opened.'
    : 'The bytes of this payload were removed by the retention policy.'
