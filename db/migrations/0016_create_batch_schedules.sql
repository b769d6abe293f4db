-- Batches that are ordered again and again, at times of a calendar. A schedule says what is ordered and when; each due time leaves
-- one run behind, whether it started a batch or was skipped. Beside each schedule stands one of the queue's own (app.job_schedule,
-- same id), which wakes a worker when it is due: what is due is said here, and only here.

create table app.batch_schedule (
  tenant_id      uuid not null,
  schedule_id    uuid not null,
  name           text not null,
  family         text not null constraint batch_schedule_family_ck check (family in ('matrix', 'rule')),
  definition_key text not null,
  filter         jsonb not null constraint batch_schedule_filter_ck check (jsonb_typeof(filter) = 'object'),
  note           text,
  -- Minute, hour, day of month, month, day of week, read on the clocks of the time zone.
  cron           text not null,
  time_zone      text not null,
  paused         boolean not null,
  next_run_at    timestamptz,
  -- The batch it started last.
  last_batch_id  uuid,
  revision       bigint not null default 1,
  created_at     timestamptz not null default now(),
  created_by     text not null,
  updated_at     timestamptz not null default now(),
  updated_by     text not null,
  constraint batch_schedule_pkey primary key (tenant_id, schedule_id),
  constraint batch_schedule_name_key unique (tenant_id, name),
  constraint batch_schedule_paused_ck check (paused = (next_run_at is null)),
  constraint batch_schedule_batch_fkey foreign key (tenant_id, last_batch_id)
    references app.batch_evaluation (tenant_id, batch_id)
);
select app.wall('app.batch_schedule', 'tenant');
create index batch_schedule_created_idx on app.batch_schedule (tenant_id, created_at, schedule_id);

create table app.batch_schedule_run (
  tenant_id   uuid not null,
  schedule_id uuid not null,
  run_id      uuid not null,
  -- NULL: somebody asked for it.
  due_at      timestamptz,
  batch_id    uuid,
  -- Why there is no batch.
  skipped     text,
  detail      text,
  recorded_at timestamptz not null default now(),
  recorded_by text not null,
  constraint batch_schedule_run_pkey primary key (tenant_id, schedule_id, run_id),
  -- However many workers look, and however often one of them dies.
  constraint batch_schedule_run_due_key unique (tenant_id, schedule_id, due_at),
  constraint batch_schedule_run_outcome_ck check ((batch_id is null) = (skipped is not null) and (skipped is null) = (detail is null)),
  constraint batch_schedule_run_schedule_fkey foreign key (tenant_id, schedule_id)
    references app.batch_schedule (tenant_id, schedule_id) on delete cascade,
  constraint batch_schedule_run_batch_fkey foreign key (tenant_id, batch_id)
    references app.batch_evaluation (tenant_id, batch_id)
);
select app.wall('app.batch_schedule_run', 'tenant');
revoke update on app.batch_schedule_run from app;
create index batch_schedule_run_recorded_idx on app.batch_schedule_run (tenant_id, schedule_id, recorded_at, run_id);

-- How a rule performs is answered from these alone: decisions of a rule by time, batches of a definition by time, and the items
-- that were hits, which are few. Building them reads the tables once and holds writes up for that long.
create index evaluation_rule_idx on app.evaluation (tenant_id, definition_key, decided_at, definition_version, hit, subject_id)
  where hit is not null;
create index batch_evaluation_definition_idx on app.batch_evaluation (tenant_id, definition_key, known_at, batch_id);
create index batch_item_hit_idx on app.batch_item (tenant_id, batch_id, subject_id) where hit;
