/** What a process is put together from. */
import type { FastifyInstance } from 'fastify'
import type { DemoSignIn } from '#kernel/auth/demo-sign-in.ts'
import type { ConnectionConfig } from '#kernel/database/servers.ts'
import type { EgressSettings } from '#kernel/egress/settings.ts'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import type { ErasureLedger } from '#kernel/erasure/ledger.ts'
import type { NotFoundFallback } from '#kernel/http/server.ts'
import type { IntegrityKeys } from '#kernel/integrity/keys.ts'
import type { JobKind } from '#kernel/job/kind.ts'
import type { BuildInfo } from '#kernel/kernel.ts'
import type { Log } from '#kernel/log.ts'
import type { ScannerAddress } from '#kernel/malware-scanner.ts'
import type { Module } from '#kernel/module.ts'
import type { PluginPolicy } from '#kernel/plugin-policy.ts'
import type { PrintingSettings } from '#kernel/typesetting/printing.ts'
import type { WorkerThreads } from '#kernel/worker-threads.ts'
import type { ConfiguredIssuer } from './issuers.ts'

export interface RuntimeOptions {
  readonly connections: { readonly app: ConnectionConfig; readonly worker: ConnectionConfig }
  readonly keyring: Keyring
  /** Loaded from the database unless given. */
  readonly integrity?: IntegrityKeys
  readonly build: BuildInfo
  readonly log: Log
  readonly issuers: readonly ConfiguredIssuer[]
  /** Unless given, no private host can be reached. */
  readonly egress?: EgressSettings
  /** Off unless given. */
  readonly demoSignIn?: DemoSignIn | null
  readonly public_url: string | null
  readonly cors_origins: readonly string[]
  readonly trusted_proxies: number
  readonly pool_size: number
  readonly prepared_statements: boolean
  readonly statement_timeout_ms: number
  readonly wait_ms?: number
  /** A readiness check that takes longer has failed; 2 s by default. */
  readonly readiness_timeout_ms?: number
  readonly upload_max_bytes: number
  /** Without one no subject is erased. */
  readonly erasureLedger?: ErasureLedger | null
  /** How long backups are kept; certificates of erasures say so. */
  readonly backup_days?: number | null
  /** Serves every provider call from recorded answers. */
  readonly forced_provider_mode?: 'recorded' | null
  /** What plugins may do; by default they may name no host, and need no signature. */
  readonly plugin_policy?: PluginPolicy
  /** Documents are not scanned unless given. */
  readonly scanner?: ScannerAddress | null
  /** By default the fonts and layouts of the installation. */
  readonly printing?: Partial<PrintingSettings>
  /** Threads that run heavy work at once; by default one less than there are cores. */
  readonly heavy_threads?: number
  readonly preview_max_rows?: number
  readonly preview_time_limit_ms?: number
  /** Replies are checked against their schema and undeclared problems are errors: on in tests. */
  readonly strict: boolean
  readonly modules?: readonly Module[]
  readonly extra_jobs?: readonly JobKind[]
  readonly assets?: (app: FastifyInstance) => Promise<NotFoundFallback>
  /** Directory of the scripts of worker threads; by default that of the bundle. */
  readonly scripts_dir?: string
  /** Threads that other runtimes of the process use too; whoever made them closes them. By default its own. */
  readonly threads?: WorkerThreads
}
