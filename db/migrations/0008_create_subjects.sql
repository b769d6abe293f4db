-- Persons, companies and other parties: their records with every earlier state, and the ratings they were given. History is
-- written by the database, in the transaction of the change, whatever the code does.

create table app.subject (
  tenant_id       uuid not null,
  subject_id      uuid not null,
  subject_type    text not null constraint subject_type_ck check (subject_type in ('person', 'company', 'other')),
  external_id     text,
  name            text not null,
  segment         text,
  -- What matrices and rules read.
  attributes      jsonb not null default '{}' constraint subject_attributes_ck check (jsonb_typeof(attributes) = 'object'),
  state           text not null default 'active' constraint subject_state_ck check (state in ('active', 'offboarded')),
  offboarded_at   timestamptz,
  offboard_reason text,
  revision        bigint not null default 1,
  created_at      timestamptz not null default now(),
  created_by      text not null,
  updated_at      timestamptz not null default now(),
  updated_by      text not null,
  constraint subject_pkey primary key (tenant_id, subject_id),
  constraint subject_external_id_key unique (tenant_id, external_id),
  constraint subject_offboarded_ck check ((state = 'offboarded') = (offboarded_at is not null)),
  constraint subject_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.subject', 'tenant');
revoke delete on app.subject from app;
-- Listings go by subject_id, which is ordered by time.
create index subject_type_idx on app.subject (tenant_id, subject_type, subject_id);
create index subject_state_idx on app.subject (tenant_id, state, subject_id);
create index subject_segment_idx on app.subject (tenant_id, segment, subject_id);

-- Earlier states. The one that is current stands in app.subject alone.
create table app.subject_version (
  tenant_id       uuid not null,
  subject_id      uuid not null,
  revision        bigint not null,
  subject_type    text not null constraint subject_version_type_ck check (subject_type in ('person', 'company', 'other')),
  external_id     text,
  name            text not null,
  segment         text,
  attributes      jsonb not null constraint subject_version_attributes_ck check (jsonb_typeof(attributes) = 'object'),
  state           text not null constraint subject_version_state_ck check (state in ('active', 'offboarded')),
  offboarded_at   timestamptz,
  offboard_reason text,
  recorded_from   timestamptz not null,
  recorded_until  timestamptz not null,
  changed_by      text not null,
  constraint subject_version_pkey primary key (tenant_id, subject_id, revision),
  constraint subject_version_range_ck check (recorded_from < recorded_until),
  constraint subject_version_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id)
);
select app.wall('app.subject_version', 'append');

-- Numbers and dates every state, and keeps the one it replaces. Times rise with revisions even when transactions that began
-- earlier change the row later.
create function app.keep_subject() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    new.revision := 1;
    new.created_at := clock_timestamp();
    new.created_by := app.actor();
    new.updated_at := new.created_at;
    new.updated_by := new.created_by;
    return new;
  end if;
  if (new.tenant_id, new.subject_id, new.created_at, new.created_by)
     is distinct from (old.tenant_id, old.subject_id, old.created_at, old.created_by) then
    raise exception 'the identity of a subject never changes' using errcode = 'PB002';
  end if;
  if old.state = 'offboarded' then
    raise exception 'the record of an offboarded subject stays as it was' using errcode = 'PB002';
  end if;
  new.revision := old.revision + 1;
  new.updated_at := greatest(clock_timestamp(), old.updated_at + interval '1 microsecond');
  new.updated_by := app.actor();
  insert into app.subject_version (tenant_id, subject_id, revision, subject_type, external_id, name, segment, attributes, state,
    offboarded_at, offboard_reason, recorded_from, recorded_until, changed_by)
  values (old.tenant_id, old.subject_id, old.revision, old.subject_type, old.external_id, old.name, old.segment, old.attributes,
    old.state, old.offboarded_at, old.offboard_reason, old.updated_at, new.updated_at, old.updated_by);
  return new;
end $$;
create trigger subject_keep before insert or update on app.subject for each row execute function app.keep_subject();

-- For tables that only triggers write: at depth 1 it is this one alone, and somebody writes by hand.
create function app.refuse_by_hand() returns trigger
  language plpgsql as $$
begin
  if pg_trigger_depth() < 2 and not app.restoring() then
    raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger subject_version_keep before insert on app.subject_version
  for each row execute function app.refuse_by_hand();

-- Words of names, folded: a search is a range of this key, which an index can answer under row-level security.
create table app.subject_word (
  tenant_id  uuid not null,
  word       text collate "C" not null,
  subject_id uuid not null,
  constraint subject_word_pkey primary key (tenant_id, word, subject_id),
  constraint subject_word_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id)
);
select app.wall('app.subject_word', 'tenant');
create index subject_word_subject_idx on app.subject_word (tenant_id, subject_id, word);

-- What a subject was rated, why and by whom. An override stands before ratings until it expires or is ended.
create table app.rating (
  tenant_id      uuid not null,
  rating_id      uuid not null,
  subject_id     uuid not null,
  family         text not null default 'matrix' constraint rating_family_ck check (family = 'matrix'),
  cause          text not null constraint rating_cause_ck check (cause in ('evaluation', 'batch', 'override', 'override-ended')),
  matrix_key     text,
  matrix_version bigint,
  -- NULL when an override ended and nothing was rated before it.
  band           text,
  score_bps      bigint constraint rating_score_ck check (score_bps >= 0),
  evaluation_id  uuid,
  batch_id       uuid,
  valid_at       timestamptz not null,
  recorded_at    timestamptz not null,
  actor          text not null,
  reason         text,
  expires_at     timestamptz,
  constraint rating_pkey primary key (tenant_id, rating_id),
  constraint rating_matrix_ck check ((cause in ('evaluation', 'batch')) = (matrix_key is not null)
    and (matrix_key is null) = (matrix_version is null) and (matrix_key is null) = (score_bps is null)),
  constraint rating_band_ck check (band is not null or cause = 'override-ended'),
  constraint rating_reason_ck check (reason is not null or cause in ('evaluation', 'batch')),
  constraint rating_override_ck check ((cause = 'override') = (expires_at is not null)),
  constraint rating_expires_ck check (expires_at > recorded_at and expires_at <= recorded_at + interval '9600 hours'),
  -- Clocks of machines differ by seconds; a rating for later does not exist.
  constraint rating_valid_ck check (valid_at <= recorded_at + interval '1 minute'),
  constraint rating_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id)
);
select app.wall('app.rating', 'append');
create index rating_history_idx on app.rating (tenant_id, subject_id, recorded_at, rating_id);
create index rating_latest_idx on app.rating (tenant_id, subject_id, matrix_key, valid_at, recorded_at);

create function app.date_rating() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  new.recorded_at := clock_timestamp();
  new.valid_at := coalesce(new.valid_at, new.recorded_at);
  new.actor := app.actor();
  return new;
end $$;
create trigger rating_date before insert on app.rating for each row execute function app.date_rating();

-- Where each subject stands: the latest rating and the latest override, so that subjects are found by their band. Whether the
-- override is in force is a question of the clock, asked when it is read.
create table app.subject_risk (
  tenant_id         uuid not null,
  subject_id        uuid not null,
  rating_id         uuid,
  rated_band        text,
  rated_valid_at    timestamptz,
  rated_recorded_at timestamptz,
  override_id       uuid,
  override_band     text,
  override_until    timestamptz,
  constraint subject_risk_pkey primary key (tenant_id, subject_id),
  constraint subject_risk_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id)
);
select app.wall('app.subject_risk', 'tenant');
revoke delete on app.subject_risk from app;
create index subject_risk_rated_idx on app.subject_risk (tenant_id, rated_band, subject_id);
create index subject_risk_override_idx on app.subject_risk (tenant_id, override_band, subject_id);
create trigger subject_risk_keep before insert or update on app.subject_risk
  for each row execute function app.refuse_by_hand();

-- Once per statement, in the order of subjects, so that batches that meet do not lock each other out.
create function app.keep_risk() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  insert into app.subject_risk as r (tenant_id, subject_id, rating_id, rated_band, rated_valid_at, rated_recorded_at)
  select distinct on (f.subject_id) f.tenant_id, f.subject_id, f.rating_id, f.band, f.valid_at, f.recorded_at
    from fresh f where f.cause in ('evaluation', 'batch')
   order by f.subject_id, f.valid_at desc, f.recorded_at desc
  on conflict on constraint subject_risk_pkey do update
     set rating_id = excluded.rating_id, rated_band = excluded.rated_band, rated_valid_at = excluded.rated_valid_at,
         rated_recorded_at = excluded.rated_recorded_at
   where r.rated_valid_at is null
      or (r.rated_valid_at, r.rated_recorded_at) <= (excluded.rated_valid_at, excluded.rated_recorded_at);
  insert into app.subject_risk (tenant_id, subject_id, override_id, override_band, override_until)
  select distinct on (f.subject_id) f.tenant_id, f.subject_id, case when f.cause = 'override' then f.rating_id end,
         case when f.cause = 'override' then f.band end, f.expires_at
    from fresh f where f.cause in ('override', 'override-ended')
   order by f.subject_id, f.recorded_at desc
  on conflict on constraint subject_risk_pkey do update
     set override_id = excluded.override_id, override_band = excluded.override_band, override_until = excluded.override_until;
  return null;
end $$;
create trigger rating_keep after insert on app.rating referencing new table as fresh
  for each statement execute function app.keep_risk();

-- One file of subjects, taken in by a job step by step.
create table app.subject_bulk (
  tenant_id   uuid not null,
  bulk_id     uuid not null,
  job_id      uuid not null,
  upload_id   uuid,
  format      text not null constraint subject_bulk_format_ck check (format in ('csv', 'ndjson')),
  options     jsonb not null,
  source      jsonb not null,
  counts      jsonb not null,
  created_at  timestamptz not null default now(),
  created_by  text not null,
  finished_at timestamptz,
  constraint subject_bulk_pkey primary key (tenant_id, bulk_id),
  constraint subject_bulk_job_key unique (tenant_id, job_id),
  constraint subject_bulk_upload_fkey foreign key (tenant_id, upload_id) references app.upload (tenant_id, upload_id)
    on delete set null (upload_id)
);
select app.wall('app.subject_bulk', 'tenant');

create table app.subject_bulk_reject (
  tenant_id uuid not null,
  bulk_id   uuid not null,
  seq       bigint not null,
  code      text not null,
  pointer   text not null,
  location  jsonb not null,
  excerpt   text,
  message   text not null,
  constraint subject_bulk_reject_pkey primary key (tenant_id, bulk_id, seq),
  constraint subject_bulk_reject_bulk_fkey foreign key (tenant_id, bulk_id) references app.subject_bulk (tenant_id, bulk_id)
    on delete cascade
);
select app.wall('app.subject_bulk_reject', 'tenant');

-- External ids the file has used so far, so that a second use is found however large the file is. Gone when the job is done.
create table app.subject_bulk_key (
  tenant_id   uuid not null,
  bulk_id     uuid not null,
  external_id text collate "C" not null,
  first_row   bigint not null,
  constraint subject_bulk_key_pkey primary key (tenant_id, bulk_id, external_id),
  constraint subject_bulk_key_bulk_fkey foreign key (tenant_id, bulk_id) references app.subject_bulk (tenant_id, bulk_id)
    on delete cascade
);
select app.wall('app.subject_bulk_key', 'tenant');
