/** SQL of the doctor that needs a connection of its own, outside any transaction of the kernel. */
import type pg from 'pg'

const PROBE = 'probity_doctor'

export interface PoolerInfo {
  /** A pooler answers for the server: the process id is not that of the server. */
  readonly pooled: boolean
  /** It renames prepared statements, hence tracks them across server connections. */
  readonly tracks_statements: boolean
}

export async function findPooler(client: pg.Client): Promise<PoolerInfo> {
  const announced_pid = (client as unknown as { processID: number | null }).processID
  // One transaction keeps a pooler on one server connection during the check.
  await client.query('begin')
  try {
    const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    const pooled = rows[0]?.pid !== announced_pid
    await client.query({ name: PROBE, text: 'select 1' })
    const seen = await client.query('select 1 from pg_prepared_statements where name = $1', [PROBE])
    const isUntracked = seen.rowCount === 1
    // Left on a shared server connection it would disturb the next check.
    if (pooled && isUntracked) await client.query(`deallocate ${PROBE}`)
    return { pooled, tracks_statements: !isUntracked }
  } finally {
    await client.query('rollback')
  }
}

export const findConnectionUsage = async (client: pg.Client): Promise<{ limit: number; used: number }> => {
  const { rows } = await client.query<{ limit: number; used: number }>(
    `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as "limit",
            (select sum(numbackends)::int from pg_stat_database) as used`,
  )
  return rows[0] as { limit: number; used: number }
}

/** The migrator must have its own role and be able to become the owner, no more. */
export const findMigrator = async (client: pg.Client): Promise<{ name: string; becomes_owner: boolean }> => {
  const { rows } = await client.query<{ name: string; becomes_owner: boolean }>(
    `select current_user::text as name,
            exists (select from pg_roles where rolname = 'app_owner') and pg_has_role('app_owner', 'member') as becomes_owner`,
  )
  return rows[0] as { name: string; becomes_owner: boolean }
}
