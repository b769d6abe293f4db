/** Gives back the steps of workers that died, and ends gathering where no job is left: nothing shows as running that is not. */
import type { TenantScan } from '#kernel/tenant-scan.ts'
import { stepsReleased } from './metrics.ts'
import { endAbandonedGathering, listGatheringTenants, lockDeadJobs, releaseSteps } from './queries.ts'

const BATCH = 200

/** Leases run out after seconds, so that a step runs for well under a minute without a worker. */
export const deadWorkerScan: TenantScan = {
  name: 'investigation-steps',
  every_ms: 5000,
  listTenants: listGatheringTenants,
  run: async (kernel, tx) => {
    const dead = await lockDeadJobs(tx, BATCH)
    const released = await releaseSteps(
      tx,
      dead.map(({ job_id }) => job_id),
    )
    await endAbandonedGathering(tx)
    return {
      more: dead.length === BATCH,
      committed: () => kernel.metrics.increment(stepsReleased, {}, released),
    }
  },
}
