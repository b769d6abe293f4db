/** What each serving role may do with each table, read from the catalogue, as the table in docs/security.md. */
import type pg from 'pg'

interface RolePrivileges {
  readonly name: string
  readonly kind: string
  readonly role: string
  /** Rights on whole rows. */
  readonly rights: readonly string[]
  /** Rights on some columns only. */
  readonly columns: Readonly<Record<string, readonly string[]>> | null
}

const roles = ['app', 'worker', 'steward'] as const
const privilegeVerbs: Readonly<Record<string, string>> = {
  SELECT: 'read',
  INSERT: 'add',
  UPDATE: 'change',
  DELETE: 'remove',
}

const PRIVILEGES_SQL = `
  with rights as (
    select c.oid, c.relname::text as name, w.kind, role, p.privilege, p.place
      from app.wall_register w join pg_class c on c.relname = w.table_name and c.relnamespace = 'app'::regnamespace,
           unnest($1::text[]) role, unnest(array['SELECT', 'INSERT', 'UPDATE', 'DELETE']) with ordinality p (privilege, place)
  )
  select name, kind, role,
         coalesce(array_agg(privilege order by place) filter (where has_table_privilege(role, oid, privilege)), '{}') as rights,
         jsonb_object_agg(privilege, (select jsonb_agg(a.attname order by a.attnum) from pg_attribute a
            where a.attrelid = oid and a.attnum > 0 and not a.attisdropped and has_column_privilege(role, oid, a.attnum, privilege)))
           filter (where privilege <> 'DELETE' and not has_table_privilege(role, oid, privilege)
                     and has_any_column_privilege(role, oid, privilege)) as columns
    from rights group by name, kind, role, oid order by name collate "C"`

export async function renderRolePrivileges(client: pg.Client): Promise<string> {
  const { rows } = await client.query<RolePrivileges>(PRIVILEGES_SQL, [[...roles]])
  const names = [...new Set(rows.map(({ name }) => name))]
  const lines = names.map((name) => {
    const own = rows.filter((row) => row.name === name)
    const cells = roles.map((role) => formatCell(own.find((row) => row.role === role) as RolePrivileges))
    return `| ${name} | ${own[0]?.kind} | ${cells.join(' | ')} |`
  })
  return [`| table | kind | ${roles.join(' | ')} |`, '|---|---|---|---|---|', ...lines].join('\n')
}

function formatCell({ rights, columns }: RolePrivileges): string {
  const whole = rights.map((right) => privilegeVerbs[right]).join(', ')
  const parts = Object.entries(columns ?? {}).map(([right, names]) => `${privilegeVerbs[right]} ${names.join(', ')}`)
  return [whole, ...parts].filter(Boolean).join('; ') || '–'
}
