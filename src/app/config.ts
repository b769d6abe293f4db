/**
 * Parses the environment once at the start into one frozen, typed object. Every invalid value is named in one message together
 * with what would be valid; nothing else in the program reads process.env.
 */
import fs from 'node:fs'
import { parseDatabaseUrl } from '#kernel/database/database-url.ts'
import { defaultThreads } from '#kernel/thread-admission.ts'
import type { ConfiguredIssuer } from './issuers.ts'

export interface Config {
  readonly production: boolean
  readonly port: number
  readonly host: string | null
  readonly database_urls: {
    readonly app: string
    readonly worker: string
    readonly steward: string
    readonly migrator: string | null
  } | null
  readonly data_dir: string | null
  readonly master_key_files: readonly string[]
  readonly demo: boolean
  /** Whether `start` adds data to the demo tenant. */
  readonly demo_data: boolean
  readonly demo_remote: boolean
  readonly issuers: readonly ConfiguredIssuer[]
  readonly public_url: string | null
  readonly cors_origins: readonly string[]
  readonly trusted_proxies: number
  readonly pool_size: number
  readonly prepared_statements: boolean
  readonly statement_timeout_ms: number
  readonly worker_slots: number
  readonly upload_max_bytes: number
  readonly heavy_threads: number
  readonly preview_max_rows: number
  readonly preview_time_limit_ms: number
  readonly log_level: string
  readonly metrics_port: number
  readonly metrics_host: string
  readonly drain_ms: number
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(`The configuration is not usable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.faults = faults
  }
}

/** The environment as the process was given it. */
export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

export const urlVariables = {
  app: 'DATABASE_URL',
  worker: 'WORKER_DATABASE_URL',
  steward: 'STEWARD_DATABASE_URL',
  migrator: 'MIGRATOR_DATABASE_URL',
} as const

/** The schema of the issuers file is loaded only where there is one: it takes longer than most commands run. */
export type ParseIssuers = (content: unknown) => ConfiguredIssuer[]

const refuseIssuers: ParseIssuers = () => {
  throw new Error('this process does not read it')
}

export function readConfig(env: EnvironmentVariables, parseIssuers: ParseIssuers = refuseIssuers): Config {
  const faults: string[] = []
  const getVariable = (name: string): string | undefined =>
    env[name] === undefined || env[name] === '' ? undefined : env[name]
  const integer = (name: string, fallback: number, min: number, max: number): number => {
    const text = getVariable(name)
    if (text === undefined) return fallback
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    faults.push(`${name} must be a whole number from ${min} to ${max}.`)
    return fallback
  }
  const flag = (name: string, fallback: boolean): boolean => {
    const text = getVariable(name)
    if (text === undefined) return fallback
    if (['on', 'true', '1'].includes(text)) return true
    if (['off', 'false', '0'].includes(text)) return false
    faults.push(`${name} must be on or off.`)
    return fallback
  }
  const level = getVariable('PROBITY_LOG_LEVEL') ?? 'info'
  if (!['debug', 'info', 'warn', 'error', 'silent'].includes(level)) {
    faults.push('PROBITY_LOG_LEVEL must be debug, info, warn, error or silent.')
  }
  const production = getVariable('NODE_ENV') === 'production'
  const database_urls = readDatabaseUrls(getVariable, faults)
  const demo = flag('PROBITY_DEMO', !production && database_urls === null)
  if (demo && production) {
    faults.push(
      'PROBITY_DEMO is on with NODE_ENV=production: demo tenants and sign-in without a password are for trying out only. Set PROBITY_DEMO=off.',
    )
  }
  const demo_data = flag('PROBITY_DEMO_DATA', demo)
  if (demo_data && !demo) faults.push('PROBITY_DEMO_DATA is on but PROBITY_DEMO is off: there is no demo tenant.')
  const demo_remote = flag('PROBITY_DEMO_REMOTE', false)
  if (demo_remote && !demo) {
    faults.push('PROBITY_DEMO_REMOTE is on, but PROBITY_DEMO is off: there is no demo sign-in. Leave it unset.')
  }
  const master_key_files = splitList(getVariable('PROBITY_MASTER_KEY_FILE'))
  if (production && master_key_files.length === 0) {
    faults.push(
      'PROBITY_MASTER_KEY_FILE must name the file with the master key (32 bytes as 64 hex digits, mode 0600) when NODE_ENV=production.',
    )
  }
  const config: Config = {
    production,
    port: integer('PORT', 8000, 0, 65535),
    host: getVariable('HOST') ?? null,
    database_urls,
    data_dir: getVariable('PROBITY_DATA_DIR') ?? null,
    master_key_files,
    demo,
    demo_data,
    demo_remote,
    issuers: readIssuersFile(getVariable('PROBITY_ISSUERS_FILE'), parseIssuers, faults),
    public_url: readPublicUrl(getVariable('PROBITY_PUBLIC_URL'), faults),
    cors_origins: readOrigins(getVariable('PROBITY_CORS_ORIGINS'), faults),
    trusted_proxies: integer('PROBITY_TRUSTED_PROXIES', 0, 0, 10),
    pool_size: integer('PROBITY_POOL_SIZE', 10, 2, 500),
    prepared_statements: flag('PROBITY_PREPARED_STATEMENTS', true),
    statement_timeout_ms: integer('PROBITY_STATEMENT_TIMEOUT_MS', 15_000, 100, 600_000),
    worker_slots: integer('PROBITY_WORKER_SLOTS', 4, 1, 100),
    upload_max_bytes: integer('PROBITY_UPLOAD_MAX_BYTES', 512 * 1024 * 1024, 1024, 1024 ** 4),
    heavy_threads: integer('PROBITY_HEAVY_THREADS', defaultThreads(), 1, 64),
    preview_max_rows: integer('PROBITY_PREVIEW_MAX_ROWS', 1_000_000, 100, 1_000_000_000),
    preview_time_limit_ms: integer('PROBITY_PREVIEW_TIME_LIMIT_MS', 10_000, 100, 600_000),
    log_level: level,
    metrics_port: integer('PROBITY_METRICS_PORT', 9464, 0, 65535),
    metrics_host: getVariable('PROBITY_METRICS_HOST') ?? '127.0.0.1',
    drain_ms: integer('PROBITY_DRAIN_MS', production ? 5000 : 0, 0, 300_000),
  }
  if (faults.length > 0) throw new ConfigError(faults)
  return Object.freeze(config)
}

function readDatabaseUrls(given: (name: string) => string | undefined, faults: string[]): Config['database_urls'] {
  const urls = Object.entries(urlVariables).map(([role, name]) => [role, name, given(name)] as const)
  const set = urls.filter(([, , url]) => url !== undefined)
  if (set.length === 0) return null
  for (const [, name, url] of set) {
    if (!/^postgres(ql)?:\/\//.test(url as string)) {
      faults.push(`${name} must be a URL such as postgres://app:password@host:5432/probity.`)
      continue
    }
    try {
      parseDatabaseUrl(url as string)
    } catch (error) {
      faults.push(`${name}: ${(error as Error).message}.`)
    }
  }
  for (const [role, name, url] of urls) {
    if (url === undefined && role !== 'migrator') {
      faults.push(
        `${name} is missing. Set it for the role ${role}; "npx probity roles --print" gives the SQL that makes the roles.`,
      )
    }
  }
  const byRole = Object.fromEntries(urls.map(([role, , url]) => [role, url ?? null])) as Record<
    keyof typeof urlVariables,
    string | null
  >
  return {
    app: byRole.app ?? '',
    worker: byRole.worker ?? '',
    steward: byRole.steward ?? '',
    migrator: byRole.migrator,
  }
}

function readPublicUrl(text: string | undefined, faults: string[]): string | null {
  if (text === undefined) return null
  if (/^https?:\/\/[^\s/]+$/.test(text) && URL.canParse(text)) return text
  faults.push('PROBITY_PUBLIC_URL must be scheme and host without a path, such as https://probity.example.com.')
  return null
}

/** Separated by commas, with or without a space. */
const splitList = (text = ''): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean)

function readOrigins(text: string | undefined, faults: string[]): string[] {
  const origins = splitList(text)
  for (const origin of origins) {
    if (!URL.canParse(origin) || new URL(origin).origin !== origin) {
      faults.push(`PROBITY_CORS_ORIGINS: ${origin.slice(0, 100)} is not an origin such as https://console.example.com.`)
    }
  }
  return origins
}

function readIssuersFile(file: string | undefined, parseIssuers: ParseIssuers, faults: string[]): ConfiguredIssuer[] {
  if (file === undefined) return []
  try {
    return parseIssuers(JSON.parse(fs.readFileSync(file, 'utf8')))
  } catch (error) {
    faults.push(`PROBITY_ISSUERS_FILE (${file}): ${(error as Error).message}`)
    return []
  }
}
