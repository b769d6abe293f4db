/** Goes on with cases that have waited as long as was agreed; their clocks run on. */
import { recordEvent } from '#kernel/audit/record.ts'
import type { TenantScan } from '#kernel/tenant-scan.ts'
import { workClocks } from '#modules/work/index.ts'
import { toWorkItem } from '../model.ts'
import { listTenantsToResume, resumeWaiting } from './queries.ts'

const BATCH = 100

export const resumeScan: TenantScan = {
  name: 'investigation-resume',
  every_ms: 10_000,
  listTenants: listTenantsToResume,
  run: async (kernel, tx) => {
    const resumed = await resumeWaiting(tx, BATCH)
    for (const { investigation_id, restriction_id } of resumed) {
      await workClocks.resumeClocks(kernel, tx, toWorkItem(investigation_id))
      recordEvent(tx, kernel.auditKeys, {
        operation: 'resumeInvestigation',
        object_type: 'investigations',
        object_id: investigation_id,
        request_id: null,
        detail: {},
        restriction_id,
      })
    }
    return { more: resumed.length === BATCH }
  },
}
