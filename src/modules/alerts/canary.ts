/** One row in each table of alerts, for the isolation canary. */
import type { Tx } from '#kernel/database/tx.ts'
import { uuidv7 } from '#kernel/uuid.ts'
import { insertComment } from './queries.ts'
import { raiseAlert } from './raise/raise-alert.ts'
import { insertSecondLook } from './second-looks/queries.ts'
import { insertSuppression } from './suppressions/queries.ts'

const DAY_MS = 86_400_000

export async function insertCanaryRows(tx: Tx): Promise<void> {
  const { alert_id } = await raiseAlert(null, tx, {
    source: 'rule',
    rule_code: 'canary',
    dedup_key: `canary ${uuidv7()}`,
    title: 'canary',
    facts: { canary: 'canary' },
    explanation: { sentence: 'canary', fields: [], references: [] },
    priority: 'low',
    reference: 'canary',
  })
  if (alert_id === null) throw new Error('the canary was suppressed')
  await insertComment(tx, { comment_id: uuidv7(), alert_id, revision: null, text: 'canary' })
  await insertSecondLook(tx, {
    look_id: uuidv7(),
    alert_id,
    revision: 1,
    dismissed_by: 'canary',
    reason_code: 'canary',
    sample_code: 'canary',
    sample_version: 1,
    seed: 'canary',
    rate_bps: 1,
    bucket: 0,
  })
  const suppression = {
    suppression_id: uuidv7(),
    source: 'canary',
    subject_id: null,
    dedup_key: 'canary',
    up_to_priority: 'low',
    reason_code: 'canary',
    reason: 'canary',
    expires_at: new Date(Date.now() + DAY_MS).toISOString(),
  } as const
  await insertSuppression(tx, suppression, 'user:canary')
}
