/** One row in each table of the call ledger, for the canary tenant and the isolation tests. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { payloadStore } from '#modules/source-contracts/index.ts'
import { lockProviderState } from './limits/queries.ts'
import { insertPage } from './pages/queries.ts'
import { insertAnswer, insertAttempt, insertCall, updateAttemptEnded, updateAttemptSent } from './queries.ts'

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const call_id = uuidv7()
  const token = uuidv7()
  const provider_key = `canary-${call_id.slice(-12)}`
  const call = await insertCall(tx, {
    call_id,
    call_key: call_id,
    provider_key,
    provider_origin: 'own',
    provider_version: 1,
    capability: 'canary',
    contract_key: 'canary',
    promise: 'once',
    mode: 'fixtures',
    environment: 'test',
    subject_id: null,
    restriction_id: null,
    input: Buffer.from('canary'),
    request: Buffer.from('canary'),
    input_hash: '0'.repeat(64),
    idempotency_key: uuidv7(),
    job_id: null,
    repeats_call_id: null,
  })
  if (!call) throw new Error('the canary call exists already')
  await insertAttempt(tx, { ...call, attempt_no: 1, page_no: 1, token })
  const sent = {
    deadline_ms: Date.now(),
    credential_id: null,
    credential_version: null,
    cost_minor: null,
    currency: null,
  }
  await updateAttemptSent(tx, { call_id, attempt_no: 1, token, ...sent })
  await insertPage(tx, { call_id, page_no: 1, attempt_no: 1, token, content: Buffer.from('canary') })
  const payload_id = uuidv7()
  await payloadStore.insertPayload(tx, {
    payload_id,
    contract_key: 'canary',
    owner_kind: 'object',
    owner_id: payload_id,
    media_type: 'text/plain',
    byte_size: 6,
    payload_hash: '0'.repeat(64),
    source_kind: 'provider_answer',
    source_id: token,
    restriction_id: null,
    received_at: '2020-01-01T00:00:00.000Z',
  })
  await insertAnswer(tx, {
    call_id,
    attempt_no: 1,
    token,
    source: 'fixture',
    result: 'found',
    http_status: 200,
    headers: { 'x-canary': 'canary' },
    payload_id,
    reason: 'canary',
    made_by: null,
  })
  const end = { outcome: 'answered' as const, fault: 'canary', http_status: 200, duration_ms: 0, is_final: true }
  await updateAttemptEnded(tx, { call_id, attempt_no: 1, token, ...end })
  await lockProviderState(tx, provider_key)
}
