/**
 * The worker: claims jobs in turn of tenants, keeps their leases alive, runs their bodies as app inside the tenant, and
 * takes over from workers that died. Any number may run, in any process; the lease token decides who may write.
 */
import { randomUUID } from 'node:crypto'
import os from 'node:os'
import type { Scope, Tx } from '../database/tx.ts'
import type { Kernel, Transactions } from '../kernel.ts'
import type { Metrics } from '../metrics.ts'
import { Problem, problemBody } from '../problem.ts'
import { SYSTEM_TENANT, uuidv7 } from '../uuid.ts'
import { runBody } from './body.ts'
import { claimJob, extendLeases, listDueSchedules, reapExpired, takeDueSchedule } from './queries.ts'
import { Cancelled, Draining, LeaseLost, type Running } from './stops.ts'

export interface RunnerOptions {
  readonly kernel: Kernel
  /** Connections of the worker role: the queue's own columns, all tenants. */
  readonly queue: Pick<Transactions, 'read' | 'write'>
  readonly metrics: Metrics
  readonly slots: number
  readonly lease_ms?: number
  readonly heartbeat_ms?: number
  readonly poll_ms?: number
}

const QUEUE_SCOPE: Scope = { tenant_id: SYSTEM_TENANT, actor: 'job:worker' }
const UPKEEP_MS = 1000

export class JobRunner {
  readonly #options: Required<RunnerOptions>
  readonly #worker = `${os.hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
  readonly #running = new Map<string, { job: Running; done: Promise<void> }>()
  #lastTenant = SYSTEM_TENANT
  #stopping = false
  #loop: Promise<void> | undefined
  #heartbeat: NodeJS.Timeout | undefined
  #wake: () => void = () => {}

  constructor(options: RunnerOptions) {
    this.#options = { lease_ms: 15_000, heartbeat_ms: 2000, poll_ms: 200, ...options }
  }

  get running(): number {
    return this.#running.size
  }

  start(): void {
    this.#options.kernel.jobs.onNudge(() => this.#wake())
    this.#heartbeat = setInterval(() => void this.#beat(), this.#options.heartbeat_ms)
    this.#loop = this.#work()
  }

  /** Takes nothing new, gives running jobs `grace_ms` to end, then hands them back to the queue for another worker. */
  async stop(grace_ms: number): Promise<void> {
    this.#stopping = true
    this.#wake()
    await this.#loop
    const all = () => Promise.all([...this.#running.values()].map((entry) => entry.done))
    let timer: NodeJS.Timeout | undefined
    await Promise.race([all(), new Promise((resolve) => (timer = setTimeout(resolve, grace_ms)))])
    clearTimeout(timer)
    for (const { job } of this.#running.values()) job.abort.abort(new Draining())
    await all()
    clearInterval(this.#heartbeat)
  }

  async #work(): Promise<void> {
    let upkeepDue = 0
    while (!this.#stopping) {
      try {
        if (Date.now() >= upkeepDue) {
          upkeepDue = Date.now() + UPKEEP_MS
          await this.#reap()
          await this.#startDueSchedules()
        }
        while (!this.#stopping && this.#running.size < this.#options.slots && (await this.#claim()));
        await this.#pause(this.#options.poll_ms * (0.75 + Math.random() / 2))
      } catch (error) {
        this.#options.kernel.log.warn({ err: error }, 'the queue cannot be reached; trying again')
        await this.#pause(1000)
      }
    }
  }

  #pause(ms: number): Promise<void> {
    if (this.#stopping) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** True when it is worth asking again at once. */
  async #claim(): Promise<boolean> {
    const lease_token = randomUUID()
    const claim = await this.#options.queue.write(QUEUE_SCOPE, (tx) =>
      claimJob(tx, {
        after_tenant: this.#lastTenant,
        kinds: [...this.#options.kernel.jobs.kinds.keys()],
        lease_token,
        lease_ms: this.#options.lease_ms,
        worker: this.#worker,
      }),
    )
    if (!claim) return false
    // Another worker held the only job of that tenant: the turn passes on all the same.
    const again = claim.turn !== this.#lastTenant
    this.#lastTenant = claim.turn
    if (claim.tenant_id === null || claim.job_id === null || claim.kind === null) return again
    this.#begin({
      tenant_id: claim.tenant_id,
      job_id: claim.job_id,
      kind: claim.kind,
      attempt: claim.attempts ?? 1,
      lease_token,
      abort: new AbortController(),
    })
    return true
  }

  #begin(job: Running): void {
    const { kernel, metrics } = this.#options
    const started = performance.now()
    const done = runBody(kernel, job)
      .then((outcome) => {
        const seconds = (performance.now() - started) / 1000
        metrics.job(job.kind, outcome, seconds)
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
        // The database went away while the end was being recorded: the lease runs out and another attempt follows.
        kernel.log.warn({ err: error, job_id: job.job_id, tenant_id: job.tenant_id }, 'job end not recorded')
      })
      .finally(() => {
        this.#running.delete(job.job_id)
        this.#wake()
      })
    this.#running.set(job.job_id, { job, done })
  }

  async #beat(): Promise<void> {
    const held = [...this.#running.values()].map((entry) => entry.job)
    if (held.length === 0) return
    try {
      const kept = await this.#options.queue.write(QUEUE_SCOPE, (tx) =>
        extendLeases(tx, {
          tenant_ids: held.map((job) => job.tenant_id),
          job_ids: held.map((job) => job.job_id),
          tokens: held.map((job) => job.lease_token),
          lease_ms: this.#options.lease_ms,
        }),
      )
      const found = new Map(kept.map((row) => [row.job_id, row.cancel_requested]))
      for (const job of held) {
        if (!found.has(job.job_id)) job.abort.abort(new LeaseLost())
        else if (found.get(job.job_id)) job.abort.abort(new Cancelled())
      }
    } catch (error) {
      this.#options.kernel.log.warn({ err: error }, 'heartbeat failed')
    }
  }

  async #reap(): Promise<void> {
    const problem = problemBody(
      new Problem(
        'dependency_unavailable',
        'The worker running this job died, and so did those of all earlier attempts.',
      ),
      randomUUID(),
    )
    const reaped = await this.#options.queue.write(QUEUE_SCOPE, (tx) => reapExpired(tx, problem))
    for (const job of reaped) this.#options.kernel.log.warn({ ...job }, 'job taken back from a dead worker')
  }

  async #startDueSchedules(): Promise<void> {
    const { kernel, queue } = this.#options
    const due = await queue.read(QUEUE_SCOPE, (tx) => listDueSchedules(tx, [...kernel.jobs.kinds.keys()]))
    for (const { tenant_id, schedule_id } of due) {
      const job_id = uuidv7()
      const scope: Scope = { tenant_id, actor: `job:${job_id}` }
      await kernel.transactions.write(scope, async (tx: Tx) => {
        const schedule = await takeDueSchedule(tx, schedule_id, job_id)
        if (schedule) await kernel.jobs.enqueue(tx, { job_id, kind: schedule.kind, payload: schedule.payload })
      })
    }
  }
}
