-- Investigations: cases that people work through by a playbook, with everything that belongs to them.
-- See docs/adr/0073-investigate-by-playbook.md.

create table app.investigation (
  tenant_id         uuid not null,
  investigation_id  uuid not null,
  -- What people call it. Random: a counter would show that hidden cases exist.
  reference         text not null constraint investigation_reference_ck check (reference ~ '^INV-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$'),
  subject_id        uuid not null,
  -- The version that the case follows to its end, whatever is published later.
  playbook_key      text not null constraint investigation_playbook_key_ck check (length(playbook_key) between 1 and 100),
  playbook_origin   text not null constraint investigation_playbook_origin_ck check (playbook_origin in ('own', 'shared')),
  playbook_version  bigint not null constraint investigation_playbook_version_ck check (playbook_version >= 1),
  playbook_hash     text not null constraint investigation_playbook_hash_ck check (playbook_hash ~ '^[0-9a-f]{64}$'),
  title             text not null constraint investigation_title_ck check (length(title) between 1 and 300),
  priority          text not null constraint investigation_priority_ck check (priority in ('low', 'medium', 'high', 'critical')),
  origin            text not null constraint investigation_origin_ck check (origin in ('request', 'alert', 'trigger', 'schedule')),
  -- What opened it: an alert, a decision, an entry of a list.
  origin_reference  text constraint investigation_origin_reference_ck check (length(origin_reference) between 1 and 300),
  -- Three facts that do not depend on each other.
  state             text not null default 'open' constraint investigation_state_ck check (state in ('open', 'proposed', 'closed', 'merged')),
  gathering         text not null default 'none' constraint investigation_gathering_ck
                      check (gathering in ('none', 'running', 'blocked', 'done', 'partial')),
  waiting_for       text constraint investigation_waiting_for_ck check (waiting_for in ('information', 'authority', 'other')),
  waiting_since     timestamptz,
  waiting_until     timestamptz,
  gathering_job_id  uuid,
  -- Why gathering could not begin: code and what is missing.
  gathering_problem jsonb constraint investigation_gathering_problem_ck check (jsonb_typeof(gathering_problem) = 'object'),
  -- False from the day its restriction is imposed: only cases that everybody may see are joined by later requests.
  joins             boolean not null default true,
  proposed_outcome  text constraint investigation_proposed_outcome_ck check (length(proposed_outcome) between 1 and 60),
  proposed_by       text constraint investigation_proposer_ck check (proposed_by like 'user:_%'),
  proposed_at       timestamptz,
  -- Of everything that the proposal rests on: whoever closes has seen the same.
  proposal_hash     text constraint investigation_proposal_hash_ck check (proposal_hash ~ '^[0-9a-f]{64}$'),
  outcome           text constraint investigation_outcome_ck check (length(outcome) between 1 and 60),
  closed_by         text,
  closed_at         timestamptz,
  -- How often it was closed; each time it was sealed.
  seal_no           bigint not null default 0 constraint investigation_seal_no_ck check (seal_no >= 0),
  merged_into       uuid,
  merged_by         text,
  merged_at         timestamptz,
  restriction_id    uuid not null,
  revision          bigint not null default 1 constraint investigation_revision_ck check (revision > 0),
  created_at        timestamptz not null default now(),
  created_by        text not null,
  updated_at        timestamptz not null default now(),
  updated_by        text not null,
  constraint investigation_pkey primary key (tenant_id, investigation_id),
  constraint investigation_reference_key unique (tenant_id, reference),
  constraint investigation_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint investigation_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint investigation_merged_fkey foreign key (tenant_id, merged_into) references app.investigation (tenant_id, investigation_id),
  constraint investigation_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint investigation_waiting_ck check ((waiting_for is null) = (waiting_since is null) and (waiting_for is not null or waiting_until is null)
                                             and (waiting_for is null or state = 'open')),
  constraint investigation_proposed_ck check ((state in ('proposed', 'closed')) = (proposed_by is not null)
                                              and (proposed_by is null) = (proposed_at is null) and (proposed_by is null) = (proposal_hash is null)
                                              and (proposed_by is null) = (proposed_outcome is null)),
  constraint investigation_closed_ck check ((state = 'closed') = (closed_by is not null) and (closed_by is null) = (closed_at is null)
                                            and (closed_by is null) = (outcome is null) and (outcome is null or outcome = proposed_outcome)),
  constraint investigation_merged_ck check ((state = 'merged') = (merged_into is not null) and (merged_into is null) = (merged_by is null)
                                            and (merged_into is null) = (merged_at is null) and merged_into <> investigation_id),
  -- One person proposes the outcome, another closes, whatever the tenant's approval policy says.
  constraint investigation_four_eyes_ck check (state <> 'closed' or (closed_by <> proposed_by and closed_by like 'user:_%'))
);
-- Workers count open cases over all tenants, and learn where one has waited long enough.
select app.wall('app.investigation', 'queue');
grant select (tenant_id, state, gathering, waiting_until, created_at) on app.investigation to worker;
select app.restrict_rows('app.investigation');
revoke delete on app.investigation from app;
-- A second request for the same subject and playbook joins the open case. One that is restricted is in nobody's way.
create unique index investigation_joined_key on app.investigation (tenant_id, subject_id, playbook_key)
  where state in ('open', 'proposed') and joins;
create index investigation_state_idx on app.investigation (tenant_id, state, investigation_id) include (restriction_id);
create index investigation_subject_idx on app.investigation (tenant_id, subject_id, investigation_id) include (restriction_id);
create index investigation_playbook_idx on app.investigation (tenant_id, playbook_key, investigation_id) include (restriction_id);
create index investigation_restriction_idx on app.investigation (tenant_id, restriction_id);
create index investigation_waiting_idx on app.investigation (waiting_until) include (tenant_id) where waiting_until is not null;

-- One row for each step of the playbook, and for those that people add. The job that gathers reads and writes these, and nothing else.
create table app.investigation_step (
  tenant_id        uuid not null,
  investigation_id uuid not null,
  step_key         text not null constraint investigation_step_key_ck check (step_key ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  position         integer not null constraint investigation_step_position_ck check (position between 1 and 999),
  -- Kinds are declared in the code; a new one needs no change here.
  kind             text not null constraint investigation_step_kind_ck check (kind ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  origin           text not null constraint investigation_step_origin_ck check (origin in ('playbook', 'person')),
  is_required      boolean not null,
  needs            text[] not null default '{}',
  -- As the playbook, or whoever added it, wrote it.
  definition       jsonb not null constraint investigation_step_definition_ck check (jsonb_typeof(definition) = 'object'),
  state            text not null default 'pending' constraint investigation_step_state_ck
                     check (state in ('pending', 'running', 'waiting', 'succeeded', 'failed', 'indeterminate', 'skipped', 'waived')),
  attempt          bigint not null default 0 constraint investigation_step_attempt_ck check (attempt >= 0),
  job_id           uuid,
  call_id          uuid,
  task_id          uuid,
  -- What it found: an evidence item, a decision, a task.
  result_kind      text constraint investigation_step_result_kind_ck check (result_kind ~ '^[a-z][a-z0-9_]{0,39}$'),
  result_id        uuid,
  evidence_id      uuid,
  -- Whether the source contract accepted the answer: its verdict and findings without values.
  contract_result  jsonb constraint investigation_step_contract_ck check (jsonb_typeof(contract_result) = 'object'),
  cost_amount      numeric(20, 6) constraint investigation_step_cost_ck check (cost_amount >= 0),
  cost_currency    text constraint investigation_step_currency_ck check (cost_currency ~ '^[A-Z]{3}$'),
  -- An earlier answer that was used instead of a call.
  reused_from      timestamptz,
  not_before       timestamptz,
  started_at       timestamptz,
  ended_at         timestamptz,
  problem          jsonb constraint investigation_step_problem_ck check (jsonb_typeof(problem) = 'object'),
  waived_by        text constraint investigation_step_waived_by_ck check (waived_by like 'user:_%'),
  waived_at        timestamptz,
  waive_reason     text constraint investigation_step_waive_reason_ck check (length(waive_reason) between 1 and 2000),
  revision         bigint not null default 1 constraint investigation_step_revision_ck check (revision > 0),
  updated_at       timestamptz not null default now(),
  updated_by       text not null,
  restriction_id   uuid,
  constraint investigation_step_pkey primary key (tenant_id, investigation_id, step_key),
  constraint investigation_step_position_key unique (tenant_id, investigation_id, position),
  constraint investigation_step_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_step_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint investigation_step_result_ck check ((result_kind is null) = (result_id is null)),
  constraint investigation_step_priced_ck check ((cost_amount is null) = (cost_currency is null)),
  constraint investigation_step_started_ck check (state not in ('running', 'succeeded', 'failed', 'indeterminate') or started_at is not null),
  constraint investigation_step_ended_ck check ((state in ('succeeded', 'failed', 'indeterminate', 'skipped', 'waived')) = (ended_at is not null)),
  constraint investigation_step_problem_of_ck check (state not in ('failed', 'indeterminate') or problem is not null),
  constraint investigation_step_waived_ck check ((state = 'waived') = (waived_by is not null) and (waived_by is null) = (waived_at is null)
                                                 and (waived_by is null) = (waive_reason is null)),
  -- A required step is left out only where its condition does not apply; without a credential it waits for a person.
  constraint investigation_step_skipped_ck check (state <> 'skipped' or not is_required or problem is null)
);
-- Workers count steps by state over all tenants.
select app.wall('app.investigation_step', 'queue');
grant select (tenant_id, kind, state, started_at) on app.investigation_step to worker;
select app.restrict_rows('app.investigation_step');
revoke delete on app.investigation_step from app;
create trigger investigation_step_restriction before insert on app.investigation_step
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');
create index investigation_step_call_idx on app.investigation_step (tenant_id, call_id) where call_id is not null;

-- What happened, written with each change: the timeline. Ids, keys and states only; texts are in the rows that the events name.
create table app.investigation_event (
  tenant_id        uuid not null,
  event_id         uuid not null,
  investigation_id uuid not null,
  kind             text not null constraint investigation_event_kind_ck check (kind ~ '^[a-z][a-z_]{0,39}$'),
  category         text not null constraint investigation_event_category_ck check (category in ('person', 'system', 'provider')),
  -- Of the case after this change; null where the event changes something that belongs to it.
  revision         bigint,
  data             jsonb not null default '{}' constraint investigation_event_data_ck check (jsonb_typeof(data) = 'object'),
  recorded_at      timestamptz not null default clock_timestamp(),
  recorded_by      text not null,
  restriction_id   uuid,
  constraint investigation_event_pkey primary key (tenant_id, event_id),
  constraint investigation_event_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_event_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.investigation_event', 'append');
select app.restrict_rows('app.investigation_event');
create trigger investigation_event_restriction before insert on app.investigation_event
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');
create index investigation_event_timeline_idx on app.investigation_event (tenant_id, investigation_id, recorded_at, event_id);

-- What people write about the case, also with an act: then it has the revision of that act. Encrypted for the subject, never changed.
create table app.investigation_note (
  tenant_id        uuid not null,
  note_id          uuid not null,
  investigation_id uuid not null,
  revision         bigint,
  content          bytea not null,
  created_at       timestamptz not null default now(),
  created_by       text not null,
  restriction_id   uuid,
  constraint investigation_note_pkey primary key (tenant_id, note_id),
  constraint investigation_note_revision_key unique (tenant_id, investigation_id, revision),
  constraint investigation_note_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_note_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.investigation_note', 'append');
select app.restrict_rows('app.investigation_note');
create trigger investigation_note_restriction before insert on app.investigation_note
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');
create index investigation_note_listing_idx on app.investigation_note (tenant_id, investigation_id, note_id);

create table app.investigation_task (
  tenant_id        uuid not null,
  task_id          uuid not null,
  investigation_id uuid not null,
  -- The step that it belongs to; null for one that somebody added.
  step_key         text,
  title            text not null constraint investigation_task_title_ck check (length(title) between 1 and 300),
  detail           text constraint investigation_task_detail_ck check (length(detail) between 1 and 4000),
  -- Entries with text and is_done, in order.
  checklist        jsonb not null default '[]' constraint investigation_task_checklist_ck
                     check (jsonb_typeof(checklist) = 'array' and jsonb_array_length(checklist) <= 50),
  role             text constraint investigation_task_role_ck check (role in ('analyst', 'compliance_officer')),
  is_required      boolean not null,
  state            text not null default 'open' constraint investigation_task_state_ck check (state in ('open', 'done', 'cancelled')),
  assignee         text constraint investigation_task_assignee_ck check (assignee like 'user:_%'),
  due_at           timestamptz,
  result           text constraint investigation_task_result_ck check (length(result) between 1 and 4000),
  ended_at         timestamptz,
  ended_by         text,
  revision         bigint not null default 1 constraint investigation_task_revision_ck check (revision > 0),
  created_at       timestamptz not null default now(),
  created_by       text not null,
  updated_at       timestamptz not null default now(),
  updated_by       text not null,
  restriction_id   uuid,
  constraint investigation_task_pkey primary key (tenant_id, task_id),
  constraint investigation_task_step_fkey foreign key (tenant_id, investigation_id, step_key)
    references app.investigation_step (tenant_id, investigation_id, step_key),
  constraint investigation_task_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_task_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint investigation_task_ended_ck check ((state = 'open') = (ended_at is null) and (ended_at is null) = (ended_by is null)),
  -- An entry that is open keeps the task open.
  constraint investigation_task_complete_ck check (state <> 'done' or not jsonb_path_exists(checklist, '$[*] ? (@.is_done == false)')),
  constraint investigation_task_cancelled_ck check (state <> 'cancelled' or not is_required)
);
select app.wall('app.investigation_task', 'tenant');
select app.restrict_rows('app.investigation_task');
revoke delete on app.investigation_task from app;
create trigger investigation_task_restriction before insert on app.investigation_task
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');
create index investigation_task_listing_idx on app.investigation_task (tenant_id, investigation_id, task_id);

-- What somebody outside the case is asked for.
create table app.investigation_request (
  tenant_id        uuid not null,
  request_id       uuid not null,
  investigation_id uuid not null,
  addressee        text not null constraint investigation_request_addressee_ck check (length(addressee) between 1 and 300),
  question         text not null constraint investigation_request_question_ck check (length(question) between 1 and 4000),
  due_at           timestamptz,
  state            text not null default 'open' constraint investigation_request_state_ck check (state in ('open', 'fulfilled', 'withdrawn')),
  answer           text constraint investigation_request_answer_ck check (length(answer) between 1 and 8000),
  evidence_id      uuid,
  asked_at         timestamptz not null default now(),
  asked_by         text not null,
  ended_at         timestamptz,
  ended_by         text,
  revision         bigint not null default 1 constraint investigation_request_revision_ck check (revision > 0),
  restriction_id   uuid,
  constraint investigation_request_pkey primary key (tenant_id, request_id),
  constraint investigation_request_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_request_evidence_fkey foreign key (tenant_id, evidence_id) references app.evidence_item (tenant_id, evidence_id),
  constraint investigation_request_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint investigation_request_ended_ck check ((state = 'open') = (ended_at is null) and (ended_at is null) = (ended_by is null)),
  constraint investigation_request_answered_ck check (state = 'fulfilled' or (answer is null and evidence_id is null))
);
select app.wall('app.investigation_request', 'tenant');
select app.restrict_rows('app.investigation_request');
revoke delete on app.investigation_request from app;
create trigger investigation_request_restriction before insert on app.investigation_request
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');
create index investigation_request_listing_idx on app.investigation_request (tenant_id, investigation_id, request_id);

-- Versions of the narrative. Encrypted for the subject, never changed; the hash is that of the content, which contains its salt.
create table app.investigation_narrative (
  tenant_id        uuid not null,
  investigation_id uuid not null,
  version          bigint not null constraint investigation_narrative_version_ck check (version >= 1),
  content          bytea not null,
  content_hash     text not null constraint investigation_narrative_hash_ck check (content_hash ~ '^[0-9a-f]{64}$'),
  paragraphs       integer not null constraint investigation_narrative_paragraphs_ck check (paragraphs between 0 and 500),
  written_at       timestamptz not null default now(),
  written_by       text not null,
  restriction_id   uuid,
  constraint investigation_narrative_pkey primary key (tenant_id, investigation_id, version),
  constraint investigation_narrative_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_narrative_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.investigation_narrative', 'append');
select app.restrict_rows('app.investigation_narrative');
create trigger investigation_narrative_restriction before insert on app.investigation_narrative
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');

-- Everybody whom the case is about; the first is the subject that it was opened for.
create table app.investigation_subject (
  tenant_id        uuid not null,
  investigation_id uuid not null,
  subject_id       uuid not null,
  part             text not null constraint investigation_subject_part_ck
                     check (part in ('primary', 'counterparty', 'beneficial_owner', 'representative', 'related')),
  added_at         timestamptz not null default now(),
  added_by         text not null,
  restriction_id   uuid,
  constraint investigation_subject_pkey primary key (tenant_id, investigation_id, subject_id),
  constraint investigation_subject_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint investigation_subject_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_subject_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.investigation_subject', 'append');
select app.restrict_rows('app.investigation_subject');
create trigger investigation_subject_restriction before insert on app.investigation_subject
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');
create unique index investigation_subject_primary_key on app.investigation_subject (tenant_id, investigation_id) where part = 'primary';
create index investigation_subject_subject_idx on app.investigation_subject (tenant_id, subject_id, investigation_id);

-- Alerts that the case looks into. Belongs to the case, so that an alert does not show a hidden one.
create table app.investigation_alert (
  tenant_id        uuid not null,
  investigation_id uuid not null,
  alert_id         uuid not null,
  linked_at        timestamptz not null default now(),
  linked_by        text not null,
  restriction_id   uuid,
  constraint investigation_alert_pkey primary key (tenant_id, investigation_id, alert_id),
  constraint investigation_alert_alert_fkey foreign key (tenant_id, alert_id) references app.alert (tenant_id, alert_id),
  constraint investigation_alert_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_alert_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.investigation_alert', 'append');
select app.restrict_rows('app.investigation_alert');
create trigger investigation_alert_restriction before insert on app.investigation_alert
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');
create index investigation_alert_alert_idx on app.investigation_alert (tenant_id, alert_id, linked_at);

-- Alerts that a list sends to an investigation are found soon after they were raised.
create index alert_recent_idx on app.alert (first_seen_at) include (tenant_id) where state = 'new';

-- What the case consisted of when it was closed: ids and hashes, signed.
create table app.investigation_seal (
  tenant_id        uuid not null,
  investigation_id uuid not null,
  seal_no          bigint not null constraint investigation_seal_number_ck check (seal_no >= 1),
  manifest         jsonb not null constraint investigation_seal_manifest_ck check (jsonb_typeof(manifest) = 'object'),
  manifest_hash    text not null constraint investigation_seal_hash_ck check (manifest_hash ~ '^[0-9a-f]{64}$'),
  key_id           text not null constraint investigation_seal_key_ck check (length(key_id) between 1 and 100),
  signature        text not null constraint investigation_seal_signature_ck check (length(signature) between 1 and 500),
  sealed_at        timestamptz not null default now(),
  sealed_by        text not null,
  restriction_id   uuid,
  constraint investigation_seal_pkey primary key (tenant_id, investigation_id, seal_no),
  constraint investigation_seal_investigation_fkey foreign key (tenant_id, investigation_id)
    references app.investigation (tenant_id, investigation_id),
  constraint investigation_seal_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.investigation_seal', 'append');
select app.restrict_rows('app.investigation_seal');
create trigger investigation_seal_restriction before insert on app.investigation_seal
  for each row execute function app.inherit_restriction('investigation', 'investigation_id');

-- Arguments: the column with the id of the case, then the states in which the row may be written. The lock excludes whoever proposes or
-- closes at this moment, and nobody else.
create function app.require_investigation() returns trigger
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
    raise exception 'the investigation is %', current_state using errcode = 'PB010';
  end if;
  return new;
end $$;
create trigger investigation_step_open before insert or update on app.investigation_step
  for each row when (app.erasing() is null) execute function app.require_investigation('investigation_id', 'open');
create trigger investigation_task_open before insert or update on app.investigation_task
  for each row when (app.erasing() is null) execute function app.require_investigation('investigation_id', 'open');
create trigger investigation_narrative_open before insert on app.investigation_narrative
  for each row execute function app.require_investigation('investigation_id', 'open');
create trigger investigation_subject_open before insert on app.investigation_subject
  for each row execute function app.require_investigation('investigation_id', 'open');
create trigger investigation_alert_open before insert on app.investigation_alert
  for each row execute function app.require_investigation('investigation_id', 'open', 'proposed');
create trigger investigation_seal_open before insert on app.investigation_seal
  for each row execute function app.require_investigation('investigation_id', 'open', 'proposed');
create trigger investigation_request_open before insert on app.investigation_request
  for each row execute function app.require_investigation('investigation_id', 'open');
-- An answer that comes while somebody has proposed an outcome is stored, and the proposal has to be looked at again.
create trigger investigation_request_answer before update on app.investigation_request
  for each row when (app.erasing() is null) execute function app.require_investigation('investigation_id', 'open', 'proposed');
create trigger investigation_evidence_open before insert or update on app.evidence_item
  for each row when (new.owner_kind = 'investigation' and app.erasing() is null)
  execute function app.require_investigation('owner_id', 'open', 'proposed');

create function app.keep_investigation() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    if (new.state, new.gathering, new.seal_no, new.revision) <> ('open', 'none', 0, 1) or new.waiting_for is not null then
      raise exception 'an investigation begins open, without a step' using errcode = 'PB002';
    end if;
    -- Whoever imposes the restriction at this moment is waited for.
    perform 1 from app.restriction r where r.tenant_id = new.tenant_id and r.restriction_id = new.restriction_id for share;
    new.joins := not app.is_in_force(new.restriction_id);
    return new;
  end if;
  if (new.tenant_id, new.investigation_id, new.reference, new.subject_id, new.playbook_key, new.playbook_origin, new.playbook_version, new.playbook_hash, new.origin,
      new.origin_reference, new.restriction_id, new.created_at, new.created_by)
     is distinct from
     (old.tenant_id, old.investigation_id, old.reference, old.subject_id, old.playbook_key, old.playbook_origin, old.playbook_version, old.playbook_hash, old.origin,
      old.origin_reference, old.restriction_id, old.created_at, old.created_by) then
    raise exception 'what an investigation is about never changes' using errcode = 'PB002';
  end if;
  if new.joins and not old.joins then
    raise exception 'an investigation that was restricted stays apart' using errcode = 'PB002';
  end if;
  if new.state <> old.state and (old.state, new.state) not in (
       ('open', 'proposed'), ('proposed', 'open'), ('proposed', 'closed'), ('closed', 'open'), ('open', 'merged')) then
    raise exception 'an investigation does not go from % to %', old.state, new.state using errcode = 'PB002';
  end if;
  if new.state = old.state and old.state <> 'open'
     and (new.title, new.priority, new.gathering, new.proposed_outcome, new.proposed_by, new.proposed_at, new.proposal_hash, new.outcome, new.closed_by,
          new.closed_at, new.merged_into, new.merged_by, new.merged_at)
         is distinct from
         (old.title, old.priority, old.gathering, old.proposed_outcome, old.proposed_by, old.proposed_at, old.proposal_hash, old.outcome, old.closed_by,
          old.closed_at, old.merged_into, old.merged_by, old.merged_at) then
    raise exception 'nothing of an investigation that is % changes', old.state using errcode = 'PB002';
  end if;
  if new.seal_no <> old.seal_no + (case when old.state = 'proposed' and new.state = 'closed' then 1 else 0 end) then
    raise exception 'seals are numbered one by one' using errcode = 'PB002';
  end if;
  if new.state = 'proposed' and old.state = 'open' then
    if new.proposed_by is distinct from app.actor() then
      raise exception 'whoever proposes is the actor' using errcode = 'PB002';
    end if;
    if new.gathering = 'running' or exists (
         select 1 from app.investigation_step s where s.tenant_id = new.tenant_id and s.investigation_id = new.investigation_id
            and (s.state = 'running' or s.is_required and s.state not in ('succeeded', 'waived', 'skipped')))
       or exists (select 1 from app.investigation_task t where t.tenant_id = new.tenant_id and t.investigation_id = new.investigation_id
            and t.is_required and t.state <> 'done' and not exists (
              select 1 from app.investigation_step s where s.tenant_id = t.tenant_id and s.investigation_id = t.investigation_id
                 and s.step_key = t.step_key and s.state in ('waived', 'skipped'))) then
      raise exception 'a required step or task is not done' using errcode = 'PB002';
    end if;
  end if;
  if new.state = 'closed' and old.state = 'proposed' then
    if new.closed_by is distinct from app.actor()
       or (new.proposed_by, new.proposed_at, new.proposed_outcome, new.proposal_hash)
          is distinct from (old.proposed_by, old.proposed_at, old.proposed_outcome, old.proposal_hash) then
      raise exception 'what was proposed is what is closed, by the actor' using errcode = 'PB002';
    end if;
    if not exists (select 1 from app.investigation_seal s where s.tenant_id = new.tenant_id and s.investigation_id = new.investigation_id
                      and s.seal_no = new.seal_no) then
      raise exception 'an investigation is closed with its seal' using errcode = 'PB002';
    end if;
  end if;
  if new.revision not in (old.revision, old.revision + 1)
     or new.revision = old.revision and (new.state, new.title, new.priority, new.waiting_for, new.waiting_until)
                                        is distinct from (old.state, old.title, old.priority, old.waiting_for, old.waiting_until) then
    raise exception 'a change of an investigation has a revision of its own' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger investigation_keep before insert on app.investigation for each row execute function app.keep_investigation();
create trigger investigation_change before update on app.investigation
  for each row when (app.erasing() is null) execute function app.keep_investigation();
create trigger investigation_erase before update on app.investigation
  for each row when (app.erasing() is not null) execute function app.erase_only('title', 'origin_reference', 'gathering_problem');
-- A hold on the case keeps what an erasure of its subject would overwrite.
create trigger investigation_hold before update on app.investigation
  for each row when (app.erasing() is not null) execute function app.refuse_held_delete('investigation_id');
create trigger investigation_refuse before insert on app.investigation for each row execute function app.refuse_erased_rating();
create trigger investigation_subject_refuse before insert on app.investigation_subject
  for each row execute function app.refuse_erased_rating();

create function app.keep_investigation_step() returns trigger
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
     and not (new.kind = 'task' and (old.state, new.state) = ('succeeded', 'waiting')) then
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
create trigger investigation_step_keep before update on app.investigation_step
  for each row when (app.erasing() is null) execute function app.keep_investigation_step();
create trigger investigation_step_erase before update on app.investigation_step
  for each row when (app.erasing() is not null) execute function app.erase_only('definition', 'problem', 'waive_reason', 'contract_result');

create function app.keep_investigation_task() returns trigger
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
  return new;
end $$;
create trigger investigation_task_keep before update on app.investigation_task
  for each row when (app.erasing() is null) execute function app.keep_investigation_task();
create trigger investigation_task_erase before update on app.investigation_task
  for each row when (app.erasing() is not null) execute function app.erase_only('title', 'detail', 'checklist', 'result');

create function app.keep_investigation_request() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.state <> 'open'
     or (new.tenant_id, new.request_id, new.investigation_id, new.addressee, new.question, new.asked_at, new.asked_by, new.restriction_id)
        is distinct from
        (old.tenant_id, old.request_id, old.investigation_id, old.addressee, old.question, old.asked_at, old.asked_by, old.restriction_id)
     or new.revision <> old.revision + 1 then
    raise exception 'a request for information is answered or withdrawn once, never changed' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger investigation_request_keep before update on app.investigation_request
  for each row when (app.erasing() is null) execute function app.keep_investigation_request();
create trigger investigation_request_erase before update on app.investigation_request
  for each row when (app.erasing() is not null) execute function app.erase_only('addressee', 'question', 'answer');

-- Cases that are hidden from now on are no longer joined.
create function app.separate_investigations() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  update app.investigation set joins = false where tenant_id = new.tenant_id and restriction_id = new.restriction_id and joins;
  return null;
end $$;
create trigger restriction_investigations after update on app.restriction
  for each row when (new.is_in_force and not old.is_in_force) execute function app.separate_investigations();

-- The timeline. Written by the database, so that no change is without its event.
create function app.add_investigation_event(tenant uuid, investigation uuid, event_kind text, event_revision bigint, event_data jsonb,
                                            event_category text default null) returns void
  language plpgsql as $$
begin
  insert into app.investigation_event (tenant_id, event_id, investigation_id, kind, category, revision, data, recorded_by)
    values (tenant, gen_random_uuid(), investigation, event_kind,
            coalesce(event_category, case when app.actor() like 'user:%' or app.actor() like 'key:%' then 'person' else 'system' end),
            event_revision, jsonb_strip_nulls(event_data), app.actor());
end $$;

-- People who work on a restricted case learn that somebody without access asks about its subject; that person learns nothing: the sight
-- is widened for this one statement, which returns nothing.
create function app.tell_restricted_cases(tenant uuid, subject uuid, investigation uuid) returns void
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
begin
  perform set_config('app.sight', 'all', true);
  insert into app.investigation_event (tenant_id, event_id, investigation_id, kind, category, data, recorded_by)
    select i.tenant_id, gen_random_uuid(), i.investigation_id, 'other_case_requested', 'system',
           jsonb_build_object('investigation_id', investigation), app.actor()
      from app.investigation i
     where i.tenant_id = tenant and i.subject_id = subject and i.investigation_id <> investigation and i.state in ('open', 'proposed')
       and app.is_in_force(i.restriction_id);
  perform set_config('app.sight', before, true);
end $$;

create function app.record_investigation() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  if tg_op = 'INSERT' then
    perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'opened', new.revision,
              jsonb_build_object('origin', new.origin, 'playbook_key', new.playbook_key, 'playbook_version', new.playbook_version));
    -- A restricted case tells nobody.
    if new.joins then perform app.tell_restricted_cases(new.tenant_id, new.subject_id, new.investigation_id); end if;
    return null;
  end if;
  if new.state <> old.state then
    perform app.add_investigation_event(new.tenant_id, new.investigation_id,
              case when new.state = 'open' and old.state = 'closed' then 'reopened'
                   when new.state = 'open' and old.proposed_by = app.actor() then 'withdrawn'
                   when new.state = 'open' then 'returned'
                   else new.state end,
              new.revision,
              jsonb_build_object('outcome', coalesce(new.outcome, new.proposed_outcome), 'merged_into', new.merged_into,
                                 'seal_no', case when new.state = 'closed' then new.seal_no end));
  end if;
  if new.waiting_for is distinct from old.waiting_for or new.waiting_until is distinct from old.waiting_until then
    perform app.add_investigation_event(new.tenant_id, new.investigation_id, case when new.waiting_for is null then 'resumed' else 'waiting' end, new.revision,
              jsonb_build_object('waiting_for', new.waiting_for, 'until', new.waiting_until));
  end if;
  if (new.title, new.priority) is distinct from (old.title, old.priority) then
    perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'changed', new.revision,
              jsonb_build_object('priority', case when new.priority <> old.priority then new.priority end));
  end if;
  if new.gathering <> old.gathering then
    perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'gathering', null, jsonb_build_object('gathering', new.gathering), 'system');
  end if;
  if new.joins <> old.joins then
    perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'restricted', null, '{}');
  end if;
  return null;
end $$;
create trigger investigation_record_insert after insert on app.investigation for each row execute function app.record_investigation();
create trigger investigation_record after update on app.investigation
  for each row when (app.erasing() is null) execute function app.record_investigation();

create function app.record_investigation_step() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  if tg_op = 'INSERT' then
    if new.origin = 'person' then
      perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'step_added', null,
                jsonb_build_object('step_key', new.step_key, 'step_kind', new.kind));
    end if;
    return null;
  end if;
  perform app.add_investigation_event(new.tenant_id, new.investigation_id, 'step_' || new.state, null,
            jsonb_build_object('step_key', new.step_key, 'step_kind', new.kind, 'attempt', new.attempt, 'code', new.problem ->> 'code',
                               'call_id', new.call_id, 'result_kind', new.result_kind, 'result_id', new.result_id),
            case when new.kind = 'provider' and app.actor() like 'job:%' then 'provider' end);
  return null;
end $$;
create trigger investigation_step_added after insert on app.investigation_step for each row execute function app.record_investigation_step();
create trigger investigation_step_record after update on app.investigation_step
  for each row when (new.state <> old.state) execute function app.record_investigation_step();

-- Rows that belong to a case. Arguments: the kind of the event, and the columns that it names.
create function app.record_investigation_row() returns trigger
  language plpgsql as $$
declare
  named constant text[] := tg_argv[1:];
begin
  if app.restoring() then return null; end if;
  perform app.add_investigation_event(new.tenant_id, (to_jsonb(new) ->> (case when tg_table_name = 'evidence_item' then 'owner_id' else 'investigation_id' end))::uuid,
            tg_argv[0], null, (select coalesce(jsonb_object_agg(m.key, m.value), '{}') from jsonb_each(to_jsonb(new)) m where m.key = any (named)));
  return null;
end $$;
create trigger investigation_note_record after insert on app.investigation_note
  for each row when (new.revision is null) execute function app.record_investigation_row('noted', 'note_id');
create trigger investigation_task_added after insert on app.investigation_task
  for each row execute function app.record_investigation_row('task_added', 'task_id', 'step_key');
create trigger investigation_task_record after update on app.investigation_task
  for each row when (new.state <> old.state) execute function app.record_investigation_row('task_changed', 'task_id', 'step_key', 'state');
create trigger investigation_request_added after insert on app.investigation_request
  for each row execute function app.record_investigation_row('information_requested', 'request_id', 'due_at');
create trigger investigation_request_record after update on app.investigation_request
  for each row when (new.state <> old.state) execute function app.record_investigation_row('information_ended', 'request_id', 'state', 'evidence_id');
create trigger investigation_narrative_record after insert on app.investigation_narrative
  for each row execute function app.record_investigation_row('narrative_written', 'version', 'content_hash');
create trigger investigation_subject_record after insert on app.investigation_subject
  for each row when (new.part <> 'primary') execute function app.record_investigation_row('subject_added', 'subject_id', 'part');
create trigger investigation_alert_record after insert on app.investigation_alert
  for each row execute function app.record_investigation_row('alert_linked', 'alert_id');
create trigger investigation_evidence_added after insert on app.evidence_item
  for each row when (new.owner_kind = 'investigation') execute function app.record_investigation_row('evidence_attached', 'evidence_id', 'kind', 'object_id');
create trigger investigation_evidence_detached after update on app.evidence_item
  for each row when (new.owner_kind = 'investigation' and new.detached_at is not null and old.detached_at is null)
  execute function app.record_investigation_row('evidence_detached', 'evidence_id');

-- A second request joins the case: those who work on a restricted one about the same subject learn of it.
create function app.record_joined_case() returns trigger
  language plpgsql as $$
declare
  subject uuid;
begin
  if app.restoring() then return null; end if;
  select i.subject_id into subject from app.investigation i
   where i.tenant_id = new.tenant_id and i.investigation_id = new.investigation_id and i.joins;
  if subject is not null then perform app.tell_restricted_cases(new.tenant_id, subject, new.investigation_id); end if;
  return null;
end $$;
create trigger investigation_event_joined after insert on app.investigation_event
  for each row when (new.kind = 'joined') execute function app.record_joined_case();

-- A hold on a case of the subject would stop an erasure half way.
create or replace function app.refuse_hold_of_erased() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (
       select 1 from app.erasure e
        where e.tenant_id = new.tenant_id and e.state = 'executing'
          and (e.subject_id = new.object_id
               or e.subject_id = (select d.subject_id from app.document d where d.tenant_id = new.tenant_id and d.document_id = new.object_id)
               or e.subject_id = (select i.subject_id from app.investigation i
                                   where i.tenant_id = new.tenant_id and i.investigation_id = new.object_id))) then
    raise exception 'the subject is being erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
