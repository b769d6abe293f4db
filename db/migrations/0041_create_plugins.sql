-- Plugins: code of the tenant or the operator that runs in the sandbox. A plugin is a versioned definition of its own family; its
-- parts are manifest, examples and files.

insert into app.definition_family (family, title) values ('plugin', 'Plugins');

-- What validation of the code of one version found under one build of the sandbox. It depends on nothing else, so it is found once.
-- What depends on the tenant (grants, configuration, lists and contracts in force) is checked whenever a plugin is bound.
create table app.plugin_validation (
  tenant_id    uuid not null,
  dataset_id   uuid not null,
  version      bigint not null,
  sandbox_hash text not null constraint plugin_validation_sandbox_ck check (sandbox_hash ~ '^[0-9a-f]{64}$'),
  -- Of manifest and source, as decisions pin it.
  content_hash text not null constraint plugin_validation_content_ck check (content_hash ~ '^[0-9a-f]{64}$'),
  valid        boolean not null,
  reasons      jsonb not null constraint plugin_validation_reasons_ck check (jsonb_typeof(reasons) = 'array'),
  -- The most that an example used; NULL where none could be run.
  fuel_max     bigint constraint plugin_validation_fuel_ck check (fuel_max >= 0),
  validated_at timestamptz not null default now(),
  validated_by text not null,
  constraint plugin_validation_pkey primary key (tenant_id, dataset_id, version, sandbox_hash),
  constraint plugin_validation_version_fkey foreign key (tenant_id, dataset_id, version)
    references app.dataset_version (tenant_id, dataset_id, version),
  constraint plugin_validation_valid_ck check (valid = (jsonb_array_length(reasons) = 0))
);
select app.wall('app.plugin_validation', 'shared');
revoke update, delete on app.plugin_validation from app, steward;
create trigger plugin_validation_append before update or delete on app.plugin_validation
  for each statement execute function app.refuse_change();

-- What a plugin may reach, own or shared: the newest revision counts, and a plugin without one may reach nothing.
create table app.plugin_grant (
  tenant_id  uuid not null,
  plugin_key text not null constraint plugin_grant_key_ck check (length(plugin_key) between 1 and 100),
  revision   bigint not null constraint plugin_grant_revision_ck check (revision >= 1),
  lists      text[] not null constraint plugin_grant_lists_ck check (cardinality(lists) <= 20),
  hosts      text[] not null constraint plugin_grant_hosts_ck check (cardinality(hosts) <= 20),
  reason     text not null,
  granted_at timestamptz not null default now(),
  granted_by text not null,
  constraint plugin_grant_pkey primary key (tenant_id, plugin_key, revision),
  constraint plugin_grant_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.plugin_grant', 'append');

-- The newest revision counts. Decisions pin the hash, and a replay finds the configuration by it.
create table app.plugin_configuration (
  tenant_id          uuid not null,
  plugin_key         text not null constraint plugin_configuration_key_ck check (length(plugin_key) between 1 and 100),
  revision           bigint not null constraint plugin_configuration_revision_ck check (revision >= 1),
  -- Canonical JSON: these bytes are hashed.
  configuration      text not null constraint plugin_configuration_size_ck check (octet_length(configuration) <= 65536),
  configuration_hash text not null constraint plugin_configuration_hash_ck
                     check (configuration_hash = encode(sha256(convert_to(configuration, 'UTF8')), 'hex')),
  reason             text not null,
  configured_at      timestamptz not null default now(),
  configured_by      text not null,
  constraint plugin_configuration_pkey primary key (tenant_id, plugin_key, revision),
  constraint plugin_configuration_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.plugin_configuration', 'append');
create index plugin_configuration_hash_idx on app.plugin_configuration (tenant_id, plugin_key, configuration_hash);

-- Whether the tenant lets a plugin run; without a row it does.
create table app.plugin_switch (
  tenant_id  uuid not null,
  plugin_key text not null constraint plugin_switch_key_ck check (length(plugin_key) between 1 and 100),
  disabled   boolean not null,
  reason     text not null,
  revision   bigint not null default 1,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  constraint plugin_switch_pkey primary key (tenant_id, plugin_key),
  constraint plugin_switch_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.plugin_switch', 'tenant');
revoke delete on app.plugin_switch from app;

-- One row for each operation that ran a plugin, with what went wrong. Inputs and outputs are not stored.
create table app.plugin_invocation (
  tenant_id     uuid not null,
  invocation_id uuid not null,
  plugin_key    text not null,
  origin        text not null constraint plugin_invocation_origin_ck check (origin in ('own', 'shared')),
  version       bigint not null,
  content_hash  text not null constraint plugin_invocation_content_ck check (content_hash ~ '^[0-9a-f]{64}$'),
  sandbox_hash  text not null constraint plugin_invocation_sandbox_ck check (sandbox_hash ~ '^[0-9a-f]{64}$'),
  cause_kind    text not null constraint plugin_invocation_cause_ck check (cause_kind ~ '^[a-z][a-z_]{0,39}$'),
  cause_id      uuid,
  items         bigint not null constraint plugin_invocation_items_ck check (items >= 1),
  failed        bigint not null,
  fuel_total    bigint not null constraint plugin_invocation_fuel_ck check (fuel_total >= 0),
  fuel_max      bigint not null constraint plugin_invocation_fuel_max_ck check (fuel_max between 0 and fuel_total),
  -- The first failures, with message and stack.
  failures      jsonb not null constraint plugin_invocation_failures_ck
                check (jsonb_typeof(failures) = 'array' and jsonb_array_length(failures) <= least(failed, 10)),
  invoked_at    timestamptz not null default now(),
  invoked_by    text not null,
  constraint plugin_invocation_pkey primary key (tenant_id, invocation_id),
  constraint plugin_invocation_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint plugin_invocation_failed_ck check (failed between 0 and items)
);
select app.wall('app.plugin_invocation', 'append');
create index plugin_invocation_listing_idx on app.plugin_invocation (tenant_id, plugin_key, invoked_at, invocation_id);
create index plugin_invocation_failed_idx on app.plugin_invocation (tenant_id, plugin_key, invoked_at, invocation_id) where failed > 0;

-- Whether each active plugin could run when it was last looked at: for readiness and metrics, which count over all tenants. Nothing
-- is decided by it.
create table app.plugin_status (
  tenant_id  uuid not null,
  plugin_key text not null,
  version    bigint not null,
  state      text not null constraint plugin_status_state_ck check (state in ('valid', 'invalid', 'disabled')),
  reasons    text[] not null,
  checked_at timestamptz not null default now(),
  constraint plugin_status_pkey primary key (tenant_id, plugin_key),
  constraint plugin_status_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.plugin_status', 'queue');
grant select (tenant_id, state) on app.plugin_status to worker;

-- Whether and how a plugin runs also changes by grants, configuration, the switch and validation. Each of them moves the epoch of its
-- tenant like an activation, so that a process may keep what it has bound until the epoch moves.
create trigger activation_epoch_turn after insert or update on app.plugin_grant
  for each row execute function app.turn_epoch();
create trigger activation_epoch_turn after insert or update on app.plugin_configuration
  for each row execute function app.turn_epoch();
create trigger activation_epoch_turn after insert or update on app.plugin_switch
  for each row execute function app.turn_epoch();
create trigger activation_epoch_turn after insert or update on app.plugin_validation
  for each row execute function app.turn_epoch();
