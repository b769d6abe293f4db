/** `seed`: the idempotent initial population. What is there is kept as it is. */
import { ensureKeyring } from '../environment.ts'
import { expectSound, hasSigningKey, withGuarded } from '../guard.ts'
import { modules } from '../modules.ts'
import { migrationsOf } from '../project.ts'
import { seed as plant } from '../seed.ts'
import type { Command } from './command.ts'
import { withEnvironment } from './operator.ts'

export const seed: Command = {
  name: 'seed',
  summary: 'Create the signing key, the isolation canary and, with PROBITY_DEMO=on, the demo tenants',
  about: 'Safe to repeat, and on any number of replicas at once.',
  run: (invocation) =>
    withEnvironment(invocation, { name: 'seed' }, async ({ connections, home }) => {
      const { project, terminal } = invocation
      const config = invocation.config()
      const facts = { connections, migrations: migrationsOf(project), keyring: null, production: config.production }
      await withGuarded(facts, async (guarded) => {
        await expectSound(guarded, ['database', 'role app', 'role steward', 'schema', 'walls'])
        const onStep = (text: string) => terminal.note(text)
        const keyring = await ensureKeyring(config, home, { isSealed: () => hasSigningKey(guarded), onStep })
        const context = { ...guarded, keyring, modules, project_root: project.root }
        await plant(context, { demo: config.demo }, onStep)
        await expectSound({ ...guarded, keyring }, ['seed', 'signing key', 'integrity keys'])
      })
      terminal.out('Seeded.')
      return 0
    }),
}
