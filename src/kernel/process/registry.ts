/**
 * The processes of this service. Each renews a row every few seconds and reads those of the others: limits of the whole service
 * are divided by the number of serving processes, and workers take turns at work that one of them does.
 */
import { unrestrictedScope } from '../database/scope.ts'
import type { Scope, Transactions } from '../database/tx.ts'
import type { Log } from '../log.ts'
import { SYSTEM_TENANT, uuidv7 } from '../uuid.ts'
import {
  type LiveProcess,
  listLiveProcesses,
  type ProcessKind,
  removeOldProcesses,
  removeProcess,
  upsertProcess,
} from './queries.ts'

export const HEARTBEAT_EVERY_MS = 5000
const SCOPE: Scope = unrestrictedScope(SYSTEM_TENANT, 'job:heartbeat')

export class ProcessRegistry {
  readonly process_id = uuidv7()
  readonly #transactions: Pick<Transactions, 'write'>
  readonly #kind: ProcessKind
  readonly #log: Log
  readonly #onServingCount: (count: number) => void
  #live: readonly LiveProcess[] = []
  #timer: NodeJS.Timeout | undefined
  #currentBeat: Promise<void> = Promise.resolve()
  #stopping = false

  constructor(options: {
    transactions: Pick<Transactions, 'write'>
    kind: ProcessKind
    log: Log
    /** Called after each heartbeat with the number of serving processes, this one included. */
    onServingCount: (count: number) => void
  }) {
    this.#transactions = options.transactions
    this.#kind = options.kind
    this.#log = options.log
    this.#onServingCount = options.onServingCount
  }

  /** Resolves after the first heartbeat, so that a process never serves without knowing the others. */
  async start(): Promise<void> {
    const next = async () => {
      // While the database cannot be reached the last count is kept.
      await this.sendHeartbeat().catch((error) => this.#log.warn({ err: error }, 'failed to renew process heartbeat'))
      if (!this.#stopping) this.#timer = setTimeout(() => (this.#currentBeat = next()), HEARTBEAT_EVERY_MS).unref()
    }
    this.#currentBeat = next()
    await this.#currentBeat
  }

  async sendHeartbeat(): Promise<void> {
    this.#live = await this.#transactions.write(SCOPE, async (tx) => {
      await upsertProcess(tx, this.process_id, this.#kind)
      await removeOldProcesses(tx)
      return listLiveProcesses(tx)
    })
    this.#onServingCount(this.#live.filter(({ serves_requests }) => serves_requests).length)
  }

  /** The others get its share with their next heartbeat. */
  async stop(): Promise<void> {
    this.#stopping = true
    clearTimeout(this.#timer)
    await this.#currentBeat
    await this.#transactions.write(SCOPE, (tx) => removeProcess(tx, this.process_id)).catch(() => {})
  }

  /**
   * Whether it is the turn of this worker. Turns follow the clock, so that about one worker acts in each; with clocks that
   * differ two may act in one turn, so the work must tolerate it.
   */
  isTurn(every_ms: number, now_ms: number = Date.now()): boolean {
    const workers = this.#live.filter(({ runs_jobs }) => runs_jobs)
    const own = workers.findIndex(({ process_id }) => process_id === this.process_id)
    return own < 0 || Math.floor(now_ms / every_ms) % workers.length === own
  }
}
