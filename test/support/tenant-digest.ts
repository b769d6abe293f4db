/** Everything a tenant has, as one hash per table: what must be equal before and after something that changed nothing. */
import type pg from 'pg'

export type TenantDigest = Readonly<Record<string, string>>

/** When a key was last tried is a figure for people: it moves also when the exchange fails afterwards. */
const FIGURES = 'last_used_at'

/** As superuser, past every wall. */
export async function tenantDigests(superuser: pg.Client): Promise<(tenant_id: string) => Promise<TenantDigest>> {
  const { rows } = await superuser.query<{ name: string }>(
    `select c.relname::text as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id'
      where c.relnamespace = 'app'::regnamespace and c.relkind in ('r', 'p') order by 1`,
  )
  const each = rows.map(
    ({ name }) =>
      `select '${name}' as name, md5(coalesce(string_agg(row, '|' order by row), '')) as hash
         from (select (to_jsonb(t) - '${FIGURES}')::text as row from app.${name} t where tenant_id = $1) r`,
  )
  const text = each.join(' union all ')
  return async (tenant_id) => {
    const found = await superuser.query<{ name: string; hash: string }>({ name: 'digest', text, values: [tenant_id] })
    return Object.fromEntries(found.rows.map(({ name, hash }) => [name, hash]))
  }
}
