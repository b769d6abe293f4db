-- The functions of the policy `sight` ask nothing for those who see everything: where a row was changed meanwhile, PostgreSQL evaluates
-- every sub-select of a policy before it checks the row again, and workers may not read `user_account`. In PL/pgSQL their plans are kept.
create or replace function app.granted_restrictions(sight text) returns uuid[]
  language plpgsql stable parallel safe as $$
begin
  if sight like 'restriction:%' then return array[substr(sight, 13)::uuid]; end if;
  if sight is null or sight not like 'principal:%' then return '{}'; end if;
  return (select coalesce(array_agg(p.restriction_id), '{}') from app.restriction_person p
           where p.tenant_id = app.tenant_id() and p.principal = substr(sight, 11) and p.effect = 'grant'
             and (p.until is null or p.until > now()));
end $$;

create or replace function app.officer_exclusions(sight text) returns uuid[]
  language plpgsql stable parallel safe as $$
begin
  if sight is null or sight not like 'principal:user:%' then return null; end if;
  if not exists (select 1 from app.user_account u where u.tenant_id = app.tenant_id() and u.user_id::text = substr(sight, 16)
                    and u.is_mlro and u.state <> 'inactive') then
    return null;
  end if;
  return (select coalesce(array_agg(p.restriction_id), '{}') from app.restriction_person p
           where p.tenant_id = app.tenant_id() and p.principal = substr(sight, 11) and p.effect = 'exclude');
end $$;

-- Only triggers write what decides about sight; the access list and its foreign key are the way to change it.
create function app.keep_sight() returns trigger
  language plpgsql as $$
begin
  if pg_trigger_depth() < 2 and not app.restoring() and not app.is_deleting_tenant() then
    raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;
create trigger restriction_force_keep before insert or update or delete on app.restriction_force
  for each row execute function app.keep_sight();
create trigger restriction_person_keep before insert or update or delete on app.restriction_person
  for each row execute function app.keep_sight();

-- An upload that a document takes over stays its sender's: the document may be restricted.
alter table app.upload add column is_private boolean not null default false;
