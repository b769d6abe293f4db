-- The tool protocol: a limit of its own, what a tenant's policy says of each tool, every call, and calls that wait for a person.

alter table app.tenant_limit drop constraint tenant_limit_bucket_ck;
alter table app.tenant_limit add constraint tenant_limit_bucket_ck
  check (bucket in ('principal', 'tenant', 'in_flight', 'heavy', 'mcp'));

-- A tenant without a row allows every tool to the roles of its operation.
create table app.mcp_tool_policy (
  tenant_id  uuid not null constraint mcp_tool_policy_pkey primary key,
  rules      jsonb not null default '[]' constraint mcp_tool_policy_rules_ck check (jsonb_typeof(rules) = 'array'),
  revision   bigint not null default 1 constraint mcp_tool_policy_revision_ck check (revision > 0),
  updated_at timestamptz not null default now(),
  updated_by text not null,
  constraint mcp_tool_policy_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.mcp_tool_policy', 'tenant');
revoke delete on app.mcp_tool_policy from app;
-- Every process learns of a change as it learns of revoked tokens.
create trigger mcp_tool_policy_epoch after insert or update or delete on app.mcp_tool_policy
  for each row execute function app.bump_access_epoch();

-- Calls that wait for a person. Approving runs exactly the stored arguments, once.
create table app.mcp_approval (
  tenant_id      uuid not null,
  approval_id    uuid not null,
  tool           text not null,
  operation      text not null,
  arguments      jsonb not null constraint mcp_approval_arguments_ck check (jsonb_typeof(arguments) = 'object'),
  arguments_hash text not null constraint mcp_approval_arguments_hash_ck check (arguments_hash ~ '^[0-9a-f]{32}$'),
  client         text,
  requested_at   timestamptz not null default now(),
  requested_by   text not null,
  requested_roles text[] not null,
  expires_at     timestamptz not null,
  state          text not null default 'waiting'
    constraint mcp_approval_state_ck check (state in ('waiting', 'approved', 'denied', 'succeeded', 'failed')),
  decided_at     timestamptz,
  decided_by     text,
  note           text,
  -- What the operation answered: its reply, or the problem.
  outcome        jsonb,
  collected_at   timestamptz,
  constraint mcp_approval_pkey primary key (tenant_id, approval_id),
  constraint mcp_approval_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint mcp_approval_expiry_ck check (expires_at > requested_at),
  constraint mcp_approval_decided_ck check ((state = 'waiting') = (decided_by is null) and (decided_by is null) = (decided_at is null)),
  constraint mcp_approval_outcome_ck check ((state in ('succeeded', 'failed')) = (outcome is not null)),
  constraint mcp_approval_four_eyes_ck check (decided_by <> requested_by and decided_by like 'user:%')
);
select app.wall('app.mcp_approval', 'tenant');
revoke delete on app.mcp_approval from app;
create index mcp_approval_listing_idx on app.mcp_approval (tenant_id, requested_at, approval_id);
create index mcp_approval_arguments_idx on app.mcp_approval (tenant_id, requested_by, tool, arguments_hash, requested_at);

create function app.keep_mcp_approval() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tool, new.operation, new.arguments, new.arguments_hash, new.requested_by, new.requested_roles, new.requested_at, new.expires_at)
     is distinct from
     (old.tool, old.operation, old.arguments, old.arguments_hash, old.requested_by, old.requested_roles, old.requested_at, old.expires_at) then
    raise exception 'what waits for a person never changes' using errcode = 'PB002';
  end if;
  if not ((old.state = 'waiting' and new.state in ('approved', 'denied')) or (old.state = 'approved' and new.state in ('succeeded', 'failed'))
          or (old.state = new.state and old.collected_at is null)) then
    raise exception 'a tool call is decided once and runs once' using errcode = 'PB002';
  end if;
  if old.state = 'waiting' and new.state = 'approved' and now() > new.expires_at then
    raise exception 'a tool call that has expired is not approved' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger mcp_approval_keep before update on app.mcp_approval for each row execute function app.keep_mcp_approval();

-- The id is that of the audit event of the same call, written in the same transaction.
create table app.mcp_call (
  tenant_id      uuid not null,
  call_id        uuid not null,
  called_at      timestamptz not null default now(),
  principal      text not null,
  client         text,
  tool           text not null,
  -- Null: there is no such tool.
  operation      text,
  arguments_hash text not null constraint mcp_call_arguments_hash_ck check (arguments_hash ~ '^[0-9a-f]{32}$'),
  result_hash    text constraint mcp_call_result_hash_ck check (result_hash ~ '^[0-9a-f]{32}$'),
  -- Null: it succeeded.
  problem        text,
  approval_id    uuid,
  request_id     uuid not null,
  duration_ms    bigint not null constraint mcp_call_duration_ck check (duration_ms >= 0),
  constraint mcp_call_pkey primary key (tenant_id, call_id),
  constraint mcp_call_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint mcp_call_approval_fkey foreign key (tenant_id, approval_id) references app.mcp_approval (tenant_id, approval_id)
);
select app.wall('app.mcp_call', 'append');
create index mcp_call_listing_idx on app.mcp_call (tenant_id, called_at, call_id);
create index mcp_call_tool_idx on app.mcp_call (tenant_id, tool, called_at, call_id);
create index mcp_call_principal_idx on app.mcp_call (tenant_id, principal, called_at, call_id);
