/** Kinds of steps of a playbook, as modules declare them: a new kind needs no change of the module that runs playbooks. */
import type { Caches } from './cache/caches.ts'
import type { Tx } from './database/tx.ts'
import type { TSchema } from './schema.ts'

/** A fault of a step with its place. */
export interface StepFinding {
  readonly code: string
  /** JSON Pointer into the step; empty for the whole. */
  readonly pointer: string
  readonly message: string
  readonly severity: 'error' | 'warning'
}

/** A versioned definition that a step cannot work without. */
export interface StepReference {
  readonly family: string
  readonly key: string
  /** JSON Pointer into the step. */
  readonly pointer: string
}

/** What a check sees of the step, beside its own settings. */
export interface CheckedStep<W> {
  readonly with: W
  readonly max_cost: { readonly amount: string; readonly currency: string } | null
  /** Facts about the subject that the playbook declares, with those that every subject has. */
  readonly facts: ReadonlySet<string>
}

export interface StepCapabilities {
  readonly caches: Caches
  readonly forced_provider_mode: 'recorded' | null
}

/** `W` is the type of `with`, which has passed `schema` wherever a function of the kind gets it. */
export interface StepKind<W = never> {
  readonly kind: string
  readonly title: string
  /** Of `with`. */
  readonly schema: TSchema
  /** Whether an earlier answer about the same subject can stand in for a new one: `reuse_days` is allowed. */
  readonly is_reusable: boolean
  /** Whether it may cost money: `max_cost` is allowed. */
  readonly has_cost: boolean
  /** Definitions that the step names by key. */
  readonly listReferences: (settings: W) => readonly StepReference[]
  /** What is wrong with what the steps of this kind name, as the tenant sees it now: findings in the order of the steps. */
  readonly check: (
    kernel: StepCapabilities,
    tx: Tx,
    steps: readonly CheckedStep<W>[],
  ) => Promise<readonly (readonly StepFinding[])[]>
  /** Keys of the providers that the step may call; their credentials must be there before a case is opened. */
  readonly listProviders: (kernel: StepCapabilities, tx: Tx, settings: W) => Promise<readonly string[]>
}

/** As a module lists it. */
export type AnyStepKind = StepKind<never>
