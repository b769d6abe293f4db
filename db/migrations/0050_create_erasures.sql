-- Erasure of a subject: requested by one person, confirmed by another, carried out in steps that can be resumed. See docs/adr/0067-hold-and-erase.md.

create table app.erasure (
  tenant_id    uuid not null,
  erasure_id   uuid not null,
  subject_id   uuid not null,
  -- `ledger`: repeated from the erasure ledger after an older state of the database was restored.
  origin       text not null default 'request' constraint erasure_origin_ck check (origin in ('request', 'ledger')),
  state        text not null default 'requested' constraint erasure_state_ck check (state in ('requested', 'executing', 'done', 'withdrawn')),
  -- Removed when the erasure is done: it may name the person.
  reason       text constraint erasure_reason_ck check (length(reason) between 1 and 2000),
  requested_at timestamptz not null default now(),
  requested_by text not null,
  confirmed_at timestamptz,
  confirmed_by text,
  job_id       uuid,
  -- What decided, as it was when it was confirmed: classes, counts, and the version of the list of retention clocks.
  decision     jsonb,
  ledger_hash  text constraint erasure_ledger_hash_ck check (ledger_hash ~ '^[0-9a-f]{64}$'),
  done_at      timestamptz,
  certificate  jsonb,
  constraint erasure_pkey primary key (tenant_id, erasure_id),
  constraint erasure_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint erasure_person_ck check (origin = 'ledger' or requested_by like 'user:_%'),
  constraint erasure_confirmed_ck check ((confirmed_at is null) = (confirmed_by is null)
    and (state in ('requested', 'withdrawn')) = (confirmed_at is null) and (confirmed_at is null or decision is not null)),
  constraint erasure_four_eyes_ck check (origin = 'ledger' or confirmed_by is null or (confirmed_by <> requested_by and confirmed_by like 'user:_%')),
  constraint erasure_done_ck check ((state = 'done') = (done_at is not null) and (state = 'done') = (certificate is not null)
    and (state <> 'done' or ledger_hash is not null))
);
select app.wall('app.erasure', 'tenant');
revoke delete on app.erasure from app;
create unique index erasure_open_key on app.erasure (tenant_id, subject_id) where state in ('requested', 'executing');
create index erasure_listing_idx on app.erasure (tenant_id, requested_at, erasure_id);
create index erasure_subject_idx on app.erasure (tenant_id, subject_id, requested_at, erasure_id);

create function app.keep_erasure() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if new.origin = 'ledger' and app.actor() not like 'operator:_%' and app.actor() not like 'seed:_%' then
    raise exception 'only the operator replays the erasure ledger' using errcode = 'PB002';
  end if;
  if tg_op = 'INSERT' then
    if new.state <> 'requested' and new.origin <> 'ledger' then
      raise exception 'an erasure begins as requested' using errcode = 'PB002';
    end if;
    return new;
  end if;
  if new.state = 'executing' and old.state = 'requested' and new.origin = 'request' then
    perform pg_advisory_xact_lock_shared(hashtextextended('hold ' || new.tenant_id, 0));
    if app.is_held(new.subject_id) then
      raise exception 'a legal hold keeps the subject' using errcode = 'PB008';
    end if;
  end if;
  if app.erasing() = old.subject_id and to_jsonb(new) - 'reason' = to_jsonb(old) - 'reason' and new.reason is null then
    return new;
  end if;
  if (new.tenant_id, new.erasure_id, new.subject_id, new.requested_at, new.requested_by)
     is distinct from (old.tenant_id, old.erasure_id, old.subject_id, old.requested_at, old.requested_by)
     or (new.origin <> old.origin and (new.origin, old.state) <> ('ledger', 'requested'))
     or (old.confirmed_by is not null and (new.confirmed_at, new.confirmed_by, new.decision) is distinct from (old.confirmed_at, old.confirmed_by, old.decision))
     or old.state in ('done', 'withdrawn') or (new.state = 'done' and new.reason is not null)
     or not (new.state = old.state or (old.state, new.state) in (('requested', 'executing'), ('requested', 'withdrawn'), ('executing', 'done'))) then
    raise exception 'an erasure is confirmed once, carried out once, and nothing else of it changes' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger erasure_keep before insert or update on app.erasure for each row execute function app.keep_erasure();

-- One row for each transaction of an erasure, written in that transaction: what other triggers accept an erasure by.
create table app.erasure_step (
  tenant_id  uuid not null,
  erasure_id uuid not null,
  step       text not null constraint erasure_step_step_ck check (step ~ '^[a-z][a-z0-9-]{0,59}$'),
  subject_id uuid not null,
  erased     bigint not null default 0 constraint erasure_step_erased_ck check (erased >= 0),
  txid       bigint not null default (pg_current_xact_id()::text::bigint),
  done_at    timestamptz not null default now(),
  constraint erasure_step_pkey primary key (tenant_id, erasure_id, step),
  constraint erasure_step_erasure_fkey foreign key (tenant_id, erasure_id) references app.erasure (tenant_id, erasure_id)
);
select app.wall('app.erasure_step', 'tenant');
revoke delete on app.erasure_step from app;

create function app.keep_erasure_step() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'UPDATE' then
    if new.txid <> pg_current_xact_id()::text::bigint
       or (new.tenant_id, new.erasure_id, new.step, new.subject_id, new.txid) is distinct from (old.tenant_id, old.erasure_id, old.step, old.subject_id, old.txid) then
      raise exception 'a step of an erasure is written by its own transaction' using errcode = 'PB002';
    end if;
    return new;
  end if;
  new.txid := pg_current_xact_id()::text::bigint;
  if not exists (select 1 from app.erasure e where e.tenant_id = new.tenant_id and e.erasure_id = new.erasure_id
                    and e.subject_id = new.subject_id and e.state = 'executing') then
    raise exception 'a step belongs to a confirmed erasure of its subject' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger erasure_step_keep before insert or update on app.erasure_step for each row execute function app.keep_erasure_step();

-- Holds and erasures exclude each other: both take the lock of holds. A hold that was released before the erasure is not asked for again
-- when the ledger is replayed.
create function app.refuse_hold_of_erased() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (select 1 from app.erasure e where e.tenant_id = new.tenant_id and e.subject_id = new.object_id and e.state = 'executing') then
    raise exception 'the subject is being erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
-- After hold_keep, which takes the lock.
create trigger hold_refuse before insert on app.hold for each row execute function app.refuse_hold_of_erased();

-- The subject that this transaction erases: named by a transaction-local setting, which counts only together with a step that the same
-- transaction has written. Null everywhere else.
create function app.erasing() returns uuid
  language plpgsql stable as $$
declare
  erasure constant text := nullif(current_setting('app.erasing', true), '');
begin
  if erasure is null then return null; end if;
  return (select s.subject_id from app.erasure_step s
           where s.tenant_id = app.tenant_id() and s.erasure_id = erasure::uuid and s.txid = pg_current_xact_id_if_assigned()::text::bigint limit 1);
end $$;

-- Whether a text contains one of the marks of a subject; both in lower case.
create function app.mentions(content text, marks text[]) returns boolean
  language plpgsql immutable parallel safe as $$
declare
  mark text;
begin
  foreach mark in array marks loop
    if strpos(lower(content), mark) > 0 then return true; end if;
  end loop;
  return false;
end $$;

-- Arguments: the columns that an erasure may overwrite. Without an erasure nothing of the row changes.
create function app.erase_only() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if app.erasing() is null or to_jsonb(new) - tg_argv::text[] is distinct from to_jsonb(old) - tg_argv::text[] then
    raise exception 'rows of % are never changed, except that an erasure overwrites %', tg_table_name, array_to_string(tg_argv, ', ')
      using errcode = 'PB002';
  end if;
  return new;
end $$;

-- Subjects. The trigger that keeps history would store what is erased as an earlier version.
alter table app.subject add column erased_at timestamptz;
alter table app.subject add constraint subject_erased_ck check (erased_at is null or state = 'offboarded');

create function app.erase_subject() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.subject_id, new.subject_type, new.created_at, new.created_by)
     is distinct from (old.tenant_id, old.subject_id, old.subject_type, old.created_at, old.created_by)
     or (new.name, new.attributes) is distinct from ('erased'::text, '{}'::jsonb)
     or num_nonnulls(new.external_id, new.segment, new.offboard_reason) > 0
     or new.erased_at is null or old.erased_at is not null then
    raise exception 'an erasure removes the content of a subject, and nothing else of it changes' using errcode = 'PB002';
  end if;
  new.revision := old.revision + 1;
  new.updated_at := greatest(clock_timestamp(), old.updated_at + interval '1 microsecond');
  new.updated_by := app.actor();
  return new;
end $$;

-- Nothing is stored about a subject while it is being erased, or afterwards.
create function app.refuse_erased_subject() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if new.erased_at is not null then
    raise exception 'only an erasure says that a subject is erased' using errcode = 'PB002';
  end if;
  if exists (select 1 from app.erasure e where e.tenant_id = new.tenant_id and e.subject_id = new.subject_id and e.state = 'executing') then
    raise exception 'the subject is being erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
drop trigger subject_keep on app.subject;
create trigger subject_keep before insert or update on app.subject
  for each row when (app.erasing() is distinct from new.subject_id) execute function app.keep_subject();
create trigger subject_refuse before update on app.subject
  for each row when (app.erasing() is distinct from new.subject_id) execute function app.refuse_erased_subject();
create trigger subject_erase before update on app.subject
  for each row when (app.erasing() = new.subject_id) execute function app.erase_subject();

create function app.refuse_erased_rating() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if exists (select 1 from app.subject s where s.tenant_id = new.tenant_id and s.subject_id = new.subject_id and s.erased_at is not null)
     or exists (select 1 from app.erasure e where e.tenant_id = new.tenant_id and e.subject_id = new.subject_id and e.state = 'executing') then
    raise exception 'the subject is erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
create trigger rating_refuse before insert on app.rating for each row execute function app.refuse_erased_rating();

-- History that an erasure overwrites in part: rows are never removed, and only the columns that the trigger names change.
alter table app.wall_register drop constraint wall_register_kind_ck;
alter table app.wall_register add constraint wall_register_kind_ck
  check (kind in ('tenant', 'append', 'copy', 'erasable', 'shared', 'queue', 'ledger', 'directory', 'system'));
update app.wall_register set kind = 'erasable' where table_name in ('rating', 'change_approval');
drop trigger rating_append on app.rating;
create trigger rating_append before delete on app.rating for each statement execute function app.refuse_change();
create trigger rating_erase before update on app.rating for each row execute function app.erase_only('reason');
grant update (reason) on app.rating to app;
drop trigger change_approval_append on app.change_approval;
create trigger change_approval_append before delete on app.change_approval for each statement execute function app.refuse_change();
create trigger change_approval_erase before update on app.change_approval for each row execute function app.erase_only('note');
grant update (note) on app.change_approval to app;

-- Its body was erased: the code over the stored response no longer fits, and the response is not repeated.
alter table app.idempotency add column erased_at timestamptz
  constraint idempotency_erased_ck check (erased_at is null or body is null);

-- Rows whose own triggers keep them.
drop trigger break_glass_review_keep on app.break_glass_review;
create trigger break_glass_review_keep before update on app.break_glass_review
  for each row when (app.erasing() is null) execute function app.keep_break_glass_review();
create trigger break_glass_review_erase before update on app.break_glass_review
  for each row when (app.erasing() is not null) execute function app.erase_only('body', 'reason', 'note');
drop trigger mcp_approval_keep on app.mcp_approval;
create trigger mcp_approval_keep before update on app.mcp_approval
  for each row when (app.erasing() is null) execute function app.keep_mcp_approval();
create trigger mcp_approval_erase before update on app.mcp_approval
  for each row when (app.erasing() is not null) execute function app.erase_only('arguments', 'outcome', 'note');
drop trigger hold_keep on app.hold;
create trigger hold_keep before insert or update on app.hold
  for each row when (app.erasing() is distinct from new.object_id) execute function app.keep_hold();
create trigger hold_erase before update on app.hold
  for each row when (app.erasing() = new.object_id) execute function app.erase_only('reason', 'authority_reference', 'release_reason');

-- A step of an erasure has asked for holds.
drop trigger owner_key_hold on app.owner_key;
create trigger owner_key_hold before update on app.owner_key
  for each row when (new.state = 'destroyed' and old.state <> 'destroyed' and app.erasing() is distinct from old.owner_id)
  execute function app.refuse_held_delete('owner_id');
