-- Definitions: matrices and rules. Their versions and activations are the registry's own, by family; here is what stands
-- beside them: the one open draft, golden cases, what a definition is for, and which lists each version reads.

-- Any JSON people are working on; whether it is a definition is said by findings, and decided when it is published.
create table app.definition_draft (
  tenant_id  uuid not null,
  dataset_id uuid not null,
  definition jsonb not null,
  -- The version it was begun from.
  based_on   bigint,
  revision   bigint not null default 1,
  created_at timestamptz not null default now(),
  created_by text not null,
  updated_at timestamptz not null default now(),
  updated_by text not null,
  constraint definition_draft_pkey primary key (tenant_id, dataset_id),
  constraint definition_draft_dataset_fkey foreign key (tenant_id, dataset_id) references app.dataset (tenant_id, dataset_id)
);
select app.wall('app.definition_draft', 'tenant');

-- What a definition must answer, whatever version of it: they belong to the definition.
create table app.definition_case (
  tenant_id  uuid not null,
  dataset_id uuid not null,
  case_id    uuid not null,
  name       text not null,
  inputs     jsonb not null,
  expected   jsonb not null,
  note       text,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint definition_case_pkey primary key (tenant_id, case_id),
  constraint definition_case_name_key unique (tenant_id, dataset_id, name),
  constraint definition_case_dataset_fkey foreign key (tenant_id, dataset_id) references app.dataset (tenant_id, dataset_id)
);
select app.wall('app.definition_case', 'shared');

-- What a definition is for; people search by it, nothing is decided by it.
create table app.definition_profile (
  tenant_id     uuid not null,
  dataset_id    uuid not null,
  subject_types text[] not null default '{}',
  products      text[] not null default '{}',
  typologies    text[] not null default '{}',
  constraint definition_profile_pkey primary key (tenant_id, dataset_id),
  constraint definition_profile_dataset_fkey foreign key (tenant_id, dataset_id) references app.dataset (tenant_id, dataset_id)
);
select app.wall('app.definition_profile', 'shared');

-- Which lists a published version reads: who has to be asked before a list changes.
create table app.definition_reference (
  tenant_id  uuid not null,
  dataset_id uuid not null,
  version    bigint not null,
  list_key   text not null,
  constraint definition_reference_pkey primary key (tenant_id, dataset_id, version, list_key),
  constraint definition_reference_version_fkey foreign key (tenant_id, dataset_id, version)
    references app.dataset_version (tenant_id, dataset_id, version)
);
select app.wall('app.definition_reference', 'shared');
create index definition_reference_list_idx on app.definition_reference (tenant_id, list_key, dataset_id);
revoke update, delete on app.definition_reference from app, steward;
create trigger definition_reference_append before update or delete on app.definition_reference
  for each statement execute function app.refuse_change();
