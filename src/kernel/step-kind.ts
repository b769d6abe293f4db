/** Kinds of steps of a playbook, as modules declare them: a new kind needs no change of the module that runs playbooks. */
import type { Caches } from './cache/caches.ts'
import type { Scope } from './database/scope.ts'
import type { Transactions, Tx } from './database/tx.ts'
import type { Egress } from './egress/egress.ts'
import type { ValueEncryption } from './encryption/value-encryption.ts'
import type { IntegrityKeys } from './integrity/keys.ts'
import type { Log } from './log.ts'
import type { ModuleMetrics } from './module-metrics.ts'
import type { PluginPolicy } from './plugin-policy.ts'
import type { Problem } from './problem.ts'
import type { TSchema } from './schema.ts'
import type { WorkerThreads } from './worker-threads.ts'

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

/** What executing a step needs beside what its checks use. */
export interface StepExecuteCapabilities extends StepCapabilities {
  readonly plugin_policy: PluginPolicy
  readonly threads: WorkerThreads
}

/** A step that is about to be asked of a case. */
export interface StepToExecute<W> {
  readonly with: W
  /** The restriction of the case is in force. */
  readonly is_restricted: boolean
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
  /** 503 `plugin_invalid` where a plugin or tool that the step executes cannot be executed now; absent: it executes none. */
  readonly expectExecutable?: (kernel: StepExecuteCapabilities, tx: Tx, step: StepToExecute<W>) => Promise<void>
  /**
   * Runs a step of an open case. No transaction is open. A refusal that repetition does not change is an end; whatever else is thrown
   * ends the run of the job, which is repeated.
   */
  readonly run: (run: StepRun<W>) => Promise<StepEnd>
}

/** What a step uses while it runs. */
export interface StepRunCapabilities extends StepExecuteCapabilities {
  readonly egress: Egress
  readonly encryption: ValueEncryption
  readonly integrity: IntegrityKeys
  readonly log: Log
  readonly metrics: ModuleMetrics
  readonly transactions: Transactions
}

/** A step of an open case, as its kind runs it. A run that was interrupted is repeated with the same `attempt` and `call`. */
export interface StepRun<W> {
  readonly kernel: StepRunCapabilities
  readonly scope: Scope
  /** Aborts when the worker stops or has lost the job. */
  readonly signal: AbortSignal
  readonly job_id: string
  readonly investigation_id: string
  readonly step_key: string
  /** Counted from 1; a person starts the next one. */
  readonly attempt: number
  readonly with: W
  readonly reuse_days: number | null
  readonly max_cost: CheckedStep<W>['max_cost']
  /** That `begin` has stored. */
  readonly call: StepCall | null
  readonly subject_id: string
  /** About the subject: those that the playbook declares, with those that every subject has. */
  readonly facts: ReadonlyMap<string, unknown>
  readonly restriction_id: string
  /** The restriction is in force: nothing of this case may show to people without access. */
  readonly is_restricted: boolean
  /** Calls of providers that the steps rest on which this one needs. */
  readonly earlier_calls: readonly string[]
  /** Makes the call of the step; with the call it is stored that the step has it. Throws where another worker has the job. */
  readonly begin: (make: (tx: Tx) => Promise<StepCall>) => Promise<StepCall>
  /** Attaches an object to the case; returns the id of the evidence item. */
  readonly attachEvidence: (tx: Tx, object: StepEvidence) => Promise<string>
  /** Gives the step to a person as a task, by settings of the kind `task`. */
  readonly addTask: (tx: Tx) => Promise<void>
}

export interface StepEvidence {
  readonly kind: 'provider_call' | 'evaluation' | 'match' | 'ownership_graph'
  readonly object_id: string
  /** When the object does not say it, or says something else. */
  readonly obtained_at?: string
  /** Of an object that the same transaction stores, and that cannot be read before its end. */
  readonly stored?: { readonly content_hash: string; readonly source: string; readonly obtained_at: string }
}

export interface StepCall {
  readonly call_id: string
  /** When the earlier answer was given that is used instead of a request. */
  readonly reused_from: string | null
}

/** What a step found, as its row keeps it. */
export interface StepResult {
  readonly result?: { readonly kind: string; readonly id: string }
  readonly evidence_id?: string
  /** Verdict of the source contract, without values. */
  readonly contract_result?: Readonly<Record<string, unknown>>
  readonly cost?: { readonly amount: string; readonly currency: string }
}

/** How a run of a step ended. `store` runs in the transaction that ends the step. */
export type StepEnd =
  | { readonly state: 'succeeded'; readonly store: (tx: Tx) => Promise<StepResult> }
  | {
      readonly state: 'failed' | 'indeterminate'
      readonly problem: Problem
      readonly store?: (tx: Tx) => Promise<StepResult>
    }
  /** It is run again then, without a person. */
  | { readonly state: 'waiting'; readonly until: Date; readonly problem: Problem }
  /** A person ends it; `store` has recorded that. */
  | { readonly state: 'given'; readonly store: (tx: Tx) => Promise<void> }
  /** It cannot be asked now: a required step blocks the case, another one is left out. */
  | { readonly state: 'blocked'; readonly problem: Problem }

/** As a module lists it. */
export type AnyStepKind = StepKind<never>
