-- Servers of other parties that offer tools (Model Context Protocol), the tools that they offer, and the definitions that were approved. A
-- tool is used only while what the server offers is what was pinned.

create table app.tool_server (
  tenant_id        uuid not null,
  server_key       text not null constraint tool_server_key_ck check (server_key ~ '^[a-z0-9][a-z0-9_-]{0,95}$'),
  title            text not null,
  description      text,
  url              text not null,
  -- How it authenticates the tenant, and the members of the credential; values are kept as credentials are.
  auth             jsonb not null constraint tool_server_auth_ck check (jsonb_typeof(auth) = 'object'),
  credential       jsonb constraint tool_server_credential_ck check (jsonb_typeof(credential) = 'object'),
  -- What the server says of itself; data.
  protocol_version text,
  server_name      text,
  server_version   text,
  -- The last time that its tools were listed, and until when that list holds.
  checked_at       timestamptz,
  fresh_until      timestamptz,
  due_at           timestamptz,
  -- Since when, and why, its tools cannot be listed: a fixed word. Null: the last check succeeded.
  failing_since    timestamptz,
  last_fault       text,
  -- Tools that were listed and can never be used, with the reason.
  refused          jsonb not null default '[]' constraint tool_server_refused_ck check (jsonb_typeof(refused) = 'array'),
  revision         bigint not null default 1,
  created_at       timestamptz not null default now(),
  created_by       text not null,
  updated_at       timestamptz not null default now(),
  updated_by       text not null,
  constraint tool_server_pkey primary key (tenant_id, server_key),
  constraint tool_server_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint tool_server_checked_ck check ((checked_at is null) = (fresh_until is null) and (checked_at is null) = (due_at is null)),
  constraint tool_server_failing_ck check ((failing_since is null) = (last_fault is null))
);
select app.wall('app.tool_server', 'tenant');
create index tool_server_listing_idx on app.tool_server (tenant_id, created_at, server_key);

create table app.tool_server_tool (
  tenant_id         uuid not null,
  server_key        text not null,
  tool_name         text not null constraint tool_server_tool_name_ck check (tool_name ~ '^[A-Za-z0-9_.-]{1,128}$'),
  -- Null: the server no longer lists it.
  offered           jsonb,
  offered_hash      text constraint tool_server_tool_offered_ck check (offered_hash ~ '^[0-9a-f]{64}$'),
  pinned            jsonb,
  pinned_hash       text constraint tool_server_tool_pinned_ck check (pinned_hash ~ '^[0-9a-f]{64}$'),
  pin_no            bigint,
  pinned_at         timestamptz,
  pinned_by         text,
  -- Why it is not used until it is pinned again, even where the server returns to what was pinned.
  quarantine_reason text constraint tool_server_tool_quarantine_ck check (quarantine_reason in ('changed', 'vanished')),
  quarantined_at    timestamptz,
  first_seen_at     timestamptz not null default now(),
  last_seen_at      timestamptz not null default now(),
  constraint tool_server_tool_pkey primary key (tenant_id, server_key, tool_name),
  constraint tool_server_tool_server_fkey foreign key (tenant_id, server_key) references app.tool_server (tenant_id, server_key)
    on delete cascade,
  constraint tool_server_tool_offer_ck check ((offered is null) = (offered_hash is null)),
  constraint tool_server_tool_pin_ck check ((pinned is null) = (pinned_hash is null) and (pinned is null) = (pin_no is null)
    and (pinned is null) = (pinned_at is null) and (pinned is null) = (pinned_by is null)),
  constraint tool_server_tool_use_ck check (offered is not null or pinned is not null),
  constraint tool_server_tool_quarantined_ck check ((quarantine_reason is null) = (quarantined_at is null)
    and (quarantined_at is null or pinned is not null)),
  -- A tool that differs from its pin is in quarantine, whatever the program does.
  constraint tool_server_tool_differs_ck check (pinned_hash is null or offered_hash is not distinct from pinned_hash or quarantined_at is not null)
);
select app.wall('app.tool_server_tool', 'tenant');

-- Every definition that was ever pinned: what the calls of that time relied on. Stays when the server is removed.
create table app.tool_pin (
  tenant_id       uuid not null,
  server_key      text not null,
  tool_name       text not null,
  pin_no          bigint not null constraint tool_pin_no_ck check (pin_no >= 1),
  definition      jsonb not null,
  definition_hash text not null constraint tool_pin_hash_ck check (definition_hash ~ '^[0-9a-f]{64}$'),
  url             text not null,
  reason          text not null,
  pinned_at       timestamptz not null default now(),
  pinned_by       text not null,
  constraint tool_pin_pkey primary key (tenant_id, server_key, tool_name, pin_no),
  constraint tool_pin_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.tool_pin', 'append');

-- Which program or tool made the payload of an answer: a plugin with its version and hashes, or a tool with its pin.
alter table app.provider_answer add column made_by jsonb constraint provider_answer_made_by_ck check (jsonb_typeof(made_by) = 'object');

-- Listing the tools of a server opens its credential too.
alter table app.credential_access drop constraint credential_access_purpose_ck;
alter table app.credential_access add constraint credential_access_purpose_ck check (purpose in ('call', 'token', 'verify', 'list_tools'));
