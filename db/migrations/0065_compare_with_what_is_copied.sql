-- Rows that the database derives from others are compared with them, whoever writes: the depth of triggers proves nothing, since a trigger of a
-- temporary table counts too. See docs/adr/0087-compare-derived-rows.md.
-- Functions that compare fix the search path: types of the caller's temporary schema would be found before those of the system.

-- A tenant that does not exist is not being restored: a statement could name one for its second row, when the policies have been asked already.
-- Whoever serves no tenant, such as the owner, may restore without naming one.
create or replace function app.restoring() returns boolean
  language plpgsql stable as $$
begin
  -- Asked by every guard, and hardly ever true: an SQL function would start its executor each time.
  if current_setting('app.restoring', true) is distinct from 'on' then
    return false;
  end if;
  return exists (select 1 from app.tenant where tenant_id = app.tenant_id() and state <> 'active')
      or current_user not in ('app', 'worker')
         and not exists (select 1 from app.tenant where tenant_id = app.tenant_id() and state = 'active');
end
$$;

-- `app.restoring()` asks about the tenant of the setting; this also says that the row is of that tenant.
create function app.is_restoring(tenant uuid) returns boolean
  language plpgsql stable as $$
begin
  return app.restoring() and coalesce(tenant = app.tenant_id(), false);
end
$$;

-- Whether this transaction, or a savepoint of it, wrote the version of a row that the caller sees. What is visible and not ended is its own.
create function app.is_own_change(version xid) returns boolean
  language sql volatile
  return (select case when d.ahead < 2147483648 then coalesce(pg_xact_status((d.own + d.ahead)::text::xid8) = 'in progress', false) else false end
            from (select t.own, (version::text::bigint - t.own) & 4294967295 as ahead
                    from (select pg_current_xact_id()::text::bigint as own) t) d);

-- Sight ---------------------------------------------------------------------------------------------------------------

-- In force are the restrictions that say so.
create function app.keep_restriction_force() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if app.is_deleting_tenant() then return old; end if;
  if app.is_restoring(case when tg_op = 'DELETE' then old.tenant_id else new.tenant_id end) then
    return case when tg_op = 'DELETE' then old else new end;
  end if;
  if tg_op = 'INSERT' and exists (
       select 1 from app.restriction r where r.tenant_id = new.tenant_id and r.restriction_id = new.restriction_id and r.is_in_force) then
    return new;
  end if;
  if tg_op = 'DELETE' and exists (
       select 1 from app.restriction r where r.tenant_id = old.tenant_id and r.restriction_id = old.restriction_id and not r.is_in_force) then
    return old;
  end if;
  raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
end $$;

-- What the access list says. Rows go with the access that they copy: the foreign key removes them as the owner of the table.
create function app.keep_restriction_person() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if current_user = 'app_owner' then return old; end if;
  elsif app.is_restoring(new.tenant_id) or exists (
       select 1 from app.restriction_access a
        where a.tenant_id = new.tenant_id and a.restriction_id = new.restriction_id and a.principal = new.principal
          and a.effect = new.effect and a.until is not distinct from new.until) then
    return new;
  end if;
  raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
end $$;

-- Whatever somebody writes, the list is made of the restrictions in force. It is read after the row is locked: those who impose or lift at
-- the same time wait for each other here.
create function app.keep_restriction_list() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if app.is_deleting_tenant() then return old; end if;
    raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
  end if;
  if app.is_restoring(new.tenant_id) then return new; end if;
  if new.tenant_id is distinct from app.tenant_id() then
    raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
  end if;
  new.ids := (select coalesce(jsonb_object_agg(f.restriction_id::text, null), '{}') from app.restriction_force f where f.tenant_id = new.tenant_id);
  return new;
end $$;

create or replace function app.list_restriction() returns trigger
  language plpgsql as $$
declare
  tenant constant uuid := case when tg_op = 'DELETE' then old.tenant_id else new.tenant_id end;
begin
  if app.restoring() or app.is_deleting_tenant() then return null; end if;
  update app.restriction_list set ids = '{}' where tenant_id = tenant;
  if not found then
    insert into app.restriction_list (tenant_id, ids) values (tenant, '{}')
      on conflict on constraint restriction_list_pkey do update set ids = excluded.ids;
  end if;
  return null;
end $$;

drop trigger restriction_force_keep on app.restriction_force;
drop trigger restriction_person_keep on app.restriction_person;
drop trigger restriction_list_keep on app.restriction_list;
drop function app.keep_sight();

-- Lists that somebody may have changed.
alter table app.restriction_force no force row level security;
alter table app.restriction_list no force row level security;
insert into app.restriction_list (tenant_id, ids)
  select tenant_id, jsonb_object_agg(restriction_id::text, null) from app.restriction_force group by tenant_id
  on conflict on constraint restriction_list_pkey do update set ids = excluded.ids;
update app.restriction_list l set ids = '{}' where ids <> '{}' and not exists (select 1 from app.restriction_force f where f.tenant_id = l.tenant_id);
alter table app.restriction_force force row level security;
alter table app.restriction_list force row level security;

create trigger restriction_force_keep before insert or update or delete on app.restriction_force
  for each row execute function app.keep_restriction_force();
create trigger restriction_person_keep before insert or update or delete on app.restriction_person
  for each row execute function app.keep_restriction_person();
create trigger restriction_list_keep before insert or update or delete on app.restriction_list
  for each row execute function app.keep_restriction_list();

-- Holds ---------------------------------------------------------------------------------------------------------------

create or replace function app.keep_hold_in_force() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'INSERT' and (app.is_restoring(new.tenant_id) or exists (
       select 1 from app.hold h where h.tenant_id = new.tenant_id and h.hold_id = new.hold_id and h.object_id = new.object_id and h.state = 'active')) then
    return new;
  end if;
  if tg_op = 'DELETE' and (app.is_restoring(old.tenant_id) or exists (
       select 1 from app.hold h where h.tenant_id = old.tenant_id and h.hold_id = old.hold_id and h.state = 'released')) then
    return old;
  end if;
  raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
end $$;

-- Whoever releases a hold is the actor.
create or replace function app.keep_hold() returns trigger
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
  if new.released_by is distinct from app.actor() then
    raise exception 'whoever releases a hold is the actor' using errcode = 'PB002';
  end if;
  return new;
end $$;

-- Registry and subjects -------------------------------------------------------------------------------------------------

-- The head is the newest version. The trigger that numbers versions moves it first, so this is asked at the end of the transaction.
create function app.check_head() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if not app.is_restoring(new.tenant_id) and not exists (
       select 1 from app.dataset d
        where d.tenant_id = new.tenant_id and d.dataset_id = new.dataset_id
          and d.head_version = (select max(v.version) from app.dataset_version v where v.tenant_id = d.tenant_id and v.dataset_id = d.dataset_id)) then
    raise exception 'only a new version moves the head of a dataset' using errcode = 'PB002';
  end if;
  return null;
end $$;
create constraint trigger dataset_head after update on app.dataset deferrable initially deferred
  for each row when (new.head_version <> old.head_version) execute function app.check_head();

-- A number that went back would make stale answers look fresh; after one far ahead nothing could follow. One that is moved without need only makes
-- processes read again.
create or replace function app.keep_epoch() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- Clocks may be set back a little.
  latest constant bigint := extract(epoch from clock_timestamp() + interval '1 minute') * 1000000;
begin
  if app.is_restoring(new.tenant_id) then return new; end if;
  if pg_trigger_depth() < 2 or tg_op = 'INSERT' and new.epoch > latest
     or tg_op = 'UPDATE' and (new.epoch <= old.epoch or new.epoch > greatest(latest, old.epoch + 1)) then
    raise exception 'only activations move the epoch' using errcode = 'PB002';
  end if;
  return new;
end $$;

-- A version is what the subject still is while it is being changed.
create function app.keep_subject_version() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if pg_trigger_depth() > 1 and exists (
       select 1 from app.subject s
        where s.tenant_id = new.tenant_id and s.subject_id = new.subject_id and s.revision = new.revision and s.subject_type = new.subject_type
          and s.state = new.state and s.updated_at = new.recorded_from and s.updated_by = new.changed_by
          and s.offboarded_at is not distinct from new.offboarded_at
          and (new.content is not null
               or (s.external_id, s.name, s.segment, s.attributes, s.offboard_reason)
                  is not distinct from (new.external_id, new.name, new.segment, new.attributes, new.offboard_reason)))
     or app.is_restoring(new.tenant_id) then
    return new;
  end if;
  raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
end $$;
drop trigger subject_version_keep on app.subject_version;
create trigger subject_version_keep before insert on app.subject_version
  for each row execute function app.keep_subject_version();

-- Investigations ------------------------------------------------------------------------------------------------------

-- An event that the database writes says what a row shows that this transaction has written, and is written once for a change of the case.
create or replace function app.keep_investigation_event() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  of_state  constant text[] := '{opened,proposed,closed,reopened,withdrawn,returned,merged,ended}';
  of_wait   constant text[] := '{waiting,resumed}';
  same_kind constant text[] := case when new.kind = any (of_state) then of_state when new.kind = any (of_wait) then of_wait
                                    when new.kind = 'changed' then '{changed}' end;
  is_true   boolean := true;
begin
  if app.is_restoring(new.tenant_id) then return new; end if;
  if same_kind is not null or new.kind in ('gathering', 'restricted') then
    is_true := exists (
      select 1 from app.investigation i
       where i.tenant_id = new.tenant_id and i.investigation_id = new.investigation_id and app.is_own_change(i.xmin)
         and (new.revision = i.revision or same_kind is null)
         and case new.kind
               when 'opened' then i.revision = 1 and i.state = 'open' and i.created_by = new.recorded_by
               when 'proposed' then i.state = 'proposed' and i.proposed_by = new.recorded_by
               when 'closed' then i.state = 'closed' and i.closed_by = new.recorded_by
               when 'merged' then i.state = 'merged' and i.merged_by = new.recorded_by
               when 'ended' then i.state = 'ended'
               when 'waiting' then i.waiting_for is not null
               when 'resumed' then i.waiting_for is null
               when 'changed' then true
               when 'gathering' then new.data = jsonb_build_object('gathering', i.gathering)
               when 'restricted' then not i.joins
               else i.state = 'open' and i.revision > 1 end
         and not exists (select 1 from app.investigation_event e where e.tenant_id = new.tenant_id and e.investigation_id = new.investigation_id
                            and e.revision = new.revision and e.kind = any (same_kind)));
  elsif new.kind like 'step\_%' then
    is_true := exists (
      select 1 from app.investigation_step s
       where s.tenant_id = new.tenant_id and s.investigation_id = new.investigation_id and s.step_key = new.data ->> 'step_key' and app.is_own_change(s.xmin)
         and case when new.kind = 'step_added'
                  then s.origin = 'person' and new.data = jsonb_build_object('step_key', s.step_key, 'step_kind', s.kind)
                  else new.kind = 'step_' || s.state and new.data = jsonb_strip_nulls(jsonb_build_object(
                         'step_key', s.step_key, 'step_kind', s.kind, 'attempt', s.attempt, 'code', s.problem ->> 'code', 'call_id', s.call_id,
                         'result_kind', s.result_kind, 'result_id', s.result_id)) end);
  elsif new.kind = 'noted' then
    is_true := exists (
      select 1 from app.investigation_note n
       where n.tenant_id = new.tenant_id and n.note_id = (new.data ->> 'note_id')::uuid and n.investigation_id = new.investigation_id
         and n.revision is null and n.created_by = new.recorded_by and app.is_own_change(n.xmin));
  elsif new.kind in ('task_added', 'task_changed') then
    is_true := exists (
      select 1 from app.investigation_task t
       where t.tenant_id = new.tenant_id and t.task_id = (new.data ->> 'task_id')::uuid and t.investigation_id = new.investigation_id
         and (new.kind = 'task_added' or t.state = new.data ->> 'state') and app.is_own_change(t.xmin));
  elsif new.kind in ('information_requested', 'information_ended') then
    is_true := exists (
      select 1 from app.investigation_request r
       where r.tenant_id = new.tenant_id and r.request_id = (new.data ->> 'request_id')::uuid and r.investigation_id = new.investigation_id
         and (new.kind = 'information_requested' or r.state <> 'open' and r.state = new.data ->> 'state') and app.is_own_change(r.xmin));
  elsif new.kind = 'narrative_written' then
    is_true := exists (
      select 1 from app.investigation_narrative n
       where n.tenant_id = new.tenant_id and n.investigation_id = new.investigation_id and n.version = (new.data ->> 'version')::bigint
         and n.content_hash = new.data ->> 'content_hash' and n.written_by = new.recorded_by and app.is_own_change(n.xmin));
  elsif new.kind = 'subject_added' then
    is_true := exists (
      select 1 from app.investigation_subject p
       where p.tenant_id = new.tenant_id and p.investigation_id = new.investigation_id and p.subject_id = (new.data ->> 'subject_id')::uuid
         and p.part = new.data ->> 'part' and app.is_own_change(p.xmin));
  elsif new.kind = 'alert_linked' then
    is_true := exists (
      select 1 from app.investigation_alert l
       where l.tenant_id = new.tenant_id and l.investigation_id = new.investigation_id and l.alert_id = (new.data ->> 'alert_id')::uuid
         and app.is_own_change(l.xmin));
  elsif new.kind in ('evidence_attached', 'evidence_detached') then
    is_true := exists (
      select 1 from app.evidence_item e
       where e.tenant_id = new.tenant_id and e.evidence_id = (new.data ->> 'evidence_id')::uuid and e.owner_kind = 'investigation'
         and e.owner_id = new.investigation_id and (e.detached_at is not null) = (new.kind = 'evidence_detached') and app.is_own_change(e.xmin));
  elsif new.kind = 'other_case_requested' then
    -- Another case about the same subject was opened, or joined, by this transaction.
    is_true := exists (
      select 1 from app.investigation i
        join app.investigation o on o.tenant_id = i.tenant_id and o.subject_id = i.subject_id and o.investigation_id <> i.investigation_id
       where i.tenant_id = new.tenant_id and i.investigation_id = new.investigation_id and o.investigation_id = (new.data ->> 'investigation_id')::uuid
         and (app.is_own_change(o.xmin) or exists (
                select 1 from app.investigation_event e where e.tenant_id = o.tenant_id and e.investigation_id = o.investigation_id
                   and e.kind = 'joined' and app.is_own_change(e.xmin))));
  end if;
  if not is_true then
    raise exception 'events of the kind % are written by the database itself', new.kind using errcode = 'PB002';
  end if;
  if new.recorded_by is distinct from app.actor() then
    raise exception 'whoever an event names is the actor' using errcode = 'PB002';
  end if;
  new.recorded_at := clock_timestamp();
  return new;
end $$;

-- After the change, as every other event.
create or replace function app.end_investigation() returns trigger
  language plpgsql as $$
declare
  changed constant text[] := array['state', 'gathering', 'waiting_for', 'waiting_since', 'waiting_until', 'proposed_outcome', 'proposed_by', 'proposed_at',
                                   'proposal_hash', 'proposed_without', 'revision', 'updated_at', 'updated_by'];
begin
  if app.restoring() then return new; end if;
  if new.state <> 'ended' or old.state not in ('open', 'proposed') or new.gathering = 'running' or new.revision <> old.revision + 1
     or new.subject_id <> app.erasing() or app.actor() not like 'operator:_%'
     or to_jsonb(new) - changed is distinct from to_jsonb(old) - changed
     or not exists (select 1 from app.erasure e where e.tenant_id = new.tenant_id and e.subject_id = new.subject_id
                       and e.state = 'executing' and e.origin = 'ledger') then
    raise exception 'only a replayed erasure ends an investigation without an outcome' using errcode = 'PB002';
  end if;
  return new;
end $$;
create function app.record_ended_investigation() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'ended', new.revision, jsonb_build_object('reason', 'subject_erased'));
  return null;
end $$;
create trigger investigation_ended after update on app.investigation
  for each row when (app.erasing() is not null and new.state <> old.state) execute function app.record_ended_investigation();

-- Whether a step failed, had an unknown outcome, or could not be asked, at any time.
create function app.was_tried(tenant uuid, investigation uuid, key text) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select 1 from app.investigation_event e
                  where e.tenant_id = tenant and e.investigation_id = investigation and e.kind in ('step_failed', 'step_indeterminate', 'step_skipped')
                    and e.data ->> 'step_key' = key and e.data ? 'code');
end $$;

-- A waiver counts for the outcome that is left only where the step was tried; another one can be taken back.
create or replace function app.keep_proposed_without() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.state = 'open' and new.state = 'proposed' then
    if exists (select 1 from unnest(new.proposed_without) as n (step_key) where not exists (
                 select 1 from app.investigation_step s where s.tenant_id = new.tenant_id and s.investigation_id = new.investigation_id
                    and s.step_key = n.step_key
                    and (s.state = 'waived' and app.was_tried(s.tenant_id, s.investigation_id, s.step_key)
                         or s.state = 'skipped' and s.problem is null))) then
      raise exception 'an outcome does without steps that were waived or left out, and without no other' using errcode = 'PB002';
    end if;
    -- The reason is the note of this act.
    if cardinality(new.proposed_without) > 0 and not exists (
         select 1 from app.investigation_note n where n.tenant_id = new.tenant_id and n.investigation_id = new.investigation_id
            and n.revision = new.revision) then
      raise exception 'an outcome without a step that it needs is proposed with a reason' using errcode = 'PB002';
    end if;
  elsif new.state <> 'open' and new.proposed_without <> old.proposed_without then
    raise exception 'what was proposed is what is closed' using errcode = 'PB002';
  end if;
  if old.state = 'proposed' and new.state = 'closed' and exists (
       select 1 from app.investigation_step s where s.tenant_id = new.tenant_id and s.investigation_id = new.investigation_id
          and s.step_key = any (new.proposed_without) and s.waived_by = new.closed_by) then
    raise exception 'whoever waived a step that the outcome needs does not close the investigation'
      using errcode = 'PB002', constraint = 'investigation_waiver_four_eyes';
  end if;
  return new;
end $$;

create or replace function app.keep_investigation_step() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.investigation_id, new.step_key, new.position, new.kind, new.origin, new.is_required, new.needs, new.definition, new.restriction_id)
     is distinct from
     (old.tenant_id, old.investigation_id, old.step_key, old.position, old.kind, old.origin, old.is_required, old.needs, old.definition, old.restriction_id) then
    raise exception 'what a step is never changes' using errcode = 'PB002';
  end if;
  if new.state <> old.state and (old.state, new.state) not in (
       ('pending', 'running'), ('pending', 'waiting'), ('pending', 'skipped'), ('pending', 'waived'),
       ('running', 'pending'), ('running', 'waiting'), ('running', 'succeeded'), ('running', 'failed'), ('running', 'indeterminate'), ('running', 'skipped'),
       ('waiting', 'pending'), ('waiting', 'running'), ('waiting', 'succeeded'), ('waiting', 'failed'), ('waiting', 'indeterminate'),
       ('waiting', 'skipped'), ('waiting', 'waived'),
       ('failed', 'pending'), ('failed', 'waived'), ('indeterminate', 'pending'), ('indeterminate', 'succeeded'), ('indeterminate', 'failed'),
       ('indeterminate', 'waived'), ('skipped', 'pending'))
     and not (new.kind = 'task' and (old.state, new.state) = ('succeeded', 'waiting'))
     and not (old.problem is not null and (old.state, new.state) = ('skipped', 'waived'))
     and not ((old.state, new.state) = ('waived', 'pending') and not app.was_tried(new.tenant_id, new.investigation_id, new.step_key)) then
    raise exception 'a step does not go from % to %', old.state, new.state using errcode = 'PB002';
  end if;
  if new.attempt not in (old.attempt, old.attempt + 1) or new.revision <> old.revision + 1 then
    raise exception 'attempts and revisions of a step are counted one by one' using errcode = 'PB002';
  end if;
  if new.state = 'waived' and old.state <> 'waived' and new.waived_by is distinct from app.actor() then
    raise exception 'whoever waives a step is the actor' using errcode = 'PB002';
  end if;
  return new;
end $$;
