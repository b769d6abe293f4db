-- The record of what was done. An event is inserted, without any lock, in the transaction of the change it describes; a
-- worker chains events afterwards. Each event carries a code made with a key the database does not have, so that even its
-- superuser can neither alter nor invent one unnoticed.

create table app.audit_event (
  tenant_id   uuid not null,
  event_id    uuid not null,
  -- Orders sealing: everything below the oldest running transaction is final. Not part of the hash, because a restored
  -- database counts its transactions anew.
  txid        bigint not null default (pg_current_xact_id()::text::bigint),
  recorded_at timestamptz not null,
  actor       text not null,
  operation   text not null,
  object_type text not null,
  object_id   text not null,
  request_id  text,
  -- Canonical JSON as text: hashed as it stands.
  detail      text not null constraint audit_event_detail_ck check (detail::json is not null),
  mac         text not null,
  constraint audit_event_pkey primary key (tenant_id, event_id),
  constraint audit_event_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.audit_event', 'ledger');
-- The sealing worker learns which tenants have something new, and nothing else.
grant select (tenant_id, txid) on app.audit_event to worker;
create index audit_event_sealing_idx on app.audit_event (tenant_id, txid, event_id);
create index audit_event_txid_idx on app.audit_event (txid, tenant_id);
create index audit_event_time_idx on app.audit_event (tenant_id, recorded_at, event_id);
create index audit_event_object_idx on app.audit_event (tenant_id, object_type, object_id, recorded_at, event_id);
create index audit_event_actor_idx on app.audit_event (tenant_id, actor, recorded_at, event_id);

create table app.audit_link (
  tenant_id uuid not null,
  seq       bigint not null constraint audit_link_seq_ck check (seq >= 1),
  event_id  uuid not null,
  prev_hash text not null,
  hash      text not null,
  constraint audit_link_pkey primary key (tenant_id, seq),
  constraint audit_link_event_key unique (tenant_id, event_id),
  constraint audit_link_event_fkey foreign key (tenant_id, event_id) references app.audit_event (tenant_id, event_id)
);
select app.wall('app.audit_link', 'append');

-- How far a tenant's chain goes; signed, so that a shortened chain cannot be given a fitting end.
create table app.audit_head (
  tenant_id     uuid not null constraint audit_head_pkey primary key,
  seq           bigint not null,
  hash          text not null,
  last_txid     bigint not null,
  last_event_id uuid not null,
  mac           text not null,
  sealed_at     timestamptz not null default now(),
  constraint audit_head_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.audit_head', 'tenant');

-- Signed chain heads, meant to be kept outside as well: they show truncation whatever happens to this database.
create table app.audit_checkpoint (
  tenant_id  uuid not null,
  seq        bigint not null,
  hash       text not null,
  created_at timestamptz not null,
  key_id     text not null,
  signature  text not null,
  constraint audit_checkpoint_pkey primary key (tenant_id, seq),
  constraint audit_checkpoint_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.audit_checkpoint', 'append');

create table app.audit_run (
  tenant_id  uuid not null,
  run_id     uuid not null,
  kind       text not null constraint audit_run_kind_ck check (kind in ('export', 'verification')),
  job_id     uuid not null,
  parameters jsonb not null,
  report     jsonb,
  upload_id  uuid,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint audit_run_pkey primary key (tenant_id, run_id),
  constraint audit_run_job_key unique (tenant_id, job_id),
  constraint audit_run_upload_fkey foreign key (tenant_id, upload_id) references app.upload (tenant_id, upload_id)
    on delete set null (upload_id)
);
select app.wall('app.audit_run', 'tenant');
