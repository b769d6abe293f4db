-- Deletion of a tenant: every row of it, also of append-only tables, and what stays. See docs/adr/0071-delete-a-tenant.md.

-- `deleting` is final: nobody signs in, no job is claimed, no schedule runs, and the rows go one table after another.
alter table app.tenant drop constraint tenant_state_ck;
alter table app.tenant add constraint tenant_state_ck check (state in ('active', 'suspended', 'deleting'));

-- What is kept of a tenant that was deleted. Rows of the system tenant: none of the deleted one's own remains.
create table app.tenant_deletion (
  tenant_id         uuid not null,
  deleted_tenant_id uuid not null constraint tenant_deletion_other_ck check (deleted_tenant_id <> app.system_tenant()),
  started_at        timestamptz not null default now(),
  started_by        text not null,
  -- The end of the audit chain, so that an exported record can be recognised as complete.
  audit_seq         bigint not null constraint tenant_deletion_seq_ck check (audit_seq >= 0),
  audit_hash        text not null,
  -- Rows by table when the deletion began.
  row_counts        jsonb not null,
  finished_at       timestamptz,
  constraint tenant_deletion_pkey primary key (tenant_id, deleted_tenant_id),
  constraint tenant_deletion_system_ck check (tenant_id = app.system_tenant())
);
select app.wall('app.tenant_deletion', 'shared');
revoke insert, update, delete on app.tenant_deletion from app;
revoke update, delete on app.tenant_deletion from steward;
grant update (started_at, started_by, audit_seq, audit_hash, row_counts, finished_at) on app.tenant_deletion to steward;

create function app.keep_tenant_deletion() returns trigger
  language plpgsql as $$
declare
  tenant_state text := (select t.state from app.tenant t where t.tenant_id = new.deleted_tenant_id);
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    if new.finished_at is not null then
      raise exception 'the deletion of a tenant starts before it ends' using errcode = 'PB002';
    end if;
    return new;
  end if;
  -- Recorded again while the tenant can still be used, finished once when it is gone, and otherwise as it was.
  if old.finished_at is null and new.deleted_tenant_id = old.deleted_tenant_id and (case
       when tenant_state is null then new.finished_at is not null and (new.started_at, new.started_by, new.audit_seq, new.audit_hash, new.row_counts)
         is not distinct from (old.started_at, old.started_by, old.audit_seq, old.audit_hash, old.row_counts)
       else tenant_state <> 'deleting' and new.finished_at is null end) then
    return new;
  end if;
  raise exception 'the record of a deletion never changes' using errcode = 'PB002';
end $$;
create trigger tenant_deletion_keep before insert or update on app.tenant_deletion
  for each row execute function app.keep_tenant_deletion();

-- The one way past an append-only trigger: the owner of the tables, which no process serves as, in a transaction that says which tenant it
-- removes, inside that tenant, whose deletion is recorded and which is not in use any more.
create function app.is_deleting_tenant() returns boolean
  language plpgsql stable as $$
begin
  return current_user = 'app_owner'
     and coalesce(current_setting('app.deleting_tenant', true) = app.tenant_id()::text, false)
     and exists (select 1 from app.tenant_deletion d where d.tenant_id = app.system_tenant() and d.deleted_tenant_id = app.tenant_id())
     and not exists (select 1 from app.tenant t where t.tenant_id = app.tenant_id() and t.state <> 'deleting');
end $$;

create or replace function app.refuse_change() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'DELETE' and app.is_deleting_tenant() then return old; end if;
  raise exception 'rows of % are never changed or removed', tg_table_name using errcode = 'PB002';
end $$;

create function app.keep_tenant() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'DELETE' then
    if app.is_deleting_tenant() then return old; end if;
    raise exception 'a tenant is removed after everything it has' using errcode = 'PB002';
  end if;
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    if new.state = 'deleting' or exists (select 1 from app.tenant_deletion d
        where d.tenant_id = app.system_tenant() and d.deleted_tenant_id = new.tenant_id) then
      raise exception 'a tenant that was deleted does not come back' using errcode = 'PB002';
    end if;
    return new;
  end if;
  if old.state = new.state then return new; end if;
  if old.state = 'deleting' then
    raise exception 'a tenant that is being deleted stays so' using errcode = 'PB002';
  end if;
  if new.state = 'deleting' then
    if old.state <> 'suspended' or app.tenant_id() is distinct from new.tenant_id or not exists (select 1 from app.tenant_deletion d
        where d.tenant_id = app.system_tenant() and d.deleted_tenant_id = new.tenant_id) then
      raise exception 'a tenant is suspended and its deletion recorded before it is deleted' using errcode = 'PB002';
    end if;
    -- A hold that is being placed is waited for.
    perform pg_advisory_xact_lock(hashtextextended('hold ' || new.tenant_id, 0));
    if exists (select 1 from app.hold_in_force h where h.tenant_id = new.tenant_id) then
      raise exception 'a legal hold keeps the tenant' using errcode = 'PB008';
    end if;
  end if;
  return new;
end $$;
create trigger tenant_keep before insert or update of state or delete on app.tenant
  for each row execute function app.keep_tenant();

-- A request that was admitted before the suspension must not place a hold that nothing would keep.
create function app.refuse_hold_in_deletion() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if exists (select 1 from app.tenant t where t.tenant_id = new.tenant_id and t.state = 'deleting') then
    raise exception 'the tenant is being deleted' using errcode = 'PB002';
  end if;
  return new;
end $$;
-- After hold_keep, which waits for a deletion that begins.
create trigger hold_tenant before insert on app.hold for each row execute function app.refuse_hold_in_deletion();
