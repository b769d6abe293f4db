/** Detects that the embedded PostgreSQL died, and starts it again. Requests in between are answered 503 by the kernel. */
import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionFailure } from '#kernel/database/failures.ts'
import { unrestrictedScope } from '#kernel/database/scope.ts'
import { Database } from '#kernel/database/tx.ts'
import type { Log } from '#kernel/log.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import type { Environment } from './environment.ts'
import { pingDatabase } from './queries.ts'

const CHECK_INTERVAL_MS = 1000
const SCOPE = unrestrictedScope(SYSTEM_TENANT, 'operator:watchdog')

export interface Watchdog {
  stop(): Promise<void>
}

/** With connections of its own, so that a busy process is not mistaken for a dead server. */
export function watchDatabase(environment: Environment, log: Log): Watchdog {
  const database = new Database({
    connection: environment.connections.app,
    max: 2,
    prepared: false,
    statement_timeout_ms: 10_000,
    wait_ms: 10_000,
  })
  const stopping = new AbortController()

  async function checkDatabase(): Promise<void> {
    try {
      await database.one(SCOPE, pingDatabase)
    } catch (error) {
      if (!isConnectionFailure((error as Error).cause ?? error)) throw error
      log.warn({ err: error }, 'embedded database is down, restarting')
      if (await environment.restartIfDead()) log.warn('embedded database restarted')
    }
  }

  async function runLoop(): Promise<void> {
    while (!stopping.signal.aborted) {
      await sleep(CHECK_INTERVAL_MS, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (stopping.signal.aborted) return
      await checkDatabase().catch((error) => log.error({ err: error }, 'failed to check embedded database'))
    }
  }

  const watching = runLoop()
  return {
    stop: async () => {
      stopping.abort()
      await watching
      await database.end()
    },
  }
}
