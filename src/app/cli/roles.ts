/** `roles --print`: the SQL that creates the five roles on an external server. Prints; never runs it. */
import { rolesSql } from '../embedded/roles.ts'
import { type Command, UsageError } from './command.ts'

export const roles: Command = {
  about: `
Example:
  createdb probity
  npx probity roles --print --database probity > roles.sql
  psql --single-transaction -v ON_ERROR_STOP=1 -d probity -f roles.sql`,
  options: {
    print: { type: 'boolean', about: 'print the SQL; required' },
    database: { type: 'string', value: 'NAME', about: 'name of the database (default probity)' },
  },
  run: async ({ args, terminal }) => {
    if (!args.flag('print')) throw new UsageError('Say "roles --print": the SQL is for you to run as an administrator.')
    const database = args.text('database') ?? 'probity'
    if (/[\0\r\n]/.test(database) || Buffer.byteLength(database) > 63) {
      throw new UsageError('--database must be a name of at most 63 bytes on one line.')
    }
    terminal.out(rolesSql({ database }).trimEnd())
    return 0
  },
}
