/**
 * Reads the catalogue and names every way the walls could be wrong: the start-up guard, readiness, the doctor and the tests
 * all ask this one question. An empty answer means: sound.
 */

export type AskRows = (text: string) => Promise<Record<string, unknown>[]>

export interface WallFault {
  readonly rule: string
  readonly object: string
}

const tables = `with tables as (
  select c.oid, c.relname::text as name, c.relrowsecurity as rls, c.relforcerowsecurity as forced, c.relispartition as partition,
         pg_get_userbyid(c.relowner)::text as owner, w.kind,
         (select a.attnum from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped) as tenant_col
    from pg_class c join pg_namespace n on n.oid = c.relnamespace left join app.wall_register w on w.table_name = c.relname
   where n.nspname = 'app' and c.relkind in ('r', 'p')
), walled as (select * from tables where kind <> 'system')`

/** Each rule is one select giving (rule, object) for what breaks it. */
const rules: readonly string[] = [
  `select 'table is not in the wall register' as rule, name as object from tables where kind is null`,
  `select 'row security is off', name from walled where not rls`,
  `select 'row security is not forced', name from walled where not forced`,
  `select 'table has no tenant_id', name from walled where tenant_col is null`,
  `select 'system table has a tenant_id', name from tables where kind = 'system' and tenant_col is not null`,
  `select 'there must be exactly one permissive policy, which is true', t.name from walled t where (
     select count(*) from pg_policy p where p.polrelid = t.oid and p.polpermissive) <> 1 or exists (
     select 1 from pg_policy p where p.polrelid = t.oid and p.polpermissive
        and (p.polname <> 'open' or pg_get_expr(p.polqual, p.polrelid) <> 'true' or p.polroles <> '{0}'::oid[]))`,
  `select 'the restrictive wall is missing', t.name from walled t where (
     select count(*) from pg_policy p where p.polrelid = t.oid and not p.polpermissive and p.polroles = '{0}'::oid[])
     <> case t.kind when 'shared' then 4 else 1 end`,
  `select 'the wall does not compare tenant_id with the setting', t.name || '.' || p.polname from walled t join pg_policy p on p.polrelid = t.oid
    where not p.polpermissive and (
      (p.polcmd <> 'a' and coalesce(pg_get_expr(p.polqual, p.polrelid), '') !~ 'tenant_id (=|IN|= ANY) ?\\(*( ?SELECT app\\.tenant_id\\(\\)|ARRAY\\[\\( ?SELECT app\\.tenant_id\\(\\))')
      or (p.polcmd in ('*', 'a', 'w') and coalesce(pg_get_expr(p.polwithcheck, p.polrelid), '') !~ 'tenant_id = \\( SELECT app\\.tenant_id\\(\\)'))`,
  `select 'a policy casts the tenant column or reads another table', t.name || '.' || p.polname from walled t join pg_policy p on p.polrelid = t.oid
    where concat(pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid)) ~* 'tenant_id::|\\mfrom\\M'`,
  `select 'a key does not start with tenant_id', i.indexrelid::regclass::text from pg_index i join walled t on t.oid = i.indrelid
    where i.indisunique and (i.indkey::int2[])[0] is distinct from t.tenant_col and not (t.kind = 'directory' and t.name = 'tenant')`,
  `select 'a foreign key does not carry tenant_id', k.conname::text from pg_constraint k join walled t on t.oid = k.conrelid
     join pg_attribute ra on ra.attrelid = k.confrelid and ra.attname = 'tenant_id'
    where k.contype = 'f' and (k.confkey[1] <> ra.attnum or k.conkey[1] <> t.tenant_col)`,
  `select 'an index on a column whose operators leak cannot be used under row security', i.indexrelid::regclass::text
     from pg_index i join walled t on t.oid = i.indrelid join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey::int2[])
     join pg_type y on y.oid = a.atttypid
    where a.atttypid in ('jsonb'::regtype, 'numeric'::regtype, 'tsvector'::regtype) or y.typtype = 'e'`,
  `select 'an expression index cannot be used under row security', i.indexrelid::regclass::text from pg_index i join walled t on t.oid = i.indrelid where i.indexprs is not null`,
  `select 'the actor trigger is missing or off', t.name from walled t where not exists (
     select 1 from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = t.oid and f.proname = 'require_actor' and g.tgenabled in ('O', 'A') and g.tgtype & 28 = 28)`,
  `select 'an append table can be changed', t.name from walled t where kind = 'append' and (
     has_table_privilege('app', t.oid, 'UPDATE') or has_table_privilege('app', t.oid, 'DELETE') or not exists (
     select 1 from pg_trigger g join pg_proc f on f.oid = g.tgfoid where g.tgrelid = t.oid and f.proname = 'refuse_change' and g.tgenabled in ('O', 'A')))`,
  `select 'a serving role owns a table', name from tables where owner in ('app', 'worker', 'steward', 'migrator')`,
  `select 'a serving role may truncate, reference or add triggers', t.name || ' ' || r from tables t, unnest(array['app', 'worker', 'steward']) r
    where has_table_privilege(r, t.oid, 'TRUNCATE') or has_table_privilege(r, t.oid, 'REFERENCES') or has_table_privilege(r, t.oid, 'TRIGGER')`,
  `select 'worker may read whole rows', name from walled where has_table_privilege('worker', oid, 'SELECT')`,
  `select 'a system table can be written by a serving role', t.name || ' ' || r from tables t, unnest(array['app', 'worker', 'steward']) r
    where t.kind = 'system' and (has_table_privilege(r, t.oid, 'INSERT') or has_table_privilege(r, t.oid, 'UPDATE') or has_table_privilege(r, t.oid, 'DELETE'))`,
  `select 'the public may touch a table', t.name from tables t join pg_class c on c.oid = t.oid, aclexplode(c.relacl) a where a.grantee = 0`,
  `select 'a partition is granted', name from tables where partition and (has_table_privilege('app', oid, 'SELECT') or has_table_privilege('steward', oid, 'SELECT'))`,
  `select 'a view does not run as its caller', c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname = 'app' and c.relkind = 'v' and not coalesce(c.reloptions && array['security_invoker=true', 'security_invoker=on'], false)`,
  `select 'a materialised view holds tenant data', c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'app' and c.relkind = 'm'`,
  `select 'a function runs with the rights of its owner', p.oid::regprocedure::text from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'app' and p.prosecdef`,
  `select 'a sequence could reach a client', c.relname::text from pg_class c join pg_namespace n on n.oid = c.relnamespace where n.nspname = 'app' and c.relkind = 'S'`,
  `select 'a role may do too much', rolname::text from pg_roles where rolname in ('app', 'worker', 'steward', 'migrator', 'app_owner')
      and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication)`,
  `select 'a serving role inherits from or may become another role', m.rolname || ' ' || r.rolname from pg_auth_members a
     join pg_roles m on m.oid = a.member join pg_roles r on r.oid = a.roleid where m.rolname in ('app', 'worker', 'steward')`,
  `select 'a role is missing', r from unnest(array['app', 'worker', 'steward', 'migrator', 'app_owner']) r
    where not exists (select 1 from pg_roles where rolname = r)`,
]

export async function findWallFaults(ask: AskRows): Promise<WallFault[]> {
  const rows = await ask(`${tables} ${rules.join('\n union all ')} order by 1, 2`)
  return rows as unknown as WallFault[]
}

export const wallRuleCount = rules.length

/** PostgreSQL 15 brought security_invoker views, which the walls rely on. */
export const MINIMUM_SERVER_VERSION = 150_000

/** Who am I really? A serving connection must be the role it was configured for, and nothing more. */
export async function findRoleFault(ask: AskRows, expected: string): Promise<string | null> {
  const [row] = await ask(
    `select current_user::text as name, session_user::text as session, r.rolsuper, r.rolbypassrls,
            current_setting('server_version_num')::int as version from pg_roles r where r.rolname = current_user`,
  )
  if (!row) return 'the current role is not in the catalogue'
  if (Number(row['version']) < MINIMUM_SERVER_VERSION)
    return `PostgreSQL ${row['version']} is too old; 15 or newer is needed`
  if (row['name'] !== expected || row['session'] !== expected) {
    return `the connection runs as ${row['name']}, but must be ${expected}; "npx probity roles --print" gives the SQL that makes the roles`
  }
  if (row['rolsuper'] || row['rolbypassrls'])
    return `${expected} is a superuser or bypasses row security; run the SQL of "npx probity roles --print"`
  return null
}
