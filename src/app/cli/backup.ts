/**
 * `backup`: all data in one file, as of one instant. Reads under row-level security, and records an event in every tenant's
 * audit trail.
 */
import fs from 'node:fs'
import path from 'node:path'
import { fullScope } from '#kernel/database/scope.ts'
import type { Keyring } from '#kernel/encryption/keyring.ts'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'
import { type RecordBackup, backup as writeBackup } from '../backup/backup.ts'
import { type Connections, loadKeyring } from '../environment.ts'
import { loadAuditKeys, prepareIntegrityKeys, renewIntegrityKeys } from '../integrity-keys.ts'
import { readProjectMigrations } from '../project.ts'
import { assertChecksPass, type CheckContext, withCheckContext } from '../startup-checks.ts'
import type { Command, Invocation } from './command.ts'
import { renewLostTenantKeys } from './master-keys.ts'
import { OPERATOR, withEnvironment } from './operator.ts'
import { recordActionForAll } from './operator-actions.ts'

const KIB = 1024
const MIB = 1024 * KIB

const formatSize = (bytes: number): string =>
  bytes < MIB ? `${Math.ceil(bytes / KIB)} KiB` : `${(bytes / MIB).toFixed(1)} MiB`

export const backup: Command = {
  about: `
For installations without pg_dump, and for moving tenants to another server. Everything may go on running: the file shows
one instant. It is made with mode 0600 and is as sensitive as the database; it does not hold the master key, without which
its sealed values cannot be opened: keep that file too, and elsewhere. It gets its name when it is whole: Ctrl-C leaves
nothing behind, and a process that is killed leaves at most FILE.part-N, which can be removed. The audit record of every
tenant says that it was taken, before the file has its name; so a standby, which cannot be written to, cannot be backed up.

Example:
  npx probity backup --out /backups/probity-$(date +%F).ndjson.gz`,
  options: { out: { type: 'string', value: 'FILE', about: 'the file to write; it must not exist yet' } },
  run: (invocation) => {
    const { args, project, terminal } = invocation
    const file = args.required('out')
    const folder = path.dirname(path.resolve(file))
    if (!fs.existsSync(folder)) throw new Error(`There is no folder ${folder}.`)
    return withVerifiedDatabase(invocation, 'backup', 'takeBackup', async (context) => {
      const stop = abortOnSignals(() => terminal.note('Stopping; no file is left behind.'))
      const { tenants, rows } = await writeBackup({
        ...context,
        signal: stop,
        product_version: project.version,
        file,
        onTenant: (tenant_id, number, count) => terminal.note(`tenant ${number} of ${count}: ${tenant_id}`),
      })
      terminal.out(`Backed up ${tenants} tenants, ${rows} rows, ${formatSize(fs.statSync(file).size)}: ${file}`)
      return 0
    })
  },
}

/** Aborted by Ctrl-C and similar signals. */
function abortOnSignals(onStop: () => void): AbortSignal {
  const stop = new AbortController()
  const end = () => {
    if (stop.signal.aborted) return
    onStop()
    stop.abort(new Error('The backup was broken off.'))
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, end)
  return stop.signal
}

/** What backup and restore need: a migrated database with intact tenant isolation, seeded or not. */
export function withVerifiedDatabase<T>(
  invocation: Invocation,
  name: string,
  operation: 'takeBackup' | 'restoreBackup',
  body: (ground: { connections: Connections; keyring: Keyring; record: RecordBackup }) => Promise<T>,
): Promise<T> {
  return withEnvironment(invocation, { name }, async ({ connections, home }) => {
    const config = invocation.config()
    const migrations = readProjectMigrations(invocation.project)
    const facts = { connections, migrations, keyring: null, production: config.production }
    return withCheckContext(facts, async (guarded) => {
      await assertChecksPass(guarded, ['database', 'role app', 'role steward', 'schema', 'tenant isolation'])
      const keyring = loadKeyring(config, home)
      return body({ connections, keyring, record: createBackupRecorder({ ...guarded, keyring }, operation) })
    })
  })
}

/** A copy of all data concerns every tenant. The event does not tell how many others there are. */
const createBackupRecorder =
  (guarded: CheckContext & { readonly keyring: Keyring }, operation: string): RecordBackup =>
  async (tenant_ids, sha256, any_key) => {
    // The integrity keys of a backup whose master key is lost cannot be decrypted; new events need new keys.
    if (any_key) {
      await renewIntegrityKeys(guarded, { which: 'lost' })
      await renewLostTenantKeys({ guarded, keyring: guarded.keyring })
    }
    await prepareIntegrityKeys(guarded)
    const keys = await loadAuditKeys(guarded)
    await guarded.steward.write(fullScope(SYSTEM_TENANT, OPERATOR), async (tx) =>
      recordActionForAll(tx, keys, tenant_ids, { operation, object_type: 'backups', object_id: sha256, detail: {} }),
    )
  }
