-- The queue. A row is what the client polls and what a worker claims: one source of truth. The worker role moves leases
-- and never sees a payload; the body of a job runs as app inside its tenant.

create table app.job (
  tenant_id           uuid not null,
  job_id              uuid not null,
  kind                text not null,
  state               text not null default 'queued'
                      constraint job_state_ck check (state in ('queued', 'running', 'succeeded', 'failed', 'cancelled')),
  payload             jsonb not null,
  checkpoint          jsonb,
  resource            text,
  result              jsonb,
  problem             jsonb,
  -- NULL: every role of the tenant may see it. Otherwise only these, so that a job cannot betray a restricted resource.
  visible_to          text[],
  progress_done       bigint not null default 0,
  progress_total      bigint,
  progress_unit       text,
  attempts            bigint not null default 0,
  max_attempts        bigint not null default 5,
  run_at              timestamptz not null default now(),
  -- The fence: every write of a job body is conditional on the token it was claimed with.
  lease_token         uuid,
  lease_until         timestamptz,
  worker              text,
  cancel_requested_at timestamptz,
  revision            bigint not null default 1,
  created_at          timestamptz not null default now(),
  created_by          text not null,
  started_at          timestamptz,
  finished_at         timestamptz,
  constraint job_pkey primary key (tenant_id, job_id),
  constraint job_lease_ck check ((state = 'running') = (lease_token is not null)),
  constraint job_finished_ck check ((state in ('succeeded', 'failed', 'cancelled')) = (finished_at is not null)),
  constraint job_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.job', 'queue');
grant select (tenant_id, job_id, kind, state, run_at, attempts, max_attempts, lease_token, lease_until, worker,
              cancel_requested_at, created_at, started_at, revision) on app.job to worker;
grant update (state, run_at, attempts, lease_token, lease_until, worker, started_at, finished_at, problem, revision)
  on app.job to worker;

-- A claim is two probes of this index: the next tenant in turn, then its oldest due job.
create index job_due_idx on app.job (tenant_id, run_at, job_id) where state = 'queued';
-- Apart from the one above, so that a claim cannot be planned as a sort of everything that is unfinished.
create index job_running_idx on app.job (tenant_id) where state = 'running';
create index job_lease_idx on app.job (lease_until) where state = 'running';
create index job_finished_idx on app.job (tenant_id, finished_at) where finished_at is not null;
create index job_listing_idx on app.job (tenant_id, created_at, job_id);

create table app.job_schedule (
  tenant_id   uuid not null,
  schedule_id uuid not null,
  name        text not null,
  kind        text not null,
  payload     jsonb not null,
  every_s     bigint not null constraint job_schedule_every_ck check (every_s between 1 and 31622400),
  enabled     boolean not null default true,
  next_run_at timestamptz not null,
  last_job_id uuid,
  created_at  timestamptz not null default now(),
  constraint job_schedule_pkey primary key (tenant_id, schedule_id),
  constraint job_schedule_name_key unique (tenant_id, name),
  constraint job_schedule_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.job_schedule', 'queue');
grant select (tenant_id, schedule_id, kind, enabled, next_run_at) on app.job_schedule to worker;
create index job_schedule_due_idx on app.job_schedule (next_run_at) where enabled;
