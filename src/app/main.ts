/** The entry point of every command: finds it, runs it, and turns any error into one sentence and an exit code. */
import { type CommandEntry, type Host, parseArguments, type Terminal, UsageError, wantsHelp } from './cli/command.ts'
import { commandGroups, commands } from './cli/commands.ts'
import { findNearest, renderCommandHelp, renderEnvironmentHelp, renderOverview } from './cli/help.ts'
import type { Config, EnvironmentVariables } from './config.ts'
import { describeCause } from './describe-cause.ts'
import { ignoreBrokenPipes } from './process-lifecycle.ts'
import { readProject } from './project-root.ts'

export { mapStackTraces } from './source-maps.ts'

const processTerminal: Terminal = {
  out: (text) => void process.stdout.write(`${text}\n`),
  note: (text) => void process.stderr.write(`${text}\n`),
}

/** Scripts of worker threads are next to the bundle. */
const ownProcess: Host = { owns_process: true, scripts_dir: import.meta.dirname }

/** 0: done. 1: refused or failed. 2: wrong usage. */
export async function main(
  argv: readonly string[],
  env: EnvironmentVariables = process.env,
  terminal: Terminal = processTerminal,
  host: Host = ownProcess,
): Promise<number> {
  if (host.owns_process) ignoreBrokenPipes()
  const project = readProject()
  let name = ''
  try {
    const help_text = await findHelpText(argv, project.version)
    if (help_text !== null) {
      terminal.out(help_text)
      return 0
    }
    const { entry, words } = findCommand(argv)
    name = ` ${entry.name}`
    const command = await entry.load()
    const args = parseArguments(command, words)
    const by_npm = env['npm_lifecycle_event'] !== undefined
    const config = await createConfigReader(env)
    return await command.run({ args, project, terminal, by_npm, env, host, config })
  } catch (error) {
    terminal.note(toErrorMessage(error))
    if (env['PROBITY_LOG_LEVEL'] === 'debug') terminal.note(formatStack(error))
    if (!(error instanceof UsageError)) return 1
    terminal.note(`Run "npx probity help${name}" to see how it is used.`)
    return 2
  }
}

async function createConfigReader(env: EnvironmentVariables): Promise<() => Config> {
  const [{ readConfig }, issuers] = await Promise.all([
    import('./config.ts'),
    env['PROBITY_ISSUERS_FILE'] ? import('./issuers.ts') : undefined,
  ])
  let config: Config | undefined
  return () => (config ??= readConfig(env, issuers?.parseIssuers))
}

/** The help text that the arguments request; null when they name a command to run. */
async function findHelpText(argv: readonly string[], version: string): Promise<string | null> {
  const [first, ...rest] = argv
  if (first === '--version' || first === '-v') return version
  if (first === undefined || first === '--help' || first === '-h') return renderOverview(commandGroups, version)
  const topic = first === 'help' ? rest.filter((word) => !word.startsWith('-')) : wantsHelp(rest) ? argv : null
  if (topic === null) return null
  if (topic.length === 0) return renderOverview(commandGroups, version)
  if (topic[0] === 'environment') return renderEnvironmentHelp()
  const family = findFamily(topic[0] as string)
  const entry = matchCommand(topic)
  const explained = entry ? [entry] : family
  if (explained.length === 0) throw unknownCommandError(topic)
  const texts = await Promise.all(explained.map(async (each) => renderCommandHelp(each, await each.load())))
  return texts.join('\n\n')
}

function findCommand(argv: readonly string[]): { entry: CommandEntry; words: readonly string[] } {
  const entry = matchCommand(argv)
  if (!entry) throw unknownCommandError(argv)
  return { entry, words: argv.slice(entry.name.split(' ').length) }
}

function matchCommand(words: readonly string[]): CommandEntry | undefined {
  const [one, two] = words
  return commands.find(({ name }) => name === `${one} ${two}`) ?? commands.find(({ name }) => name === one)
}

const findFamily = (word: string): CommandEntry[] => commands.filter(({ name }) => name.split(' ')[0] === word)

function unknownCommandError(words: readonly string[]): UsageError {
  const [one = '', two] = words
  const family = findFamily(one)
  if (family.length > 0) {
    const choices = family.map(({ name }) => `"${name}"`).join(', ')
    return new UsageError(
      `"${[one, two].filter(Boolean).join(' ').slice(0, 100)}" is not a command; there are ${choices}.`,
    )
  }
  const typed = one.slice(0, 100)
  const near = findNearest(typed, [
    ...new Set(commands.flatMap(({ name }) => [name, name.split(' ')[0] as string])),
    'help',
  ])
  return new UsageError(`"${typed}" is not a command${near ? `; did you mean "${near}"?` : '.'}`)
}

function toErrorMessage(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  // Our own problems carry a code for clients; the person at the terminal needs the cause.
  if (error.name === 'Problem' && error.cause) return `The database cannot be used: ${describeCause(error)}`
  return error.message || describeCause(error)
}

function formatStack(error: unknown): string {
  if (!(error instanceof Error)) return ''
  return error.cause ? `${error.stack}\ncaused by ${formatStack(error.cause)}` : String(error.stack)
}
