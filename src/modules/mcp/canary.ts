/** One row in each table of the tool protocol, for the canary tenant and the isolation tests. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { deferCall, insertApproval, upsertToolPolicy } from './queries.ts'

const HASH = '0'.repeat(32)

export async function insertCanaryRows(tx: Tx): Promise<void> {
  await upsertToolPolicy(tx, [{ tool: 'canary', roles: [], decision: 'forbid' }])
  const approval_id = uuidv7()
  await insertApproval(tx, {
    approval_id,
    tool: 'canary',
    operation: 'canary',
    arguments: { note: 'canary' },
    arguments_hash: HASH,
    client: 'canary',
    requested_roles: [],
  })
  deferCall(tx, {
    call_id: uuidv7(),
    client: 'canary',
    tool: 'canary',
    operation: null,
    arguments_hash: HASH,
    result_hash: null,
    problem: 'canary',
    approval_id,
    request_id: uuidv7(),
    duration_ms: 0,
    restriction_id: null,
  })
}
