/**
 * `api` and `worker`: one part of the program per process, any number of each on one database. They never change the schema, and
 * refuse to serve from a database that fails the start-up checks.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog, type Log } from '#kernel/log.ts'
import { type Environment, loadKeyring, NotRunningError, openEnvironment } from '../environment.ts'
import { prepareIntegrityKeys } from '../integrity-keys.ts'
import { assertPortFree } from '../ports.ts'
import { ProcessLifecycle } from '../process-lifecycle.ts'
import { readProjectMigrations } from '../project.ts'
import { httpPortSettings, metricsPortSettings, serve } from '../serve.ts'
import {
  assertChecksPass,
  type CheckName,
  checkNames,
  keyCheckNames,
  waitForDatabase,
  withCheckContext,
} from '../startup-checks.ts'
import type { Command, Invocation } from './command.ts'

const WAIT_MS = 30_000

const describeProcess = (what: string) => `
${what} It needs DATABASE_URL, WORKER_DATABASE_URL and STEWARD_DATABASE_URL, or an embedded server that "start" runs on the
same data folder. Run "npx probity migrate" and "npx probity seed" before. Logs are JSON lines on standard output; the
metrics port (PROBITY_METRICS_PORT) must differ between processes on one machine.`

export const api: Command = {
  about: describeProcess('Answers requests; jobs wait for a worker.'),
  run: (invocation) => runProcess('api', invocation),
}

export const worker: Command = {
  about: describeProcess('Runs jobs and schedules; answers no requests.'),
  run: (invocation) => runProcess('worker', invocation),
}

async function runProcess(name: 'api' | 'worker', { config: read, project, by_npm }: Invocation): Promise<number> {
  const config = read()
  const log = createLog({ level: config.log_level, name })
  const life = new ProcessLifecycle({
    say: (text) => log.info(text),
    onCrash: (error) => log.fatal({ err: error }, 'uncaught exception'),
  })
  life.listen({ by_npm })
  try {
    const http = name === 'api' ? httpPortSettings(config, '0.0.0.0') : null
    const metrics = metricsPortSettings(config)
    if (http) await assertPortFree(http)
    await assertPortFree(metrics)
    const deadline = performance.now() + WAIT_MS
    const open = () => openEnvironment({ config, project, access: 'attach', name })
    const environment = await retryOpen(open, deadline, life, log)
    life.onEnd(null, 5000, () => environment.close())
    const { connections } = environment
    const facts = {
      connections,
      migrations: readProjectMigrations(project),
      keyring: null,
      production: config.production,
    }
    const keyring = await withCheckContext(facts, async (guarded) => {
      const onWait = (reason: string) => log.warn({ reason }, 'waiting for the database')
      await waitForDatabase(guarded, { limit_ms: deadline - performance.now(), onWait, signal: life.signal })
      const needsKeys = (check: CheckName): boolean => (keyCheckNames as readonly CheckName[]).includes(check)
      await assertChecksPass(
        guarded,
        checkNames.filter((check) => !needsKeys(check)),
      )
      // After the others: if nothing was migrated or seeded yet, a missing key is not the cause.
      const loaded = loadKeyring(config, environment.home)
      await prepareIntegrityKeys({ ...guarded, keyring: loaded })
      await assertChecksPass({ ...guarded, keyring: loaded }, keyCheckNames)
      return loaded
    })
    life.proceed()
    await serve({ config, project, connections, keyring, log, http, metrics, jobs: name === 'worker' }, life)
    await life.ended()
    log.info('stopping')
  } catch (error) {
    if (!life.isInterruption(error)) throw error
  } finally {
    await life.close()
  }
  log.info('stopped')
  return life.exit_code
}

/** The embedded server of a "start" may still be starting. */
async function retryOpen(
  open: () => Promise<Environment>,
  deadline: number,
  life: ProcessLifecycle,
  log: Log,
): Promise<Environment> {
  for (let reported = false; ; reported = true) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof NotRunningError) || performance.now() > deadline) throw error
      if (!reported) log.warn({ reason: error.message }, 'waiting for the database')
      await sleep(500, undefined, { signal: life.signal })
    }
  }
}
