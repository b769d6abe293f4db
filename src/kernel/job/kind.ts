/**
 * A kind of job as the queue and the worker see it, and the context its body runs in. A body reads, commits steps and returns
 * its result; a step commits together with its checkpoint, and only while the lease is held.
 */
import type { TSchema } from 'typebox'
import type { Role } from '../auth/roles.ts'
import type { Scope } from '../database/scope.ts'
import type { Tx } from '../database/tx.ts'
import type { Log } from '../log.ts'
import type { Problem } from '../problem.ts'

export interface Progress {
  readonly done: number
  readonly total?: number | null
  readonly unit?: string
}

export interface StepOutcome<C> {
  readonly checkpoint?: C
  readonly progress?: Progress
  /** What the step changed, for the audit trail; absent for a step that only reports progress. */
  readonly audit?: Record<string, unknown>
}

export interface JobContext<P = unknown, C = unknown, K = object> {
  readonly job_id: string
  readonly tenant_id: string
  /** For what opens transactions of its own. */
  readonly scope: Scope
  readonly payload: P
  /** The checkpoint of the last committed step, or null on the first run and for kinds that restart. */
  readonly checkpoint: C | null
  readonly attempt: number
  /** Aborts when the job is cancelled, its lease is lost or the worker drains. Check it between steps. */
  readonly signal: AbortSignal
  /** The capabilities that the kind declares. */
  readonly kernel: K
  readonly log: Log
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  /** A transaction without checkpoint or progress. Throws when the lease is lost, and nothing is written. */
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  /** One transaction: the effect, the checkpoint and the check of the lease. Throws when the lease is lost. */
  step(body: (tx: Tx) => Promise<StepOutcome<C>>): Promise<void>
  /**
   * As those who may read the job see the rows. A kind that sees all counts by these what it publishes: result, progress, events
   * and the number of steps must not depend on what is hidden from a reader.
   */
  readonly visible: {
    read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
    step(body: (tx: Tx) => Promise<StepOutcome<C>>): Promise<void>
  }
  /** The last effect and the end of the job in one transaction. */
  finish(body: (tx: Tx) => Promise<Record<string, unknown> | null>): Promise<void>
  /**
   * Ends this run and returns the job to the queue until then, at most 24 hours: for a dependency that is down or says when to
   * ask again. The attempt does not count and no slot is held. `reason` is shown as the job's problem, and fails a job that was
   * deferred for seven days without a step.
   */
  defer(until: Date, reason?: Problem): never
}

export interface JobKind {
  readonly kind: string
  readonly summary: string
  readonly payload: TSchema
  /** `checkpoint`: continues after the last committed step. `restart`: begins again from its stored input. */
  readonly resumes: 'checkpoint' | 'restart'
  readonly max_attempts: number
  /** False for what one person must not stop. */
  readonly can_cancel: boolean
  /** Interval at which it runs for every tenant with an empty payload; null for jobs that are enqueued. */
  readonly every_s: number | null
  /** Roles that may see its jobs; null for every role of the tenant. */
  readonly visible_to: readonly Role[] | null
  /** What its body sees of restricted rows: those of its own restriction, what its requester may see, or all. */
  readonly sees: 'restriction' | 'requester' | 'all'
  /** Names of the capabilities that the body gets in `kernel`. */
  readonly uses: readonly string[]
  readonly run: (context: JobContext) => Promise<Record<string, unknown> | null>
}
