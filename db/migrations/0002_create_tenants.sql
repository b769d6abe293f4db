-- Tenants and their settings. A tenant row is made by the operator (steward); the tenant itself may change its profile.

create table app.tenant (
  tenant_id     uuid not null constraint tenant_pkey primary key,
  slug          text not null constraint tenant_slug_key unique
                constraint tenant_slug_ck check (slug ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  name          text not null,
  state         text not null default 'active' constraint tenant_state_ck check (state in ('active', 'suspended')),
  demo          boolean not null default false,
  jurisdictions text[] not null default '{}',
  licences      jsonb not null default '[]',
  time_zone     text not null default 'UTC',
  residency     text,
  -- Moves whenever who may do what changes, so that every process can refresh its picture of a tenant by reading one row.
  access_epoch  bigint not null default 1,
  revision      bigint not null default 1,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now(),
  suspended_at  timestamptz,
  constraint tenant_not_system_ck check (tenant_id <> app.system_tenant())
);
select app.wall('app.tenant', 'directory');
-- The profile is the tenant's own business; slug, state and demo are the operator's.
grant update (name, jurisdictions, licences, time_zone, residency, access_epoch, revision, updated_at) on app.tenant to app;
grant select (tenant_id, state) on app.tenant to worker;

create function app.bump_access_epoch() returns trigger
  language plpgsql as $$
begin
  update app.tenant set access_epoch = access_epoch + 1 where tenant_id = coalesce(new.tenant_id, old.tenant_id);
  return null;
end $$;

-- Rate limits are data of the tenant; where a row is missing the process default holds.
create table app.tenant_limit (
  tenant_id  uuid not null,
  bucket     text not null constraint tenant_limit_bucket_ck check (bucket in ('principal', 'tenant', 'in_flight', 'heavy')),
  per_second bigint not null constraint tenant_limit_per_second_ck check (per_second between 1 and 1000000),
  burst      bigint not null constraint tenant_limit_burst_ck check (burst between 1 and 10000000),
  updated_at timestamptz not null default now(),
  constraint tenant_limit_pkey primary key (tenant_id, bucket),
  constraint tenant_limit_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.tenant_limit', 'tenant');
create trigger tenant_limit_epoch after insert or update or delete on app.tenant_limit
  for each row execute function app.bump_access_epoch();

-- One policy row per tenant: which actions need how many approvers of which role.
create table app.approval_policy (
  tenant_id  uuid not null constraint approval_policy_pkey primary key,
  rules      jsonb not null default '[]',
  revision   bigint not null default 1,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  constraint approval_policy_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.approval_policy', 'tenant');
create trigger approval_policy_epoch after insert or update or delete on app.approval_policy
  for each row execute function app.bump_access_epoch();

create table app.retention_policy (
  tenant_id  uuid not null constraint retention_policy_pkey primary key,
  classes    jsonb not null,
  revision   bigint not null default 1,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  constraint retention_policy_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.retention_policy', 'tenant');
