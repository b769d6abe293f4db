/**
 * Commits writes of one principal together: while one commit runs, further writes wait and share the next. Each caller waits for the
 * commit of its own write. For rows that many calls add and nobody reads in the same transaction, such as a log.
 */
import { Problem } from '../problem.ts'
import type { Scope, Transactions, Tx } from './tx.ts'

/** May only `defer`, and may run more than once. */
export type DeferredWrite = (tx: Tx) => void

interface PendingWrite {
  readonly write: DeferredWrite
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Bounds the size of one batch of statements. */
const MAX_WRITES = 64

export class GroupCommit {
  readonly #transactions: Pick<Transactions, 'write'>
  /** The writes that wait, by tenant, principal and sight; present while a commit runs. */
  readonly #waiting = new Map<string, PendingWrite[]>()

  constructor(transactions: Pick<Transactions, 'write'>) {
    this.#transactions = transactions
  }

  write(scope: Scope, write: DeferredWrite): Promise<void> {
    return new Promise((resolve, reject) => {
      const key = `${scope.tenant_id} ${scope.actor} ${scope.sight}`
      const pending = { write, resolve, reject }
      const waiting = this.#waiting.get(key)
      if (waiting) waiting.push(pending)
      else void this.#commitAll(scope, key, pending)
    })
  }

  async #commitAll(scope: Scope, key: string, first: PendingWrite): Promise<void> {
    const waiting: PendingWrite[] = []
    this.#waiting.set(key, waiting)
    let group = [first]
    while (group.length > 0) {
      await this.#commit(scope, group)
      group = waiting.splice(0, MAX_WRITES)
    }
    this.#waiting.delete(key)
  }

  async #commit(scope: Scope, group: readonly PendingWrite[]): Promise<void> {
    try {
      await this.#transactions.write(scope, async (tx) => {
        for (const { write } of group) write(tx)
      })
      for (const { resolve } of group) resolve()
    } catch (error) {
      // The database is unavailable or overloaded: the outcome may be unknown, and another attempt would not help.
      if (group.length === 1 || (error instanceof Problem && error.status >= 500)) {
        for (const { reject } of group) reject(error)
        return
      }
      // A write that the database refuses fails alone.
      for (const pending of group) await this.#commit(scope, [pending])
    }
  }
}
