/** Connections as app and steward and the keyring for the duration of one command. */
import type { AuditKeys } from '#kernel/audit/chain.ts'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import { type Connections, type Environment, loadKeyring, openEnvironment } from '../environment.ts'
import { loadAuditKeys } from '../integrity-keys.ts'
import { ProcessLifecycle } from '../process-lifecycle.ts'
import { readProjectMigrations } from '../project.ts'
import { assertChecksPass, type CheckContext, withCheckContext } from '../startup-checks.ts'
import type { Invocation } from './command.ts'

export interface OperatorContext {
  readonly guarded: CheckContext
  readonly connections: Connections
  readonly keyring: Keyring
  /** Loaded when an event is recorded: not every command needs them, and some repair what prevents loading them. */
  audit(): Promise<AuditKeys>
}

export const OPERATOR = 'operator:cli'

/** The embedded server is used if it runs, or started for the duration of the command. */
export async function withEnvironment<T>(
  { config, project, terminal, host }: Invocation,
  options: { name: string; may_create?: boolean },
  body: (environment: Environment) => Promise<T>,
): Promise<T> {
  const note = (text: string) => terminal.note(text)
  const life = new ProcessLifecycle({ say: note, onCrash: (error) => note(String(error)) })
  if (host.owns_process) life.listen()
  try {
    const environment = await openEnvironment({ ...options, config: config(), project, access: 'borrow', onStep: note })
    life.onEnd(null, 60_000, () => environment.close())
    life.proceed()
    return await body(environment)
  } finally {
    await life.close({ exits: host.owns_process })
  }
}

/** `needs_seed`: there must be a signing key. `signs`: this master key must decrypt it. */
export async function withOperator<T>(
  invocation: Invocation,
  options: { name: string; needs_seed?: true; signs?: true },
  body: (operator: OperatorContext) => Promise<T>,
): Promise<T> {
  return withEnvironment(invocation, options, async (environment) => {
    const config = invocation.config()
    const { connections, home } = environment
    const migrations = readProjectMigrations(invocation.project)
    const facts = { connections, migrations, keyring: null, production: config.production }
    return withCheckContext(facts, async (bare) => {
      await assertChecksPass(bare, ['database', 'role app', 'role steward', 'schema'])
      if (options.needs_seed) await assertChecksPass(bare, ['seed'])
      const keyring = loadKeyring(config, home)
      const guarded = { ...bare, keyring }
      if (options.signs) await assertChecksPass(guarded, ['signing key'])
      return body({ guarded, connections, keyring, audit: () => loadAuditKeys(guarded) })
    })
  })
}
