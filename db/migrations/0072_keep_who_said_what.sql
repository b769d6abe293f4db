-- Who found out and said what in a case is what its record says, and nothing comes to a case under a proposed outcome unseen.
-- See docs/adr/0079-seal-what-the-archive-shows.md and docs/adr/0082-end-every-case.md.

-- Tasks ---------------------------------------------------------------------------------------------------------------

-- The result of a task is that of the person who ended it: whoever changes it opens the task again first.
create or replace function app.keep_investigation_task() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.task_id, new.investigation_id, new.step_key, new.is_required, new.role, new.created_at, new.created_by, new.restriction_id)
     is distinct from
     (old.tenant_id, old.task_id, old.investigation_id, old.step_key, old.is_required, old.role, old.created_at, old.created_by, old.restriction_id)
     or new.revision <> old.revision + 1 then
    raise exception 'what a task belongs to never changes' using errcode = 'PB002';
  end if;
  if old.state = 'cancelled' or new.state = 'cancelled' and old.state = 'done' then
    raise exception 'a task does not go from % to %', old.state, new.state using errcode = 'PB002';
  end if;
  if old.state <> 'open' and new.state = old.state
     and (new.title, new.detail, new.checklist, new.result, new.ended_at, new.ended_by)
         is distinct from (old.title, old.detail, old.checklist, old.result, old.ended_at, old.ended_by) then
    raise exception 'the task is %: open it again first', old.state using errcode = 'PB010';
  end if;
  if old.state = 'open' and new.state <> 'open' and new.ended_by is distinct from app.actor() then
    raise exception 'whoever ends a task is the actor' using errcode = 'PB002';
  end if;
  return new;
end $$;

-- Proposals -----------------------------------------------------------------------------------------------------------

-- What is written with the act that decides on a proposal has the revision of that act; every other note changes what was proposed.
drop trigger investigation_note_open on app.investigation_note;
create trigger investigation_note_open before insert on app.investigation_note
  for each row when (new.revision is null) execute function app.require_investigation('investigation_id', 'open');
create trigger investigation_act_note_open before insert on app.investigation_note
  for each row when (new.revision is not null) execute function app.require_investigation('investigation_id', 'open', 'proposed');

-- An alert that is escalated joins the case of its subject whatever its state: otherwise it would wait, or get lost. Whoever closes sees
-- that the case has changed. Nobody links an alert by hand meanwhile.
create function app.has_joined(tenant uuid, investigation uuid, alert uuid) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select 1 from app.investigation_event e
                  where e.tenant_id = tenant and e.investigation_id = investigation and e.kind = 'joined'
                    and e.data ->> 'origin_reference' = 'alert:' || alert and app.is_own_change(e.xmin));
end $$;
drop trigger investigation_alert_open on app.investigation_alert;
create trigger investigation_alert_open before insert on app.investigation_alert
  for each row when (not app.has_joined(new.tenant_id, new.investigation_id, new.alert_id))
  execute function app.require_investigation('investigation_id', 'open');
create trigger investigation_alert_joined before insert on app.investigation_alert
  for each row when (app.has_joined(new.tenant_id, new.investigation_id, new.alert_id))
  execute function app.require_investigation('investigation_id', 'open', 'proposed');

-- Merging -------------------------------------------------------------------------------------------------------------

-- A request for information would stay open on the merged case, where nobody could answer or withdraw it.
create or replace function app.keep_investigation_rules() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.joins and not new.joins and not exists (
       select 1 from app.restriction r where r.tenant_id = new.tenant_id and r.restriction_id = new.restriction_id and r.is_in_force) then
    raise exception 'only an investigation whose restriction is in force is apart' using errcode = 'PB002';
  end if;
  if old.state in ('proposed', 'closed') and new.state = 'open' and app.actor() not like 'user:_%' then
    raise exception 'a person opens an investigation again' using errcode = 'PB002';
  end if;
  if old.state in ('closed', 'merged') and new.state = old.state
     and (new.gathering_problem, new.gathering_job_id) is distinct from (old.gathering_problem, old.gathering_job_id) then
    raise exception 'nothing of an investigation that is % changes', old.state using errcode = 'PB002';
  end if;
  if new.state = 'merged' and old.state = 'open' then
    if new.merged_by is distinct from app.actor() then
      raise exception 'whoever merges is the actor' using errcode = 'PB002';
    end if;
    if new.gathering = 'running' or exists (
         select 1 from app.investigation_step s
          where s.tenant_id = new.tenant_id and s.investigation_id = new.investigation_id and s.state = 'running') then
      raise exception 'an investigation is merged when nothing of it is running' using errcode = 'PB002';
    end if;
    if exists (select 1 from app.investigation_request r
                where r.tenant_id = new.tenant_id and r.investigation_id = new.investigation_id and r.state = 'open') then
      raise exception 'a request for information is open; fulfil or withdraw it' using errcode = 'PB010';
    end if;
  end if;
  return new;
end $$;

-- Answers that a person entered ---------------------------------------------------------------------------------------

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
  elsif new.kind = 'answer_entered' then
    is_true := exists (
      select 1 from app.investigation_step s
        join app.provider_answer a on a.tenant_id = s.tenant_id and a.call_id = s.call_id and a.is_result and a.source = 'person'
       where s.tenant_id = new.tenant_id and s.investigation_id = new.investigation_id and s.step_key = new.data ->> 'step_key'
         and app.is_own_change(s.xmin)
         and new.data = jsonb_build_object('step_key', s.step_key, 'call_id', s.call_id, 'entered_by', a.answered_by));
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

-- A step that goes on with an answer that a person entered in place of the provider says so in the timeline; the reason is kept with the answer.
create function app.record_entered_answer() returns trigger
  language plpgsql as $$
declare
  person text;
begin
  if app.restoring() then return null; end if;
  select a.answered_by into person from app.provider_answer a
   where a.tenant_id = new.tenant_id and a.call_id = new.call_id and a.is_result and a.source = 'person';
  if person is not null then
    perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'answer_entered', null,
              jsonb_build_object('step_key', new.step_key, 'call_id', new.call_id, 'entered_by', person));
  end if;
  return null;
end $$;
create trigger investigation_step_entered after update on app.investigation_step
  for each row when (old.state = 'indeterminate' and new.state = 'pending' and new.call_id = old.call_id)
  execute function app.record_entered_answer();
