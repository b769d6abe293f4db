/** SQL of the demo data: the lock of its seeding, and its entry in the seed ledger. The ledger is written as steward. */
import type pg from 'pg'
import type { Tx } from '#kernel/database/tx.ts'

const LOCK = '7205759403792795'
const SUBJECT = 'demo-data'

/** Held by the session, so that it is released when the process dies. */
export const tryLockDemoData = async (client: Pick<pg.Client, 'query'>): Promise<boolean> => {
  const { rows } = await client.query<{ locked: boolean }>('select pg_try_advisory_lock($1) as locked', [LOCK])
  return rows[0]?.locked ?? false
}

/** `pending` while it is being added, `applied` when it is complete; undefined when it was never begun. */
export const findDemoDataOutcome = async (tx: Tx, part: string): Promise<'pending' | 'applied' | undefined> =>
  (
    await tx.find<{ outcome: 'pending' | 'applied' }>(
      'select outcome from app.seed_ledger where tenant_id = app.system_tenant() and subject = $1 and seed_hash = $2',
      [SUBJECT, part],
    )
  )?.outcome

export const insertDemoDataBegun = (tx: Tx, part: string) =>
  tx.run(
    `insert into app.seed_ledger (tenant_id, subject, seed_hash, version, outcome)
     values (app.system_tenant(), $1, $2, null, 'pending')`,
    [SUBJECT, part],
  )

export const updateDemoDataComplete = (tx: Tx, part: string) =>
  tx.run(
    `update app.seed_ledger set outcome = 'applied', applied_at = now()
      where tenant_id = app.system_tenant() and subject = $1 and seed_hash = $2`,
    [SUBJECT, part],
  )
