/**
 * Answers a call with what the provider said earlier about the same input and subject. The bytes are stored again for the new call, so
 * that it stays readable whatever happens to the earlier one, for example when that becomes restricted or is removed.
 */
import { randomUUID } from 'node:crypto'
import type { Tx } from '#kernel/database/tx.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { storeAnswer } from './answers.ts'
import type { Capability } from './capability.ts'
import { type CallRow, findRecordedAnswer, insertAttempt } from './queries.ts'

/** When the earlier answer was given; null where there is none that is young enough, and the provider has to be asked. */
export async function reuseAnswer(
  kernel: Capabilities<'encryption'>,
  tx: Tx,
  { call, capability }: { readonly call: CallRow; readonly capability: Capability },
  max_age_s: number,
): Promise<string | null> {
  const earlier = await findRecordedAnswer(tx, { ...call, max_age_s, is_unrestricted: true })
  const [stored] = earlier ? await payloadStore.findStoredPayloads(tx, [earlier.payload_id]) : []
  const payload = stored && (await payloadStore.openPayload(kernel, tx, stored))
  const token = randomUUID()
  const attempt = payload ? await insertAttempt(tx, { ...call, attempt_no: 1, page_no: 1, token }) : undefined
  if (!earlier || !stored || !payload || !attempt) return null
  const { result, http_status } = earlier
  const answer = { source: 'recorded', result, http_status, headers: {}, duration_ms: 0 } as const
  const content = { media_type: stored.media_type, bytes: Buffer.from(payload.bytes) }
  await storeAnswer(kernel, tx, { call, attempt, capability }, { ...answer, ...content })
  return earlier.answered_at
}
