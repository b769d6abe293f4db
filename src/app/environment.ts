/**
 * Turns configuration into connections of each role, to the embedded or an external server, and the keyring of master keys.
 * It decides which process may start the embedded server; it reads no tenant data.
 */
import { randomUUID } from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import type pg from 'pg'
import { type ConnectionConfig, toConnectionConfig } from '#kernel/database/servers.ts'
import { combineKeyrings, createKeyCommand } from '#kernel/encryption/key-command.ts'
import { createKeyring, createMasterKeyFile, type Keyring, loadMasterKeyFile } from '#kernel/encryption/keyring.ts'
import { createFileLedger } from '#kernel/erasure/file-ledger.ts'
import type { ErasureLedger } from '#kernel/erasure/ledger.ts'
import type { Config } from './config.ts'
import { resolveDataDir } from './embedded/data-dir.ts'
import { connectEmbedded, EmbeddedInUseError, type EmbeddedServer, startEmbedded } from './embedded/launcher.ts'
import type { LoginRole } from './embedded/roles.ts'
import { makeFolder } from './embedded/usable-folder.ts'
import type { Project } from './project.ts'

export interface Connections {
  readonly app: ConnectionConfig
  readonly worker: ConnectionConfig
  readonly steward: ConnectionConfig
  /** Null on an external server unless MIGRATOR_DATABASE_URL is set. */
  readonly migrator: ConnectionConfig | null
}

export interface Environment {
  readonly connections: Connections
  /** Folder of files of this installation: the master key of a development machine, the log of `start`. */
  readonly home: string
  /** Starts the embedded server again if it died; false when it runs. */
  restartIfDead(): Promise<boolean>
  close(): Promise<void>
}

/**
 * What a process may do with the embedded server. `own`: start it and be its only instance. `borrow`: use the running one, or
 * start it temporarily. `attach`: use the running one only.
 */
export type EmbeddedAccess = 'own' | 'borrow' | 'attach'

export class NotRunningError extends Error {
  override readonly name = 'NotRunningError'
}

export interface EnvironmentOptions {
  readonly config: Config
  readonly project: Project
  readonly access: EmbeddedAccess
  /** Whether an empty data folder may be initialised. */
  readonly may_create?: boolean
  readonly name: string
  readonly onStep?: (text: string) => void
}

/** The configured folder; whether it exists and can be used is checked elsewhere. */
export function resolveHome(config: Config, project: Project): { dir: string; moved: string | null } {
  if (config.database_urls === null) {
    return resolveDataDir({ PROBITY_DATA_DIR: config.data_dir ?? undefined }, project.root)
  }
  return { dir: path.resolve(config.data_dir ?? path.join(project.root, '.probity')), moved: null }
}

/** Null: an external database, and PROBITY_ERASURE_LEDGER is not set. */
export function openErasureLedger(config: Config, project: Project): ErasureLedger | null {
  const inHome = config.database_urls === null ? path.join(resolveHome(config, project).dir, LEDGER_FILE) : null
  const file = config.erasure_ledger ?? inHome
  return file === null ? null : createFileLedger(path.resolve(file))
}
const LEDGER_FILE = 'erasure-ledger.ndjson'

export const hasDatabase = (home: string): boolean => fs.existsSync(path.join(home, 'pg/PG_VERSION'))

export async function openEnvironment(options: EnvironmentOptions): Promise<Environment> {
  const { config, project, name } = options
  const home = resolveHome(config, project)
  const { database_urls } = config
  if (database_urls) {
    const external = (url: string): ConnectionConfig =>
      toConnectionConfig(url, { application_name: `probity ${name}`, keepAlive: true })
    return {
      home: home.dir,
      connections: {
        app: external(database_urls.app),
        worker: external(database_urls.worker),
        steward: external(database_urls.steward),
        migrator: database_urls.migrator === null ? null : external(database_urls.migrator),
      },
      restartIfDead: async () => false,
      close: async () => {},
    }
  }
  if (home.moved && options.access === 'own') options.onStep?.(home.moved)
  const running = options.access === 'own' ? null : await connectOrExplain(home.dir)
  if (running)
    return {
      ...buildConnections(running, name),
      home: home.dir,
      restartIfDead: async () => false,
      close: async () => {},
    }
  if (options.access === 'attach') {
    throw new NotRunningError(
      `No database runs on ${home.dir}. Run "npx probity start" there first, or set DATABASE_URL, WORKER_DATABASE_URL and ` +
        'STEWARD_DATABASE_URL to use a server of your own.',
    )
  }
  if (!options.may_create && !hasDatabase(home.dir)) {
    throw new Error(
      `There is no database in ${home.dir} yet. Run "npx probity migrate" for an empty one (restore needs that), or ` +
        '"npx probity start", which also fills it.',
    )
  }
  return startOwnServer(options, home.dir)
}

async function startOwnServer(options: EnvironmentOptions, dataDir: string): Promise<Environment> {
  const { config, project, name, onStep } = options
  const start = () =>
    startEmbedded({
      dataDir,
      projectRoot: project.root,
      // Enough for every pool of this process, and for tools and workers beside it.
      maxConnections: Math.max(100, config.pool_size * 2 + 40),
      planOnce: true,
      ...(onStep && { onStep }),
    })
  let embedded = await start()
  return {
    ...buildConnections(embedded, name),
    home: embedded.dataDir,
    restartIfDead: async () => {
      const before = embedded
      try {
        embedded = await start()
      } catch (error) {
        // Our own connection holds it: the server runs after all.
        if (error instanceof EmbeddedInUseError) return false
        throw error
      }
      // Its server is gone; this only closes the dead connection.
      await before.stop().catch(() => {})
      return true
    },
    close: () => embedded.stop(),
  }
}

function buildConnections(embedded: Pick<EmbeddedServer, 'url'>, name: string): Pick<Environment, 'connections'> {
  const as = (role: LoginRole): pg.PoolConfig => ({ ...embedded.url(role), application_name: `probity ${name}` })
  return { connections: { app: as('app'), worker: as('worker'), steward: as('steward'), migrator: as('migrator') } }
}

async function connectOrExplain(dir: string): Promise<Omit<EmbeddedServer, 'stop'> | null> {
  try {
    return await connectEmbedded(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error
    throw new Error(`The data folder ${dir} belongs to another user. Run this as the user that started Probity.`, {
      cause: error,
    })
  }
}

/** The files in order of use: the first encrypts, the others only decrypt. With a key command there may be none. */
export function getMasterKeyFiles(config: Config, home: string): readonly string[] {
  if (config.master_key_files.length > 0 || config.key_command) return config.master_key_files
  return [path.join(home, 'master.key')]
}

/** Reads the files; the key command is not called. */
export function loadKeyring(config: Config, home: string): Keyring {
  const { key_command } = config
  const master = getMasterKeyFiles(config, home).map(readMasterKey)
  const files = master.length > 0 ? createKeyring(master) : null
  if (!key_command) return combineKeyrings(files, null, 'file')
  return combineKeyrings(files, createKeyCommand(key_command), key_command.wraps ? 'command' : 'file')
}

function readMasterKey(file: string): Buffer {
  try {
    return loadMasterKeyFile(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw withFileName(file, error as Error)
    throw new Error(
      `The master key file ${file} is missing. Restore it from a backup. If it is lost, everything sealed with it is lost ` +
        `too: make a new one (openssl rand -hex 32 > ${file}; chmod 600 ${file}), then run "npx probity keys renew" and ` +
        '"npx probity keys rotate".',
    )
  }
}

const withFileName = (file: string, error: Error): Error =>
  error.message.includes(file) ? error : new Error(`${file}: ${error.message}`, { cause: error })

/** For commands that may create the first master key of a development machine; a lost one is never silently replaced. */
export async function ensureKeyring(
  config: Config,
  home: string,
  options: { isSealed: () => Promise<boolean>; onStep: (text: string) => void },
): Promise<Keyring> {
  const [file] = getMasterKeyFiles(config, home)
  const isMissing = config.master_key_files.length === 0 && file !== undefined && !fs.existsSync(file)
  // Next to values encrypted with another key, a new one would look right and decrypt nothing.
  if (isMissing && !(await options.isSealed())) {
    createMasterKey(file)
    options.onStep(`Made the master key ${file}`)
  }
  return loadKeyring(config, home)
}

function createMasterKey(file: string): void {
  makeFolder(path.dirname(file), 0o700)
  const draft = `${file}.${randomUUID()}`
  createMasterKeyFile(draft)
  try {
    // A hard link never replaces a file: of two concurrent starts both use the key of the first.
    fs.linkSync(draft, file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    fs.unlinkSync(draft)
  }
}
