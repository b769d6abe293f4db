/**
 * `api` and `worker`: one part of the program per process, any number of each on one database. They change nothing in the
 * schema; they refuse to serve from a database that is not as it must be.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { createLog, type Log } from '../../kernel/log.ts'
import { type Environment, loadKeyring, NotRunning, openEnvironment } from '../environment.ts'
import { awaitDatabase, expectSound, type GuardName, guardNames, keyGuardNames, withGuarded } from '../guard.ts'
import { prepareIntegrityKeys } from '../integrity.ts'
import { Lifetime } from '../lifetime.ts'
import { expectFreePort } from '../ports.ts'
import { migrationsOf } from '../project.ts'
import { httpQuestion, metricsQuestion, serve } from '../serve.ts'
import type { Command, Invocation } from './command.ts'

const WAIT_MS = 30_000

const about = (what: string) => `
${what} It needs DATABASE_URL, WORKER_DATABASE_URL and STEWARD_DATABASE_URL, or an embedded server that "start" runs on the
same data folder. Run "npx probity migrate" and "npx probity seed" before. Logs are JSON lines on standard output; the
metrics port (PROBITY_METRICS_PORT) must differ between processes on one machine.`

export const api: Command = {
  name: 'api',
  summary: 'The HTTP API and console alone',
  about: about('Answers requests; jobs wait for a worker.'),
  run: (invocation) => serveAlone('api', invocation),
}

export const worker: Command = {
  name: 'worker',
  summary: 'The job runner alone',
  about: about('Runs jobs and schedules; answers no requests.'),
  run: (invocation) => serveAlone('worker', invocation),
}

async function serveAlone(name: 'api' | 'worker', { config: read, project, by_npm }: Invocation): Promise<number> {
  const config = read()
  const log = createLog({ level: config.log_level, name })
  const life = new Lifetime({
    say: (text) => log.info(text),
    onCrash: (error) => log.fatal({ err: error }, 'uncaught'),
  })
  life.listen({ by_npm })
  try {
    const http = name === 'api' ? httpQuestion(config, '0.0.0.0') : null
    const metrics = metricsQuestion(config)
    if (http) await expectFreePort(http)
    await expectFreePort(metrics)
    const deadline = performance.now() + WAIT_MS
    const open = () => openEnvironment({ config, project, claim: 'attach', name })
    const environment = await retrying(open, deadline, life, log)
    life.onEnd(null, 5000, () => environment.close())
    const { connections } = environment
    const facts = { connections, migrations: migrationsOf(project), keyring: null, production: config.production }
    const keyring = await withGuarded(facts, async (guarded) => {
      const onWait = (reason: string) => log.warn({ reason }, 'waiting for the database')
      await awaitDatabase(guarded, { limit_ms: deadline - performance.now(), onWait, signal: life.signal })
      const needsKeys = (check: GuardName): boolean => (keyGuardNames as readonly GuardName[]).includes(check)
      await expectSound(
        guarded,
        guardNames.filter((check) => !needsKeys(check)),
      )
      // After the others: where nothing was migrated or seeded yet, a missing key is not the news.
      const loaded = loadKeyring(config, environment.home)
      await prepareIntegrityKeys({ ...guarded, keyring: loaded })
      await expectSound({ ...guarded, keyring: loaded }, keyGuardNames)
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

/** The embedded server of a "start" beside this process may be on its way. */
async function retrying(
  open: () => Promise<Environment>,
  deadline: number,
  life: Lifetime,
  log: Log,
): Promise<Environment> {
  for (let told = false; ; told = true) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof NotRunning) || performance.now() > deadline) throw error
      if (!told) log.warn({ reason: error.message }, 'waiting for the database')
      await sleep(500, undefined, { signal: life.signal })
    }
  }
}
