/** Runs the plugins of one stored decision and records that they ran, also where the decision fails because of them. */
import type { Scope } from '#kernel/database/scope.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { recordFailure } from '#modules/plugins/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'

/** `evaluation_id`: of the decision that is being made, the same in each attempt of its transaction. */
export const createRecordedRuns = (
  kernel: binding.RunCapabilities & Capabilities<'transactions'>,
  scope: Scope,
  evaluation_id: string,
): binding.PluginRuns =>
  binding.createCachedRuns(kernel, {
    caller: scope.tenant_id,
    record: (bound, results) => {
      // Where the plugin fails, there is no decision.
      const hasFailed = results.some((result) => !result.ok && result.reason !== 'needs_entries')
      const caused_by = { kind: 'evaluation', id: hasFailed ? null : evaluation_id } as const
      return recordFailure(kernel, scope, bound, { results, caused_by })
    },
  })
