-- Legal holds: what must not be deleted or made unreadable until another person releases it. See docs/adr/0067-hold-and-erase.md.

create table app.hold (
  tenant_id           uuid not null,
  hold_id             uuid not null,
  -- Kinds are declared by modules; the id names the object whatever its kind.
  object_kind         text not null constraint hold_object_kind_ck check (object_kind ~ '^[a-z][a-z_]{0,39}$'),
  object_id           uuid not null,
  reason              text not null constraint hold_reason_ck check (length(reason) between 1 and 2000),
  authority_reference text constraint hold_authority_ck check (length(authority_reference) between 1 and 200),
  state               text not null default 'active' constraint hold_state_ck check (state in ('active', 'released')),
  placed_at           timestamptz not null default now(),
  placed_by           text not null constraint hold_person_ck check (placed_by like 'user:_%'),
  release_reason      text constraint hold_release_reason_ck check (length(release_reason) between 1 and 2000),
  released_at         timestamptz,
  released_by         text,
  restriction_id      uuid,
  constraint hold_pkey primary key (tenant_id, hold_id),
  constraint hold_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint hold_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint hold_released_ck check ((state = 'released') = (released_at is not null) and (state = 'released') = (released_by is not null)
                                     and (state = 'released') = (release_reason is not null)),
  constraint hold_four_eyes_ck check (state <> 'released' or (released_by <> placed_by and released_by like 'user:_%'))
);
select app.wall('app.hold', 'tenant');
select app.restrict_rows('app.hold');
revoke delete on app.hold from app;
create index hold_listing_idx on app.hold (tenant_id, placed_at, hold_id);
create index hold_state_idx on app.hold (tenant_id, state, placed_at, hold_id);
create index hold_object_idx on app.hold (tenant_id, object_id, placed_at, hold_id);

-- The objects that are held: a copy that triggers keep. It has no policy of sight, because a hold that the caller may not see
-- protects its object too. Nothing but the functions below reads it.
create table app.hold_in_force (
  tenant_id uuid not null,
  object_id uuid not null,
  hold_id   uuid not null,
  constraint hold_in_force_pkey primary key (tenant_id, object_id, hold_id),
  constraint hold_in_force_hold_fkey foreign key (tenant_id, hold_id) references app.hold (tenant_id, hold_id)
);
select app.wall('app.hold_in_force', 'tenant');
revoke update on app.hold_in_force from app;
create index hold_in_force_hold_idx on app.hold_in_force (tenant_id, hold_id);

create function app.keep_hold_in_force() returns trigger
  language plpgsql as $$
begin
  if pg_trigger_depth() < 2 and not app.restoring() then
    raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;
create trigger hold_in_force_keep before insert or delete on app.hold_in_force
  for each row execute function app.keep_hold_in_force();

-- One lock per tenant: placing a hold waits for deletions that have not committed, and a deletion for a hold that is being placed.
create function app.keep_hold() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    if new.state <> 'active' then
      raise exception 'a hold begins as active' using errcode = 'PB002';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('hold ' || new.tenant_id, 0));
    return new;
  end if;
  if old.state <> 'active' or new.state <> 'released'
     or (new.tenant_id, new.hold_id, new.object_kind, new.object_id, new.reason, new.authority_reference, new.placed_at, new.placed_by, new.restriction_id)
        is distinct from
        (old.tenant_id, old.hold_id, old.object_kind, old.object_id, old.reason, old.authority_reference, old.placed_at, old.placed_by, old.restriction_id) then
    raise exception 'a hold is released once, and nothing else of it changes' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger hold_keep before insert or update on app.hold for each row execute function app.keep_hold();

create function app.copy_hold() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  if new.state = 'active' then
    insert into app.hold_in_force (tenant_id, object_id, hold_id) values (new.tenant_id, new.object_id, new.hold_id);
  else
    delete from app.hold_in_force where tenant_id = new.tenant_id and hold_id = new.hold_id;
  end if;
  return null;
end $$;
create trigger hold_copy after insert or update on app.hold for each row execute function app.copy_hold();

create function app.is_held(object uuid) returns boolean
  language plpgsql stable parallel safe as $$
begin
  return exists (select 1 from app.hold_in_force h where h.tenant_id = app.tenant_id() and h.object_id = object);
end $$;

-- Refuses to delete a row of an object that is held, or, as a trigger of an update, to make it unreadable. Each argument leads to the id of
-- an object that the row belongs to: a column of the row, or `table.key.column` for a column of the row that it names by `key`.
create function app.refuse_held_delete() returns trigger
  language plpgsql as $$
declare
  path   text;
  parts  text[];
  object uuid;
begin
  if not app.restoring() then
    perform pg_advisory_xact_lock_shared(hashtextextended('hold ' || old.tenant_id, 0));
    foreach path in array tg_argv loop
      parts := string_to_array(path, '.');
      if cardinality(parts) = 1 then
        execute format('select ($1).%I', path) into object using old;
      else
        execute format('select p.%I from app.%I p where p.tenant_id = ($1).tenant_id and p.%I = ($1).%I', parts[3], parts[1], parts[2], parts[2])
           into object using old;
      end if;
      if app.is_held(object) then
        raise exception 'a legal hold keeps a row of %', tg_table_name using errcode = 'PB008';
      end if;
    end loop;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;

create trigger owner_key_hold before update on app.owner_key
  for each row when (new.state = 'destroyed' and old.state <> 'destroyed') execute function app.refuse_held_delete('owner_id');
create trigger source_payload_content_hold before delete on app.source_payload_content
  for each row execute function app.refuse_held_delete('payload_id', 'source_payload.payload_id.owner_id');
create trigger provider_page_hold before delete on app.provider_page
  for each row execute function app.refuse_held_delete('call_id', 'provider_call.call_id.subject_id');
