/** `restore`: fills an empty, migrated database from a file of `backup`. Refuses everything else. */
import { restore as readBackup } from '../backup/restore.ts'
import { withVerifiedDatabase } from './backup.ts'
import type { Command } from './command.ts'
import { describeReplay, replayWith, requireLedger } from './erasures.ts'

export const restore: Command = {
  about: `
The whole file is checked before anything is written, and every tenant is compared with it before it is committed. Tenants
stay suspended until the last one is there. Jobs that were running are queued again. No api, worker or start may run on
that database meanwhile, and the master key must be the one of the backup. The audit record of every tenant says that it
was restored, and from which backup. What the erasure ledger says was erased is erased again before a tenant is let in; without the
ledger nothing is restored, unless --without-erasure-ledger says that there is none. A tenant with an erasure that fails stays
suspended: find the cause, run "npx probity erasures replay", then "npx probity tenant resume".

Example:
  PROBITY_DATA_DIR=/var/lib/probity/new npx probity migrate
  cp /backups/master.key /var/lib/probity/new/
  PROBITY_DATA_DIR=/var/lib/probity/new npx probity restore --from /backups/probity-2026-01-31.ndjson.gz`,
  options: {
    from: { type: 'string', value: 'FILE', about: 'the file to read' },
    'without-erasure-ledger': {
      type: 'boolean',
      about: 'restore although there is no erasure ledger: what was erased since the backup is back',
    },
    'any-key': { type: 'boolean', about: 'also take a file whose master key is lost; encrypted values cannot be read' },
  },
  run: async (invocation) => {
    const { args, terminal } = invocation
    const file = args.required('from')
    const ledger = args.flag('without-erasure-ledger') ? null : await requireLedger(invocation)
    const restored: string[] = []
    const unready = new Set<string>()
    return withVerifiedDatabase(invocation, 'restore', 'restoreBackup', async (context) => {
      const { tenants, rows } = await readBackup({
        ...context,
        file,
        record: async (...recorded) => {
          await context.record(...recorded)
          if (!ledger) return
          const totals = await replayWith(invocation, context, ledger, restored)
          terminal.note(describeReplay(totals))
          for (const { tenant_id } of totals.failed) unready.add(tenant_id)
        },
        listUnready: () => [...unready],
        any_key: args.flag('any-key'),
        onTenant: (tenant_id, number, count) => {
          restored.push(tenant_id)
          terminal.note(`tenant ${number} of ${count}: ${tenant_id}`)
        },
      })
      terminal.out(`Restored ${tenants} tenants, ${rows} rows; counts and checksums are those of the backup.`)
      if (unready.size > 0) terminal.note(`Still suspended, because an erasure failed: ${[...unready].join(', ')}.`)
      return unready.size > 0 ? 1 : 0
    })
  },
}
