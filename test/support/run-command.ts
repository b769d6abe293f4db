/**
 * Runs a command of the operator's tool inside this process. A process of its own takes half a second of CPU more; the tests of
 * boot.test.ts, examples.test.ts and those of signals use one.
 */
import { main } from '#app/main.ts'
import { threadsDir } from './threads.ts'

export interface CommandResult {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

export async function runCommand(argv: readonly string[], env: NodeJS.ProcessEnv): Promise<CommandResult> {
  const [out, notes]: [string[], string[]] = [[], []]
  const terminal = {
    out: (text: string) => void out.push(`${text}\n`),
    note: (text: string) => void notes.push(`${text}\n`),
  }
  const code = await main(argv, env, terminal, { owns_process: false, scripts_dir: threadsDir })
  return { code, stdout: out.join(''), stderr: notes.join('') }
}
