-- What the kernel keeps about requests: answers to repeat, bytes to use later, changes that wait for a second person.

create table app.idempotency (
  tenant_id   uuid not null,
  principal   text not null,
  operation   text not null,
  key         text not null,
  fingerprint text not null,
  status      bigint not null,
  headers     jsonb not null default '{}',
  -- NULL where the answer held a secret: such an answer is not kept and cannot be repeated.
  body        text,
  created_at  timestamptz not null default now(),
  expires_at  timestamptz not null,
  constraint idempotency_pkey primary key (tenant_id, principal, operation, key)
);
select app.wall('app.idempotency', 'tenant');
create index idempotency_expires_idx on app.idempotency (tenant_id, expires_at);

create table app.upload (
  tenant_id  uuid not null,
  upload_id  uuid not null,
  state      text not null constraint upload_state_ck check (state in ('receiving', 'stored')),
  file_name  text,
  media_type text not null,
  size_bytes bigint not null default 0,
  sha256     text,
  chunks     bigint not null default 0,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz not null,
  used_at    timestamptz,
  constraint upload_pkey primary key (tenant_id, upload_id),
  constraint upload_stored_ck check (state <> 'stored' or sha256 is not null)
);
select app.wall('app.upload', 'tenant');
create index upload_expires_idx on app.upload (tenant_id, expires_at);

-- 1 MiB a row, so that any worker on any machine can read the bytes and memory stays flat.
create table app.upload_chunk (
  tenant_id uuid not null,
  upload_id uuid not null,
  seq       bigint not null,
  bytes     bytea not null constraint upload_chunk_bytes_ck check (octet_length(bytes) between 1 and 1048576),
  constraint upload_chunk_pkey primary key (tenant_id, upload_id, seq),
  constraint upload_chunk_upload_fkey foreign key (tenant_id, upload_id)
    references app.upload (tenant_id, upload_id) on delete cascade
);
select app.wall('app.upload_chunk', 'tenant');
-- Compressed or encrypted bytes gain nothing from TOAST compression.
alter table app.upload_chunk alter column bytes set storage external;

create table app.change_request (
  tenant_id     uuid not null,
  cr_id         uuid not null,
  action        text not null,
  operation     text not null,
  params        jsonb not null,
  body          jsonb,
  content_hash  text not null,
  head          text,
  state         text not null default 'open'
                constraint change_request_state_ck check (state in ('open', 'approved', 'rejected', 'withdrawn', 'void')),
  required_role text not null,
  approvers     bigint not null constraint change_request_approvers_ck check (approvers between 1 and 5),
  created_at    timestamptz not null default now(),
  created_by    text not null,
  decided_at    timestamptz,
  decided_by    text,
  decision_note text,
  revision      bigint not null default 1,
  constraint change_request_pkey primary key (tenant_id, cr_id),
  constraint change_request_author_key unique (tenant_id, cr_id, created_by),
  constraint change_request_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.change_request', 'tenant');
create index change_request_created_idx on app.change_request (tenant_id, created_at, cr_id);

-- Four eyes, kept by the database: the author is carried along by the foreign key and may not be the approver, and only
-- people approve.
create table app.change_approval (
  tenant_id   uuid not null,
  cr_id       uuid not null,
  created_by  text not null,
  approved_by text not null,
  approved_at timestamptz not null default now(),
  note        text,
  constraint change_approval_pkey primary key (tenant_id, cr_id, approved_by),
  constraint change_approval_request_fkey foreign key (tenant_id, cr_id, created_by)
    references app.change_request (tenant_id, cr_id, created_by),
  constraint change_approval_four_eyes_ck check (approved_by <> created_by),
  constraint change_approval_person_ck check (approved_by like 'user:%')
);
select app.wall('app.change_approval', 'append');
