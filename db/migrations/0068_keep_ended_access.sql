-- What a person had of a restriction is kept when it ends, with its reason. See docs/adr/0065-restrict-rows-to-people.md.

-- Access and exclusions that were revoked or replaced. `restriction_access` holds what each person has now.
create table app.restriction_access_ended (
  tenant_id      uuid not null,
  ended_id       uuid not null default gen_random_uuid(),
  restriction_id uuid not null,
  principal      text not null constraint restriction_access_ended_person_ck check (principal like 'user:_%'),
  effect         text not null constraint restriction_access_ended_effect_ck check (effect in ('grant', 'exclude')),
  break_glass    boolean not null,
  until          timestamptz,
  reason         text,
  granted_at     timestamptz not null,
  granted_by     text not null,
  ended_at       timestamptz not null,
  -- Null: it ended by itself.
  ended_by       text,
  constraint restriction_access_ended_pkey primary key (tenant_id, ended_id),
  constraint restriction_access_ended_restriction_fkey foreign key (tenant_id, restriction_id)
    references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.restriction_access_ended', 'tenant');
revoke delete on app.restriction_access_ended from app;
select app.restrict_rows('app.restriction_access_ended');
create index restriction_access_ended_listing_idx
  on app.restriction_access_ended (tenant_id, restriction_id, granted_at, principal);
create trigger restriction_access_ended_erase before update on app.restriction_access_ended
  for each row execute function app.erase_only('reason');

create function app.keep_ended_access() returns trigger
  language plpgsql as $$
begin
  if pg_trigger_depth() < 2 and not app.is_restoring(new.tenant_id) then
    raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger restriction_access_ended_keep before insert on app.restriction_access_ended
  for each row execute function app.keep_ended_access();

create function app.record_ended_access() returns trigger
  language plpgsql as $$
declare
  expired constant boolean := coalesce(old.until <= now(), false);
begin
  if app.restoring() then return null; end if;
  insert into app.restriction_access_ended
      (tenant_id, restriction_id, principal, effect, break_glass, until, reason, granted_at, granted_by, ended_at, ended_by)
    values (old.tenant_id, old.restriction_id, old.principal, old.effect, old.break_glass, old.until, old.reason, old.granted_at, old.granted_by,
            case when expired then old.until else now() end, case when not expired then app.actor() end);
  return null;
end $$;
create trigger restriction_access_revoked after delete on app.restriction_access
  for each row execute function app.record_ended_access();
-- An erasure changes only the reason.
create trigger restriction_access_replaced after update on app.restriction_access
  for each row when (app.erasing() is null) execute function app.record_ended_access();

-- A person who is reactivated does not see again what they saw. Where nobody else has access that does not end, the grant stays: reactivating
-- the person must not need the operator. With full sight, because whoever deactivates a person does not see what that person sees.
create function app.end_grants() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
begin
  if app.restoring() then return null; end if;
  perform set_config('app.sight', 'all', true);
  delete from app.restriction_access a
   where a.tenant_id = new.tenant_id and a.principal = 'user:' || new.user_id and a.effect = 'grant'
     and (a.until is not null or app.is_reachable(a.tenant_id, a.restriction_id));
  perform set_config('app.sight', before, true);
  return null;
end $$;
create trigger user_account_grants after update of state on app.user_account
  for each row when (new.state = 'inactive' and old.state <> 'inactive') execute function app.end_grants();

-- The third person is not the one who is designated: two others decide.
create function app.keep_designation() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and new.decided_by = 'user:' || new.user_id then
    raise exception 'nobody confirms their own designation'
      using errcode = 'PB002', constraint = 'mlro_designation_own_confirmation';
  end if;
  return new;
end $$;
create trigger mlro_designation_confirm before insert or update on app.mlro_designation
  for each row when (new.state = 'confirmed') execute function app.keep_designation();

-- Second looks ----------------------------------------------------------------------------------------------------------

-- Why the alert was dismissed: a look that disagrees opens the alert again, and that removes it there. Null: decided before this column.
alter table app.alert_second_look add column reason_code text;

create or replace function app.keep_second_look() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.state <> 'waiting'
     or (new.tenant_id, new.look_id, new.alert_id, new.revision, new.dismissed_by, new.reason_code, new.sample_code, new.sample_version, new.seed,
         new.rate_bps, new.bucket, new.restriction_id)
        is distinct from
        (old.tenant_id, old.look_id, old.alert_id, old.revision, old.dismissed_by, old.reason_code, old.sample_code, old.sample_version, old.seed,
         old.rate_bps, old.bucket, old.restriction_id) then
    raise exception 'a second look is decided once' using errcode = 'PB002';
  end if;
  return new;
end $$;
