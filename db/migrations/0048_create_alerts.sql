-- Alerts: what a person has to look at, each match once however often it is reported. See docs/adr/0069-raise-each-match-once.md.

-- Made together with an object, so that it can be restricted later; not listed until it was imposed.
alter table app.restriction add column prepared_for text
  constraint restriction_prepared_for_ck check (length(prepared_for) between 1 and 40);

create table app.alert (
  tenant_id         uuid not null,
  alert_id          uuid not null,
  -- Who reports: rule, matrix, contract, or any name that a later source chooses.
  source            text not null constraint alert_source_ck check (source ~ '^[a-z][a-z0-9_-]{0,39}$'),
  -- The entry of the list alert-rules that raised it.
  rule_code         text constraint alert_rule_code_ck check (length(rule_code) between 1 and 100),
  subject_id        uuid,
  dedup_key         text not null constraint alert_dedup_key_ck check (length(dedup_key) between 1 and 300),
  -- Reports are joined inside one scope only: all zeros, or the restriction of the alert once it was imposed.
  dedup_scope       uuid not null,
  -- Counts the alerts of one key and scope. Never shown: an earlier one may be hidden.
  round             bigint not null constraint alert_round_ck check (round >= 1),
  previous_alert_id uuid,
  title             text not null constraint alert_title_ck check (length(title) between 1 and 300),
  facts             jsonb not null constraint alert_facts_ck check (jsonb_typeof(facts) = 'object'),
  fingerprint       text not null constraint alert_fingerprint_ck check (fingerprint ~ '^[0-9a-f]{64}$'),
  facts_salt  text not null constraint alert_salt_ck check (facts_salt ~ '^[0-9a-f]{32}$'),
  -- Of the facts, against those of the previous alert, or of the report before.
  changes           jsonb constraint alert_changes_ck check (jsonb_typeof(changes) = 'array'),
  changes_since     text constraint alert_changes_since_ck check (changes_since in ('previous_alert', 'previous_report')),
  explanation       jsonb not null constraint alert_explanation_ck check (jsonb_typeof(explanation) = 'object'),
  priority          text not null constraint alert_priority_ck check (priority in ('low', 'medium', 'high', 'critical')),
  priority_rank     smallint not null generated always as
                      (case priority when 'critical' then 4 when 'high' then 3 when 'medium' then 2 else 1 end) stored,
  -- A new alert that somebody works on is shown as claimed. Who that is, and in which queue, is kept with the work, which returns to the
  -- queue when a person is deactivated; worked_by is whom the history names.
  state             text not null constraint alert_state_ck check (state in ('new', 'snoozed', 'dismissed', 'escalated')),
  worked_by         text constraint alert_worked_by_ck check (worked_by like 'user:_%'),
  occurrences       bigint not null default 1 constraint alert_occurrences_ck check (occurrences >= 1),
  first_seen_at     timestamptz not null default now(),
  last_seen_at      timestamptz not null default now(),
  snoozed_until     timestamptz,
  -- Set with the proposal: whether another person has to confirm it.
  second_person     boolean not null default false,
  reason_code       text constraint alert_reason_code_ck check (length(reason_code) between 1 and 60),
  proposed_by       text constraint alert_proposed_by_ck check (proposed_by like 'user:_%'),
  proposed_at       timestamptz,
  dismissed_by      text constraint alert_dismissed_by_ck check (dismissed_by like 'user:_%'),
  dismissed_at      timestamptz,
  escalated_by      text,
  escalated_at      timestamptz,
  -- Attached by the module of investigations.
  investigation_id  uuid,
  restriction_id    uuid not null,
  revision          bigint not null default 1 constraint alert_revision_ck check (revision > 0),
  created_at        timestamptz not null default now(),
  created_by        text not null,
  updated_at        timestamptz not null default now(),
  constraint alert_pkey primary key (tenant_id, alert_id),
  constraint alert_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint alert_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint alert_previous_fkey foreign key (tenant_id, previous_alert_id) references app.alert (tenant_id, alert_id),
  constraint alert_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint alert_scope_ck check (dedup_scope in ('00000000-0000-0000-0000-000000000000', restriction_id)),
  constraint alert_changes_of_ck check ((changes is null) = (changes_since is null)),
  constraint alert_previous_ck check (previous_alert_id is null or round > 1),
  constraint alert_seen_ck check (last_seen_at >= first_seen_at),
  constraint alert_snoozed_ck check ((state = 'snoozed') = (snoozed_until is not null)),
  constraint alert_proposed_ck check ((proposed_by is null) = (proposed_at is null) and (proposed_by is null or reason_code is not null)),
  constraint alert_dismissed_ck check ((state = 'dismissed') = (dismissed_at is not null) and (dismissed_at is null) = (dismissed_by is null)
                                       and (state <> 'dismissed' or reason_code is not null)),
  constraint alert_escalated_ck check ((state = 'escalated') = (escalated_at is not null) and (escalated_at is null) = (escalated_by is null)),
  -- One person proposes the dismissal, another confirms it.
  constraint alert_four_eyes_ck check (state <> 'dismissed' or not second_person or (proposed_by is not null and proposed_by <> dismissed_by))
);
-- Workers count open alerts over all tenants, and learn which tenants have snoozed ones to wake.
select app.wall('app.alert', 'queue');
grant select (tenant_id, state, priority, first_seen_at, snoozed_until) on app.alert to worker;
select app.restrict_rows('app.alert');
revoke delete on app.alert from app;
create unique index alert_round_key on app.alert (tenant_id, dedup_key, dedup_scope, round);
create unique index alert_open_key on app.alert (tenant_id, dedup_key, dedup_scope) where state in ('new', 'snoozed');
create index alert_inbox_idx on app.alert (tenant_id, priority_rank desc, alert_id desc) include (restriction_id)
  where state in ('new', 'snoozed');
create index alert_subject_idx on app.alert (tenant_id, subject_id, alert_id) where subject_id is not null;
create index alert_snoozed_idx on app.alert (snoozed_until) include (tenant_id) where state = 'snoozed';
create index alert_restriction_idx on app.alert (tenant_id, restriction_id);

create function app.keep_alert() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    if new.state <> 'new' or new.occurrences <> 1 or new.revision <> 1 then
      raise exception 'an alert begins as new, with one occurrence' using errcode = 'PB002';
    end if;
    return new;
  end if;
  if (new.tenant_id, new.alert_id, new.source, new.subject_id, new.round, new.previous_alert_id, new.first_seen_at, new.facts_salt,
      new.restriction_id, new.created_at, new.created_by)
     is distinct from
     (old.tenant_id, old.alert_id, old.source, old.subject_id, old.round, old.previous_alert_id, old.first_seen_at, old.facts_salt,
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
  elsif new.revision <> old.revision then
    raise exception 'a revision of an alert changes something' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger alert_keep before insert or update on app.alert for each row execute function app.keep_alert();

-- A report without access must not join an alert that is hidden from now on.
create function app.separate_alerts() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  update app.alert set dedup_scope = restriction_id
   where tenant_id = new.tenant_id and restriction_id = new.restriction_id and dedup_scope <> restriction_id;
  return null;
end $$;
create trigger restriction_alerts after update on app.restriction
  for each row when (new.is_in_force and not old.is_in_force) execute function app.separate_alerts();

-- Every change of an alert, written by the database.
create table app.alert_history (
  tenant_id      uuid not null,
  alert_id       uuid not null,
  revision       bigint not null,
  event          text not null constraint alert_history_event_ck check (event in ('opened', 'claimed', 'assigned', 'released', 'snoozed', 'woken',
                   'priority_changed', 'facts_changed', 'dismissal_proposed', 'dismissal_returned', 'dismissed', 'escalated',
                   'reopened', 'attached')),
  state          text not null,
  -- Members that differ, without facts, which may name people.
  changes        jsonb not null constraint alert_history_changes_ck check (jsonb_typeof(changes) = 'array'),
  recorded_at    timestamptz not null default now(),
  recorded_by    text not null,
  restriction_id uuid,
  constraint alert_history_pkey primary key (tenant_id, alert_id, revision),
  constraint alert_history_alert_fkey foreign key (tenant_id, alert_id) references app.alert (tenant_id, alert_id),
  constraint alert_history_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.alert_history', 'append');
select app.restrict_rows('app.alert_history');
create trigger alert_history_restriction before insert on app.alert_history
  for each row execute function app.inherit_restriction('alert', 'alert_id');

create function app.record_alert() returns trigger
  language plpgsql as $$
declare
  happened text;
  was text;
  now_is text := case when new.state = 'new' and new.worked_by is not null then 'claimed' else new.state end;
begin
  if app.restoring() then return null; end if;
  if tg_op = 'INSERT' then
    insert into app.alert_history (tenant_id, alert_id, revision, event, state, changes, recorded_by)
      values (new.tenant_id, new.alert_id, new.revision, 'opened', new.state, '[]', app.actor());
    return null;
  end if;
  if new.revision = old.revision then return null; end if;
  was := case when old.state = 'new' and old.worked_by is not null then 'claimed' else old.state end;
  happened := case
    when old.state = 'dismissed' and new.state = 'new' then 'reopened'
    when new.state = 'dismissed' and old.state <> 'dismissed' then 'dismissed'
    when new.state = 'escalated' and old.state <> 'escalated' then 'escalated'
    when new.state = 'snoozed' and old.state <> 'snoozed' then 'snoozed'
    when new.fingerprint <> old.fingerprint then 'facts_changed'
    when old.state = 'snoozed' and new.state <> 'snoozed' then 'woken'
    when new.worked_by is distinct from old.worked_by and new.worked_by = app.actor() then 'claimed'
    when new.worked_by is distinct from old.worked_by and new.worked_by is not null then 'assigned'
    when new.worked_by is distinct from old.worked_by then 'released'
    when new.proposed_by is not null and old.proposed_by is null then 'dismissal_proposed'
    when new.proposed_by is null and old.proposed_by is not null then 'dismissal_returned'
    when new.priority <> old.priority then 'priority_changed'
    else 'attached' end;
  insert into app.alert_history (tenant_id, alert_id, revision, event, state, changes, recorded_by)
    select new.tenant_id, new.alert_id, new.revision, happened, now_is,
           coalesce(jsonb_agg(jsonb_build_object('member', c.member, 'before', c.before, 'after', c.after) order by c.member), '[]'),
           app.actor()
      from (values ('state', was, now_is), ('assignee', old.worked_by, new.worked_by), ('priority', old.priority, new.priority),
                   ('snoozed_until', to_char(old.snoozed_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
                                     to_char(new.snoozed_until at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')),
                   ('reason_code', old.reason_code, new.reason_code), ('proposed_by', old.proposed_by, new.proposed_by),
                   ('investigation_id', old.investigation_id::text, new.investigation_id::text)) as c (member, before, after)
     where c.before is distinct from c.after;
  return null;
end $$;
create trigger alert_record after insert or update on app.alert for each row execute function app.record_alert();

-- What analysts write, also with a change: then it has the revision of that change.
create table app.alert_comment (
  tenant_id      uuid not null,
  comment_id     uuid not null,
  alert_id       uuid not null,
  revision       bigint,
  text           text not null constraint alert_comment_text_ck check (length(text) between 1 and 4000),
  created_at     timestamptz not null default now(),
  created_by     text not null,
  restriction_id uuid,
  constraint alert_comment_pkey primary key (tenant_id, comment_id),
  constraint alert_comment_alert_fkey foreign key (tenant_id, alert_id) references app.alert (tenant_id, alert_id),
  constraint alert_comment_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.alert_comment', 'tenant');
select app.restrict_rows('app.alert_comment');
revoke delete on app.alert_comment from app;
create trigger alert_comment_restriction before insert on app.alert_comment
  for each row execute function app.inherit_restriction('alert', 'alert_id');
create index alert_comment_alert_idx on app.alert_comment (tenant_id, alert_id, created_at);

-- Reports that are not raised until then; a second person confirms.
create table app.alert_suppression (
  tenant_id      uuid not null,
  suppression_id uuid not null,
  source         text not null constraint alert_suppression_source_ck check (source ~ '^[a-z][a-z0-9_-]{0,39}$'),
  subject_id     uuid,
  dedup_key      text constraint alert_suppression_dedup_key_ck check (length(dedup_key) between 1 and 300),
  -- Reports above it are raised nevertheless.
  up_to_priority text not null constraint alert_suppression_priority_ck check (up_to_priority in ('low', 'medium', 'high', 'critical')),
  reason_code    text not null constraint alert_suppression_reason_code_ck check (length(reason_code) between 1 and 60),
  reason         text not null constraint alert_suppression_reason_ck check (length(reason) between 1 and 2000),
  state          text not null default 'proposed' constraint alert_suppression_state_ck check (state in ('proposed', 'active', 'ended')),
  expires_at     timestamptz not null,
  proposed_at    timestamptz not null default now(),
  proposed_by    text not null constraint alert_suppression_proposer_ck check (proposed_by like 'user:_%'),
  confirmed_at   timestamptz,
  confirmed_by   text,
  ended_at       timestamptz,
  ended_by       text,
  end_reason     text constraint alert_suppression_end_reason_ck check (length(end_reason) between 1 and 2000),
  occurrences    bigint not null default 0 constraint alert_suppression_occurrences_ck check (occurrences >= 0),
  last_seen_at   timestamptz,
  constraint alert_suppression_pkey primary key (tenant_id, suppression_id),
  constraint alert_suppression_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint alert_suppression_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint alert_suppression_target_ck check (subject_id is not null or dedup_key is not null),
  constraint alert_suppression_expiry_ck check (expires_at > proposed_at),
  constraint alert_suppression_confirmed_ck check ((confirmed_at is null) = (confirmed_by is null)
                                                   and (state <> 'active' or confirmed_by is not null)
                                                   and (state <> 'proposed' or confirmed_by is null)),
  constraint alert_suppression_ended_ck check ((state = 'ended') = (ended_at is not null) and (ended_at is null) = (ended_by is null)
                                               and (ended_at is null) = (end_reason is null)),
  constraint alert_suppression_four_eyes_ck check (confirmed_by is null or (confirmed_by <> proposed_by and confirmed_by like 'user:_%'))
);
select app.wall('app.alert_suppression', 'tenant');
revoke delete on app.alert_suppression from app;
create index alert_suppression_listing_idx on app.alert_suppression (tenant_id, proposed_at, suppression_id);
create index alert_suppression_active_idx on app.alert_suppression (tenant_id, source) where state = 'active';

create function app.keep_alert_suppression() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.suppression_id, new.source, new.subject_id, new.up_to_priority, new.reason_code, new.expires_at, new.proposed_at, new.proposed_by)
     is distinct from
     (old.tenant_id, old.suppression_id, old.source, old.subject_id, old.up_to_priority, old.reason_code, old.expires_at, old.proposed_at, old.proposed_by)
     or (old.confirmed_by is not null and new.confirmed_by is distinct from old.confirmed_by)
     or new.occurrences < old.occurrences then
    raise exception 'a suppression is ended and another one made, never changed' using errcode = 'PB002';
  end if;
  if new.state <> old.state and (old.state, new.state) not in (('proposed', 'active'), ('proposed', 'ended'), ('active', 'ended')) then
    raise exception 'a suppression goes from proposed to active and ended, never back' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger alert_suppression_keep before update on app.alert_suppression for each row execute function app.keep_alert_suppression();

-- Every report, whatever became of it: none is dropped without a trace.
create table app.alert_occurrence (
  tenant_id      uuid not null,
  occurrence_id  uuid not null,
  alert_id       uuid,
  suppression_id uuid,
  outcome        text not null constraint alert_occurrence_outcome_ck check (outcome in ('opened', 'joined', 'counted', 'suppressed')),
  -- Under the salt of the alert.
  fingerprint    text constraint alert_occurrence_fingerprint_ck check (fingerprint ~ '^[0-9a-f]{64}$'),
  -- What was reported on, for example a decision.
  reference      text constraint alert_occurrence_reference_ck check (length(reference) between 1 and 300),
  seen_at        timestamptz not null default now(),
  reported_by    text not null,
  restriction_id uuid,
  constraint alert_occurrence_pkey primary key (tenant_id, occurrence_id),
  constraint alert_occurrence_alert_fkey foreign key (tenant_id, alert_id) references app.alert (tenant_id, alert_id),
  constraint alert_occurrence_suppression_fkey foreign key (tenant_id, suppression_id)
    references app.alert_suppression (tenant_id, suppression_id),
  constraint alert_occurrence_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint alert_occurrence_of_ck check ((alert_id is null) = (outcome = 'suppressed') and (suppression_id is null) = (alert_id is not null)
                                           and (fingerprint is null) = (alert_id is null))
);
select app.wall('app.alert_occurrence', 'append');
select app.restrict_rows('app.alert_occurrence');
create trigger alert_occurrence_restriction before insert on app.alert_occurrence
  for each row when (new.alert_id is not null) execute function app.inherit_restriction('alert', 'alert_id');
create index alert_occurrence_alert_idx on app.alert_occurrence (tenant_id, alert_id, occurrence_id) where alert_id is not null;

-- Dismissals that another person looks at again. Anybody can compute which ones from the alert's id, the seed and the rate.
create table app.alert_second_look (
  tenant_id      uuid not null,
  look_id        uuid not null,
  alert_id       uuid not null,
  -- Of the alert when it was dismissed: a reopened one may be dismissed and looked at again.
  revision       bigint not null,
  dismissed_by   text not null,
  sample_code    text not null constraint alert_second_look_sample_ck check (length(sample_code) between 1 and 100),
  -- The version of the list quality-samples, with its seed and rate.
  sample_version bigint not null,
  seed           text not null constraint alert_second_look_seed_ck check (length(seed) between 1 and 100),
  rate_bps       integer not null constraint alert_second_look_rate_ck check (rate_bps between 0 and 10000),
  bucket         integer not null,
  state          text not null default 'waiting' constraint alert_second_look_state_ck check (state in ('waiting', 'agreed', 'disagreed')),
  decided_at     timestamptz,
  decided_by     text,
  created_at     timestamptz not null default now(),
  restriction_id uuid,
  constraint alert_second_look_pkey primary key (tenant_id, look_id),
  constraint alert_second_look_alert_key unique (tenant_id, alert_id, revision),
  constraint alert_second_look_alert_fkey foreign key (tenant_id, alert_id) references app.alert (tenant_id, alert_id),
  constraint alert_second_look_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint alert_second_look_bucket_ck check (bucket >= 0 and bucket < rate_bps),
  constraint alert_second_look_decided_ck check ((state = 'waiting') = (decided_at is null) and (decided_at is null) = (decided_by is null)),
  constraint alert_second_look_four_eyes_ck check (decided_by is null or (decided_by <> dismissed_by and decided_by like 'user:_%'))
);
select app.wall('app.alert_second_look', 'tenant');
select app.restrict_rows('app.alert_second_look');
revoke delete on app.alert_second_look from app;
create trigger alert_second_look_restriction before insert on app.alert_second_look
  for each row execute function app.inherit_restriction('alert', 'alert_id');
create index alert_second_look_listing_idx on app.alert_second_look (tenant_id, state, look_id) include (restriction_id);

create function app.keep_second_look() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.state <> 'waiting'
     or (new.tenant_id, new.look_id, new.alert_id, new.revision, new.dismissed_by, new.sample_code, new.sample_version, new.seed, new.rate_bps, new.bucket, new.restriction_id)
        is distinct from
        (old.tenant_id, old.look_id, old.alert_id, old.revision, old.dismissed_by, old.sample_code, old.sample_version, old.seed, old.rate_bps, old.bucket, old.restriction_id) then
    raise exception 'a second look is decided once' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger alert_second_look_keep before update on app.alert_second_look for each row execute function app.keep_second_look();
