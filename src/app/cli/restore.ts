/** `restore`: fills an empty, migrated database from a file of `backup`. Refuses everything else. */
import { restore as readBackup } from '../backup/restore.ts'
import { withVerifiedDatabase } from './backup.ts'
import type { Command } from './command.ts'

export const restore: Command = {
  about: `
The whole file is checked before anything is written, and every tenant is compared with it before it is committed. Tenants
stay suspended until the last one is there. Jobs that were running are queued again. No api, worker or start may run on
that database meanwhile, and the master key must be the one of the backup. The audit record of every tenant says that it
was restored, and from which backup.

Example:
  PROBITY_DATA_DIR=/var/lib/probity/new npx probity migrate
  cp /backups/master.key /var/lib/probity/new/
  PROBITY_DATA_DIR=/var/lib/probity/new npx probity restore --from /backups/probity-2026-01-31.ndjson.gz`,
  options: {
    from: { type: 'string', value: 'FILE', about: 'the file to read' },
    'any-key': { type: 'boolean', about: 'also take a file whose master key is lost; sealed values in it stay closed' },
  },
  run: (invocation) => {
    const { args, terminal } = invocation
    const file = args.required('from')
    return withVerifiedDatabase(invocation, 'restore', 'restoreBackup', async (context) => {
      const { tenants, rows } = await readBackup({
        ...context,
        file,
        any_key: args.flag('any-key'),
        onTenant: (tenant_id, number, count) => terminal.note(`tenant ${number} of ${count}: ${tenant_id}`),
      })
      terminal.out(`Restored ${tenants} tenants, ${rows} rows; counts and checksums are those of the backup.`)
      return 0
    })
  },
}
