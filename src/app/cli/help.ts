/** The texts of `help`: the overview, one command, and the environment. Pure: it returns text and prints nothing. */
import type { Command, CommandEntry, Option } from './command.ts'

type Groups = readonly (readonly [title: string, commands: readonly CommandEntry[]])[]

/** Setting, default, meaning. Everything config.ts reads is here; a test compares them. */
const settings: readonly (readonly [name: string, fallback: string, about: string])[] = [
  ['PORT', '8000', 'port of API and console; 0 picks a free one'],
  ['HOST', 'localhost, 0.0.0.0', 'address to listen on; the first for start, the second for api'],
  ['NODE_ENV', '', 'production refuses demo tenants and asks for a master key file'],
  ['DATABASE_URL', '', 'external PostgreSQL >= 15, role app; without it the embedded one is used'],
  ['WORKER_DATABASE_URL', '', 'the same server, role worker'],
  ['STEWARD_DATABASE_URL', '', 'the same server, role steward'],
  ['MIGRATOR_DATABASE_URL', '', 'the same server, role migrator; for migrate, and for start'],
  ['PROBITY_DATA_DIR', '.probity', 'files of the embedded database, its log, its master key'],
  ['PROBITY_MASTER_KEY_FILE', 'data folder', 'files with master keys, comma-separated: the first seals, all open'],
  ['PROBITY_BACKUP_DAYS', 'unknown', 'how many days backups are kept; certificates of erasures say so'],
  ['PROBITY_ERASURE_LEDGER', 'data folder if embedded', 'file of the erased subjects; without one nobody is erased'],
  ['PROBITY_KEY_COMMAND', '', 'program that wraps keys with a key management service: a path, or a JSON array'],
  ['PROBITY_KEY_COMMAND_ID', 'command', 'names of its keys, comma-separated: the first wraps, all unwrap'],
  ['PROBITY_MASTER_KEY_SOURCE', 'command if set', 'file or command: which one wraps while both are configured'],
  ['PROBITY_DEMO', 'on if embedded and not production', 'demo tenants; one-click sign-in where HOST is local'],
  ['PROBITY_DEMO_REMOTE', 'off', 'on: demo sign-in without a password from any machine'],
  ['PROBITY_DEMO_DATA', 'as PROBITY_DEMO', 'customers, ratings and lists for the demo tenant, added by start'],
  ['PROBITY_ISSUERS_FILE', '', 'JSON file of external token issuers'],
  ['PROBITY_EGRESS_HOSTS', '', 'hosts that providers may be reached at, comma-separated; *.name for those below'],
  ['PROBITY_EGRESS_PRIVATE', '', 'hosts with private addresses, comma-separated: name:port or name:port=CA file'],
  ['PROBITY_EGRESS_PROXY', '', 'URL of the HTTP proxy for outbound requests; needs PROBITY_EGRESS_HOSTS'],
  ['PROBITY_EGRESS_EXEMPT', '', 'one address:port that tests may reach; refused in production'],
  ['PROBITY_PUBLIC_URL', '', 'scheme and host under which clients reach this server'],
  ['PROBITY_CORS_ORIGINS', '', 'origins whose pages may call the API, comma-separated'],
  ['PROBITY_TRUSTED_PROXIES', '0', 'how many proxies in front may name the client address'],
  ['PROBITY_POOL_SIZE', '10', 'database connections of one process'],
  ['PROBITY_PREPARED_STATEMENTS', 'on', 'off behind a PgBouncer older than 1.21'],
  ['PROBITY_STATEMENT_TIMEOUT_MS', '15000', 'longest database statement'],
  ['PROBITY_WORKER_SLOTS', '4', 'jobs that one process runs at a time'],
  ['PROBITY_UPLOAD_MAX_BYTES', '536870912', 'largest upload'],
  ['PROBITY_SCANNER_URL', '', 'clamd that scans documents: tcp://host:port or unix:/path'],
  ['PROBITY_FONTS_DIR', '', 'folder with more fonts for PDF reports, such as for Chinese'],
  ['PROBITY_HEAVY_THREADS', 'cores - 1', 'threads of a process that run heavy work at once'],
  ['PROBITY_PROVIDERS', '', 'recorded: every provider call is served from recorded answers; unset: as tenants chose'],
  ['PROBITY_PLUGIN_HOSTS', '', 'hosts that plugins may be granted, comma-separated; *.name for those below'],
  ['PROBITY_PLUGIN_PUBLISHERS', '', 'whose signatures of plugins count, comma-separated: name=Ed25519 key in base64'],
  ['PROBITY_PLUGIN_REQUIRE_SIGNED', 'off', 'on: a plugin runs only with the signature of a publisher'],
  ['PROBITY_PLUGINS_DIR', '', 'folder with plugins for all tenants, seeded at every start'],
  ['PROBITY_PREVIEW_MAX_ROWS', '1000000', 'rows a preview of an import reads at most'],
  ['PROBITY_PREVIEW_TIME_LIMIT_MS', '10000', 'how long a preview of an import reads at most'],
  ['PROBITY_LOG_LEVEL', 'info', 'debug, info, warn, error or silent; debug also shows stacks here'],
  ['PROBITY_METRICS_PORT', '9464', 'Prometheus metrics; 0 picks a free port'],
  ['PROBITY_METRICS_HOST', '127.0.0.1', 'address of the metrics'],
  ['PROBITY_DRAIN_MS', '0, 5000', 'how long a stopping process keeps serving; the second in production'],
]

export const settingNames: readonly string[] = settings.map(([name]) => name)

export function renderOverview(groups: Groups, version: string): string {
  const width = columnWidth(groups.flatMap(([, commands]) => commands.map(({ name }) => name)))
  const sections = groups.map(([title, commands]) => [
    `${title}:`,
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    '',
  ])
  return [
    `Probity ${version}, the operator's tool`,
    '',
    'Usage: npx probity <command> [options]',
    '',
    ...sections.flat(),
    'npx probity help <command>     options and examples of one command',
    'npx probity help environment   all settings',
    'npx probity --version',
  ].join('\n')
}

export function renderCommandHelp({ name, summary }: CommandEntry, command: Command): string {
  const options: readonly (readonly [string, Option])[] = [
    ...Object.entries(command.options ?? {}),
    ['help', { type: 'boolean', about: 'this text' }],
  ]
  const flags = options.map(([name, option]) => `--${name}${option.value ? ` ${option.value}` : ''}`)
  const width = columnWidth(flags)
  const words = [name, ...(command.positionals ?? []), ...(command.options ? ['[options]'] : [])]
  return [
    `${summary}.`,
    '',
    `Usage: npx probity ${words.join(' ')}`,
    ...(command.about ? ['', command.about.trim()] : []),
    '',
    'Options:',
    ...options.map(([, { about, multiple }], index) => {
      const flag = (flags[index] as string).padEnd(width)
      return `  ${flag}${about}${multiple ? ' (repeatable)' : ''}`
    }),
  ].join('\n')
}

export function renderEnvironmentHelp(): string {
  const width = columnWidth(settings.map(([name]) => name))
  const lines = settings.map(
    ([name, fallback, about]) => `  ${name.padEnd(width)}${about}${fallback ? ` (default ${fallback})` : ''}`,
  )
  return ['Settings are environment variables; an empty one counts as not set.', '', ...lines].join('\n')
}

/** The most similar known name, if it is similar enough to be a typing error. */
export function findNearest(word: string, names: readonly string[]): string | undefined {
  const ranked = names
    .map((name) => ({ name, distance: editDistance(word, name) }))
    .sort((one, two) => one.distance - two.distance)
  const [best] = ranked
  return best && best.distance <= (best.name.length < 4 ? 1 : 2) ? best.name : undefined
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1] ? 0 : 1
      next[j] = Math.min((row[j] as number) + 1, (next[j - 1] as number) + 1, (row[j - 1] as number) + same)
    }
    row = next
  }
  return row[to.length] as number
}

const columnWidth = (texts: readonly string[]): number => Math.max(...texts.map((text) => text.length)) + 2
