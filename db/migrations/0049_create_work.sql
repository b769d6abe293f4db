-- Work of people: items in queues, clocks, absence; and the outbox of events. See docs/adr/0070-queue-work-and-number-events.md.

-- Why somebody is away: a code, no text. Absent people are not assigned work.
alter table app.user_account add column away_reason text
  constraint user_account_away_reason_ck check (away_reason in ('leave', 'training', 'travel', 'other'));
alter table app.user_account add constraint user_account_away_window_ck check (away_reason is null or away_from is not null);

-- One row per object that somebody has to work on. Its owner writes it in the transaction of its own change.
create table app.work_item (
  tenant_id      uuid not null,
  object_kind    text not null constraint work_item_kind_ck check (object_kind ~ '^[a-z][a-z0-9_]{0,39}$'),
  object_id      uuid not null,
  -- A key of the list work-queues at that time; the list may change, the item stays.
  queue_key      text not null constraint work_item_queue_ck check (length(queue_key) between 1 and 100),
  priority       text not null constraint work_item_priority_ck check (priority in ('low', 'medium', 'high', 'critical')),
  priority_rank  smallint not null generated always as
                 (case priority when 'critical' then 1 when 'high' then 2 when 'medium' then 3 else 4 end) stored,
  state          text not null default 'open' constraint work_item_state_ck check (state in ('open', 'done')),
  assignee       text constraint work_item_assignee_ck check (assignee like 'user:_%'),
  assigned_at    timestamptz,
  assigned_by    text,
  -- Nobody claims it before then.
  not_before     timestamptz,
  opened_at      timestamptz not null default now(),
  done_at        timestamptz,
  done_by        text,
  -- How often it was opened: an object that is opened again starts another clock.
  openings       bigint not null default 1 constraint work_item_openings_ck check (openings > 0),
  restriction_id uuid,
  revision       bigint not null default 1 constraint work_item_revision_ck check (revision > 0),
  constraint work_item_pkey primary key (tenant_id, object_kind, object_id),
  constraint work_item_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint work_item_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint work_item_assigned_ck check ((assignee is null) = (assigned_at is null) and (assignee is null) = (assigned_by is null)),
  constraint work_item_done_ck check ((state = 'done') = (done_at is not null) and (done_at is null) = (done_by is null))
);
select app.wall('app.work_item', 'queue');
-- Counted over all tenants for metrics.
grant select (tenant_id, state, assignee, opened_at) on app.work_item to worker;
select app.restrict_rows('app.work_item');
revoke delete on app.work_item from app;
create index work_item_claim_idx on app.work_item (tenant_id, priority_rank, opened_at, object_kind, object_id)
  include (queue_key, restriction_id) where state = 'open' and assignee is null;
create index work_item_assignee_idx on app.work_item (tenant_id, assignee, priority_rank, opened_at, object_kind, object_id)
  include (restriction_id) where state = 'open' and assignee is not null;
create index work_item_queue_idx on app.work_item (tenant_id, queue_key, assignee) include (restriction_id, opened_at) where state = 'open';

create function app.keep_work_item() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.object_kind, new.object_id, new.restriction_id) is distinct from
     (old.tenant_id, old.object_kind, old.object_id, old.restriction_id) then
    raise exception 'a work item stays with its object and its restriction' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger work_item_keep before update on app.work_item for each row execute function app.keep_work_item();

-- A person who is deactivated keeps no open work. Restricted work too, whether or not the administrator may see it: the sight is
-- widened for this one statement, which returns nothing.
create function app.return_work() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
begin
  if app.restoring() then return null; end if;
  perform set_config('app.sight', 'all', true);
  update app.work_item set assignee = null, assigned_at = null, assigned_by = null, revision = revision + 1
   where tenant_id = new.tenant_id and assignee = 'user:' || new.user_id and state = 'open';
  perform set_config('app.sight', before, true);
  return null;
end $$;
create trigger user_account_return_work after update of state on app.user_account
  for each row when (new.state = 'inactive' and old.state <> 'inactive') execute function app.return_work();

-- Whose turn it is. The row of the queue is locked while somebody is chosen, so that two transactions never choose at once.
create table app.work_queue_turn (
  tenant_id uuid not null,
  queue_key text not null,
  turn      bigint not null constraint work_queue_turn_ck check (turn >= 1),
  constraint work_queue_turn_pkey primary key (tenant_id, queue_key),
  constraint work_queue_turn_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.work_queue_turn', 'tenant');

create table app.work_person_turn (
  tenant_id uuid not null,
  queue_key text not null,
  assignee  text not null constraint work_person_turn_assignee_ck check (assignee like 'user:_%'),
  last_turn bigint not null,
  constraint work_person_turn_pkey primary key (tenant_id, queue_key, assignee),
  constraint work_person_turn_queue_fkey foreign key (tenant_id, queue_key) references app.work_queue_turn (tenant_id, queue_key)
);
select app.wall('app.work_person_turn', 'tenant');

create table app.work_clock (
  tenant_id      uuid not null,
  object_kind    text not null constraint work_clock_object_ck check (object_kind ~ '^[a-z][a-z0-9_]{0,39}$'),
  object_id      uuid not null,
  clock_key      text not null constraint work_clock_key_ck check (length(clock_key) between 1 and 100),
  kind           text not null constraint work_clock_kind_ck check (kind in ('service', 'statutory')),
  started_at     timestamptz not null,
  due_at         timestamptz not null constraint work_clock_due_ck check (due_at >= started_at),
  paused_at      timestamptz,
  paused_s       bigint not null default 0 constraint work_clock_paused_ck check (paused_s >= 0),
  state          text not null default 'running' constraint work_clock_state_ck check (state in ('running', 'paused', 'met', 'missed')),
  -- When the work was done; of a missed clock null until then.
  ended_at       timestamptz,
  missed_at      timestamptz,
  -- Duration, and the version of the calendar that it was counted with.
  receipt        jsonb not null constraint work_clock_receipt_ck check (jsonb_typeof(receipt) = 'object'),
  restriction_id uuid,
  created_by     text not null,
  revision       bigint not null default 1 constraint work_clock_revision_ck check (revision > 0),
  constraint work_clock_pkey primary key (tenant_id, object_kind, object_id, clock_key),
  constraint work_clock_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint work_clock_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint work_clock_statutory_ck check (kind = 'service' or (state <> 'paused' and paused_at is null and paused_s = 0)),
  constraint work_clock_pause_ck check ((state = 'paused') = (paused_at is not null)),
  constraint work_clock_missed_ck check ((state = 'missed') = (missed_at is not null)),
  constraint work_clock_ended_ck check (case state when 'met' then ended_at is not null when 'missed' then true else ended_at is null end)
);
select app.wall('app.work_clock', 'queue');
-- Workers learn which tenants have clocks that ran out, and count them.
grant select (tenant_id, state, due_at, kind, ended_at) on app.work_clock to worker;
select app.restrict_rows('app.work_clock');
revoke delete on app.work_clock from app;
create index work_clock_due_idx on app.work_clock (tenant_id, state, due_at, object_kind, object_id, clock_key) include (restriction_id);
create index work_clock_running_idx on app.work_clock (due_at) include (tenant_id) where state = 'running';
create index work_clock_listing_idx on app.work_clock (tenant_id, due_at, object_kind, object_id, clock_key) include (restriction_id);

create function app.keep_work_clock() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.object_kind, new.object_id, new.clock_key, new.kind, new.started_at, new.restriction_id, new.created_by)
     is distinct from
     (old.tenant_id, old.object_kind, old.object_id, old.clock_key, old.kind, old.started_at, old.restriction_id, old.created_by) then
    raise exception 'a clock keeps its object, kind and start' using errcode = 'PB002';
  end if;
  if new.state <> old.state
     and (old.state, new.state) not in (('running', 'paused'), ('paused', 'running'), ('running', 'met'), ('running', 'missed'), ('paused', 'met')) then
    raise exception 'a clock that was met or missed stays so' using errcode = 'PB002';
  end if;
  if (new.due_at, new.receipt, new.paused_s) is distinct from (old.due_at, old.receipt, old.paused_s)
     and not (old.state = 'paused' and new.state = 'running') then
    raise exception 'only resuming a paused clock moves its due time' using errcode = 'PB002';
  end if;
  if old.ended_at is not null and new.ended_at is distinct from old.ended_at then
    raise exception 'the end of a clock is never changed' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger work_clock_keep before update on app.work_clock for each row execute function app.keep_work_clock();

create table app.work_setting (
  tenant_id    uuid not null constraint work_setting_pkey primary key,
  -- A key of the list business-calendars.
  calendar_key text not null constraint work_setting_calendar_ck check (length(calendar_key) between 1 and 100),
  updated_at   timestamptz not null default now(),
  updated_by   text not null,
  revision     bigint not null default 1 constraint work_setting_revision_ck check (revision > 0),
  constraint work_setting_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.work_setting', 'tenant');

-- The outbox: what happened, as ids, written in the transaction of the change. The writer of the audit chain numbers events once no
-- earlier transaction can commit any more, so a reader who asks for what follows a number never misses one.
create table app.event (
  tenant_id      uuid not null,
  event_id       uuid not null,
  seq            bigint constraint event_seq_ck check (seq >= 1),
  txid           bigint not null default (pg_current_xact_id()::text::bigint),
  event_type     text not null constraint event_type_ck check (event_type ~ '^[a-z][a-z_]*\.[a-z][a-z_]*$'),
  object_kind    text not null constraint event_kind_ck check (length(object_kind) between 1 and 40),
  object_id      text not null constraint event_object_ck check (length(object_id) between 1 and 200),
  -- Ids, keys, states and numbers only.
  data           jsonb not null default '{}' constraint event_data_ck check (jsonb_typeof(data) = 'object'),
  occurred_at    timestamptz not null default now(),
  restriction_id uuid,
  constraint event_pkey primary key (tenant_id, event_id),
  constraint event_seq_key unique (tenant_id, seq),
  constraint event_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint event_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.event', 'tenant');
select app.restrict_rows('app.event');
create index event_unnumbered_idx on app.event (tenant_id, txid, event_id) where seq is null;
create index event_age_idx on app.event (tenant_id, occurred_at);

create function app.keep_event() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.seq is not null
     or (new.tenant_id, new.event_id, new.txid, new.event_type, new.object_kind, new.object_id, new.data, new.occurred_at, new.restriction_id)
        is distinct from
        (old.tenant_id, old.event_id, old.txid, old.event_type, old.object_kind, old.object_id, old.data, old.occurred_at, old.restriction_id) then
    raise exception 'an event is numbered once, and never changed' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger event_keep before update on app.event for each row execute function app.keep_event();

-- A rating or override that changes the band in force. By a trigger, because batches rate in bulk and single decisions with their commit;
-- the first rating of a subject, and an override that ends by time, are no change that anybody made.
create function app.emit_rating_change() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  insert into app.event (tenant_id, event_id, event_type, object_kind, object_id)
    values (new.tenant_id, gen_random_uuid(), 'subject.rating_changed', 'subject', new.subject_id);
  return null;
end $$;
create trigger subject_risk_event after update on app.subject_risk for each row
  when ((case when old.override_until > now() then old.override_band else old.rated_band end) is not null
    and (case when old.override_until > now() then old.override_band else old.rated_band end)
        is distinct from (case when new.override_until > now() then new.override_band else new.rated_band end))
  execute function app.emit_rating_change();

-- The number of the newest event, kept when old events are removed.
create table app.event_head (
  tenant_id uuid not null constraint event_head_pkey primary key,
  seq       bigint not null constraint event_head_seq_ck check (seq >= 0),
  constraint event_head_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.event_head', 'tenant');

-- Events are a class of record that the retention policy may name.
alter table app.retention_policy drop constraint retention_policy_classes_ck;
alter table app.retention_policy add constraint retention_policy_classes_ck
  check (not jsonb_path_exists(classes,
    '$[*] ? (!(@.record_class == "jobs" || @.record_class == "import-rejects" || @.record_class == "provider-payloads"
               || @.record_class == "documents" || @.record_class == "events" || @.record_class == "audit")
             || (@.record_class == "audit" && @.keep_days != null))'));
