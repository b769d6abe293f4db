/**
 * Makes a database large and lopsided: every table gets thousands of rows, nearly all of one tenant, multiplied from the row
 * the canary tenant has in it. Rows that nothing refers to: good for planning, not for reading.
 */
import type pg from 'pg'
import { CANARY_TENANT } from '#modules/tenant/index.ts'
import type { Table } from './support.ts'

/** Where multiplying the canary's row as it is would be unlike any real table. */
const overrides: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  // Most work is done.
  job: {
    state: `case when n % 50 = 0 then 'queued' else 'succeeded' end`,
    finished_at: `case when n % 50 = 0 then null else now() - n * interval '1 second' end`,
  },
}

const OTHER_TENANTS = 20

/** One row in twenty belongs to somebody else. */
const tenantSql = (big: string): string =>
  `case when n % 20 = 0 then ('00000000-0000-7000-8000-' || lpad((n % ${OTHER_TENANTS * 20})::text, 12, '0'))::uuid else '${big}' end`

const variedSql: Readonly<Record<string, (column: string) => string>> = {
  uuid: () => 'gen_random_uuid()',
  text: (column) => `${column} || '-' || n`,
  bigint: () => 'n + 1000000',
  date: (column) => `${column} - n::int`,
}

interface UniqueColumns {
  readonly name: string
  readonly columns: readonly string[]
}

async function readUniqueColumns(superuser: pg.Client): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const { rows } = await superuser.query<UniqueColumns>(
    `select c.relname::text as name, array_agg(distinct a.attname::text) as columns
       from pg_index i join pg_class c on c.oid = i.indrelid and c.relnamespace = 'app'::regnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attnum = any (i.indkey::int2[])
      where i.indisunique group by c.relname`,
  )
  return new Map(rows.map(({ name, columns }) => [name, new Set(columns)]))
}

/** Gives the names of the tables that now have more than a thousand rows. */
export async function inflateTables(
  superuser: pg.Client,
  tables: readonly Table[],
  big: string,
  rows: number,
): Promise<Set<string>> {
  const keys = await readUniqueColumns(superuser)
  await superuser.query('begin')
  await superuser.query('set local session_replication_role = replica')
  for (const table of tables) {
    const insert = (tenant: string, vary: (name: string) => boolean) => {
      const value = ({ name, type }: Table['columns'][number]): string => {
        if (name === 'tenant_id') return tenant
        const own = overrides[table.name]?.[name]
        if (own) return own
        if (vary(name) && variedSql[type]) return variedSql[type](`t."${name}"`)
        // Spread a little, so that an order exists.
        return type.startsWith('timestamp') ? `t."${name}" - n * interval '1 ms'` : `t."${name}"`
      }
      const names = table.columns.map(({ name }) => `"${name}"`).join(', ')
      return `insert into app.${table.name} (${names}) select ${table.columns.map(value).join(', ')}
        from app.${table.name} t, generate_series(1, ${rows}) n where t.tenant_id = '${CANARY_TENANT}'`
    }
    const unique = keys.get(table.name) ?? new Set()
    const attempts = [
      insert(tenantSql(big), (name) => unique.has(name)),
      insert('gen_random_uuid()', (name) => name === 'slug'),
    ]
    // A table with one row a tenant grows by tenants.
    for (const text of unique.size > 1 && !unique.has('slug') ? attempts : attempts.slice(1)) {
      await superuser.query('savepoint swelling')
      try {
        await superuser.query(text)
        break
      } catch (error) {
        if (!['23505', '23514'].includes((error as { code?: string }).code ?? '')) throw error
        await superuser.query('rollback to savepoint swelling')
      }
    }
  }
  await superuser.query('commit')
  await superuser.query('analyze')
  const { rows: large } = await superuser.query<{ name: string }>(
    `select relname::text as name from pg_class where relnamespace = 'app'::regnamespace and reltuples > 1000 and relkind in ('r', 'p')`,
  )
  return new Set(large.map(({ name }) => name))
}
