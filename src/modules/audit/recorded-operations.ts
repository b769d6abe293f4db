/** Lists the operations that leave an event: changes, recorded reads, and jobs. */
import type { Capabilities } from '#kernel/kernel.ts'

interface RecordedOperation {
  readonly operation: string
  readonly summary: string
}

export function listRecordedOperations(kernel: Capabilities<'routes' | 'modules'>): RecordedOperation[] {
  const routes = kernel.routes
    .filter((route) => route.audited || (route.method !== 'GET' && !route.stores_nothing && route.roles.length > 0))
    .map(({ id, summary }) => ({ operation: id, summary }))
  const jobs = kernel.modules.flatMap((module) =>
    module.jobs.map(({ kind, summary }) => ({ operation: `job:${kind}`, summary })),
  )
  return [...routes, ...jobs].sort((one, other) => (one.operation < other.operation ? -1 : 1))
}
