/** `seed`: creates the initial data. Existing rows are kept. */
import { ensureKeyring } from '../environment.ts'
import { modules } from '../modules.ts'
import { readProjectMigrations } from '../project.ts'
import { seed as runSeed } from '../seed.ts'
import { assertChecksPass, hasSigningKey, withCheckContext } from '../startup-checks.ts'
import type { Command } from './command.ts'
import { withEnvironment } from './operator.ts'

export const seed: Command = {
  about: 'Safe to repeat, and on any number of replicas at once.',
  run: (invocation) =>
    withEnvironment(invocation, { name: 'seed' }, async ({ connections, home }) => {
      const { project, terminal } = invocation
      const config = invocation.config()
      const facts = {
        connections,
        migrations: readProjectMigrations(project),
        keyring: null,
        production: config.production,
      }
      await withCheckContext(facts, async (guarded) => {
        await assertChecksPass(guarded, ['database', 'role app', 'role steward', 'schema', 'tenant isolation'])
        const onStep = (text: string) => terminal.note(text)
        const keyring = await ensureKeyring(config, home, { isSealed: () => hasSigningKey(guarded), onStep })
        const plugins = {
          folder: config.plugins.folder,
          scripts_dir: invocation.host.scripts_dir,
          onFault: (text: string) => terminal.note(`WARNING: ${text}`),
        }
        const context = { ...guarded, keyring, modules, project_root: project.root, plugins }
        await runSeed(context, { demo: config.demo }, onStep)
        await assertChecksPass({ ...guarded, keyring }, ['seed', 'signing key', 'integrity keys'])
      })
      terminal.out('Seeded.')
      return 0
    }),
}
