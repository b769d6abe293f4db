-- The walls. Every later table is made tenant-safe by one call of app.wall(table, kind); a table that was not walled
-- fails the start-up guard and the catalogue tests, so a forgotten wall cannot serve a request.

create schema app;
revoke all on schema app from public;
grant usage on schema app to app, worker, steward;

-- Owns every shared row. Never a caller: tokens naming it are refused.
create function app.system_tenant() returns uuid
  language sql immutable parallel safe
  return '00000000-0000-0000-0000-000000000000'::uuid;

-- After a commit the transaction-local setting reads '' instead of NULL, hence nullif.
create function app.tenant_id() returns uuid
  language sql stable parallel safe
  return nullif(current_setting('app.tenant_id', true), '')::uuid;

create function app.actor() returns text
  language sql stable parallel safe
  return nullif(current_setting('app.actor', true), '');

-- Which wall each table has. The catalogue checks compare it with the policies that are really there.
create table app.wall_register (
  table_name text not null constraint wall_register_pkey primary key,
  kind       text not null constraint wall_register_kind_ck
             check (kind in ('tenant', 'append', 'shared', 'queue', 'ledger', 'directory', 'system'))
);

-- Nobody writes anonymously: the audit record and every created_by depend on it.
create function app.require_actor() returns trigger
  language plpgsql as $$
begin
  if app.actor() is null or app.actor() !~ '^(user|key|job|operator|seed):.' then
    raise exception 'a write needs app.actor' using errcode = 'PB001';
  end if;
  return null;
end $$;

create function app.refuse_change() returns trigger
  language plpgsql as $$
begin
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'PB002';
end $$;

-- The wall itself. Kinds:
--   tenant     rows of one tenant: read and written by that tenant only
--   append     as tenant, but rows are never changed or removed
--   shared     read: own rows and the system tenant's; written: own rows, and the system tenant's only by steward
--   queue      as tenant; the worker role sees rows of all tenants, but only columns granted to it one by one
--   ledger     as queue, but rows are never changed or removed
--   directory  the list of tenants itself: steward sees and writes all rows, a tenant sees its own
--   system     no tenant data (migrations, this register): readable by all, written by the owner only
-- The restrictive policy is the wall; the single permissive one only opens the door inside it. A careless permissive
-- policy added later therefore opens nothing.
create function app.wall(target regclass, kind text) returns void
  language plpgsql as $$
declare
  own        constant text := 'tenant_id = (select app.tenant_id())';
  readable   constant text := '(select app.tenant_id()) is not null and tenant_id in ((select app.tenant_id()), (select app.system_tenant()))';
  writable   constant text := own || ' and (tenant_id <> (select app.system_tenant()) or (select current_user = ''steward''))';
  queued     constant text := own || ' or (select current_user = ''worker'')';
  listed     constant text := own || ' or (select current_user in (''steward'', ''worker''))';
  name       constant text := (select relname from pg_class where oid = target);
begin
  insert into app.wall_register (table_name, kind) values (name, kind);
  execute format('revoke all on %s from public', target);
  if kind = 'system' then
    execute format('grant select on %s to app, worker, steward', target);
    return;
  end if;

  execute format('alter table %s enable row level security', target);
  execute format('alter table %s force row level security', target);
  execute format('create policy open on %s using (true) with check (true)', target);
  execute format('create trigger %I before insert or update or delete on %s for each statement execute function app.require_actor()',
                 name || '_actor', target);

  case kind
    when 'tenant' then
      execute format('create policy wall on %s as restrictive using (%s) with check (%s)', target, own, own);
      execute format('grant select, insert, update, delete on %s to app', target);
    when 'append' then
      execute format('create policy wall on %s as restrictive using (%s) with check (%s)', target, own, own);
      execute format('create trigger %I before update or delete on %s for each statement execute function app.refuse_change()',
                     name || '_append', target);
      execute format('grant select, insert on %s to app', target);
    when 'shared' then
      execute format('create policy wall_read on %s as restrictive for select using (%s)', target, readable);
      execute format('create policy wall_insert on %s as restrictive for insert with check (%s)', target, writable);
      execute format('create policy wall_update on %s as restrictive for update using (%s) with check (%s)', target, writable, writable);
      execute format('create policy wall_delete on %s as restrictive for delete using (%s)', target, writable);
      execute format('grant select, insert, update, delete on %s to app, steward', target);
    when 'queue' then
      execute format('create policy wall on %s as restrictive using (%s) with check (%s)', target, queued, queued);
      execute format('grant select, insert, update, delete on %s to app', target);
    when 'ledger' then
      execute format('create policy wall on %s as restrictive using (%s) with check (%s)', target, queued, queued);
      execute format('create trigger %I before update or delete on %s for each statement execute function app.refuse_change()',
                     name || '_append', target);
      execute format('grant select, insert on %s to app', target);
    when 'directory' then
      execute format('create policy wall on %s as restrictive using (%s) with check (%s)', target, listed, listed);
      execute format('grant select, insert, update, delete on %s to steward', target);
      execute format('grant select on %s to app', target);
    else
      raise exception 'unknown wall kind %', kind;
  end case;
end $$;

revoke all on function app.wall(regclass, text) from public;
select app.wall('app.wall_register', 'system');

-- Written by the migrator in the same transaction as the migration itself.
create table app.migration (
  version    text not null constraint migration_pkey primary key,
  name       text not null,
  checksum   text not null,
  applied_at timestamptz not null default now()
);
select app.wall('app.migration', 'system');
