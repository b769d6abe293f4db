/**
 * What a tenant has, as one short text per table: it must be equal before and after something that changed nothing. Every row
 * that was written carries the number of the transaction that wrote it, so the newest number and the count of rows tell.
 */
import type pg from 'pg'

export type TenantDigest = Readonly<Record<string, string>>

/**
 * When a key was last tried and when somebody was last seen are figures for people: they move also when the exchange fails, and
 * are written once a minute.
 */
const VOLATILE_COLUMNS = ['last_used_at', 'last_seen_at']

/** As superuser, who bypasses tenant isolation. */
export async function createTenantDigest(superuser: pg.Client): Promise<(tenant_id: string) => Promise<TenantDigest>> {
  const { rows } = await superuser.query<{ name: string; has_figures: boolean }>(
    `select c.relname::text as name, exists (select 1 from pg_attribute f where f.attrelid = c.oid and f.attname = any ($1)) as has_figures
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
      where c.relnamespace = 'app'::regnamespace and c.relkind in ('r', 'p') order by 1`,
    [VOLATILE_COLUMNS],
  )
  const each = rows.map(({ name, has_figures }) =>
    has_figures
      ? `select '${name}' as name, md5(coalesce(string_agg(row, '|' order by row), '')) as digest
           from (select (to_jsonb(t) - '{${VOLATILE_COLUMNS}}'::text[])::text as row from app.${name} t where tenant_id = $1) r`
      : `select '${name}' as name, count(*) || ':' || coalesce(max(xmin::text::bigint), 0) as digest
           from app.${name} where tenant_id = $1`,
  )
  const text = each.join(' union all ')
  return async (tenant_id) => {
    const found = await superuser.query<{ name: string; digest: string }>({ name: 'digest', text, values: [tenant_id] })
    return Object.fromEntries(found.rows.map(({ name, digest }) => [name, digest]))
  }
}
