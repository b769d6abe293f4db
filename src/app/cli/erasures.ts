/** `erasures replay`: after pg_restore or point-in-time recovery, erases again what the erasure ledger says was erased. */
import type { Keyring } from '#kernel/encryption/keyring.ts'
import type { ErasureLedger } from '#kernel/erasure/ledger.ts'
import { createSilentLog } from '#kernel/log.ts'
import { type Connections, loadKeyring, openErasureLedger } from '../environment.ts'
import { type ReplayTotals, replayErasures } from '../erasures/replay.ts'
import { readBuildInfo } from '../project.ts'
import { createRuntime } from '../runtime.ts'
import type { Command, Invocation } from './command.ts'
import { withEnvironment } from './operator.ts'

export const describeReplay = ({ entries, replayed, absent, waiting, failed }: ReplayTotals): string =>
  [
    `${entries} erasures in the ledger: ${replayed} carried out again, ${absent} of subjects that this database does not have.`,
    ...(waiting > 0 ? [`${waiting} had begun and wait until a legal hold is released.`] : []),
    ...failed.map(
      ({ tenant_id, erasure_id, reason }) => `Erasure ${erasure_id} of tenant ${tenant_id} FAILED: ${reason}`,
    ),
  ].join('\n')

/** The ledger, or an error where there is none. */
export async function requireLedger(invocation: Invocation): Promise<ErasureLedger> {
  const ledger = openErasureLedger(invocation.config(), invocation.project)
  if (!ledger) throw new Error('PROBITY_ERASURE_LEDGER does not name the erasure ledger.')
  if ((await ledger.readVersion()) === null)
    throw new Error(
      'There is no erasure ledger at the place that PROBITY_ERASURE_LEDGER names, or in the data folder. Put the ledger of this installation there.',
    )
  return ledger
}

export async function replayWith(
  { config, project, host }: Invocation,
  { connections, keyring }: { readonly connections: Connections; readonly keyring: Keyring },
  ledger: ErasureLedger,
  restored: readonly string[] = [],
): Promise<ReplayTotals> {
  const { prepared_statements, statement_timeout_ms, upload_max_bytes, backup_days } = config()
  const runtime = await createRuntime({
    connections,
    keyring,
    build: readBuildInfo(project),
    log: createSilentLog(),
    issuers: [],
    public_url: null,
    cors_origins: [],
    trusted_proxies: 0,
    pool_size: 2,
    ...{ prepared_statements, statement_timeout_ms, upload_max_bytes },
    strict: false,
    erasureLedger: ledger,
    backup_days,
    scripts_dir: host.scripts_dir,
  })
  try {
    return await replayErasures(runtime, ledger, restored)
  } finally {
    await runtime.close()
  }
}

export const erasuresReplay: Command = {
  about: `
For databases that were restored by other means than "npx probity restore", which does this itself: pg_restore, a snapshot of a
disk, point-in-time recovery. Until it ran, processes are not ready. It can be repeated: what is erased stays so. Each erasure is
recorded in the audit record of its tenant. One that fails does not stop the others; the command then ends with 1.

Example:
  PROBITY_ERASURE_LEDGER=/var/lib/probity-ledger/erasures.ndjson npx probity erasures replay`,
  run: (invocation) =>
    withEnvironment(invocation, { name: 'erasures' }, async ({ connections, home }) => {
      const ledger = await requireLedger(invocation)
      const keyring = loadKeyring(invocation.config(), home)
      const totals = await replayWith(invocation, { connections, keyring }, ledger)
      invocation.terminal.out(describeReplay(totals))
      return totals.failed.length > 0 ? 1 : 0
    }),
}
