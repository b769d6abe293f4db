-- Access that ends by itself changes nobody's access and no restriction. See docs/adr/0065-restrict-rows-to-people.md.

-- The designated MLRO sees a restriction without a grant: what they have of it does not end.
create function app.has_ending_access(tenant uuid, restriction uuid, person text) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select 1 from app.restriction_person p
     where p.tenant_id = tenant and p.restriction_id = restriction and p.principal = person and p.effect = 'grant' and p.until > now())
    and not exists (
    select 1 from app.user_account u
     where u.tenant_id = tenant and u.user_id::text = substr(person, 6) and u.is_mlro and u.state <> 'inactive');
end $$;

-- Otherwise somebody who was let in for an hour could stay, and shut out the others.
create function app.refuse_ending_access() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_refused boolean := false;
begin
  if tg_op <> 'INSERT' then
    is_refused := app.has_ending_access(old.tenant_id, old.restriction_id, app.actor());
  end if;
  if tg_op <> 'DELETE' and not is_refused then
    is_refused := app.has_ending_access(new.tenant_id, new.restriction_id, app.actor());
  end if;
  -- Grants end with the deactivation of a person, whoever deactivates them.
  if tg_op = 'DELETE' and is_refused then
    is_refused := not exists (
      select 1 from app.user_account u
       where u.tenant_id = old.tenant_id and u.user_id::text = substr(old.principal, 6) and u.state = 'inactive' and app.is_own_change(u.xmin));
  end if;
  if is_refused and not app.restoring() then
    raise exception 'your access ends by itself: somebody whose access does not end changes who has it' using errcode = 'PB010';
  end if;
  if tg_op = 'DELETE' then return old; end if;
  return new;
end $$;
create trigger restriction_access_ending before insert or update or delete on app.restriction_access
  for each row execute function app.refuse_ending_access();
create trigger restriction_ending before update on app.restriction
  for each row when (new.is_in_force is distinct from old.is_in_force) execute function app.refuse_ending_access();
