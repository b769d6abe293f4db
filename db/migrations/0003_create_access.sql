-- People, machine keys, revoked tokens, and the signing keys of the built-in issuer.

create table app.user_account (
  tenant_id    uuid not null,
  user_id      uuid not null,
  issuer       text not null,
  subject      text not null,
  email        text,
  name         text not null,
  team         text,
  locale       text,
  roles        text[] not null default '{}',
  origin       text not null constraint user_account_origin_ck check (origin in ('built_in', 'external')),
  state        text not null constraint user_account_state_ck check (state in ('invited', 'active', 'inactive')),
  away_from    timestamptz,
  away_until   timestamptz,
  revision     bigint not null default 1,
  last_seen_at timestamptz,
  created_at   timestamptz not null default now(),
  created_by   text not null,
  updated_at   timestamptz not null default now(),
  constraint user_account_pkey primary key (tenant_id, user_id),
  constraint user_account_subject_key unique (tenant_id, issuer, subject),
  constraint user_account_email_key unique (tenant_id, email),
  constraint user_account_away_ck check (away_until > away_from),
  constraint user_account_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.user_account', 'tenant');
create index user_account_created_idx on app.user_account (tenant_id, created_at, user_id);
-- The deny set reads these three whenever who may do what has changed.
create index user_account_inactive_idx on app.user_account (tenant_id) where state = 'inactive';
create trigger user_account_epoch after update of state, roles on app.user_account
  for each row when (old.state is distinct from new.state or old.roles is distinct from new.roles)
  execute function app.bump_access_epoch();

create table app.api_key (
  tenant_id            uuid not null,
  key_id               uuid not null,
  name                 text not null,
  roles                text[] not null,
  state                text not null default 'active' constraint api_key_state_ck check (state in ('active', 'revoked')),
  secret_hash          text not null,
  previous_secret_hash text,
  previous_valid_until timestamptz,
  expires_at           timestamptz,
  last_used_at         timestamptz,
  revision             bigint not null default 1,
  created_at           timestamptz not null default now(),
  created_by           text not null,
  revoked_at           timestamptz,
  constraint api_key_pkey primary key (tenant_id, key_id),
  constraint api_key_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.api_key', 'tenant');
create index api_key_created_idx on app.api_key (tenant_id, created_at, key_id);
create index api_key_revoked_idx on app.api_key (tenant_id, revoked_at) where state = 'revoked';
create trigger api_key_epoch after update of state, roles on app.api_key
  for each row when (old.state is distinct from new.state or old.roles is distinct from new.roles)
  execute function app.bump_access_epoch();

-- Counted in each process and added up here every few seconds: a figure for people, not for billing.
create table app.api_key_usage (
  tenant_id uuid not null,
  key_id    uuid not null,
  used_on   date not null,
  operation text not null,
  status    bigint not null,
  calls     bigint not null,
  constraint api_key_usage_pkey primary key (tenant_id, key_id, used_on, operation, status),
  constraint api_key_usage_key_fkey foreign key (tenant_id, key_id) references app.api_key (tenant_id, key_id)
);
select app.wall('app.api_key_usage', 'tenant');

-- Part of the deny set. A row is needed only until the token would have expired by itself.
create table app.revoked_token (
  tenant_id  uuid not null,
  token_id   text not null,
  expires_at timestamptz not null,
  reason     text,
  revoked_at timestamptz not null default now(),
  revoked_by text not null,
  constraint revoked_token_pkey primary key (tenant_id, token_id),
  constraint revoked_token_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.revoked_token', 'tenant');
create index revoked_token_expires_idx on app.revoked_token (tenant_id, expires_at);
create trigger revoked_token_epoch after insert on app.revoked_token
  for each row execute function app.bump_access_epoch();

-- Rows of the system tenant: made and rotated by the operator, read by every API process. The private half is sealed
-- with the master key, so the database alone cannot mint a token.
create table app.signing_key (
  tenant_id      uuid not null,
  kid            text not null,
  alg            text not null constraint signing_key_alg_ck check (alg in ('ES256', 'EdDSA')),
  public_jwk     jsonb not null,
  sealed_private text not null,
  state          text not null constraint signing_key_state_ck check (state in ('active', 'retired')),
  created_at     timestamptz not null default now(),
  retired_at     timestamptz,
  constraint signing_key_pkey primary key (tenant_id, kid),
  constraint signing_key_system_ck check (tenant_id = app.system_tenant())
);
select app.wall('app.signing_key', 'shared');
revoke insert, update, delete on app.signing_key from app;
