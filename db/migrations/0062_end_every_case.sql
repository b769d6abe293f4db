-- Every case can be ended, and nothing changes under a proposed outcome. See docs/adr/0082-end-every-case.md.

-- Proposals -----------------------------------------------------------------------------------------------------------

-- Arguments: the column with the id of the case, then the states in which the row may be written. The lock excludes whoever proposes or
-- closes at this moment, and nobody else.
create or replace function app.require_investigation() returns trigger
  language plpgsql as $$
declare
  current_state text;
begin
  if app.restoring() then return new; end if;
  execute format('select i.state from app.investigation i where i.tenant_id = ($1).tenant_id and i.investigation_id = ($1).%I for key share', tg_argv[0])
     into current_state using new;
  if current_state is null then
    raise exception 'the row that a row of % belongs to does not exist', tg_table_name using errcode = 'PB004';
  end if;
  if not current_state = any (tg_argv[1:]) then
    if current_state = 'proposed' then
      raise exception 'an outcome is proposed; return it first' using errcode = 'PB010';
    end if;
    raise exception 'the investigation is %', current_state using errcode = 'PB010';
  end if;
  return new;
end $$;

-- Whoever closes has seen what was proposed: evidence comes and goes before it.
drop trigger investigation_evidence_open on app.evidence_item;
create trigger investigation_evidence_open before insert or update on app.evidence_item
  for each row when (new.owner_kind = 'investigation' and app.erasing() is null)
  execute function app.require_investigation('owner_id', 'open');

-- A step that was left out for a problem, such as a missing credential, can be waived like one that failed.
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
     and not (old.problem is not null and (old.state, new.state) = ('skipped', 'waived')) then
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

-- Steps that the proposed outcome needs and that nobody will do: waived, or left out because their condition does not apply.
alter table app.investigation add column proposed_without text[] not null default '{}';
alter table app.investigation add constraint investigation_without_ck check (proposed_without = '{}' or state in ('proposed', 'closed'));

create function app.keep_proposed_without() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.state = 'open' and new.state = 'proposed' then
    if exists (select 1 from unnest(new.proposed_without) as n (step_key) where not exists (
                 select 1 from app.investigation_step s where s.tenant_id = new.tenant_id and s.investigation_id = new.investigation_id
                    and s.step_key = n.step_key and (s.state = 'waived' or s.state = 'skipped' and s.problem is null))) then
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
create trigger investigation_without before update on app.investigation
  for each row when (app.erasing() is null) execute function app.keep_proposed_without();

-- Cases whose subject is erased -----------------------------------------------------------------------------------------

-- A replay of the erasure ledger erases the subject of a case that was ended after the backup was made. Nobody could end it any more:
-- the replay does, without an outcome.
alter table app.investigation drop constraint investigation_state_ck;
alter table app.investigation add constraint investigation_state_ck check (state in ('open', 'proposed', 'closed', 'merged', 'ended'));

create function app.end_investigation() returns trigger
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
  perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'ended', new.revision, jsonb_build_object('reason', 'subject_erased'));
  return new;
end $$;
drop trigger investigation_erase on app.investigation;
create trigger investigation_erase before update on app.investigation
  for each row when (app.erasing() is not null and new.state = old.state)
  execute function app.erase_only('title', 'origin_reference', 'gathering_problem');
create trigger investigation_end before update on app.investigation
  for each row when (app.erasing() is not null and new.state <> old.state) execute function app.end_investigation();
-- Nobody could end it again.
create trigger investigation_reopen_refuse before update on app.investigation
  for each row when (app.erasing() is null and old.state = 'closed' and new.state = 'open') execute function app.refuse_erased_rating();

-- What triggers write about a change is written by nobody else.
create or replace function app.keep_investigation_event() returns trigger
  language plpgsql as $$
begin
  if pg_trigger_depth() < 2 and not app.restoring() and new.kind in (
       'opened', 'proposed', 'closed', 'reopened', 'withdrawn', 'returned', 'merged', 'ended', 'waiting', 'resumed', 'changed', 'gathering', 'restricted',
       'step_added', 'step_pending', 'step_running', 'step_waiting', 'step_succeeded', 'step_failed', 'step_indeterminate', 'step_skipped', 'step_waived',
       'noted', 'task_added', 'task_changed', 'information_requested', 'information_ended', 'narrative_written', 'subject_added', 'alert_linked',
       'evidence_attached', 'evidence_detached', 'other_case_requested') then
    raise exception 'events of the kind % are written by the database itself', new.kind using errcode = 'PB002';
  end if;
  return new;
end $$;

-- Counts --------------------------------------------------------------------------------------------------------------

-- Workers count over all tenants, and only what belongs to cases that are not ended.
grant select (investigation_id) on app.investigation to worker;
grant select (investigation_id) on app.investigation_step to worker;
create index investigation_open_idx on app.investigation (state, created_at) include (tenant_id, investigation_id, restriction_id)
  where state in ('open', 'proposed');
create index investigation_step_unsettled_idx on app.investigation_step (state, started_at) include (tenant_id, investigation_id, restriction_id)
  where state in ('running', 'waiting', 'indeterminate');

-- Earlier releases merged cases while their job ran. Steps that it left are over, and nothing of such a case is gathered.
alter table app.investigation no force row level security;
alter table app.investigation_step no force row level security;
alter table app.investigation disable trigger user;
alter table app.investigation_step disable trigger user;
update app.investigation_step s
   set state = 'failed', ended_at = now(), revision = s.revision + 1, updated_at = now(), updated_by = 'operator:migrate',
       problem = '{"code": "cancelled", "detail": "The investigation was merged while the step was running."}'
  from app.investigation i
 where i.tenant_id = s.tenant_id and i.investigation_id = s.investigation_id and i.state in ('closed', 'merged') and s.state = 'running';
update app.investigation set gathering = 'partial', updated_at = now(), updated_by = 'operator:migrate'
 where state in ('closed', 'merged') and gathering = 'running';
alter table app.investigation_step enable trigger user;
alter table app.investigation enable trigger user;
alter table app.investigation_step force row level security;
alter table app.investigation force row level security;
