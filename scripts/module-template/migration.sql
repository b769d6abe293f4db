-- Sample widgets: what they are, in one sentence.

create table app.sample_widget (
  tenant_id        uuid not null,
  sample_widget_id uuid not null,
  name             text not null,
  note             text,
  revision         bigint not null default 1,
  created_at       timestamptz not null default now(),
  created_by       text not null,
  updated_at       timestamptz not null default now(),
  updated_by       text not null,
  constraint sample_widget_pkey primary key (tenant_id, sample_widget_id),
  constraint sample_widget_name_key unique (tenant_id, name)
);
select app.wall('app.sample_widget', 'tenant');
create index sample_widget_created_idx on app.sample_widget (tenant_id, created_at, sample_widget_id);
