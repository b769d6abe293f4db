/**
 * Work that is due at an instant and not requested by anybody: workers look for it over all tenants and do it inside each tenant. Unlike a
 * scheduled job it costs nothing for tenants without any, and leaves no trace of when it looked.
 */
import type { AuditKeys } from './audit/chain.ts'
import type { Caches } from './cache/caches.ts'
import { fullScope } from './database/scope.ts'
import type { Transactions, Tx } from './database/tx.ts'
import type { ValueEncryption } from './encryption/value-encryption.ts'
import type { JobQueue } from './job/queue.ts'
import type { Log } from './log.ts'
import type { ModuleMetrics } from './module-metrics.ts'
import { SYSTEM_TENANT } from './uuid.ts'

export interface ScanCapabilities {
  readonly auditKeys: AuditKeys
  readonly caches: Caches
  readonly encryption: ValueEncryption
  readonly jobs: JobQueue
  readonly metrics: ModuleMetrics
}

export interface TenantScan {
  readonly name: string
  readonly every_ms: number
  /** As the worker role: tenants with something to do. */
  readonly listTenants: (tx: Tx) => Promise<readonly { readonly tenant_id: string }[]>
  /**
   * One batch inside a tenant, with sight of every row. Several workers may run it at once. `more`: run it again. `committed` is called
   * after the commit.
   */
  readonly run: (
    kernel: ScanCapabilities,
    tx: Tx,
  ) => Promise<{ readonly more: boolean; readonly committed?: () => void }>
}

export interface ScannerOptions {
  readonly scan: TenantScan
  readonly transactions: Pick<Transactions, 'write'>
  readonly queue: Pick<Transactions, 'one'>
  readonly kernel: ScanCapabilities
  readonly log: Log
  /** Whether this process should look now; several processes take turns. */
  readonly isTurn?: () => boolean
}

export class TenantScanner {
  readonly #options: ScannerOptions
  #timer: NodeJS.Timeout | undefined
  #currentRun: Promise<unknown> = Promise.resolve()
  #stopping = false

  constructor(options: ScannerOptions) {
    this.#options = options
  }

  start(): void {
    const { scan, log, isTurn = () => true } = this.#options
    const next = () => {
      this.#currentRun = (isTurn() ? this.runOnce() : Promise.resolve()).catch((error) => {
        log.warn({ err: error, scan: scan.name }, 'failed to scan tenants; retrying')
      })
      void this.#currentRun.then(() => {
        if (!this.#stopping) this.#timer = setTimeout(next, scan.every_ms)
      })
    }
    next()
  }

  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    await this.#currentRun
  }

  async runOnce(): Promise<void> {
    const { scan, queue, log } = this.#options
    const actor = `job:${scan.name}`
    const tenants = await queue.one(fullScope(SYSTEM_TENANT, actor), scan.listTenants)
    for (const { tenant_id } of tenants) {
      try {
        while ((await this.#runBatch(tenant_id, actor)) && !this.#stopping);
      } catch (error) {
        log.warn({ err: error, tenant_id, scan: scan.name }, 'failed to scan tenant')
      }
    }
  }

  async #runBatch(tenant_id: string, actor: string): Promise<boolean> {
    const { scan, transactions, kernel } = this.#options
    const batch = await transactions.write(fullScope(tenant_id, actor), (tx) => scan.run(kernel, tx))
    batch.committed?.()
    return batch.more
  }
}
