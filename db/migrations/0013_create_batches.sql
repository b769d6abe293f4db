-- Decisions about many at once, all on one receipt: what was ordered, how far it got, and one row for each item. Where a batch
-- stands is kept here and not with its job, so that any later job goes on from there.

create table app.batch_evaluation (
  tenant_id          uuid not null,
  batch_id           uuid not null,
  -- The job that works on it, or did last.
  job_id             uuid not null,
  family             text not null constraint batch_evaluation_family_ck check (family in ('matrix', 'rule')),
  definition_key     text not null,
  definition_version bigint not null,
  engine             bigint not null constraint batch_evaluation_engine_ck check (engine >= 1),
  receipt_id         uuid not null,
  receipt_hash       text not null,
  -- As asked for; NULL: the instant of the receipt, which the other two say.
  asked_at           timestamptz,
  valid_at           timestamptz not null,
  known_at           timestamptz not null,
  source_kind        text not null constraint batch_evaluation_source_ck check (source_kind in ('upload', 'items', 'filter')),
  source             jsonb not null,
  upload_id          uuid,
  note               text,
  -- 'again': its failed items are being tried once more.
  stage              text not null default 'first' constraint batch_evaluation_stage_ck check (stage in ('first', 'again')),
  after_subject      uuid,
  after_seq          bigint not null default 0,
  total              bigint,
  done               bigint not null default 0 constraint batch_evaluation_done_ck check (done >= 0),
  failed             bigint not null default 0 constraint batch_evaluation_failed_ck check (failed >= 0),
  created_at         timestamptz not null default now(),
  created_by         text not null,
  finished_at        timestamptz,
  constraint batch_evaluation_pkey primary key (tenant_id, batch_id),
  constraint batch_evaluation_job_key unique (tenant_id, job_id),
  constraint batch_evaluation_receipt_fkey foreign key (tenant_id, receipt_id)
    references app.resolution_receipt (tenant_id, receipt_id),
  constraint batch_evaluation_upload_fkey foreign key (tenant_id, upload_id) references app.upload (tenant_id, upload_id)
    on delete set null (upload_id)
);
select app.wall('app.batch_evaluation', 'tenant');
revoke delete on app.batch_evaluation from app;
create index batch_evaluation_created_idx on app.batch_evaluation (tenant_id, created_at, batch_id);

-- What was decided on never changes, and what was counted is not forgotten.
create function app.keep_batch() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.batch_id, new.family, new.definition_key, new.definition_version, new.engine, new.receipt_id,
      new.receipt_hash, new.asked_at, new.valid_at, new.known_at, new.source_kind, new.source, new.created_at, new.created_by)
     is distinct from (old.tenant_id, old.batch_id, old.family, old.definition_key, old.definition_version, old.engine,
      old.receipt_id, old.receipt_hash, old.asked_at, old.valid_at, old.known_at, old.source_kind, old.source, old.created_at,
      old.created_by) then
    raise exception 'the order of a batch never changes' using errcode = 'PB002';
  end if;
  if new.done < old.done or new.done + new.failed < old.done + old.failed then
    raise exception 'items of a batch are not taken back' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger batch_evaluation_keep before update on app.batch_evaluation
  for each row execute function app.keep_batch();

create table app.batch_item (
  tenant_id     uuid not null,
  batch_id      uuid not null,
  seq           bigint not null constraint batch_item_seq_ck check (seq >= 1),
  -- Of the file, where it came from one.
  line          bigint,
  subject_id    uuid,
  external_id   text,
  state         text not null constraint batch_item_state_ck check (state in ('done', 'failed')),
  -- As decided on; of a failed item as they were given; NULL where nothing could be read or kept.
  inputs        jsonb,
  band          text,
  score_bps     bigint,
  hit           boolean,
  reason_codes  jsonb not null,
  document_hash text,
  -- What the same matrix had said before the batch was ordered, and what this decision makes of it.
  previous_band text,
  change        text constraint batch_item_change_ck check (change in ('first', 'same', 'raised', 'lowered', 'moved')),
  failure_code  text,
  findings      jsonb not null,
  constraint batch_item_pkey primary key (tenant_id, batch_id, seq),
  constraint batch_item_outcome_ck check (case state
    when 'done' then inputs is not null and document_hash is not null and failure_code is null
      and (band is null) = (score_bps is null) and (band is null) <> (hit is null)
    else failure_code is not null and document_hash is null and band is null and score_bps is null and hit is null
      and change is null end),
  constraint batch_item_batch_fkey foreign key (tenant_id, batch_id) references app.batch_evaluation (tenant_id, batch_id),
  constraint batch_item_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id)
);
select app.wall('app.batch_item', 'tenant');
revoke delete on app.batch_item from app;
create index batch_item_band_idx on app.batch_item (tenant_id, batch_id, band, seq) where band is not null;
create index batch_item_change_idx on app.batch_item (tenant_id, batch_id, change, seq) where change <> 'same';
create index batch_item_failed_idx on app.batch_item (tenant_id, batch_id, seq) where state = 'failed';

-- A decision stands; only what failed is tried again.
create function app.keep_batch_item() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.state = 'done' or (new.tenant_id, new.batch_id, new.seq) is distinct from (old.tenant_id, old.batch_id, old.seq) then
    raise exception 'a decided item of a batch never changes' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger batch_item_keep before update on app.batch_item
  for each row execute function app.keep_batch_item();
