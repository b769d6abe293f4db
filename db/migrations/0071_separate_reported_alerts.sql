-- Reports from outside and findings of the service itself never share an alert, whatever source and key a report names. A report above the
-- priority at which an alert was closed is not counted on it.

-- Every finding of the service itself names the entry of alert-rules that raised it; a report from outside cannot.
alter table app.alert add column is_external boolean not null generated always as (rule_code is null) stored;

drop index app.alert_round_key;
drop index app.alert_open_key;
create unique index alert_round_key on app.alert (tenant_id, dedup_key, dedup_scope, is_external, round);
create unique index alert_open_key on app.alert (tenant_id, dedup_key, dedup_scope, is_external) where state in ('new', 'snoozed');

create or replace function app.keep_alert() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    if new.state <> 'new' or new.occurrences <> 1 or new.revision <> 1 then
      raise exception 'an alert begins as new, with one occurrence' using errcode = 'PB002';
    end if;
    -- Refused for new alerts only: older ones may have been reported under these names. A generated column has no value yet.
    if (new.source in ('rule', 'matrix', 'contract')) = (new.rule_code is null) then
      raise exception 'the sources rule, matrix and contract are those of the service itself' using errcode = 'PB002';
    end if;
    if new.previous_alert_id is not null and not exists (
         select 1 from app.alert p
          where p.tenant_id = new.tenant_id and p.alert_id = new.previous_alert_id and p.is_external = (new.rule_code is null)) then
      raise exception 'an alert follows one of the same origin' using errcode = 'PB002';
    end if;
    return new;
  end if;
  if (new.tenant_id, new.alert_id, new.source, new.rule_code, new.subject_id, new.round, new.previous_alert_id, new.first_seen_at, new.facts_salt,
      new.restriction_id, new.created_at, new.created_by)
     is distinct from
     (old.tenant_id, old.alert_id, old.source, old.rule_code, old.subject_id, old.round, old.previous_alert_id, old.first_seen_at, old.facts_salt,
      old.restriction_id, old.created_at, old.created_by) then
    raise exception 'what an alert is about never changes' using errcode = 'PB002';
  end if;
  -- The key of an erased alert joins nothing.
  if new.dedup_key <> old.dedup_key and new.dedup_key <> 'erased ' || old.alert_id then
    raise exception 'the key of an alert never changes' using errcode = 'PB002';
  end if;
  if new.dedup_scope <> old.dedup_scope and new.dedup_scope <> new.restriction_id then
    raise exception 'an alert that was restricted stays apart' using errcode = 'PB002';
  end if;
  if new.occurrences < old.occurrences or new.last_seen_at < old.last_seen_at then
    raise exception 'occurrences of an alert are only added' using errcode = 'PB002';
  end if;
  if new.state <> old.state and (old.state, new.state) not in (
       ('new', 'snoozed'), ('new', 'dismissed'), ('new', 'escalated'),
       ('snoozed', 'new'), ('snoozed', 'dismissed'), ('snoozed', 'escalated'), ('dismissed', 'new')) then
    raise exception 'an alert does not go from % to %', old.state, new.state using errcode = 'PB002';
  end if;
  if old.state in ('dismissed', 'escalated') and new.state = old.state
     and (new.worked_by, new.priority, new.reason_code, new.proposed_by, new.dismissed_by, new.dismissed_at, new.escalated_by, new.escalated_at)
         is distinct from
         (old.worked_by, old.priority, old.reason_code, old.proposed_by, old.dismissed_by, old.dismissed_at, old.escalated_by, old.escalated_at) then
    raise exception 'how an alert was closed never changes' using errcode = 'PB002';
  end if;
  if (new.state, new.worked_by, new.priority, new.snoozed_until, new.reason_code, new.proposed_by, new.investigation_id, new.fingerprint)
     is distinct from
     (old.state, old.worked_by, old.priority, old.snoozed_until, old.reason_code, old.proposed_by, old.investigation_id, old.fingerprint) then
    if new.revision <> old.revision + 1 then
      raise exception 'a change of an alert has a revision of its own' using errcode = 'PB002';
    end if;
  elsif new.revision not in (old.revision, old.revision + 1) then
    raise exception 'revisions of an alert are counted one by one' using errcode = 'PB002';
  end if;
  return new;
end $$;

-- A generated column has no value before the update.
drop trigger alert_erase on app.alert;
create trigger alert_erase before update on app.alert
  for each row when (app.erasing() is not null)
  execute function app.erase_only('title', 'dedup_key', 'facts', 'facts_salt', 'changes', 'changes_since', 'explanation', 'priority_rank',
    'is_external');

-- Where the report came from and how urgent it was. Null: reported before these columns.
alter table app.alert_occurrence
  add column is_external boolean,
  add column priority text constraint alert_occurrence_priority_ck check (priority in ('low', 'medium', 'high', 'critical'));

create function app.keep_occurrence() returns trigger
  language plpgsql as $$
declare
  ranks constant text[] := array['low', 'medium', 'high', 'critical'];
  reported app.alert;
  highest integer;
begin
  if app.restoring() then return new; end if;
  select * into reported from app.alert a where a.tenant_id = new.tenant_id and a.alert_id = new.alert_id;
  if new.is_external is distinct from reported.is_external then
    raise exception 'a report from outside and a finding of the service never share an alert' using errcode = 'PB002';
  end if;
  if new.priority is null then
    raise exception 'a report has a priority' using errcode = 'PB002';
  end if;
  -- Nobody has closed it at that priority. A priority was lowered before it was closed only where the history says so.
  if new.outcome = 'counted' and array_position(ranks, new.priority) > reported.priority_rank then
    select max(array_position(ranks, c ->> 'before')) into highest
      from app.alert_history h cross join lateral jsonb_array_elements(h.changes) c
     where h.tenant_id = new.tenant_id and h.alert_id = new.alert_id and c ->> 'member' = 'priority';
    if highest is null or array_position(ranks, new.priority) > highest then
      raise exception 'a report above the priority of a closed alert opens another one' using errcode = 'PB002';
    end if;
  end if;
  return new;
end $$;
create trigger alert_occurrence_keep before insert on app.alert_occurrence
  for each row when (new.alert_id is not null) execute function app.keep_occurrence();
