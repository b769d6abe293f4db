/** Notices that the embedded PostgreSQL died, and starts it again. Requests in between are answered 503 by the kernel. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionFailure } from '../kernel/database/failures.ts'
import { Database } from '../kernel/database/tx.ts'
import type { Log } from '../kernel/log.ts'
import { SYSTEM_TENANT } from '../kernel/uuid.ts'
import type { Environment } from './environment.ts'
import { findOne } from './queries.ts'

const EVERY_MS = 1000
const SCOPE = { tenant_id: SYSTEM_TENANT, actor: 'operator:watchdog' }

export interface Watchdog {
  stop(): Promise<void>
}

/** On connections of its own, so that a busy process is not mistaken for a dead server. */
export function watchDatabase(environment: Environment, log: Log): Watchdog {
  const database = new Database({
    connection: environment.connections.app,
    max: 2,
    prepared: false,
    statement_timeout_ms: 10_000,
    wait_ms: 10_000,
  })
  const stopping = new AbortController()

  async function look(): Promise<void> {
    try {
      await database.one(SCOPE, findOne)
    } catch (error) {
      if (!isConnectionFailure((error as Error).cause ?? error)) throw error
      log.warn({ err: error }, 'the embedded database does not answer; starting it again')
      if (await environment.revive()) log.warn('the embedded database runs again')
    }
  }

  async function watch(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(EVERY_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (stopping.signal.aborted) return
      await look().catch((error) => log.error({ err: error }, 'the embedded database could not be looked after'))
    }
  }

  const watching = watch()
  return {
    stop: async () => {
      stopping.abort()
      await watching
      await database.end()
    },
  }
}
