-- Reports: a stored snapshot, what it was made with, and the files made from it. See docs/adr/0075-make-reports-from-snapshots.md.

create table app.report (
  tenant_id        uuid not null,
  report_id        uuid not null,
  restriction_id   uuid,
  -- Its key encrypts the content; without a subject the report has a key of its own.
  subject_id       uuid,
  template_key     text not null constraint report_template_ck check (template_key ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  template_version bigint not null constraint report_template_version_ck check (template_version > 0),
  -- Ids, keys and dates; never free text.
  parameters       jsonb not null constraint report_parameters_ck check (jsonb_typeof(parameters) = 'object'),
  formats          text[] not null constraint report_formats_ck
                     check (cardinality(formats) between 1 and 4 and formats <@ array['json', 'html', 'csv', 'pdf']),
  -- Roles that may read it.
  readers          text[] not null constraint report_readers_ck check (cardinality(readers) > 0),
  locale           text not null constraint report_locale_ck check (length(locale) between 2 and 35),
  time_zone        text not null constraint report_time_zone_ck check (length(time_zone) between 1 and 100),
  schedule_id      uuid,
  job_id           uuid not null,
  state            text not null constraint report_state_ck
                     check (state in ('collecting', 'rendering', 'ready', 'failed', 'deleted', 'erased')),
  failure          text constraint report_failure_ck check (length(failure) between 1 and 2000),
  manifest         jsonb constraint report_manifest_ck check (jsonb_typeof(manifest) = 'object'),
  -- Of the plain snapshot, which holds a random salt: nobody finds the content by trying.
  snapshot_sha256  text constraint report_snapshot_ck check (snapshot_sha256 ~ '^[0-9a-f]{64}$'),
  -- How many rows of report_source it has.
  source_count     bigint not null default 0 constraint report_source_count_ck check (source_count >= 0),
  ready_at         timestamptz,
  verified_at      timestamptz,
  is_identical     boolean,
  ended_at         timestamptz,
  ended_by         text,
  end_reason       text constraint report_end_reason_ck check (length(end_reason) between 1 and 2000),
  revision         bigint not null default 1 constraint report_revision_ck check (revision > 0),
  created_at       timestamptz not null default now(),
  created_by       text not null,
  updated_at       timestamptz not null default now(),
  updated_by       text not null,
  constraint report_pkey primary key (tenant_id, report_id),
  constraint report_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint report_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint report_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint report_snapshot_manifest_ck check ((manifest is null) = (snapshot_sha256 is null)),
  constraint report_collected_ck check (case when state = 'collecting' then manifest is null
                                             when state in ('rendering', 'ready') then manifest is not null else true end),
  constraint report_failed_ck check (state <> 'failed' or failure is not null),
  constraint report_verified_ck check ((verified_at is null) = (is_identical is null)),
  constraint report_ended_ck check ((state in ('deleted', 'erased')) = (ended_at is not null) and (ended_at is null) = (ended_by is null)
                                    and (ended_at is null) = (end_reason is null))
);
select app.wall('app.report', 'tenant');
select app.restrict_rows('app.report');
revoke delete on app.report from app;
create index report_listing_idx on app.report (tenant_id, created_at, report_id);
create index report_subject_idx on app.report (tenant_id, subject_id, created_at, report_id) where subject_id is not null;

create function app.keep_report() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.report_id, new.restriction_id, new.subject_id, new.template_key, new.template_version, new.parameters, new.formats,
      new.readers, new.locale, new.time_zone, new.schedule_id, new.created_at, new.created_by)
     is distinct from
     (old.tenant_id, old.report_id, old.restriction_id, old.subject_id, old.template_key, old.template_version, old.parameters, old.formats,
      old.readers, old.locale, old.time_zone, old.schedule_id, old.created_at, old.created_by) then
    raise exception 'what a report was made of never changes' using errcode = 'PB002';
  end if;
  if old.manifest is not null
     and (new.manifest, new.snapshot_sha256, new.source_count) is distinct from (old.manifest, old.snapshot_sha256, old.source_count) then
    raise exception 'the snapshot of a report never changes' using errcode = 'PB002';
  end if;
  if old.manifest is null and new.manifest is not null and new.source_count <> (
       select count(*) from app.report_source s where s.tenant_id = new.tenant_id and s.report_id = new.report_id) then
    raise exception 'the sources of a report are not those that were counted' using errcode = 'PB002';
  end if;
  if old.state in ('deleted', 'erased') then
    raise exception 'the record of a report that is gone stays as it was' using errcode = 'PB002';
  end if;
  if new.state <> old.state
     and (old.state, new.state) not in (('collecting', 'rendering'), ('rendering', 'ready'), ('collecting', 'failed'), ('rendering', 'failed'),
                                        ('failed', 'collecting'), ('failed', 'rendering'), ('failed', 'deleted'), ('ready', 'deleted'),
                                        ('collecting', 'deleted'), ('rendering', 'deleted'), ('collecting', 'erased'),
                                        ('rendering', 'erased'), ('ready', 'erased'), ('failed', 'erased')) then
    raise exception 'a report does not go from % to %', old.state, new.state using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger report_keep before update on app.report
  for each row when (app.erasing() is null or old.state <> 'deleted') execute function app.keep_report();
-- Why a report was deleted may name the person.
create trigger report_erase before update on app.report
  for each row when (app.erasing() is not null and old.state = 'deleted') execute function app.erase_only('end_reason');
create trigger report_refuse before insert on app.report for each row execute function app.refuse_erased_rating();

-- Restrictions of what the report was made from. Whoever cannot see one of these rows counts fewer than source_count, and does not see the report.
create table app.report_source (
  tenant_id      uuid not null,
  report_id      uuid not null,
  restriction_id uuid not null,
  constraint report_source_pkey primary key (tenant_id, report_id, restriction_id),
  constraint report_source_report_fkey foreign key (tenant_id, report_id) references app.report (tenant_id, report_id),
  constraint report_source_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.report_source', 'append');
select app.restrict_rows('app.report_source');

-- The hash of each file that was made. Stays when the content is gone.
create table app.report_format (
  tenant_id      uuid not null,
  report_id      uuid not null,
  format         text not null constraint report_format_format_ck check (format in ('json', 'html', 'csv', 'pdf')),
  restriction_id uuid,
  -- Every file holds the salt of the snapshot.
  sha256         text not null constraint report_format_sha256_ck check (sha256 ~ '^[0-9a-f]{64}$'),
  size_bytes     bigint not null constraint report_format_size_ck check (size_bytes > 0),
  made_at        timestamptz not null default now(),
  constraint report_format_pkey primary key (tenant_id, report_id, format),
  constraint report_format_report_fkey foreign key (tenant_id, report_id) references app.report (tenant_id, report_id),
  constraint report_format_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.report_format', 'append');
select app.restrict_rows('app.report_format');
create trigger report_format_restriction before insert on app.report_format
  for each row execute function app.inherit_restriction('report', 'report_id');

-- Snapshot and files, compressed and encrypted.
create table app.report_part (
  tenant_id      uuid not null,
  report_id      uuid not null,
  part           text not null constraint report_part_part_ck check (part in ('snapshot', 'json', 'html', 'csv', 'pdf')),
  restriction_id uuid,
  content        bytea not null,
  constraint report_part_pkey primary key (tenant_id, report_id, part),
  constraint report_part_report_fkey foreign key (tenant_id, report_id) references app.report (tenant_id, report_id),
  constraint report_part_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
-- Encrypted bytes do not compress.
alter table app.report_part alter column content set storage external;
select app.wall('app.report_part', 'tenant');
select app.restrict_rows('app.report_part');
revoke update on app.report_part from app;
create trigger report_part_restriction before insert on app.report_part
  for each row execute function app.inherit_restriction('report', 'report_id');

-- Content is added while the report is made, and removed with its end.
create function app.keep_report_part() returns trigger
  language plpgsql as $$
declare
  holder app.report;
begin
  if app.restoring() then return coalesce(new, old); end if;
  if tg_op = 'UPDATE' then
    raise exception 'the content of a report never changes' using errcode = 'PB002';
  end if;
  select r.* into holder from app.report r
   where r.tenant_id = coalesce(new.tenant_id, old.tenant_id) and r.report_id = coalesce(new.report_id, old.report_id);
  if tg_op = 'INSERT' and (holder.state is null or holder.state not in ('collecting', 'rendering'))
     or tg_op = 'DELETE' and (holder.state is null or holder.state not in ('deleted', 'erased')) then
    raise exception 'the content of a report never changes' using errcode = 'PB002';
  end if;
  return coalesce(new, old);
end $$;
create trigger report_part_keep before insert or update or delete on app.report_part
  for each row execute function app.keep_report_part();

create trigger report_part_hold before delete on app.report_part
  for each row execute function app.refuse_held_delete('report_id', 'report.report_id.subject_id');
create trigger report_hold before update on app.report
  for each row when (new.state in ('deleted', 'erased') and old.state not in ('deleted', 'erased'))
  execute function app.refuse_held_delete('report_id', 'subject_id');

-- A hold on a report of the subject would stop an erasure half way.
create function app.refuse_hold_of_erased_report() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (
       select 1 from app.erasure e join app.report r on r.tenant_id = e.tenant_id and r.subject_id = e.subject_id
        where e.tenant_id = new.tenant_id and e.state = 'executing' and r.report_id = new.object_id) then
    raise exception 'the subject is being erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
create trigger hold_report_erased before insert on app.hold for each row execute function app.refuse_hold_of_erased_report();

-- Reports that are made again and again. A row of the queue (app.job_schedule, same id) wakes a worker.
create table app.report_schedule (
  tenant_id      uuid not null,
  schedule_id    uuid not null,
  name           text not null constraint report_schedule_title_ck check (length(name) between 1 and 100),
  template_key   text not null constraint report_schedule_template_ck check (template_key ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  parameters     jsonb not null constraint report_schedule_parameters_ck check (jsonb_typeof(parameters) = 'object'),
  formats        text[] not null constraint report_schedule_formats_ck
                   check (cardinality(formats) between 1 and 4 and formats <@ array['json', 'html', 'csv', 'pdf']),
  locale         text not null constraint report_schedule_locale_ck check (length(locale) between 2 and 35),
  -- Minute, hour, day of month, month, day of week, read on the clocks of the time zone.
  cron           text not null constraint report_schedule_cron_ck check (length(cron) between 1 and 200),
  time_zone      text not null constraint report_schedule_time_zone_ck check (length(time_zone) between 1 and 100),
  paused         boolean not null,
  next_run_at    timestamptz,
  last_run_at    timestamptz,
  last_report_id uuid,
  -- Why the last due time made no report.
  last_skipped   text constraint report_schedule_skipped_ck check (length(last_skipped) between 1 and 2000),
  revision       bigint not null default 1 constraint report_schedule_revision_ck check (revision > 0),
  created_at     timestamptz not null default now(),
  created_by     text not null,
  updated_at     timestamptz not null default now(),
  updated_by     text not null,
  constraint report_schedule_pkey primary key (tenant_id, schedule_id),
  constraint report_schedule_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint report_schedule_name_key unique (tenant_id, name),
  constraint report_schedule_paused_ck check (paused = (next_run_at is null)),
  constraint report_schedule_report_fkey foreign key (tenant_id, last_report_id) references app.report (tenant_id, report_id)
);
select app.wall('app.report_schedule', 'tenant');
create index report_schedule_created_idx on app.report_schedule (tenant_id, created_at, schedule_id);

-- Reports are a class of record that the retention policy may name: until its period has passed they cannot be deleted.
alter table app.retention_policy drop constraint retention_policy_classes_ck;
alter table app.retention_policy add constraint retention_policy_classes_ck
  check (not jsonb_path_exists(classes,
    '$[*] ? (!(@.record_class == "jobs" || @.record_class == "import-rejects" || @.record_class == "provider-payloads"
               || @.record_class == "documents" || @.record_class == "reports" || @.record_class == "events" || @.record_class == "audit")
             || (@.record_class == "audit" && @.keep_days != null))'));
