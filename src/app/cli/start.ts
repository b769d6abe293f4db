/** `start`: everything in one process, for evaluation and for small installations. Prints each step. */
import fs from 'node:fs'
import path from 'node:path'
import { migrate } from '#kernel/database/migrations.ts'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import { createLog, type Log } from '#kernel/log.ts'
import type { Config } from '../config.ts'
import { startDemoData } from '../demo/start-demo-data.ts'
import { type Environment, ensureKeyring, openEnvironment } from '../environment.ts'
import { modules } from '../modules.ts'
import { assertPortFree } from '../ports.ts'
import { ProcessLifecycle } from '../process-lifecycle.ts'
import { type Project, readProjectMigrations } from '../project.ts'
import { seed } from '../seed.ts'
import { httpPortSettings, metricsPortSettings, type RunningService, serve } from '../serve.ts'
import { assertChecksPass, hasSigningKey, waitForDatabase, withCheckContext } from '../startup-checks.ts'
import { watchDatabase } from '../watchdog.ts'
import type { Command, Terminal } from './command.ts'
import { formatWelcome } from './welcome.ts'

const LOG_MAX_BYTES = 64 * 1024 * 1024
const WAIT_MS = 30_000
const DATABASE_STOP_MS = 70_000

export const start: Command = {
  about: `
Without DATABASE_URL it starts its own PostgreSQL, with its files in .probity (or PROBITY_DATA_DIR). With the URLs of an
external server it migrates when MIGRATOR_DATABASE_URL is set, and never touches that server's roles.
Ctrl-C or SIGTERM stops everything, the embedded database included. "npx probity help environment" lists the settings.

Examples:
  npm start
  PORT=8080 PROBITY_DATA_DIR=/var/lib/probity/data npx probity start`,
  run: async ({ config: read, project, terminal, by_npm, host }) => {
    const config = read()
    const say = createProgressPrinter(terminal)
    let log: Log | undefined
    const life = new ProcessLifecycle({
      say,
      onCrash: (error) => {
        log?.fatal({ err: error }, 'uncaught exception')
        say(`An unexpected error, stopping: ${error instanceof Error ? error.message : String(error)}`)
      },
    })
    life.listen({ by_npm })
    try {
      terminal.out(`Probity ${project.version} is starting${describeConsole(config)}`)
      await assertPortsFree(config)
      const environment = await openEnvironment({
        config,
        project,
        access: 'own',
        may_create: true,
        name: 'start',
        onStep: say,
      })
      life.onEnd(config.database_urls ? null : 'Stopping PostgreSQL', DATABASE_STOP_MS, () => environment.close())
      life.proceed()
      const keyring = await prepareDatabase({ config, project, environment, say, life, scripts_dir: host.scripts_dir })
      life.proceed()
      const log_file = path.join(environment.home, 'service.log')
      log = openLog(config, log_file)
      if (!config.database_urls) {
        const watchdog = watchDatabase(environment, log)
        life.onEnd(null, DATABASE_STOP_MS, () => watchdog.stop())
      }
      const serving = await serveAll({ config, project, environment, keyring, log, life })
      terminal.out(renderWelcome({ config, project, environment, serving, log_file }))
      startDemoData({ config, project, environment, serving, host: toLocalHost(config), log, life, say })
      await life.ended()
      log.info('stopping')
    } catch (error) {
      if (!life.isInterruption(error)) throw error
    } finally {
      await life.close()
    }
    say('Stopped')
    return life.exit_code
  },
}

function createProgressPrinter(terminal: Terminal): (text: string) => void {
  return (text) => terminal.out(`${(performance.now() / 1000).toFixed(1).padStart(6)} s  ${text}`)
}

const getDefaultHost = (config: Config): string => (config.database_urls && config.production ? '0.0.0.0' : 'localhost')

/** Before the database is started: a port in use must leave nothing behind. */
async function assertPortsFree(config: Config): Promise<void> {
  await assertPortFree(httpPortSettings(config, getDefaultHost(config)))
  await assertPortFree(metricsPortSettings(config))
}

/** Migrates and seeds, then runs the start-up checks of every serving process. */
async function prepareDatabase(options: {
  config: Config
  project: Project
  environment: Environment
  say: (text: string) => void
  life: ProcessLifecycle
  scripts_dir: string
}): Promise<Keyring> {
  const { config, project, environment, say, life, scripts_dir } = options
  const { connections } = environment
  const migrations = readProjectMigrations(project)
  const facts = { connections, migrations, production: config.production }
  return withCheckContext({ ...facts, keyring: null }, async (guarded) => {
    const onWait = (reason: string) => say(`Waiting for the database (${reason})`)
    await waitForDatabase(guarded, { limit_ms: WAIT_MS, onWait, signal: life.signal })
    life.proceed()
    if (connections.migrator) {
      let started = 0
      const onMigration = () => started++ === 0 && say('Applying migrations')
      const applied = await migrate(connections.migrator, migrations, onMigration)
      say(applied.length === 0 ? 'The schema is up to date' : `Applied ${applied.length} migrations`)
      life.proceed()
    }
    await assertChecksPass(guarded, [
      'database',
      'role app',
      'role worker',
      'role steward',
      'schema',
      'tenant isolation',
    ])
    const isSealed = () => hasSigningKey(guarded)
    const keyring = await ensureKeyring(config, environment.home, { isSealed, onStep: say })
    const onFault = (text: string) => say(`Warning: ${text}`)
    const plugins = { folder: config.plugins.folder, scripts_dir, onFault }
    const context = { ...guarded, keyring, modules, project_root: project.root, plugins }
    let seeded = 0
    const onSeed = () => seeded++ === 0 && say('Seeding types, lists, matrices and rules')
    await seed(context, { demo: config.demo }, onSeed)
    if (seeded > 0) say(`Seeded ${seeded} objects`)
    await assertChecksPass({ ...guarded, keyring }, ['seed', 'signing key', 'integrity keys', 'demo tenants'])
    return keyring
  })
}

function openLog(config: Config, file: string): Log {
  const size = fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size > LOG_MAX_BYTES) fs.renameSync(file, `${file}.old`)
  return createLog({ level: config.log_level, destination: file, name: 'start' })
}

function serveAll(options: {
  config: Config
  project: Project
  environment: Environment
  keyring: Keyring
  log: Log
  life: ProcessLifecycle
}): Promise<RunningService> {
  const { config, environment, life, ...rest } = options
  const http = httpPortSettings(config, getDefaultHost(config))
  const { connections } = environment
  return serve({ ...rest, config, connections, http, metrics: metricsPortSettings(config), jobs: true }, life)
}

function renderWelcome(options: {
  config: Config
  project: Project
  environment: Environment
  serving: RunningService
  log_file: string
}): string {
  const { config, project, environment, serving, log_file } = options
  return formatWelcome({
    version: project.version,
    took_s: performance.now() / 1000,
    url: toConsoleUrl(config, serving.port ?? config.port),
    metrics_url: `http://${toReachableHost(config.metrics_host)}:${serving.metrics_port}/metrics`,
    data_dir: config.database_urls ? null : environment.home,
    log_file,
    demo: config.demo,
    demo_sign_in: toDemoSignIn(serving),
    readiness: serving.readiness,
  })
}

const toDemoSignIn = ({ kernel: { demoSignIn } }: RunningService) =>
  demoSignIn === null ? null : demoSignIn.allows_remote ? 'everywhere' : 'this machine'

const toLocalHost = (config: Config): string => toReachableHost(config.host ?? getDefaultHost(config))

const toConsoleUrl = (config: Config, port: number): string =>
  config.public_url ?? `http://${toLocalHost(config)}:${port}`

/** Before anything that takes time; a port that the system chooses is not known yet. */
const describeConsole = (config: Config): string =>
  config.port === 0 ? '' : `; its console will be at ${toConsoleUrl(config, config.port)}`

/** An address that can be opened in a browser: 0.0.0.0 cannot. */
function toReachableHost(host: string): string {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
