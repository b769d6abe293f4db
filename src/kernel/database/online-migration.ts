/**
 * Migrations that run outside a transaction, for indexes of tables that are written meanwhile. PostgreSQL cannot roll such a
 * statement back: an interrupted one leaves an invalid index, which the next run drops and builds again.
 */
import type pg from 'pg'

/** The one statement of such a migration. */
export interface OnlineStatement {
  readonly action: 'create' | 'drop'
  readonly index: string
  /** Null when the index is dropped. */
  readonly table: string | null
}

export const ONLINE_MARKER = '-- transaction: off'

const CREATE = /^create (?:unique )?index concurrently if not exists ([a-z][a-z0-9_]*) on app\.([a-z][a-z0-9_]*)\b/i
const DROP = /^drop index concurrently if exists app\.([a-z][a-z0-9_]*)$/i
const FORMS =
  '"create index concurrently if not exists NAME on app.TABLE …" or "drop index concurrently if exists app.NAME"'

/** Null for an ordinary migration, which runs in one transaction. */
export function parseOnlineMigration(file: string, sql: string): OnlineStatement | null {
  const lines = sql.split('\n')
  const isMarked = lines[0]?.trim() === ONLINE_MARKER
  // Every start and every command reads all migrations; taking their texts apart is slower than reading them.
  if (!isMarked && !/\bconcurrently\b/i.test(sql)) return null
  const text = lines
    .map((line) => line.replace(/--.*$/, '').trim())
    .join(' ')
    .replace(/\s+/g, ' ')
    .trim()
  if (!isMarked) {
    if (/\bconcurrently\b/i.test(text))
      throw new Error(`migration ${file} uses CONCURRENTLY: its first line must be "${ONLINE_MARKER}"`)
    return null
  }
  const statement = text.replace(/;$/, '').trim()
  // Several statements in one message form one transaction in PostgreSQL, and only these forms can be repeated safely.
  const created = statement.includes(';') ? null : CREATE.exec(statement)
  const dropped = statement.includes(';') ? null : DROP.exec(statement)
  if (created) return { action: 'create', index: created[1] as string, table: created[2] as string }
  if (dropped) return { action: 'drop', index: dropped[1] as string, table: null }
  throw new Error(`migration ${file} runs outside a transaction, so it must be exactly one statement: ${FORMS}`)
}

interface OnlineMigration {
  readonly version: string
  readonly name: string
  readonly checksum: string
  readonly sql: string
}

/** Repeatable at any point: after a crash the next call continues from the state of the index. */
export async function applyOnlineMigration(
  client: pg.Client,
  migration: OnlineMigration,
  statement: OnlineStatement,
): Promise<void> {
  const { version, name, checksum, sql } = migration
  try {
    await client.query(
      `insert into app.migration_run (version, checksum) values ($1, $2)
       on conflict on constraint migration_run_pkey do update set checksum = excluded.checksum,
         attempts = migration_run.attempts + 1, started_at = now(), finished_at = null`,
      [version, checksum],
    )
    const before = await findIndex(client, statement.index)
    // "if not exists" would accept the invalid index of an interrupted run.
    if (statement.action === 'create' && before?.is_valid === false)
      await client.query(`drop index concurrently if exists app.${statement.index}`)
    await client.query(sql)
    const after = await findIndex(client, statement.index)
    const isDone =
      statement.action === 'drop' ? !after : after?.is_valid === true && after.table_name === statement.table
    if (!isDone)
      throw new Error(
        `index ${statement.index} is not what the migration makes: ${after ? describeIndex(after) : 'missing'}`,
      )
    await client.query('begin')
    await client.query('insert into app.migration (version, name, checksum) values ($1, $2, $3)', [
      version,
      name,
      checksum,
    ])
    await client.query('update app.migration_run set finished_at = now() where version = $1', [version])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw new Error(
      `Migration ${version}_${name} failed: ${(error as Error).message}. Run the migrations again once the cause is ` +
        'repaired: an index that was left incomplete is dropped and rebuilt.',
      { cause: error },
    )
  }
}

interface IndexState {
  readonly table_name: string
  readonly is_valid: boolean
}

const describeIndex = ({ table_name, is_valid }: IndexState): string =>
  `it is ${is_valid ? 'valid' : 'invalid'}, on ${table_name}`

async function findIndex(client: pg.Client, index: string): Promise<IndexState | undefined> {
  const { rows } = await client.query<IndexState>(
    `select t.relname::text as table_name, i.indisvalid and i.indisready as is_valid
       from pg_index i join pg_class c on c.oid = i.indexrelid join pg_class t on t.oid = i.indrelid
      where c.relnamespace = 'app'::regnamespace and c.relname = $1`,
    [index],
  )
  return rows[0]
}
