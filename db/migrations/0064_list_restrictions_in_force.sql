-- The restrictions in force of a tenant in one value, so that the policy `sight` reads them once for each statement instead of asking for
-- each row. See docs/adr/0086-read-restrictions-in-force-once.md.

-- Kept by a trigger from `restriction_force`. A tenant in which nothing was ever restricted has no row. The keys of an object are found by
-- binary search; the values are null. Not compressed: it is read more often than written.
create table app.restriction_list (
  tenant_id uuid not null,
  ids       jsonb not null constraint restriction_list_ids_ck check (jsonb_typeof(ids) = 'object'),
  constraint restriction_list_pkey primary key (tenant_id),
  constraint restriction_list_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
alter table app.restriction_list alter column ids set storage external;
select app.wall('app.restriction_list', 'tenant');

alter table app.restriction_force no force row level security;
alter table app.restriction_list no force row level security;
insert into app.restriction_list (tenant_id, ids)
  select tenant_id, jsonb_object_agg(restriction_id::text, null) from app.restriction_force group by tenant_id;
alter table app.restriction_force force row level security;
alter table app.restriction_list force row level security;

create trigger restriction_list_keep before insert or update or delete on app.restriction_list
  for each row execute function app.keep_sight();

create function app.list_restriction() returns trigger
  language plpgsql as $$
begin
  if app.restoring() or app.is_deleting_tenant() then return null; end if;
  if tg_op = 'DELETE' then
    update app.restriction_list set ids = ids - old.restriction_id::text where tenant_id = old.tenant_id;
    return null;
  end if;
  update app.restriction_list set ids = ids || jsonb_build_object(new.restriction_id::text, null) where tenant_id = new.tenant_id;
  if not found then
    insert into app.restriction_list (tenant_id, ids)
      select f.tenant_id, jsonb_object_agg(f.restriction_id::text, null) from app.restriction_force f where f.tenant_id = new.tenant_id group by 1
      on conflict on constraint restriction_list_pkey do update set ids = restriction_list.ids || excluded.ids;
  end if;
  return null;
end $$;
create trigger restriction_force_list after insert or update or delete on app.restriction_force
  for each row execute function app.list_restriction();

-- What the sight does not show unless it was granted: nothing for those who see everything, for the designated officer what excludes them,
-- for everybody else all that is in force. Reads nothing for those who see everything: workers may not.
create function app.hidden_restrictions(sight text) returns jsonb
  language plpgsql stable parallel safe as $$
begin
  if sight = 'all' then return '{}'; end if;
  if sight like 'principal:user:%' and exists (
       select 1 from app.user_account u where u.tenant_id = app.tenant_id() and u.user_id::text = substr(sight, 16)
          and u.is_mlro and u.state <> 'inactive') then
    return (select coalesce(jsonb_object_agg(p.restriction_id::text, null), '{}') from app.restriction_person p
              join app.restriction_force f on f.tenant_id = p.tenant_id and f.restriction_id = p.restriction_id
             where p.tenant_id = app.tenant_id() and p.principal = substr(sight, 11) and p.effect = 'exclude');
  end if;
  -- Without the list, the rows that it is made of.
  return coalesce((select l.ids from app.restriction_list l where l.tenant_id = app.tenant_id()),
                  (select jsonb_object_agg(f.restriction_id::text, null) from app.restriction_force f where f.tenant_id = app.tenant_id()), '{}');
end $$;

-- Becomes part of the statement that it is called in.
create function app.is_in_force(restriction uuid, ids jsonb) returns boolean
  language sql immutable parallel safe
  return ids ? restriction::text;

-- `|| '{}'` takes the value out of its storage once, not for each row.
create or replace function app.restrict_rows(target regclass) returns void
  language plpgsql as $$
declare
  seen constant text := 'restriction_id is null
                         or not app.is_in_force(restriction_id, (select app.hidden_restrictions(app.sight()) || ''{}''))
                         or restriction_id = any ((select app.granted_restrictions(app.sight()))::uuid[])';
begin
  execute format('drop policy if exists sight on %s', target);
  execute format('create policy sight on %s as restrictive using (%s) with check (%s)', target, seen, seen);
end $$;

do $$
declare
  target regclass;
begin
  for target in select p.polrelid from pg_policy p join pg_class c on c.oid = p.polrelid
                 where p.polname = 'sight' and c.relnamespace = 'app'::regnamespace order by c.relname
  loop
    perform app.restrict_rows(target);
  end loop;
end $$;
