/**
 * What a kind of long work declares, and what its body gets. The body never sees a client or a lease: it reads, it takes
 * fenced steps, and it returns its result. A step either commits with its checkpoint while the lease is held, or not at all.
 */
import type { Static, TSchema } from 'typebox'
import type { Role } from '../auth/roles.ts'
import type { Tx } from '../database/tx.ts'
import type { Kernel } from '../kernel.ts'
import type { Log } from '../log.ts'

export interface Progress {
  readonly done: number
  readonly total?: number | null
  readonly unit?: string
}

export interface StepOutcome<C> {
  readonly checkpoint?: C
  readonly progress?: Progress
  /** What the step changed, for the audit record; a step that only reports progress says nothing. */
  readonly audit?: Record<string, unknown>
}

export interface JobContext<P = unknown, C = unknown> {
  readonly job_id: string
  readonly tenant_id: string
  readonly payload: P
  /** What the last committed step left behind, or null on the first run and for kinds that restart. */
  readonly checkpoint: C | null
  readonly attempt: number
  /** Aborts when the job is cancelled, its lease is lost or the worker drains. Check it between steps. */
  readonly signal: AbortSignal
  readonly kernel: Kernel
  readonly log: Log
  read<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  /** A transaction outside the fence, for bytes that mean nothing until a fenced step names them. */
  write<T>(body: (tx: Tx) => Promise<T>): Promise<T>
  /** One transaction: the effect, the checkpoint and the fence together. Throws when the lease was lost. */
  step(body: (tx: Tx) => Promise<StepOutcome<C>>): Promise<void>
  /** The last effect and the end of the job in one transaction. */
  finish(body: (tx: Tx) => Promise<Record<string, unknown> | null>): Promise<void>
}

export interface JobKind {
  readonly kind: string
  readonly summary: string
  readonly payload: TSchema
  /** `checkpoint`: continues after the last committed step. `restart`: begins again from its stored input. */
  readonly resumes: 'checkpoint' | 'restart'
  readonly max_attempts: number
  /** Run for every tenant so often, without being asked and with an empty payload; null for work that is ordered. */
  readonly every_s: number | null
  /** Roles that may see its jobs; null for every role of the tenant. */
  readonly visible_to: readonly Role[] | null
  readonly run: (context: JobContext) => Promise<Record<string, unknown> | null>
}

export function defineJob<S extends TSchema, C>(spec: {
  readonly kind: string
  readonly summary: string
  readonly payload: S
  readonly resumes: 'checkpoint' | 'restart'
  readonly max_attempts?: number
  readonly every_s?: number
  readonly visible_to?: readonly Role[]
  readonly run: (context: JobContext<Static<S>, C>) => Promise<Record<string, unknown> | null>
}): JobKind {
  return { max_attempts: 5, every_s: null, visible_to: null, ...spec, run: spec.run as JobKind['run'] }
}
