-- Running processes, so that rate limits hold in sum over all of them and one scan for unchained events is made at a time. A process
-- renews its row every few seconds, in the scope of the system tenant; a row that is no longer renewed counts for nothing.
create table app.process (
  tenant_id       uuid not null,
  process_id      uuid not null,
  serves_requests boolean not null,
  runs_jobs       boolean not null,
  started_at      timestamptz not null default now(),
  seen_at         timestamptz not null default now(),
  constraint process_pkey primary key (tenant_id, process_id)
);
select app.wall('app.process', 'tenant');

-- A migration that runs outside a transaction is noted before it begins, so that one that was interrupted can be told from one that
-- never ran. Written by the migrator alone.
create table app.migration_run (
  version     text not null constraint migration_run_pkey primary key,
  checksum    text not null,
  attempts    integer not null default 1 constraint migration_run_attempts_ck check (attempts >= 1),
  started_at  timestamptz not null default now(),
  finished_at timestamptz
);
select app.wall('app.migration_run', 'system');
