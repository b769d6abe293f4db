/** What the job suites share: putting jobs in the queue, looking at them, and waiting for what a runner does in its own time. */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { updateTenantState } from '#app/queries.ts'
import { roles } from '#kernel/auth/roles.ts'
import { fullScope } from '#kernel/database/scope.ts'
import type { Tx } from '#kernel/database/tx.ts'
import { findJob, type JobRow } from '#kernel/job/queries.ts'
import type { JobRunner } from '#kernel/job/runner.ts'
import { isTerminal } from '#kernel/job/schema.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { createEffectTable, listEffects } from './demo-jobs.ts'
import { startTestApp, type TestAppOptions } from './test-app.ts'

const TIMEOUT_MS = 30_000

/** Asks until the answer is neither false, null nor undefined. Only a test that would fail anyway waits to the end. */
export async function waitUntil<T>(
  what: string,
  ask: () => Promise<T> | T,
): Promise<Exclude<T, false | null | undefined>> {
  const giveUpAt_ms = performance.now() + TIMEOUT_MS
  for (;;) {
    const answer = await ask()
    if (answer) return answer as Exclude<T, false | null | undefined>
    if (performance.now() > giveUpAt_ms) throw new Error(`timed out waiting until ${what}`)
    await sleep(10)
  }
}

/** A promise to be kept by the test: holds a job's body at a point of its choosing. */
export function latch(): { readonly opened: Promise<void>; open(): void; readonly isOpen: boolean } {
  let isOpen = false
  let resolve: () => void = () => {}
  const opened = new Promise<void>((keep) => {
    resolve = keep
  })
  return {
    opened,
    open: () => {
      isOpen = true
      resolve()
    },
    get isOpen() {
      return isOpen
    },
  }
}

/** Fast enough for tests; a lease that outlasts every stall of a busy machine. */
const FAST_TIMING = { lease_ms: 20_000, heartbeat_ms: 50, poll_ms: 20 }

export async function startJobTestApp(options: TestAppOptions = {}) {
  const w = await startTestApp(options)
  await createEffectTable(w.clone.migrator)
  const runners: JobRunner[] = []
  const stopRunners = () => Promise.all(runners.splice(0).map((runner) => runner.stop(0)))
  const inTenant = <T>(tenant_id: string, body: (tx: Tx) => Promise<T>) =>
    w.kernel.transactions.write(fullScope(tenant_id, 'operator:test'), body)
  const look = async (tenant_id: string, job_id: string): Promise<JobRow> => {
    const job = await inTenant(tenant_id, (tx) => findJob(tx, job_id, roles))
    if (!job) throw new Error(`job ${job_id} is gone`)
    return job
  }
  return {
    ...w,
    inTenant,
    look,
    startRunner: (slots = 1, timing: Partial<typeof FAST_TIMING> = {}): JobRunner => {
      const runner = w.runtime.createRunner(slots, { ...FAST_TIMING, ...timing })
      runners.push(runner)
      runner.start()
      return runner
    },
    enqueue: async (tenant_id: string, kind: string, payload: unknown = {}): Promise<string> =>
      (await inTenant(tenant_id, (tx) => w.kernel.jobs.enqueue(tx, { kind, payload }))).job_id,
    effects: (tenant_id: string, job_id: string) => inTenant(tenant_id, (tx) => listEffects(tx, job_id)),
    /** Ends a back-off: what is only a question of waiting is not waited for. */
    aborted: (tenant_id: string, job_id: string) =>
      inTenant(tenant_id, (tx) =>
        tx.run(`update app.job set run_at = now() where tenant_id = $1 and job_id = $2 and state = 'queued'`, [
          tenant_id,
          job_id,
        ]),
      ),
    /** What the reaper does for a dead worker, without waiting for the lease to run out. */
    requeue: (tenant_id: string, job_id: string) =>
      inTenant(tenant_id, (tx) =>
        tx.run(
          `update app.job set state = 'queued', run_at = now(), lease_token = null, lease_until = null
            where tenant_id = $1 and job_id = $2`,
          [tenant_id, job_id],
        ),
      ),
    /** Leaves a job as a dead worker does: running, with an expired lease. */
    expireLease: (tenant_id: string, job_id: string, attempts: number) =>
      inTenant(tenant_id, (tx) =>
        tx.run(
          `update app.job set state = 'running', attempts = $3, lease_token = gen_random_uuid(), lease_until = now() - interval '1 s'
            where tenant_id = $1 and job_id = $2`,
          [tenant_id, job_id, attempts],
        ),
      ),
    getLeaseEnd: async (tenant_id: string, job_id: string): Promise<string | null> =>
      (
        await inTenant(tenant_id, (tx) =>
          tx.find<{ lease_until: string | null }>(
            'select lease_until from app.job where tenant_id = $1 and job_id = $2',
            [tenant_id, job_id],
          ),
        )
      )?.lease_until ?? null,
    ended: (tenant_id: string, job_id: string) =>
      waitUntil(`job ${job_id} has ended`, async () => {
        const job = await look(tenant_id, job_id)
        return isTerminal(job.state) && job
      }),
    setTenantState: (tenant_id: string, state: 'active' | 'suspended') =>
      w.steward.write(fullScope(SYSTEM_TENANT, 'operator:test'), (tx) => updateTenantState(tx, tenant_id, state)),
    /** After each test: no runner of it goes on, and no job it left behind runs in the next. */
    clear: async () => {
      await stopRunners()
      const owner = new pg.Client(w.clone.postgres)
      await owner.connect()
      await owner.query(`begin; set local app.actor = 'operator:test';
        delete from app.job where state in ('queued', 'running') and kind <> 'canary'; commit`)
      await owner.end()
    },
    close: async () => {
      await stopRunners()
      await w.close()
    },
  }
}

export type JobTestApp = Awaited<ReturnType<typeof startJobTestApp>>
