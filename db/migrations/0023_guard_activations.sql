-- A rollback returns to a version that was in force, and a version that is in force, or will be, is not withdrawn. Both hold
-- whatever the code does, because both decide which data governs without another approval.

-- A statement that was cancelled, or replaced by another for the same instant, before that instant was never in force.
create function app.was_in_force(p_tenant_id uuid, p_family text, p_list_key text, p_layer text, p_dataset_id uuid, p_version bigint)
  returns boolean
  language sql stable
  return exists (
    select 1 from app.activation a
     where a.tenant_id = p_tenant_id and a.family = p_family and a.list_key = p_list_key and a.layer = p_layer
       and a.dataset_id = p_dataset_id and a.version = p_version
       and a.effective_from <= clock_timestamp() and (a.revoked_at is null or a.revoked_at > a.effective_from)
       and not exists (
         select 1 from app.activation b
          where b.tenant_id = a.tenant_id and b.family = a.family and b.list_key = a.list_key and b.layer = a.layer
            and b.effective_from = a.effective_from and b.seq > a.seq and b.recorded_at <= a.effective_from
            and (b.revoked_at is null or b.revoked_at > b.effective_from)));

-- Runs after activation_chain, which takes the lock of the list: triggers of one kind fire in order of their names.
create function app.check_rollback_target() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if not app.was_in_force(new.tenant_id, new.family, new.list_key, new.layer, new.dataset_id, new.version) then
    raise exception 'a rollback returns to a version that was in force' using errcode = 'PB006';
  end if;
  return new;
end $$;
create trigger activation_rollback before insert on app.activation for each row
  when (new.kind = 'rollback') execute function app.check_rollback_target();

create function app.check_withdrawal() returns trigger
  language plpgsql as $$
declare
  list app.dataset;
begin
  select * into list from app.dataset where tenant_id = new.tenant_id and dataset_id = new.dataset_id;
  -- Nobody activates the version while it is being withdrawn.
  perform pg_advisory_xact_lock(hashtextextended('activation:' || list.tenant_id || ':' || list.family || ':' || list.list_key, 0));
  if exists (
    select 1 from app.activation a
     where a.tenant_id = list.tenant_id and a.family = list.family and a.list_key = list.list_key and a.layer = list.role
       and a.dataset_id = list.dataset_id and a.version = new.version and a.revoked_at is null
       and (a.effective_from > clock_timestamp() or a.activation_id = (
         select b.activation_id from app.activation b
          where b.tenant_id = list.tenant_id and b.family = list.family and b.list_key = list.list_key and b.layer = list.role
            and b.revoked_at is null and b.effective_from <= clock_timestamp()
          order by b.effective_from desc, b.seq desc limit 1))) then
    raise exception 'a version that is in force or scheduled is not withdrawn' using errcode = 'PB007';
  end if;
  return new;
end $$;
create trigger dataset_version_withdraw before update on app.dataset_version for each row
  when (new.state = 'withdrawn' and old.state <> 'withdrawn') execute function app.check_withdrawal();
