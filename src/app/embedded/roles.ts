/**
 * The database roles as SQL, the one definition for the embedded server and for `probity roles --print`.
 * Runs on PostgreSQL 15 and later, as superuser or as the administrator of a managed server, any number of times.
 */
import pg from 'pg'

/** The roles that log in; app_owner owns everything and cannot. */
export const loginRoles = ['migrator', 'app', 'worker', 'steward'] as const
export type LoginRole = (typeof loginRoles)[number]

function passwordSql(passwords: Readonly<Record<string, string>> | undefined): string {
  if (!passwords) {
    return `-- Set the passwords in psql, where they stay out of the history and the server's log:\n${loginRoles
      .map((role) => `--   \\password ${role}`)
      .join('\n')}`
  }
  return loginRoles
    .filter((role) => passwords[role] !== undefined)
    .map((role) => `alter role ${role} password ${pg.escapeLiteral(passwords[role] as string)};`)
    .join('\n')
}

export function rolesSql(options: { database: string; passwords?: Readonly<Record<string, string>> }): string {
  const database = pg.escapeIdentifier(options.database)
  const name = pg.escapeLiteral(options.database)
  return `-- Probity's roles. Create the database first, then run this connected to it, as a superuser or as a role with
-- CREATEROLE and CREATEDB that owns the database:
--   psql --single-transaction -v ON_ERROR_STOP=1 -d ${options.database} -f roles.sql

-- Nobody who serves requests owns a table, bypasses row-level security or can switch to a role that does.
--   app_owner  owns the schema and the tables; nobody logs in as it
--   migrator   becomes app_owner by SET ROLE, for migrations only
--   app        HTTP handlers and job bodies
--   worker     claims jobs and sees only the queue's own columns
--   steward    shared lists, seeds and tenants
do $$
declare
  wanted record;
begin
  for wanted in
    select * from (values ('app_owner', 'nologin'), ('migrator', 'login noinherit'), ('app', 'login noinherit'),
                          ('worker', 'login noinherit'), ('steward', 'login noinherit')) as role (name, kind)
  loop
    if not exists (select from pg_catalog.pg_roles where rolname = wanted.name) then
      execute pg_catalog.format(
        'create role %I %s nosuperuser nobypassrls nocreatedb nocreaterole noreplication', wanted.name, wanted.kind);
    end if;
  end loop;
end $$;

-- Existing roles are checked, not altered: most of these attributes only a superuser may name in ALTER ROLE.
do $$
declare
  wrong text;
begin
  select pg_catalog.string_agg(rolname, ', ') into wrong
    from pg_catalog.pg_roles
   where rolname in ('app_owner', 'migrator', 'app', 'worker', 'steward')
     and (rolsuper or rolbypassrls or rolcreatedb or rolcreaterole or rolreplication
          or rolcanlogin = (rolname = 'app_owner') or rolinherit <> (rolname = 'app_owner'));
  if wrong is not null then
    raise exception 'these roles have attributes they must not have: %', wrong;
  end if;
  select pg_catalog.string_agg(distinct role.rolname, ', ') into wrong
    from pg_catalog.pg_auth_members membership
    join pg_catalog.pg_roles role on role.oid = membership.member
   where role.rolname in ('app', 'worker', 'steward');
  if wrong is not null then
    raise exception 'these roles must not be members of another role: %', wrong;
  end if;
end $$;

-- NOINHERIT on migrator makes this "inherit false, set true" on 16 and later, and is the only way to say it on 15.
grant app_owner to migrator;

alter role migrator set timezone = 'UTC';
alter role app      set timezone = 'UTC';
alter role worker   set timezone = 'UTC';
alter role steward  set timezone = 'UTC';

-- Every name of ours is written with its schema, so nothing can be slipped in front of it.
alter role migrator set search_path = 'pg_catalog';
alter role app      set search_path = 'pg_catalog';
alter role worker   set search_path = 'pg_catalog';
alter role steward  set search_path = 'pg_catalog';

-- The statistics of a queue are always yesterday's. Each of the worker's questions has an index that gives the answer in
-- order, and may not be planned as a sort of all that is waiting because there was so little when somebody last counted.
alter role worker   set enable_seqscan = off;
alter role worker   set enable_bitmapscan = off;
alter role worker   set enable_sort = off;

${passwordSql(options.passwords)}

-- app_owner owns the database. An administrator who is no superuser can give it away only as a member of app_owner.
do $$
begin
  if not (select rolsuper from pg_catalog.pg_roles where rolname = current_user) then
    grant app_owner to current_user;
  end if;
  if (select datdba from pg_catalog.pg_database where datname = ${name}) <> 'app_owner'::pg_catalog.regrole then
    alter database ${database} owner to app_owner;
  end if;
end $$;

-- Only these roles may connect; temporary tables are for those who import (COPY is refused under row-level security).
revoke connect, temporary on database ${database} from public;
grant connect on database ${database} to migrator, app, worker, steward;
grant temporary on database ${database} to app, steward;
revoke all on schema public from public;
`
}
