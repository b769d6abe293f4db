/** What handlers and jobs may use of the kernel. Assembled once in src/app and passed down; nothing here is global. */
import type { RaiseAlarm } from './alarm.ts'
import type { AuditKeys } from './audit/chain.ts'
import type { AuditNotes } from './audit/record.ts'
import type { BuiltInIssuer } from './auth/built-in-issuer.ts'
import type { TenantStatusCache } from './auth/tenant-status-cache.ts'
import type { CursorCodec } from './cursor.ts'
import type { Scope, Tx } from './database/tx.ts'
import type { IntegrityKeys } from './integrity/keys.ts'
import type { JobQueue } from './job/queue.ts'
import type { Limits } from './limits.ts'
import type { Log } from './log.ts'
import type { Readiness } from './readiness.ts'
import type { Actor, Module, RequestMetadata, Route } from './route.ts'
import type { ThreadAdmission } from './thread-admission.ts'

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

/** The three ways a transaction is opened where the declaration did not already open it. */
export interface Transactions {
  one<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T>
  read<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T>
  write<T>(scope: Scope, body: (tx: Tx) => Promise<T>): Promise<T>
}

export interface Kernel {
  readonly build: BuildInfo
  readonly transactions: Transactions
  readonly cursors: CursorCodec
  readonly integrity: IntegrityKeys
  readonly auditKeys: AuditKeys
  readonly jobs: JobQueue
  readonly limits: Limits
  /** Every worker thread of the process runs under a slot of this. */
  readonly threads: ThreadAdmission
  readonly preview_limits: { readonly max_rows: number; readonly time_limit_ms: number }
  readonly tenantStatusCache: TenantStatusCache
  readonly issuer: BuiltInIssuer
  readonly modules: readonly Module[]
  readonly routes: readonly Route[]
  readonly log: Log
  readonly raiseAlarm: RaiseAlarm
  readonly upload_max_bytes: number
  readonly public_url: string | null
  readonly issuers: readonly { readonly issuer: string; readonly built_in: boolean; readonly sign_in?: SignInConfig }[]
  openapi(): Record<string, unknown>
  readiness(): Promise<Readiness>
  /** Where the built script of that name is, for worker threads: they cannot run from the sources. */
  scriptPath(name: string): string
  /** Called when the process is done with this kernel. */
  onClose(act: () => Promise<unknown>): void
  /** Runs a stored, governed request through the same handler, in the approver's transaction. */
  executeOperation(
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
}
