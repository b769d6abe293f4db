/** A command of the operator's tool, and the parsing of its arguments. */
import { parseArgs } from 'node:util'
import type { Config, EnvironmentVariables } from '../config.ts'
import type { Project } from '../project.ts'

export interface Option {
  readonly type: 'string' | 'boolean'
  readonly multiple?: true
  /** Name of the value in the help text. */
  readonly value?: string
  readonly about: string
}

/** Output of a command: `out` is its result, which other programs may read; `note` is for the person watching. */
export interface Terminal {
  out(text: string): void
  note(text: string): void
}

/** The process in which a command runs. */
export interface Host {
  /** Whether the command may handle the signals of the process and end it. */
  readonly owns_process: boolean
  /** Folder of the scripts of worker threads. */
  readonly scripts_dir: string
}

export interface Invocation {
  readonly args: Arguments
  readonly project: Project
  readonly terminal: Terminal
  /** Whether npm started this process, through a shell. */
  readonly by_npm: boolean
  /** For what is not configuration: commands use `config`. */
  readonly env: EnvironmentVariables
  readonly host: Host
  /** Parsed on demand: some commands work whatever the environment contains. Throws ConfigError. */
  readonly config: () => Config
}

/** A command as the overview of the help text shows it. Its code is loaded when it is run or explained. */
export interface CommandEntry {
  /** One word, or two as in "tenant create". */
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

export interface Command {
  readonly about?: string
  readonly options?: Readonly<Record<string, Option>>
  /** Names of the positional arguments, all required. */
  readonly positionals?: readonly string[]
  readonly run: (invocation: Invocation) => Promise<number>
}

/** The command was used wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

type Value = string | boolean | (string | boolean)[] | undefined

export class Arguments {
  readonly #values: Readonly<Record<string, Value>>
  readonly positionals: readonly string[]

  constructor(values: Readonly<Record<string, Value>>, positionals: readonly string[]) {
    this.#values = values
    this.positionals = positionals
  }

  text(name: string): string | undefined {
    return this.#values[name] as string | undefined
  }

  required(name: string): string {
    const given = this.text(name)
    if (given === undefined || given === '') throw new UsageError(`--${name} is missing.`)
    return given
  }

  list(name: string): readonly string[] {
    return (this.#values[name] as string[] | undefined) ?? []
  }

  flag(name: string): boolean {
    return this.#values[name] === true
  }
}

export const wantsHelp = (words: readonly string[]): boolean => words.includes('--help') || words.includes('-h')

export function parseArguments(command: Command, words: readonly string[]): Arguments {
  const declared = Object.entries(command.options ?? {})
  const options = Object.fromEntries(
    declared.map(([name, { type, multiple }]) => [name, { type, ...(multiple && { multiple }) }]),
  )
  const names = command.positionals ?? []
  const { values, positionals } = parseStrict([...words], options)
  const [missing] = names.slice(positionals.length)
  if (missing !== undefined) throw new UsageError(`${missing} is missing.`)
  const [extra] = positionals.slice(names.length)
  if (extra !== undefined) throw new UsageError(`"${extra.slice(0, 100)}" is not expected here.`)
  for (const [name, { type, multiple }] of declared) {
    if (!multiple && isRepeated(words, name)) throw new UsageError(`--${name} may be given once only.`)
    if (type === 'string' && [values[name]].flat().includes('')) throw new UsageError(`--${name} is empty.`)
  }
  return new Arguments(values, positionals)
}

function parseStrict(args: string[], options: Record<string, { type: 'string' | 'boolean'; multiple?: true }>) {
  try {
    return parseArgs({ args, options, strict: true, allowPositionals: true })
  } catch (error) {
    // Node adds advice about dashes to its message.
    throw new UsageError(`${(error as Error).message.split(/[.\n]/)[0]}.`)
  }
}

/** Silently using the last of two would hide a mistake of the operator. */
const isRepeated = (words: readonly string[], name: string): boolean =>
  words.filter((word) => word === `--${name}` || word.startsWith(`--${name}=`)).length > 1

export function parseInteger(name: string, text: string, min: number, max: number): number {
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(`--${name} must be a whole number from ${min} to ${max}.`)
}
