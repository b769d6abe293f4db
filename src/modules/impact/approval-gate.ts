/** Closes the approval gate where the policy requires an impact run and none is current. */

import type { Tx } from '#kernel/database/tx.ts'
import type { FinishReview } from '#kernel/request/change-reviews.ts'
import type { ChangeRequestRow } from '#kernel/request/queries.ts'
import type { versionStore } from '#modules/definitions/index.ts'
import type { binding } from '#modules/risk-matrices/index.ts'
import { findStaleReason } from './impact-runs.ts'
import { findRun } from './queries.ts'

const toImpactGate = (detail: string, facts: Record<string, unknown>): versionStore.Gate => ({
  gate: 'impact',
  detail,
  overridable: false,
  facts,
})

export const reviewApproval =
  async (kernel: binding.BindCapabilities, tx: Tx, change: unknown): Promise<FinishReview> =>
  async () => {
    const { require_impact, impact_run_id: run_id } = change as ChangeRequestRow
    if (!require_impact) return []
    const run = run_id === null ? undefined : await findRun(tx, run_id)
    const how = 'Run the impact analysis of this change request.'
    if (!run)
      return [toImpactGate(`The impact of this change has not been measured. ${how}`, { why: 'missing', run_id: null })]
    if (run.result === null) {
      const detail = `The impact run is ${run.state}. Wait until it has succeeded, or start another.`
      return [toImpactGate(detail, { why: 'unfinished', run_id, state: run.state })]
    }
    const stale_because = await findStaleReason(kernel, tx, run)
    if (stale_because === null) return []
    const detail = `What is in force has changed since the impact was measured. ${how}`
    return [toImpactGate(detail, { why: 'stale', run_id, stale_because })]
  }
