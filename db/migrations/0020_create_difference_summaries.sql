-- How much differs between two versions, by kind and by field, counted once. Both versions are immutable, so a summary is too.
-- A tenant's count over a shared list belongs to the tenant that asked for it.
create table app.dataset_difference (
  tenant_id         uuid not null,
  dataset_tenant_id uuid not null,
  dataset_id        uuid not null,
  from_version      bigint not null,
  to_version        bigint not null,
  added             bigint not null,
  removed           bigint not null,
  changed           bigint not null,
  fields            jsonb not null constraint dataset_difference_fields_ck check (jsonb_typeof(fields) = 'array'),
  created_at        timestamptz not null default now(),
  constraint dataset_difference_pkey primary key (tenant_id, dataset_tenant_id, dataset_id, from_version, to_version),
  constraint dataset_difference_scope_ck check (dataset_tenant_id = tenant_id or dataset_tenant_id = app.system_tenant()),
  constraint dataset_difference_to_fkey foreign key (dataset_tenant_id, dataset_id, to_version)
    references app.dataset_version (tenant_id, dataset_id, version)
);
select app.wall('app.dataset_difference', 'shared');
revoke update, delete on app.dataset_difference from app, steward;
create trigger dataset_difference_append before update or delete on app.dataset_difference
  for each statement execute function app.refuse_change();
