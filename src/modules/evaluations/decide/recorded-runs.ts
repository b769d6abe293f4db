/** Runs the plugins of one stored decision and records that they ran, also where the decision fails because of them. */
import type { Scope } from '#kernel/database/scope.ts'
import type { Capabilities } from '#kernel/kernel.ts'
import { recordFailure } from '#modules/plugins/index.ts'
import { binding } from '#modules/risk-matrices/index.ts'

export const createRecordedRuns = (
  kernel: binding.RunCapabilities & Capabilities<'transactions'>,
  scope: Scope,
): binding.PluginRuns =>
  binding.createCachedRuns(kernel, {
    caller: scope.tenant_id,
    record: (bound, results) =>
      recordFailure(kernel, scope, bound, { results, caused_by: { kind: 'evaluation', id: null } }),
  })
