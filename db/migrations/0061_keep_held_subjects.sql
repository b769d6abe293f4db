-- A hold keeps the subject of what it names, whoever asks, and an open investigation does too. See docs/adr/0081-keep-held-subjects.md.

-- Whether a legal hold names the subject or something that belongs to it. Reads with full sight and returns nothing of what it reads. Tables are
-- found in the catalogue by their key and their column subject_id, so that a new kind of object counts too.
create function app.is_subject_held(subject uuid) returns boolean
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  one record;
  found_one boolean := app.is_held(subject);
begin
  if found_one or not exists (select 1 from app.hold_in_force h where h.tenant_id = app.tenant_id()) then return found_one; end if;
  perform set_config('app.sight', 'all', true);
  for one in
    select c.relname as table_name, k.attname as key_column
      from pg_class c
      join pg_attribute s on s.attrelid = c.oid and s.attname = 'subject_id' and s.atttypid = 'uuid'::regtype and not s.attisdropped
      join pg_index i on i.indrelid = c.oid and i.indisprimary and i.indnkeyatts = 2
      join pg_attribute k on k.attrelid = c.oid and k.attnum = i.indkey[1] and k.atttypid = 'uuid'::regtype and k.attname <> 'subject_id'
     where c.relnamespace = 'app'::regnamespace and c.relkind = 'r'
  loop
    execute format('select exists (select 1 from app.hold_in_force h join app.%I t on t.tenant_id = h.tenant_id and t.%I = h.object_id
                     where h.tenant_id = app.tenant_id() and t.subject_id = $1)', one.table_name, one.key_column)
       into found_one using subject;
    exit when found_one;
  end loop;
  perform set_config('app.sight', before, true);
  return found_one;
end $$;

-- Whether an investigation of the subject is not ended, seen or not.
create function app.is_subject_investigated(subject uuid) returns boolean
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  found_one boolean;
begin
  perform set_config('app.sight', 'all', true);
  found_one := exists (select 1 from app.investigation i
                        where i.tenant_id = app.tenant_id() and i.subject_id = subject and i.state in ('open', 'proposed'));
  perform set_config('app.sight', before, true);
  return found_one;
end $$;

create function app.refuse_kept_erasure() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and (app.is_subject_held(new.subject_id) or app.is_subject_investigated(new.subject_id)) then
    raise exception 'a legal hold keeps the subject' using errcode = 'PB008';
  end if;
  return new;
end $$;
-- After erasure_keep, which takes the lock of holds, and erasure_refuse, which locks the subject.
create trigger erasure_refuse_kept before update on app.erasure
  for each row when (new.state = 'executing' and old.state = 'requested' and new.origin = 'request')
  execute function app.refuse_kept_erasure();

-- From the confirmation on, nothing that belongs to the subject can be held. Whoever places the hold sees the object.
create or replace function app.refuse_hold_of_erased() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (
       select 1 from app.erasure e
        where e.tenant_id = new.tenant_id and e.state = 'executing'
          and e.subject_id in (
            select new.object_id
            union all select d.subject_id from app.document d where d.tenant_id = new.tenant_id and d.document_id = new.object_id
            union all select i.subject_id from app.investigation i where i.tenant_id = new.tenant_id and i.investigation_id = new.object_id
            union all select r.subject_id from app.report r where r.tenant_id = new.tenant_id and r.report_id = new.object_id)) then
    raise exception 'the subject is being erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
drop trigger hold_report_erased on app.hold;
drop function app.refuse_hold_of_erased_report();

-- An erasure whose job finds, before anything is changed, that the subject is kept, waits to be confirmed again.
create or replace function app.keep_erasure() returns trigger
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
  if new.state = 'requested' and old.state = 'executing' and old.origin = 'request' and app.actor() like 'job:_%'
     and to_jsonb(new) - array['state', 'confirmed_at', 'confirmed_by', 'decision', 'job_id']
       = to_jsonb(old) - array['state', 'confirmed_at', 'confirmed_by', 'decision', 'job_id']
     and not exists (select 1 from app.erasure_step s where s.tenant_id = old.tenant_id and s.erasure_id = old.erasure_id) then
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
