-- What a case is when it is closed stays what was sealed. See docs/adr/0079-seal-what-the-archive-shows.md.

-- Notes too are written only while people work on the case; the lock excludes whoever closes it at this moment.
create trigger investigation_note_open before insert on app.investigation_note
  for each row execute function app.require_investigation('investigation_id', 'open', 'proposed');

-- What the archive shows of the case when it was closed, encrypted for the subject; null for seals of the first format.
alter table app.investigation_seal add column content bytea;

-- Rules of a case beside its transitions.
create function app.keep_investigation_rules() returns trigger
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
  end if;
  return new;
end $$;
create trigger investigation_rules before update on app.investigation
  for each row when (app.erasing() is null) execute function app.keep_investigation_rules();

-- What triggers write about a change is written by nobody else.
create function app.keep_investigation_event() returns trigger
  language plpgsql as $$
begin
  if pg_trigger_depth() < 2 and not app.restoring() and new.kind in (
       'opened', 'proposed', 'closed', 'reopened', 'withdrawn', 'returned', 'merged', 'waiting', 'resumed', 'changed', 'gathering', 'restricted',
       'step_added', 'step_pending', 'step_running', 'step_waiting', 'step_succeeded', 'step_failed', 'step_indeterminate', 'step_skipped', 'step_waived',
       'noted', 'task_added', 'task_changed', 'information_requested', 'information_ended', 'narrative_written', 'subject_added', 'alert_linked',
       'evidence_attached', 'evidence_detached', 'other_case_requested') then
    raise exception 'events of the kind % are written by the database itself', new.kind using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger investigation_event_keep before insert on app.investigation_event
  for each row execute function app.keep_investigation_event();

-- Answers that no live provider gave are marked wherever they are evidence.
alter table app.investigation_step add column is_test boolean not null default false;
alter table app.evidence_item add column is_test boolean not null default false;

create function app.is_test_call(tenant uuid, call uuid) returns boolean
  language plpgsql stable as $$
begin
  return exists (select 1 from app.provider_call c where c.tenant_id = tenant and c.call_id = call and c.mode <> 'live');
end $$;

create function app.mark_test_step() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  new.is_test := new.call_id is not null and app.is_test_call(new.tenant_id, new.call_id)
    or new.evidence_id is not null and exists (
         select 1 from app.evidence_item e where e.tenant_id = new.tenant_id and e.evidence_id = new.evidence_id and e.is_test);
  return new;
end $$;
create trigger investigation_step_test before insert or update on app.investigation_step
  for each row when (app.erasing() is null) execute function app.mark_test_step();

create function app.mark_test_evidence() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'UPDATE' then
    new.is_test := old.is_test;
  elsif new.kind = 'provider_call' then
    new.is_test := app.is_test_call(new.tenant_id, new.object_id);
  else
    new.is_test := new.kind = 'evaluation' and exists (
      select 1 from app.admission_evidence c
        join app.payload_admission m on m.tenant_id = c.tenant_id and m.admission_id = c.admission_id
        join app.provider_answer a on a.tenant_id = m.tenant_id and a.payload_id = m.payload_id
       where c.tenant_id = new.tenant_id and c.consumer_kind = 'evaluation' and c.consumer_id = new.object_id
         and app.is_test_call(a.tenant_id, a.call_id));
  end if;
  return new;
end $$;
create trigger evidence_item_test before insert or update on app.evidence_item
  for each row execute function app.mark_test_evidence();

-- Sources of a report are those of its making, and a job verifies it.
create function app.keep_report_source() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (
       select 1 from app.report r where r.tenant_id = new.tenant_id and r.report_id = new.report_id
          and r.manifest is not null) then
    raise exception 'a report has the sources that it was made from' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger report_source_keep before insert on app.report_source for each row execute function app.keep_report_source();

create function app.keep_report_verdict() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and app.actor() not like 'job:_%' then
    raise exception 'a job says whether a report is identical' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger report_verdict before update on app.report
  for each row when (app.erasing() is null and (new.verified_at, new.is_identical) is distinct from (old.verified_at, old.is_identical))
  execute function app.keep_report_verdict();
