/** Links the impact that was measured before a change was proposed, so that whoever approves it sees it. */
import type { Tx } from '#kernel/database/tx.ts'
import { Problem } from '#kernel/problem.ts'
import type { ProposedChange } from '#kernel/request/approval.ts'
import type { FinishReview } from '#kernel/request/change-reviews.ts'
import type { binding } from '#modules/risk-matrices/index.ts'
import { findTarget } from './candidates.ts'
import { findStaleReason } from './impact-runs.ts'
import { findFinishedRunOfVersion, type RunWithResult, updateRequestImpact } from './queries.ts'

export const linkEarlierRun =
  async (kernel: binding.BindCapabilities, tx: Tx, change: unknown): Promise<FinishReview> =>
  async () => {
    const request = change as ProposedChange
    const run = request.impact_run_id === null ? await findEarlierRun(tx, request) : undefined
    if (!run || !(await isCurrent(kernel, tx, run))) return []
    return [await updateRequestImpact(tx, request.cr_id, run.run_id)]
  }

/** A version is named by its activation and by a pin, which is of a version of the operator. */
async function findEarlierRun(tx: Tx, request: ProposedChange): Promise<RunWithResult | undefined> {
  const target = findTarget(request)
  const { version } = (request.body ?? {}) as { readonly version?: unknown }
  if (request.action !== 'activation' || !target || typeof version !== 'number') return undefined
  const origin = request.operation.startsWith('pin') ? 'shared' : 'own'
  return findFinishedRunOfVersion(tx, { ...target, version, origin })
}

/** A proposal does not fail because an earlier measurement can no longer be checked. */
async function isCurrent(kernel: binding.BindCapabilities, tx: Tx, run: RunWithResult): Promise<boolean> {
  try {
    return (await findStaleReason(kernel, tx, run)) === null
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
