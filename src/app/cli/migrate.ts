/** `migrate`: applies pending migrations, or lists them. The only command besides `start` that changes the schema. */
import { migrate as applyMigrations, planMigrations } from '#kernel/database/migrations.ts'
import { readProjectMigrations } from '../project.ts'
import type { Command } from './command.ts'
import { withEnvironment } from './operator.ts'

export const migrate: Command = {
  about: `
Uses MIGRATOR_DATABASE_URL on an external server; the embedded one is started for it if it does not run. Any number of
processes may do this at once: one migrates, the others wait and find nothing to do.`,
  options: { plan: { type: 'boolean', about: 'show what would be applied and change nothing' } },
  run: (invocation) => {
    const { terminal, project, args } = invocation
    // Listing changes nothing, and does not create a database.
    const may_create = !args.flag('plan')
    return withEnvironment(invocation, { name: 'migrate', may_create }, async ({ connections }) => {
      if (!connections.migrator) {
        throw new Error(
          'MIGRATOR_DATABASE_URL is missing. Set it for the role migrator; "npx probity roles --print" gives the SQL that makes it.',
        )
      }
      const migrations = readProjectMigrations(project)
      if (args.flag('plan')) {
        const { current, expected, pending } = await planMigrations(connections.migrator, migrations)
        terminal.out(`The schema is at ${current}, this version brings ${expected}; ${pending.length} pending.`)
        for (const { version, name, online } of pending)
          terminal.out(`${version} ${name}${online ? ' (outside a transaction; writes go on)' : ''}`)
        return 0
      }
      const applied = await applyMigrations(connections.migrator, migrations, (step) => terminal.note(step))
      terminal.out(
        applied.length === 0 ? 'Nothing to do.' : `Applied ${applied.map(({ version }) => version).join(', ')}.`,
      )
      return 0
    })
  },
}
