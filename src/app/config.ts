/**
 * Parses the environment once at the start into one frozen, typed object. Every invalid value is named in one message together
 * with what would be valid; nothing else in the program reads process.env.
 */
import fs from 'node:fs'
import path from 'node:path'
import { parseDatabaseUrl } from '#kernel/database/database-url.ts'
import type { EgressSettings } from '#kernel/egress/settings.ts'
import type { ScannerAddress } from '#kernel/malware-scanner.ts'
import { defaultThreads } from '#kernel/thread-admission.ts'
import { describeFont, listFontFiles } from '#kernel/typesetting/font-files.ts'
import { readEgressSettings } from './egress-settings.ts'
import type { ConfiguredIssuer } from './issuers.ts'
import { type PluginSettings, readPluginSettings } from './plugin-settings.ts'

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
  /** Null: the master key is in files only. */
  readonly key_command: KeyCommandConfig | null
  /** File of the erasure ledger; null: in the data folder of the embedded server, otherwise none. */
  readonly erasure_ledger: string | null
  /** How long the operator keeps backups; null: not said. */
  readonly backup_days: number | null
  readonly demo: boolean
  /** Whether `start` adds data to the demo tenant. */
  readonly demo_data: boolean
  readonly demo_remote: boolean
  readonly issuers: readonly ConfiguredIssuer[]
  readonly egress: EgressSettings
  readonly public_url: string | null
  readonly cors_origins: readonly string[]
  readonly trusted_proxies: number
  readonly pool_size: number
  readonly prepared_statements: boolean
  readonly statement_timeout_ms: number
  readonly worker_slots: number
  readonly upload_max_bytes: number
  readonly heavy_threads: number
  /** Serves every provider call from recorded answers; null: as each tenant chose. */
  readonly forced_provider_mode: 'recorded' | null
  readonly plugins: PluginSettings
  /** The malware scanner of documents; null: there is none. */
  readonly scanner: ScannerAddress | null
  /** A folder with more fonts for PDF files; null: those of the installation. */
  readonly fonts_dir: string | null
  readonly preview_max_rows: number
  readonly preview_time_limit_ms: number
  readonly log_level: string
  readonly metrics_port: number
  readonly metrics_host: string
  readonly drain_ms: number
}

export interface KeyCommandConfig {
  readonly argv: readonly string[]
  readonly key_ids: readonly string[]
  /** Without the database passwords of this process. */
  readonly environment: Readonly<Record<string, string>>
  /** Whether new keys are wrapped by the command; otherwise it only unwraps, and the first file wraps. */
  readonly wraps: boolean
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

type ReadFlag = (name: string, fallback: boolean) => boolean

function readDemoSettings(
  flag: ReadFlag,
  { production, is_external }: { readonly production: boolean; readonly is_external: boolean },
  faults: string[],
): Pick<Config, 'demo' | 'demo_data' | 'demo_remote'> {
  const demo = flag('PROBITY_DEMO', !production && !is_external)
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
  return { demo, demo_data, demo_remote }
}

function readMasterKeySettings(
  getVariable: (name: string) => string | undefined,
  env: EnvironmentVariables,
  production: boolean,
  faults: string[],
): Pick<Config, 'master_key_files' | 'key_command'> {
  const master_key_files = splitList(getVariable('PROBITY_MASTER_KEY_FILE'))
  const key_command = readKeyCommand(getVariable, env, faults)
  if (production && master_key_files.length === 0 && !key_command) {
    faults.push(
      'PROBITY_MASTER_KEY_FILE must name the file with the master key (32 bytes as 64 hex digits, mode 0600), or PROBITY_KEY_COMMAND a program, when NODE_ENV=production.',
    )
  }
  if (key_command && !key_command.wraps && master_key_files.length === 0) {
    faults.push('PROBITY_MASTER_KEY_SOURCE is file, but PROBITY_MASTER_KEY_FILE names no file.')
  }
  return { master_key_files, key_command }
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
  const level = readLogLevel(getVariable('PROBITY_LOG_LEVEL'), faults)
  const production = getVariable('NODE_ENV') === 'production'
  const database_urls = readDatabaseUrls(getVariable, faults)
  const demo = readDemoSettings(flag, { production, is_external: database_urls !== null }, faults)
  const keys = readMasterKeySettings(getVariable, env, production, faults)
  const config: Config = {
    production,
    port: integer('PORT', 8000, 0, 65535),
    host: getVariable('HOST') ?? null,
    database_urls,
    data_dir: getVariable('PROBITY_DATA_DIR') ?? null,
    ...keys,
    erasure_ledger: getVariable('PROBITY_ERASURE_LEDGER') ?? null,
    backup_days: getVariable('PROBITY_BACKUP_DAYS') === undefined ? null : integer('PROBITY_BACKUP_DAYS', 0, 0, 36_500),
    ...demo,
    issuers: readIssuersFile(getVariable('PROBITY_ISSUERS_FILE'), parseIssuers, faults),
    egress: readEgress(getVariable, production, faults),
    public_url: readPublicUrl(getVariable('PROBITY_PUBLIC_URL'), faults),
    cors_origins: readOrigins(getVariable('PROBITY_CORS_ORIGINS'), faults),
    trusted_proxies: integer('PROBITY_TRUSTED_PROXIES', 0, 0, 10),
    pool_size: integer('PROBITY_POOL_SIZE', 10, 2, 500),
    prepared_statements: flag('PROBITY_PREPARED_STATEMENTS', true),
    statement_timeout_ms: integer('PROBITY_STATEMENT_TIMEOUT_MS', 15_000, 100, 600_000),
    worker_slots: integer('PROBITY_WORKER_SLOTS', 4, 1, 100),
    upload_max_bytes: integer('PROBITY_UPLOAD_MAX_BYTES', 512 * 1024 * 1024, 1024, 1024 ** 4),
    heavy_threads: integer('PROBITY_HEAVY_THREADS', defaultThreads(), 1, 64),
    forced_provider_mode: readProviderMode(getVariable('PROBITY_PROVIDERS'), faults),
    plugins: readPluginSettings(
      {
        hosts: getVariable('PROBITY_PLUGIN_HOSTS'),
        publishers: getVariable('PROBITY_PLUGIN_PUBLISHERS'),
        requires_signature: flag('PROBITY_PLUGIN_REQUIRE_SIGNED', false),
        folder: getVariable('PROBITY_PLUGINS_DIR'),
      },
      faults,
    ),
    scanner: readScanner(getVariable('PROBITY_SCANNER_URL'), faults),
    fonts_dir: readFontsDir(getVariable('PROBITY_FONTS_DIR'), faults),
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

/** Not 8 hexadecimal digits: those identify the master key of a file. */
const COMMAND_KEY_ID = /^(?![0-9a-f]{8}$)[A-Za-z0-9][A-Za-z0-9_:-]{0,62}$/

function readKeyCommand(
  given: (name: string) => string | undefined,
  env: EnvironmentVariables,
  faults: string[],
): KeyCommandConfig | null {
  const text = given('PROBITY_KEY_COMMAND')
  const source = given('PROBITY_MASTER_KEY_SOURCE')
  if (source !== undefined && !['file', 'command'].includes(source)) {
    faults.push('PROBITY_MASTER_KEY_SOURCE must be file or command.')
  }
  if (text === undefined) {
    if (source === 'command') faults.push('PROBITY_MASTER_KEY_SOURCE is command, but PROBITY_KEY_COMMAND is not set.')
    return null
  }
  const argv = text.startsWith('[') ? parseTexts(text) : [text]
  if (!argv?.[0] || !path.isAbsolute(argv[0])) {
    faults.push(
      'PROBITY_KEY_COMMAND must be the absolute path of a program, or a JSON array of its path and arguments; no shell reads it.',
    )
  }
  const key_ids = splitList(given('PROBITY_KEY_COMMAND_ID') ?? 'command')
  if (
    key_ids.length === 0 ||
    !key_ids.every((id) => COMMAND_KEY_ID.test(id)) ||
    new Set(key_ids).size < key_ids.length
  ) {
    faults.push(
      'PROBITY_KEY_COMMAND_ID must be names of keys, comma-separated, each of at most 63 letters, digits, _, : or -, and not 8 hexadecimal digits.',
    )
  }
  const own = new Set<string>(Object.values(urlVariables))
  const passed = Object.entries(env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !own.has(entry[0]),
  )
  return { argv: argv ?? [], key_ids, environment: Object.fromEntries(passed), wraps: source !== 'file' }
}

function parseTexts(text: string): string[] | undefined {
  try {
    const parsed: unknown = JSON.parse(text)
    return Array.isArray(parsed) && parsed.every((part) => typeof part === 'string') ? parsed : undefined
  } catch {
    return undefined
  }
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

function readLogLevel(text: string | undefined, faults: string[]): string {
  const level = text ?? 'info'
  if (!['debug', 'info', 'warn', 'error', 'silent'].includes(level)) {
    faults.push('PROBITY_LOG_LEVEL must be debug, info, warn, error or silent.')
  }
  return level
}

function readProviderMode(text: string | undefined, faults: string[]): 'recorded' | null {
  if (text === undefined || text === 'recorded') return text ?? null
  faults.push('PROBITY_PROVIDERS must be recorded, or be left unset: providers are then called as each tenant chose.')
  return null
}

function readScanner(text: string | undefined, faults: string[]): ScannerAddress | null {
  if (text === undefined) return null
  const socket = /^unix:(\/[^\0]{1,100})$/.exec(text)
  if (socket) return { kind: 'unix', path: socket[1] as string }
  const url = URL.canParse(text) ? new URL(text) : null
  const port = Number(url?.port)
  if (url?.protocol === 'tcp:' && url.hostname !== '' && port > 0 && /^\/?$/.test(url.pathname) && url.username === '')
    return { kind: 'tcp', host: url.hostname.replaceAll(/[[\]]/g, ''), port }
  faults.push('PROBITY_SCANNER_URL must be tcp://host:port or unix:/path/of/the/socket of a clamd.')
  return null
}

function readFontsDir(text: string | undefined, faults: string[]): string | null {
  if (text === undefined) return null
  try {
    for (const file of listFontFiles([text])) describeFont(file)
    return text
  } catch {
    faults.push('PROBITY_FONTS_DIR must be a folder whose .ttf and .otf files are fonts.')
    return null
  }
}

function readEgress(
  given: (name: string) => string | undefined,
  production: boolean,
  faults: string[],
): EgressSettings {
  const variables = {
    hosts: given('PROBITY_EGRESS_HOSTS'),
    private_hosts: given('PROBITY_EGRESS_PRIVATE'),
    proxy: given('PROBITY_EGRESS_PROXY'),
    exempt: given('PROBITY_EGRESS_EXEMPT'),
  }
  return readEgressSettings(variables, production, faults)
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
