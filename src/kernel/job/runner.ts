/**
 * The worker: claims jobs, tenants in turn, extends their leases, runs their bodies as app inside the tenant, and requeues jobs
 * of dead workers. Any number may run, in any process; the lease token decides who may write.
 */
import { randomUUID } from 'node:crypto'
import os from 'node:os'
import { fullScope } from '../database/scope.ts'
import type { Scope, Transactions, Tx } from '../database/tx.ts'
import type { Kernel } from '../kernel.ts'
import type { Metrics } from '../metrics.ts'
import { Problem } from '../problem.ts'
import { toProblemBody } from '../problem-body.ts'
import { SYSTEM_TENANT, uuidv7 } from '../uuid.ts'
import { requeueJob, runJob } from './execution.ts'
import { claimJob, extendLeases, reapExpiredLeases } from './queries.ts'
import { listDueSchedules, takeDueSchedule, updateScheduleStarted } from './schedules/queries.ts'
import { JobCancelled, LeaseLost, Requeue, type RunningJob } from './stop-reasons.ts'

export interface RunnerOptions {
  readonly kernel: Kernel
  /** Connections of the worker role: the columns of the queue, all tenants. */
  readonly queue: Pick<Transactions, 'read' | 'write'>
  readonly metrics: Metrics
  readonly slots: number
  readonly lease_ms?: number
  readonly heartbeat_ms?: number
  readonly poll_ms?: number
}

const QUEUE_SCOPE: Scope = fullScope(SYSTEM_TENANT, 'job:worker')
const MAINTENANCE_INTERVAL_MS = 1000
/** How long a body may take to notice its abort before its job is requeued without it. */
const ABORT_GRACE_MS = 2000

export class JobRunner {
  readonly #options: Required<RunnerOptions>
  readonly #worker = `${os.hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
  /** By lease token: a job whose lease was lost may be claimed here again while its first body still runs. */
  readonly #running = new Map<string, { job: RunningJob; done: Promise<void> }>()
  /** Position of the round robin over tenants, and whether this round has found a job. */
  #lastTenant = SYSTEM_TENANT
  #servedThisRound = false
  #stopping = false
  #loop: Promise<void> | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #isHeartbeatRunning = false
  #isWoken = false
  #resume: () => void = () => {}

  constructor(options: RunnerOptions) {
    this.#options = { lease_ms: 15_000, heartbeat_ms: 2000, poll_ms: 200, ...options }
  }

  get running(): number {
    return this.#running.size
  }

  start(): void {
    this.#options.kernel.jobs.onWake(() => this.#wake())
    this.#heartbeat = setInterval(() => void this.#sendHeartbeat(), this.#options.heartbeat_ms)
    this.#loop = this.#runLoop()
  }

  /** Claims nothing new, gives running jobs `grace_ms` to end, then returns them to the queue for another worker. */
  async stop(grace_ms: number): Promise<void> {
    this.#stopping = true
    this.#wake()
    await this.#loop
    await this.#waitForRunning(grace_ms)
    for (const { job } of this.#running.values()) job.abort.abort(new Requeue())
    await this.#waitForRunning(ABORT_GRACE_MS)
    clearInterval(this.#heartbeat)
    const unresponsive = [...this.#running.values()].map(({ job }) => requeueJob(this.#options.kernel, job))
    await Promise.allSettled(unresponsive)
  }

  async #waitForRunning(limit_ms: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const timeUp = new Promise((resolve) => {
      timer = setTimeout(resolve, limit_ms)
    })
    await Promise.race([Promise.all([...this.#running.values()].map(({ done }) => done)), timeUp])
    clearTimeout(timer)
  }

  async #runLoop(): Promise<void> {
    let maintenanceDue_ms = 0
    const hasTime = () => !this.#stopping && performance.now() < maintenanceDue_ms
    while (!this.#stopping) {
      try {
        if (!hasTime()) {
          maintenanceDue_ms = performance.now() + MAINTENANCE_INTERVAL_MS
          await this.#reap()
          await this.#startDueSchedules()
        }
        // However many jobs are waiting, reaping expired leases is not delayed.
        while (hasTime() && this.#running.size < this.#options.slots && (await this.#claim()));
        if (hasTime()) await this.#pause(this.#options.poll_ms * (0.7 + 0.3 * Math.random()))
      } catch (error) {
        this.#options.kernel.log.warn({ err: error }, 'failed to poll job queue; retrying')
        await this.#pause(1000)
      }
    }
  }

  #wake(): void {
    this.#isWoken = true
    this.#resume()
  }

  async #pause(limit_ms: number): Promise<void> {
    if (!this.#isWoken && !this.#stopping) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, limit_ms)
        this.#resume = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
    this.#isWoken = false
  }

  /**
   * A tenant may hold half of the slots, and more only while another slot stays free: jobs that wait for something slow never
   * keep the jobs of other tenants from starting.
   */
  #listTenantsAtShare(): string[] {
    const { slots } = this.#options
    if (slots - this.#running.size > 1) return []
    const held = new Map<string, number>()
    for (const { job } of this.#running.values()) held.set(job.tenant_id, (held.get(job.tenant_id) ?? 0) + 1)
    return [...held].filter(([, count]) => count >= Math.ceil(slots / 2)).map(([tenant_id]) => tenant_id)
  }

  /** True when another claim should follow immediately. */
  async #claim(): Promise<boolean> {
    const lease_token = randomUUID()
    const from = {
      after_tenant: this.#lastTenant,
      except_tenants: this.#listTenantsAtShare(),
      kinds: [...this.#options.kernel.jobs.kinds.keys()],
    }
    const lease = { lease_token, lease_ms: this.#options.lease_ms, worker: this.#worker }
    const claim = await this.#options.queue.write(QUEUE_SCOPE, (tx) => claimJob(tx, from, lease))
    if (!claim) {
      const again = this.#servedThisRound
      this.#lastTenant = SYSTEM_TENANT
      this.#servedThisRound = false
      return again
    }
    this.#lastTenant = claim.turn
    // Another worker claimed the only job of that tenant: the turn passes on nevertheless.
    if (claim.tenant_id === null || claim.job_id === null || claim.kind === null) return true
    this.#servedThisRound = true
    this.#startJob({
      tenant_id: claim.tenant_id,
      job_id: claim.job_id,
      kind: claim.kind,
      attempt: claim.attempts ?? 1,
      max_attempts: claim.max_attempts ?? 1,
      lease_token,
      abort: new AbortController(),
    })
    return true
  }

  #startJob(job: RunningJob): void {
    const { kernel, metrics } = this.#options
    const started = performance.now()
    const done = runJob(kernel, job)
      .then((outcome) => {
        const seconds = (performance.now() - started) / 1000
        metrics.observeJob(job.kind, outcome, seconds)
        kernel.log.info(
          {
            job_id: job.job_id,
            tenant_id: job.tenant_id,
            kind: job.kind,
            outcome,
            duration_ms: Math.round(seconds * 1000),
          },
          'job',
        )
      })
      .catch((error) => {
        // The database was lost while the outcome was recorded: the lease expires and another attempt follows.
        kernel.log.warn(
          { err: error, job_id: job.job_id, tenant_id: job.tenant_id },
          'failed to record the end of a job',
        )
      })
      .finally(() => {
        this.#running.delete(job.lease_token)
        kernel.jobs.watch.end(job.job_id)
        this.#wake()
      })
    this.#running.set(job.lease_token, { job, done })
  }

  async #sendHeartbeat(): Promise<void> {
    const held = [...this.#running.values()].map((entry) => entry.job)
    if (held.length === 0 || this.#isHeartbeatRunning) return
    this.#isHeartbeatRunning = true
    try {
      const kept = await this.#options.queue.write(QUEUE_SCOPE, (tx) =>
        extendLeases(tx, {
          tenant_ids: held.map((job) => job.tenant_id),
          job_ids: held.map((job) => job.job_id),
          tokens: held.map((job) => job.lease_token),
          lease_ms: this.#options.lease_ms,
        }),
      )
      const found = new Map(kept.map((row) => [row.lease_token, row]))
      for (const job of held) {
        const row = found.get(job.lease_token)
        if (!row) job.abort.abort(new LeaseLost())
        else if (row.cancel_requested) job.abort.abort(new JobCancelled())
        else if (!row.tenant_active) job.abort.abort(new Requeue())
      }
    } catch (error) {
      this.#options.kernel.log.warn({ err: error }, 'failed to renew job lease')
    } finally {
      this.#isHeartbeatRunning = false
    }
  }

  async #reap(): Promise<void> {
    const problem = toProblemBody(
      new Problem('dependency_unavailable', 'The worker that ran this job died before the job was done.'),
      randomUUID(),
    )
    const reaped = await this.#options.queue.write(QUEUE_SCOPE, (tx) => reapExpiredLeases(tx, problem))
    for (const job of reaped) this.#options.kernel.log.warn({ ...job }, 'job lease expired')
  }

  async #startDueSchedules(): Promise<void> {
    const { kernel, queue } = this.#options
    const due = await queue.read(QUEUE_SCOPE, (tx) => listDueSchedules(tx, [...kernel.jobs.kinds.keys()]))
    for (const schedule of due) {
      // A schedule that cannot be started must not block the worker; it is due again at the next check.
      await this.#startScheduled(schedule).catch((error) =>
        kernel.log.error({ err: error, ...schedule }, 'failed to start schedule'),
      )
    }
  }

  async #startScheduled({ tenant_id, schedule_id }: { tenant_id: string; schedule_id: string }): Promise<void> {
    const { kernel } = this.#options
    const job_id = uuidv7()
    const scope: Scope = fullScope(tenant_id, `job:${job_id}`)
    await kernel.transactions.write(scope, async (tx: Tx) => {
      const schedule = await takeDueSchedule(tx, schedule_id)
      if (!schedule || schedule.still_busy) return
      const { kind, payload, restriction_id } = schedule
      await kernel.jobs.enqueue(tx, { job_id, kind, payload, restriction_id, unlimited: true })
      await updateScheduleStarted(tx, schedule_id, job_id)
    })
  }
}
