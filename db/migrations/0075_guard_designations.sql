-- Who sees every restriction is decided by two people, and what a row belongs to when it is written stays.
-- See docs/adr/0065-restrict-rows-to-people.md.

create or replace function app.keep_designation() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    if new.state <> 'waiting' or (app.actor() like 'user:%' and new.proposed_by <> app.actor()) then
      raise exception 'a person proposes in their own name, and another one decides' using errcode = 'PB002';
    end if;
    return new;
  end if;
  if old.state <> 'waiting' or new.state = 'waiting' then
    raise exception 'a designation is decided once' using errcode = 'PB002';
  end if;
  if (new.tenant_id, new.designation_id, new.user_id, new.effect, new.reason, new.proposed_at, new.proposed_by)
     is distinct from
     (old.tenant_id, old.designation_id, old.user_id, old.effect, old.reason, old.proposed_at, old.proposed_by)
     or new.decided_by is distinct from app.actor() then
    raise exception 'what was proposed never changes, and whoever decides is the actor' using errcode = 'PB002';
  end if;
  if new.state = 'confirmed' and new.decided_by = 'user:' || new.user_id then
    raise exception 'nobody confirms their own designation'
      using errcode = 'PB002', constraint = 'mlro_designation_own_confirmation';
  end if;
  return new;
end $$;
drop trigger mlro_designation_confirm on app.mlro_designation;
create trigger mlro_designation_decide before insert or update on app.mlro_designation
  for each row execute function app.keep_designation();

create function app.keep_mlro() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  -- Whoever is deactivated loses the designation.
  if not new.is_mlro and new.state = 'inactive' then return new; end if;
  if not exists (
       select 1 from app.mlro_designation d
        where d.tenant_id = new.tenant_id and d.user_id = new.user_id and d.state = 'confirmed'
          and d.effect = case when new.is_mlro then 'designate' else 'end' end and app.is_own_change(d.xmin)) then
    raise exception 'a person is designated, and the designation ended, by a proposal that another person confirms'
      using errcode = 'PB002', constraint = 'user_account_mlro_designation';
  end if;
  return new;
end $$;
create trigger user_account_mlro_added before insert on app.user_account
  for each row when (new.is_mlro) execute function app.keep_mlro();
create trigger user_account_mlro_changed before update of is_mlro on app.user_account
  for each row when (new.is_mlro is distinct from old.is_mlro) execute function app.keep_mlro();

create function app.keep_restriction() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  raise exception 'what belongs to a restriction keeps it' using errcode = 'PB002', constraint = tg_table_name || '_restriction_kept';
end $$;
create trigger job_restriction_kept before update of restriction_id on app.job
  for each row when (old.restriction_id is not null and new.restriction_id is distinct from old.restriction_id)
  execute function app.keep_restriction();
create trigger idempotency_restriction_kept before update of object_restriction_id, object_also_restriction_id on app.idempotency
  for each row when (old.object_restriction_id is not null and new.object_restriction_id is distinct from old.object_restriction_id
                     or old.object_also_restriction_id is not null and new.object_also_restriction_id is distinct from old.object_also_restriction_id)
  execute function app.keep_restriction();
