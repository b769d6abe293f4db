/**
 * A second process on the database of a test app whose connections fail when a test says so. The faults are real: PostgreSQL
 * raises an error, or the socket is destroyed. It changes nothing in the product: the pool is given another Client.
 */
import pg from 'pg'
import type { RuntimeOptions } from '#app/runtime-options.ts'
import type { StatementBatch } from '#kernel/database/pipeline.ts'
import { createCaller } from './caller.ts'
import { startSecondProcess } from './second-process.ts'
import type { TestApp } from './test-app.ts'

/**
 * `refused`: PostgreSQL raises an error instead. `lost`: the connection dies before the call is sent. `unheard`: it dies
 * after PostgreSQL has done what was asked, so that nobody hears of it.
 */
export type Fault = 'refused' | 'lost' | 'unheard'

/** Appears in every error that is raised on purpose: no answer may contain it. */
export const DATABASE_ERROR_TEXT = 'the_private_words_of_the_database'
const RAISE_SQL = `do $$ begin raise exception '${DATABASE_ERROR_TEXT}' using errcode = 'XX000', detail = '${DATABASE_ERROR_TEXT}', hint = '${DATABASE_ERROR_TEXT}'; end $$`

/** Which call to the database fails, and how; a batch of several statements is one call, a rollback another. */
export class FaultPlan {
  #calls = 0
  #at = 0
  #fault: Fault | undefined
  #hasFired = false
  #isRollback = false
  #isDisarmed = false
  #isOwnAccountExempt = false
  /** The actor of the transaction that a connection is in. */
  readonly #actors = new WeakMap<pg.ClientBase, string>()

  /**
   * The `at`th call from now on fails; without arguments none does, and calls are only counted. What a process asks on its own
   * account, whenever what it knows is getting old, neither fails nor counts when that is exempt.
   */
  arm(fault?: Fault, at = 0, isOwnAccountExempt = false): void {
    this.#isDisarmed = false
    this.#isOwnAccountExempt = isOwnAccountExempt
    this.#calls = 0
    this.#at = at
    this.#fault = fault
    this.#hasFired = false
    this.#isRollback = false
  }
  /** From now on nothing fails, and what was counted stays. */
  disarm(): void {
    this.#isDisarmed = true
  }
  get callCount(): number {
    return this.#calls
  }
  get hasFired(): boolean {
    return this.#hasFired
  }
  /** What failed was the rollback of a transaction: its connection is given up, and nothing of it remains. */
  get isRollback(): boolean {
    return this.#isRollback
  }
  next(asked: unknown, client: pg.ClientBase): Fault | undefined {
    const set = getActor(asked)
    if (set !== undefined) this.#actors.set(client, set)
    const isOwnAccount = /^(operator|job):/.test(this.#actors.get(client) ?? '')
    if (this.#isDisarmed || (this.#isOwnAccountExempt && isOwnAccount)) return undefined
    if (++this.#calls !== this.#at) return undefined
    this.#hasFired = this.#fault !== undefined
    // A COPY has no statements.
    this.#isRollback = (asked as Partial<StatementBatch>).statements?.at(-1)?.text === 'rollback'
    return this.#fault
  }
}

/** Known of the batch that sets it: the first of a transaction, and every single read. */
function getActor(asked: unknown): string | undefined {
  const setting = (asked as Partial<StatementBatch>).statements?.find(({ text }) => text.includes(`'app.actor', $2`))
  return setting && String(setting.values[1])
}

type AnyQuery = (query: unknown) => unknown

function faultyClient(plan: FaultPlan): new () => pg.ClientBase {
  return class extends pg.Client {
    override query(...given: never[]): never {
      const [asked] = given as unknown as [unknown]
      const fault = plan.next(asked, this)
      const send: AnyQuery = super.query.bind(this) as never
      const cut = () => (this as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()
      if (fault === 'lost') cut()
      if (fault === 'unheard') return loseReply(send, cut, asked) as never
      if (fault === 'refused') return failWithError(send, asked) as never
      return send(asked) as never
    }
  }
}

const isPipeline = (asked: unknown): asked is StatementBatch => typeof asked === 'object'

function failWithError(send: AnyQuery, asked: unknown): unknown {
  const failing = send(RAISE_SQL) as Promise<never>
  if (!isPipeline(asked)) return failing
  failing.catch((error: Error) => asked.handleError(error))
  return asked
}

function loseReply(send: AnyQuery, cut: () => void, asked: unknown): unknown {
  const gone = new Error('Connection terminated unexpectedly')
  if (!isPipeline(asked)) {
    return (send(asked) as Promise<unknown>).then(() => {
      cut()
      throw gone
    })
  }
  const report = asked.handleError.bind(asked)
  const lose = () => {
    cut()
    report(gone)
  }
  asked.handleReadyForQuery = lose
  asked.handleError = lose
  return send(asked)
}

export async function startFaultyProcess(w: TestApp, change: Partial<RuntimeOptions> = {}) {
  const plan = new FaultPlan()
  const connections = { app: { ...w.clone.app, Client: faultyClient(plan) }, worker: w.clone.worker }
  const process = await startSecondProcess(w, { connections, ...change })
  return { ...process, plan, call: createCaller(process.server) }
}
export type FaultyProcess = Awaited<ReturnType<typeof startFaultyProcess>>
