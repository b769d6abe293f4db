-- What a change would have done to past decisions, measured before it is made. A run is bound to the exact content it tried
-- and to what was in force when it began; whoever approves sees whether either has moved since.

create table app.impact_run (
  tenant_id     uuid not null,
  run_id        uuid not null,
  -- The job that works on it, or did.
  job_id        uuid not null,
  family        text not null constraint impact_run_family_ck check (family in ('list', 'matrix', 'rule')),
  -- Key of the list, matrix or rule that would change.
  list_key      text not null,
  -- NULL: a draft.
  version       bigint,
  -- What is switched in: which stored content, or the text itself where it is not stored as a version yet.
  candidate     jsonb not null,
  content_hash  text not null constraint impact_run_content_ck check (content_hash ~ '^[0-9a-f]{64}$'),
  -- The change request it was made for.
  cr_id         uuid,
  -- What was in force; NULL where nothing was.
  receipt_id    uuid,
  manifest_hash text not null constraint impact_run_manifest_ck check (manifest_hash ~ '^[0-9a-f]{64}$'),
  -- Decisions made between these instants are looked at.
  from_at       timestamptz not null,
  until_at      timestamptz not null,
  max_subjects  bigint not null constraint impact_run_max_ck check (max_subjects between 1 and 100000),
  seed          bigint not null constraint impact_run_seed_ck check (seed >= 0),
  result        jsonb,
  created_at    timestamptz not null default now(),
  created_by    text not null,
  finished_at   timestamptz,
  constraint impact_run_pkey primary key (tenant_id, run_id),
  constraint impact_run_job_key unique (tenant_id, job_id),
  constraint impact_run_finished_ck check ((result is null) = (finished_at is null)),
  constraint impact_run_receipt_fkey foreign key (tenant_id, receipt_id)
    references app.resolution_receipt (tenant_id, receipt_id),
  constraint impact_run_request_fkey foreign key (tenant_id, cr_id) references app.change_request (tenant_id, cr_id)
);
select app.wall('app.impact_run', 'tenant');
revoke delete on app.impact_run from app;
create index impact_run_created_idx on app.impact_run (tenant_id, created_at, run_id);
create index impact_run_key_idx on app.impact_run (tenant_id, family, list_key, created_at, run_id);
create index impact_run_request_idx on app.impact_run (tenant_id, cr_id) where cr_id is not null;

-- Approval may rest on it: what was tried never changes, and a result is written once.
create function app.keep_impact_run() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.finished_at is not null or
     (new.tenant_id, new.run_id, new.job_id, new.family, new.list_key, new.version, new.candidate, new.content_hash, new.cr_id,
      new.receipt_id, new.manifest_hash, new.from_at, new.until_at, new.max_subjects, new.seed, new.created_at, new.created_by)
     is distinct from (old.tenant_id, old.run_id, old.job_id, old.family, old.list_key, old.version, old.candidate,
      old.content_hash, old.cr_id, old.receipt_id, old.manifest_hash, old.from_at, old.until_at, old.max_subjects, old.seed,
      old.created_at, old.created_by) then
    raise exception 'an impact run is written once' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger impact_run_keep before update on app.impact_run
  for each row execute function app.keep_impact_run();

-- Whether the policy wanted the impact measured when the change was proposed, and the run that was made for it last.
alter table app.change_request add column require_impact boolean not null default false;
alter table app.change_request add column impact_run_id uuid;

-- The latest decision about a subject may be an item of a batch.
create index batch_item_subject_idx on app.batch_item (tenant_id, subject_id, batch_id, seq)
  where subject_id is not null and state = 'done';
