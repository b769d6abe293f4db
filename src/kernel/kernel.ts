/**
 * The kernel: everything that handlers and jobs can use beside their transaction. It is assembled once, in src/app, and nobody
 * else receives all of it: a route, job or review names in `uses` what it needs, and gets an object with these members only.
 */
import type { RaiseAlarm } from './alarm.ts'
import type { AuditKeys } from './audit/chain.ts'
import type { AuditNotes } from './audit/record.ts'
import type { BuiltInIssuer } from './auth/built-in-issuer.ts'
import type { DemoSignIn } from './auth/demo-sign-in.ts'
import type { TenantStatusCache } from './auth/tenant-status-cache.ts'
import type { Caches } from './cache/caches.ts'
import type { CursorCodec } from './cursor.ts'
import type { Transactions, Tx } from './database/tx.ts'
import type { Egress } from './egress/egress.ts'
import type { ValueEncryption } from './encryption/value-encryption.ts'
import type { ErasureLedger } from './erasure/ledger.ts'
import type { IntegrityKeys } from './integrity/keys.ts'
import type { JobQueue } from './job/queue.ts'
import type { Limits } from './limits.ts'
import type { Log } from './log.ts'
import type { MalwareScanner } from './malware-scanner.ts'
import type { Module } from './module.ts'
import type { ModuleMetrics } from './module-metrics.ts'
import type { PluginPolicy } from './plugin-policy.ts'
import type { Readiness } from './readiness.ts'
import type { ChangeReviews } from './request/change-reviews.ts'
import type { SerializedResponse } from './request/idempotency.ts'
import type { CallInputs, CallOrigin } from './request/operation-call.ts'
import type { Actor, RequestMetadata, Route } from './route.ts'
import type { Printing } from './typesetting/printing.ts'
import type { WorkerThreads } from './worker-threads.ts'

export interface BuildInfo {
  readonly version: string
  readonly commit: string | null
  readonly node: string
  readonly schema_version: string
}

/** How the console signs people in at an external issuer. */
export interface SignInConfig {
  readonly client_id: string
  readonly authorization_endpoint: string
  readonly token_endpoint: string
  readonly scopes: readonly string[]
}

export interface Kernel {
  // What domain modules use.
  readonly transactions: Transactions
  readonly caches: Caches
  readonly threads: WorkerThreads
  readonly jobs: JobQueue
  readonly cursors: CursorCodec
  readonly auditKeys: AuditKeys
  readonly integrity: IntegrityKeys
  readonly encryption: ValueEncryption
  /** Null: the operator has configured none, and nothing is erased. */
  readonly erasureLedger: ErasureLedger | null
  /** How long the operator keeps backups; null: not said. */
  readonly backup_days: number | null
  /** The only way to another system. */
  readonly egress: Egress
  readonly preview_limits: { readonly max_rows: number; readonly time_limit_ms: number }
  /** Serves every provider call from recorded answers, whatever the tenant chose; null: as the tenant chose. */
  readonly forced_provider_mode: 'recorded' | null
  /** What the operator allows plugins. */
  readonly plugin_policy: PluginPolicy
  /** Null: the operator configured none. */
  readonly scanner: MalwareScanner | null
  /** Layout, stylesheet and the compiler of PDF files. */
  readonly printing: Printing
  readonly log: Log
  /** Metrics that modules declare. */
  readonly metrics: ModuleMetrics
  readonly raiseAlarm: RaiseAlarm

  // Operations as data: permissions, change requests and their execution.
  readonly routes: readonly Route[]
  readonly modules: readonly Module[]
  readonly reviews: ChangeReviews
  /**
   * Runs the handler of an operation inside a transaction: of an approved change request, of a dry run, of another handler. Roles,
   * schema, `beforeTransaction`, governance and `redact` are not applied: the caller has done what is needed of them.
   */
  runHandler(
    operation: string,
    input: {
      tx: Tx
      actor: Actor
      params: unknown
      query?: unknown
      body: unknown
      request: RequestMetadata
      audit: AuditNotes
    },
  ): Promise<unknown>

  /** Calls an operation as the tool protocol does: limits, role, validation, then dispatch with audit. */
  call(operation: string, actor: Actor, inputs: CallInputs, origin: CallOrigin): Promise<SerializedResponse>

  // Authentication and limits.
  readonly limits: Limits
  readonly tenantStatusCache: TenantStatusCache
  readonly issuer: BuiltInIssuer
  readonly issuers: readonly { readonly issuer: string; readonly built_in: boolean; readonly sign_in?: SignInConfig }[]

  /** Null on a server without demo sign-in. */
  readonly demoSignIn: DemoSignIn | null

  // The deployment.
  readonly build: BuildInfo
  readonly upload_max_bytes: number
  readonly public_url: string | null
  openapi(): Promise<Record<string, unknown>>
  readiness(): Promise<Readiness>
}

export type Capability = keyof Kernel

/** What a function needs of the kernel: `kernel: Capabilities<'caches' | 'jobs'>`. */
export type Capabilities<C extends Capability> = Pick<Kernel, C>

/** Exactly the members that a declaration names, so that what it did not declare is absent at run time too. */
export function pickCapabilities(kernel: Kernel, uses: readonly string[]): object {
  return Object.fromEntries(uses.map((name) => [name, kernel[name as Capability]]))
}
