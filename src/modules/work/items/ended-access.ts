/** Returns work whose assignee had access that ended by itself: nothing is written at that instant, so no trigger does it. */
import type { TenantScan } from '#kernel/tenant-scan.ts'
import { listTenantsWithAssignedWork, returnUnseenWork } from './queries.ts'

export const endedAccessScan: TenantScan = {
  name: 'work-ended-access',
  every_ms: 20_000,
  listTenants: listTenantsWithAssignedWork,
  run: async (_kernel, tx) => {
    await returnUnseenWork(tx)
    return { more: false }
  },
}
