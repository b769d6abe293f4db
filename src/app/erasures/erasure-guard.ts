/** Refuses requests of tenants that have subjects of the erasure ledger again, until it is replayed: readiness alone keeps no direct caller out. */
import type { Log } from '#kernel/log.ts'
import { failWithoutStack } from '#kernel/problem.ts'
import type { CheckFunction } from '#kernel/readiness.ts'

/** Looks so often; while nothing changed it only asks for the version of the ledger. */
const EVERY_MS = 2000

export class ErasureGuard {
  readonly #check: CheckFunction
  readonly #log: Log
  #tenants: ReadonlySet<string> = new Set()
  #timer: NodeJS.Timeout | undefined
  #isStopped = false

  /** `createCheck` gets where to report the tenants. */
  constructor(createCheck: (onUnerased: (tenant_ids: ReadonlySet<string>) => void) => CheckFunction, log: Log) {
    this.#log = log
    this.#check = createCheck((tenant_ids) => {
      this.#tenants = tenant_ids
    })
  }

  readonly check: CheckFunction = () => this.#check()

  /** Resolves when it has looked once. */
  async start(): Promise<void> {
    await this.#check().catch((error) => this.#log.warn({ err: error }, 'failed to compare the erasure ledger'))
    if (this.#isStopped) return
    this.#timer = setTimeout(() => void this.start(), EVERY_MS)
    this.#timer.unref()
  }

  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#timer)
  }

  assertErased(tenant_id: string): void {
    if (!this.#tenants.has(tenant_id)) return
    failWithoutStack('dependency_unavailable', {
      detail:
        'The database is of an older state and has people again who were erased. The operator runs "npx probity erasures replay".',
      retry_after_s: 10,
    })
  }
}
