-- Decisions, kept for ever. Each is one canonical document, hashed as it stands; the columns beside it are for finding it.
-- `mac` is a code over all columns that only the service can make: whoever edits a row behind its back is found out.

create table app.evaluation (
  tenant_id          uuid not null,
  evaluation_id      uuid not null,
  family             text not null constraint evaluation_family_ck check (family in ('matrix', 'rule')),
  definition_key     text not null,
  definition_version bigint not null,
  subject_id         uuid,
  valid_at           timestamptz not null,
  receipt_id         uuid not null,
  receipt_hash       text not null constraint evaluation_receipt_hash_ck check (receipt_hash ~ '^[0-9a-f]{64}$'),
  engine             bigint not null constraint evaluation_engine_ck check (engine >= 1),
  band               text,
  score_bps          bigint,
  hit                boolean,
  reason_codes       text[] not null,
  required_actions   text[] not null,
  document           text not null constraint evaluation_document_ck check (document::json is not null),
  document_hash      text not null constraint evaluation_hash_ck check (document_hash ~ '^[0-9a-f]{64}$'),
  decided_at         timestamptz not null,
  created_by         text not null,
  mac                text not null,
  constraint evaluation_pkey primary key (tenant_id, evaluation_id),
  -- A matrix gives a band and a score, a rule says hit or no hit.
  constraint evaluation_outcome_ck check (case family
    when 'matrix' then band is not null and score_bps between 0 and 10000 and hit is null
    else hit is not null and band is null and score_bps is null end),
  constraint evaluation_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint evaluation_receipt_fkey foreign key (tenant_id, receipt_id)
    references app.resolution_receipt (tenant_id, receipt_id)
);
select app.wall('app.evaluation', 'append');
create index evaluation_decided_idx on app.evaluation (tenant_id, decided_at, evaluation_id);
create index evaluation_subject_idx on app.evaluation (tenant_id, subject_id, decided_at, evaluation_id)
  where subject_id is not null;
create index evaluation_definition_idx on app.evaluation (tenant_id, definition_key, decided_at, evaluation_id);
create index evaluation_band_idx on app.evaluation (tenant_id, band, decided_at, evaluation_id) where band is not null;
