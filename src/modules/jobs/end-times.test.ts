/** The end of a job is when it ended, not when the transaction that ended it began: that transaction may have waited. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fullScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import { reapExpiredLeases, updateCancelRequested } from '#kernel/job/queries.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { demoJobs } from '#test/support/demo-jobs.ts'
import { type JobTestApp, startJobTestApp } from '#test/support/job-test-app.ts'

let w: JobTestApp
let tenant_id: string
beforeAll(async () => {
  w = await startJobTestApp({ jobs: demoJobs })
  tenant_id = await w.makeTenant()
})
afterAll(() => w.close())

const newJob = () => w.enqueue(tenant_id, 'demo-count', { upto: 1, pause_ms: 0 })
const update = (job_id: string, assignments: string) =>
  w.inTenant(tenant_id, (tx) =>
    tx.run(`update app.job set ${assignments} where tenant_id = $1 and job_id = $2`, [tenant_id, job_id]),
  )
const check = async (job_id: string, condition: string) => {
  const sql = `select state, ${condition} as holds from app.job where tenant_id = $1 and job_id = $2`
  return w.inTenant(tenant_id, (tx) => tx.find(sql, [tenant_id, job_id]))
}

test('a cancelled job ends after its last attempt started', async () => {
  const job_id = await newJob()
  await w.inTenant(tenant_id, async (tx) => {
    await tx.query('select 1')
    await update(job_id, 'started_at = clock_timestamp()')
    await updateCancelRequested(tx, job_id)
  })
  expect(await check(job_id, 'finished_at >= started_at')).toEqual({ state: 'cancelled', holds: true })
})

test('an abandoned job ends after a cancellation that was requested meanwhile', async () => {
  const job_id = await newJob()
  await w.expireLease(tenant_id, job_id, 1)
  const options = { connection: w.clone.worker, max: 1, prepared: false, statement_timeout_ms: 60_000, wait_ms: 60_000 }
  const worker = new Database(options)
  await worker.write(fullScope(SYSTEM_TENANT, 'job:worker'), async (tx) => {
    await tx.query('select 1')
    await update(job_id, 'cancel_requested_at = clock_timestamp()')
    await reapExpiredLeases(tx, { code: 'dependency_unavailable' })
  })
  await worker.end()
  expect(await check(job_id, 'finished_at >= cancel_requested_at')).toEqual({ state: 'cancelled', holds: true })
})
