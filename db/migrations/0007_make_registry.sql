-- The registry: content, versions and activations, three things never mixed. Content is immutable; a version is a numbered
-- name for it; an activation says from when a scope uses which version. The promises are kept here, whatever the code does.

-- A restore puts rows back as they were, in an order of its own; triggers that number, chain and date what is new then stand
-- aside. Only for a tenant that nobody can speak for: a restore keeps tenants suspended until every table has been compared
-- with its backup.
create function app.restoring() returns boolean
  language sql stable
  return coalesce(current_setting('app.restoring', true) = 'on', false)
     and not exists (select 1 from app.tenant where tenant_id = app.tenant_id() and state = 'active');

-- Immutable definitions of what one entry of a list looks like.
create table app.dataset_type (
  tenant_id       uuid not null,
  type_key        text not null constraint dataset_type_key_ck check (type_key ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  type_version    bigint not null constraint dataset_type_version_ck check (type_version >= 1),
  definition      jsonb not null,
  definition_hash text not null constraint dataset_type_hash_ck check (definition_hash ~ '^[0-9a-f]{64}$'),
  compatibility   text not null constraint dataset_type_compatibility_ck check (compatibility in ('backward', 'none')),
  created_at      timestamptz not null default now(),
  created_by      text not null,
  constraint dataset_type_pkey primary key (tenant_id, type_key, type_version)
);
select app.wall('app.dataset_type', 'shared');
revoke update, delete on app.dataset_type from app, steward;
create trigger dataset_type_append before update or delete on app.dataset_type
  for each statement execute function app.refuse_change();

-- One list of one scope. `family` lets other versioned definitions use the same machinery as lists.
create table app.dataset (
  tenant_id       uuid not null,
  dataset_id      uuid not null,
  family          text not null constraint dataset_family_ck check (family in ('list', 'matrix', 'rule')),
  list_key        text not null constraint dataset_list_key_ck check (list_key ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  role            text not null constraint dataset_role_ck check (role in ('base', 'overlay')),
  base_tenant_id  uuid,
  base_dataset_id uuid,
  type_tenant_id  uuid not null,
  type_key        text not null,
  title           text not null,
  description     text,
  owner           text,
  review_every_days bigint constraint dataset_review_ck check (review_every_days between 1 and 3660),
  stale_after_days  bigint constraint dataset_stale_ck check (stale_after_days between 1 and 3660),
  guards          jsonb not null default '{}',
  overlay_policy  text not null default 'none'
                  constraint dataset_overlay_policy_ck check (overlay_policy in ('none', 'add_only', 'tighten_only', 'free')),
  -- The only counter of versions; moved by the insertion of a version and by nothing else.
  head_version    bigint not null default 0,
  state           text not null default 'live' constraint dataset_state_ck check (state in ('live', 'archived')),
  revision        bigint not null default 1,
  created_at      timestamptz not null default now(),
  created_by      text not null,
  updated_at      timestamptz not null default now(),
  constraint dataset_pkey primary key (tenant_id, dataset_id),
  constraint dataset_list_key_key unique (tenant_id, family, list_key, role),
  constraint dataset_overlay_ck check ((role = 'overlay') = (base_dataset_id is not null)),
  constraint dataset_base_pair_ck check ((base_tenant_id is null) = (base_dataset_id is null)),
  -- Foreign keys are checked past row security: without these a tenant could point at, and ask about, another's rows.
  constraint dataset_base_scope_ck check (base_tenant_id = tenant_id or base_tenant_id = app.system_tenant()),
  constraint dataset_type_scope_ck check (type_tenant_id = tenant_id or type_tenant_id = app.system_tenant()),
  constraint dataset_base_fkey foreign key (base_tenant_id, base_dataset_id) references app.dataset (tenant_id, dataset_id)
);
select app.wall('app.dataset', 'shared');
revoke delete on app.dataset from app, steward;

create function app.keep_dataset() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'INSERT' then
    if not app.restoring() then new.head_version := 0; end if;
    return new;
  end if;
  if (new.tenant_id, new.dataset_id, new.family, new.list_key, new.role, new.base_tenant_id, new.base_dataset_id,
      new.type_tenant_id, new.type_key)
     is distinct from (old.tenant_id, old.dataset_id, old.family, old.list_key, old.role, old.base_tenant_id,
      old.base_dataset_id, old.type_tenant_id, old.type_key) then
    raise exception 'the identity of a dataset never changes' using errcode = 'PB002';
  end if;
  -- Depth 1 is this trigger alone: then it was not the insertion of a version that moved the head.
  if new.head_version <> old.head_version and pg_trigger_depth() < 2 then
    raise exception 'only a new version moves the head of a dataset' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger dataset_keep before insert or update on app.dataset for each row execute function app.keep_dataset();

create table app.dataset_version (
  tenant_id       uuid not null,
  dataset_id      uuid not null,
  version         bigint not null constraint dataset_version_version_ck check (version >= 1),
  -- A label can never be mistaken for a number.
  label           text constraint dataset_version_label_ck check (label ~ '[^0-9]'),
  type_tenant_id  uuid not null,
  type_key        text not null,
  type_version    bigint not null,
  content_hash    text not null constraint dataset_version_hash_ck check (content_hash ~ '^[0-9a-f]{64}$'),
  content_changed boolean not null,
  entry_count     bigint not null,
  data_bytes      bigint not null,
  -- Overlays: the base version they are pinned to; NULL follows whatever base is in force.
  base_version    bigint,
  origin          text not null constraint dataset_version_origin_ck
                  check (origin in ('import', 'inline', 'seed', 'overlay', 'rebase')),
  provenance      jsonb not null,
  difference      jsonb not null,
  note            text,
  state           text not null default 'published'
                  constraint dataset_version_state_ck check (state in ('published', 'deprecated', 'withdrawn')),
  created_at      timestamptz not null default now(),
  created_by      text not null,
  constraint dataset_version_pkey primary key (tenant_id, dataset_id, version),
  constraint dataset_version_label_key unique (tenant_id, dataset_id, label),
  constraint dataset_version_dataset_fkey foreign key (tenant_id, dataset_id) references app.dataset (tenant_id, dataset_id),
  constraint dataset_version_type_scope_ck check (type_tenant_id = tenant_id or type_tenant_id = app.system_tenant()),
  constraint dataset_version_type_fkey foreign key (type_tenant_id, type_key, type_version)
    references app.dataset_type (tenant_id, type_key, type_version)
);
select app.wall('app.dataset_version', 'shared');
revoke delete on app.dataset_version from app, steward;
create index dataset_version_hash_idx on app.dataset_version (tenant_id, dataset_id, content_hash);

-- Gapless from 1, and the transaction may now, and only now, write entries of this version.
create function app.number_version() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  update app.dataset set head_version = new.version, updated_at = now()
   where tenant_id = new.tenant_id and dataset_id = new.dataset_id and head_version = new.version - 1;
  if not found then
    raise exception 'version % does not follow the head', new.version using errcode = 'PB003';
  end if;
  new.created_at := now();
  perform set_config('app.publishing', new.dataset_id || ':' || new.version, true);
  return new;
end $$;
create trigger dataset_version_number before insert on app.dataset_version
  for each row execute function app.number_version();

create function app.keep_version() returns trigger
  language plpgsql as $$
begin
  if (to_jsonb(old) - 'state') is distinct from (to_jsonb(new) - 'state')
     or (old.state, new.state) not in (('published', 'deprecated'), ('published', 'withdrawn'), ('deprecated', 'withdrawn')) then
    raise exception 'a published version is immutable' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger dataset_version_keep before update on app.dataset_version
  for each row execute function app.keep_version();

-- One row per entry revision, in force for versions [v_from, v_to). Canonical JSON as text: hashed as it stands, and ten
-- versions of a million entries that differ in a thousand cost a million and ten thousand rows.
create table app.dataset_entry (
  tenant_id  uuid not null,
  dataset_id uuid not null,
  key        text collate "C" not null,
  v_from     bigint not null,
  v_to       bigint not null default 9007199254740991,
  -- Overlays put, merge into or remove an entry of their base; everything else puts.
  op         text not null default 'put' constraint dataset_entry_op_ck check (op in ('put', 'merge', 'remove')),
  hash       bytea not null,
  base_hash  bytea,
  data       text,
  constraint dataset_entry_pkey primary key (tenant_id, dataset_id, key, v_from),
  constraint dataset_entry_range_ck check (v_from < v_to),
  constraint dataset_entry_data_ck check ((op = 'remove') = (data is null))
);
select app.wall('app.dataset_entry', 'shared');
revoke delete on app.dataset_entry from app, steward;
-- What changed between two versions is found here. Entries of the first version never are, and need no place in it.
create index dataset_entry_from_idx on app.dataset_entry (tenant_id, dataset_id, v_from, key) where v_from > 1;
create index dataset_entry_to_idx on app.dataset_entry (tenant_id, dataset_id, v_to, key) where v_to < 9007199254740991;

-- The setting alone proves nothing, since anyone may set it: the version must have been made by this very transaction.
create function app.expect_publishing() returns trigger
  language plpgsql as $$
declare
  publishing constant text := nullif(current_setting('app.publishing', true), '');
begin
  if app.restoring() then return null; end if;
  if not exists (select 1 from app.dataset_version
                  where tenant_id = app.tenant_id() and dataset_id = split_part(publishing, ':', 1)::uuid
                    and version = split_part(publishing, ':', 2)::bigint and created_at = now()) then
    raise exception 'entries are written while their version is published' using errcode = 'PB002';
  end if;
  return null;
end $$;
create trigger dataset_entry_publishing before insert or update on app.dataset_entry
  for each statement execute function app.expect_publishing();

create function app.refuse_entry() returns trigger
  language plpgsql as $$
begin
  if tg_op = 'INSERT' and app.restoring() then return new; end if;
  raise exception 'entries belong to the version that is being published' using errcode = 'PB002';
end $$;
-- Conditions of triggers rather than bodies: a million entries pass them without a function call.
create trigger dataset_entry_insert before insert on app.dataset_entry for each row
  when (new.v_to <> 9007199254740991
        or current_setting('app.publishing', true) is distinct from new.dataset_id || ':' || new.v_from)
  execute function app.refuse_entry();
create trigger dataset_entry_close before update on app.dataset_entry for each row
  when (old.v_to <> 9007199254740991
        or current_setting('app.publishing', true) is distinct from new.dataset_id || ':' || new.v_to
        or (old.tenant_id, old.dataset_id, old.key, old.v_from, old.op, old.hash, old.base_hash, old.data)
           is distinct from (new.tenant_id, new.dataset_id, new.key, new.v_from, new.op, new.hash, new.base_hash, new.data))
  execute function app.refuse_entry();

-- From `effective_from` on this scope uses that version, said at `recorded_at`. Append-only, in one order per list.
create table app.activation (
  tenant_id         uuid not null,
  activation_id     uuid not null,
  family            text not null constraint activation_family_ck check (family in ('list', 'matrix', 'rule')),
  list_key          text not null,
  layer             text not null constraint activation_layer_ck check (layer in ('base', 'overlay')),
  seq               bigint not null,
  kind              text not null constraint activation_kind_ck
                    check (kind in ('activate', 'rollback', 'pin', 'unpin', 'overlay', 'overlay-removed', 'seed')),
  dataset_tenant_id uuid,
  dataset_id        uuid,
  version           bigint,
  effective_from    timestamptz not null,
  -- Only pins end by themselves.
  expires_at        timestamptz constraint activation_expires_ck check (expires_at is null or kind = 'pin'),
  recorded_at       timestamptz not null,
  retroactive       boolean not null,
  reason            text not null,
  actor             text not null,
  cr_id             uuid,
  revoked_at        timestamptz,
  revoked_by        text,
  revoke_reason     text,
  prev_hash         text not null constraint activation_prev_hash_ck check (prev_hash ~ '^[0-9a-f]{64}$'),
  hash              text not null constraint activation_hash_ck check (hash ~ '^[0-9a-f]{64}$'),
  constraint activation_pkey primary key (tenant_id, activation_id),
  constraint activation_seq_key unique (tenant_id, family, list_key, seq),
  constraint activation_version_ck check ((kind in ('unpin', 'overlay-removed')) = (version is null)
    and (version is null) = (dataset_id is null) and (version is null) = (dataset_tenant_id is null)),
  constraint activation_scope_ck check (dataset_tenant_id = tenant_id or dataset_tenant_id = app.system_tenant()),
  constraint activation_layer_kind_ck check ((layer = 'overlay') = (kind in ('overlay', 'overlay-removed'))),
  -- A tenant activates its own lists and pins shared ones; the system tenant only activates.
  constraint activation_pin_ck check (version is null or (kind = 'pin') = (dataset_tenant_id <> tenant_id)),
  constraint activation_version_fkey foreign key (dataset_tenant_id, dataset_id, version)
    references app.dataset_version (tenant_id, dataset_id, version)
);
select app.wall('app.activation', 'shared');
revoke delete on app.activation from app, steward;
create index activation_resolve_idx on app.activation
  (tenant_id, family, list_key, layer, effective_from desc, seq desc);

-- Number, time and hash are given here, under the list's lock, so that they agree with the order of commits.
create function app.chain_activation() returns trigger
  language plpgsql as $$
declare
  last app.activation;
begin
  if app.restoring() then return new; end if;
  perform pg_advisory_xact_lock(hashtextextended('activation:' || new.tenant_id || ':' || new.family || ':' || new.list_key, 0));
  select * into last from app.activation
   where tenant_id = new.tenant_id and family = new.family and list_key = new.list_key order by seq desc limit 1;
  if new.version is not null and not exists (
    select 1 from app.dataset_version v join app.dataset d on d.tenant_id = v.tenant_id and d.dataset_id = v.dataset_id
     where v.tenant_id = new.dataset_tenant_id and v.dataset_id = new.dataset_id and v.version = new.version
       and d.family = new.family and d.list_key = new.list_key and d.role = new.layer and v.state <> 'withdrawn') then
    raise exception 'not a version of this list that may be activated' using errcode = 'PB004';
  end if;
  -- Where the operator does not leave a shared list free, a pin is a respite and not a way out.
  if new.kind = 'pin' and (new.expires_at is null or new.expires_at > coalesce(new.effective_from, now()) + interval '90 days')
     and exists (select 1 from app.dataset d where d.tenant_id = new.dataset_tenant_id and d.dataset_id = new.dataset_id
                   and d.overlay_policy in ('none', 'tighten_only')) then
    raise exception 'a pin of this list ends within 90 days' using errcode = 'PB005';
  end if;
  new.seq := coalesce(last.seq, 0) + 1;
  new.recorded_at := greatest(clock_timestamp(), last.recorded_at + interval '1 microsecond',
                              last.revoked_at + interval '1 microsecond');
  new.effective_from := coalesce(new.effective_from, new.recorded_at);
  new.retroactive := new.effective_from < new.recorded_at;
  new.revoked_at := null;
  new.revoked_by := null;
  new.revoke_reason := null;
  new.prev_hash := coalesce(last.hash, repeat('0', 64));
  new.hash := encode(sha256(convert_to(jsonb_build_array(new.prev_hash, new.tenant_id, new.family, new.list_key, new.layer,
    new.seq, new.kind, new.dataset_tenant_id, new.dataset_id, new.version,
    to_char(new.effective_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    to_char(new.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    to_char(new.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    new.reason, new.actor)::text, 'UTF8')), 'hex');
  return new;
end $$;
create trigger activation_chain before insert on app.activation for each row execute function app.chain_activation();

create function app.revoke_activation() returns trigger
  language plpgsql as $$
begin
  if old.revoked_at is not null
     or (to_jsonb(old) - array['revoked_at', 'revoked_by', 'revoke_reason'])
        is distinct from (to_jsonb(new) - array['revoked_at', 'revoked_by', 'revoke_reason'])
     or new.revoked_at is null or new.revoked_by is null then
    raise exception 'an activation may only be revoked, once' using errcode = 'PB002';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('activation:' || new.tenant_id || ':' || new.family || ':' || new.list_key, 0));
  new.revoked_at := (select greatest(clock_timestamp(), max(recorded_at) + interval '1 microsecond',
                                     max(revoked_at) + interval '1 microsecond')
                       from app.activation
                      where tenant_id = new.tenant_id and family = new.family and list_key = new.list_key);
  return new;
end $$;
create trigger activation_revoke before update on app.activation for each row execute function app.revoke_activation();

-- Which version of each list is in force for the caller's tenant: its own or pinned one before the shared one, and its overlay.
-- One statement for all lists a decision needs, so that no set is ever torn. NULL as p_known: as known now.
create function app.resolve_lists(p_family text, p_keys text[], p_valid timestamptz, p_known timestamptz)
  returns table (list_key text, via text, dataset_tenant_id uuid, dataset_id uuid, version bigint, activation_id uuid,
                 effective_from timestamptz, expires_at timestamptz, overlay_dataset_id uuid, overlay_version bigint,
                 overlay_activation_id uuid, shadows_shared boolean)
  language sql stable parallel safe as $$
  select k.list_key,
         case when own.version is null then case when shared.version is not null then 'shared' end
              when own.dataset_tenant_id <> own.tenant_id then 'tenant-pin' else 'tenant-own' end,
         coalesce(own.dataset_tenant_id, shared.dataset_tenant_id), coalesce(own.dataset_id, shared.dataset_id),
         coalesce(own.version, shared.version), coalesce(own.activation_id, shared.activation_id),
         coalesce(own.effective_from, shared.effective_from), own.expires_at,
         overlay.dataset_id, overlay.version, overlay.activation_id,
         own.dataset_tenant_id = own.tenant_id and shared.version is not null
    from unnest(p_keys) as k (list_key)
    left join lateral (
      select * from app.activation a
       where a.tenant_id = (select app.tenant_id()) and a.family = p_family and a.list_key = k.list_key and a.layer = 'base'
         and a.effective_from <= p_valid and (p_known is null or a.recorded_at <= p_known)
         and (a.revoked_at is null or a.revoked_at > p_known)
       order by a.effective_from desc, a.seq desc limit 1) own
      on own.version is not null and (own.expires_at is null or own.expires_at > p_valid)
    left join lateral (
      select * from app.activation a
       where a.tenant_id = (select app.system_tenant()) and a.tenant_id <> (select app.tenant_id())
         and a.family = p_family and a.list_key = k.list_key and a.layer = 'base'
         and a.effective_from <= p_valid and (p_known is null or a.recorded_at <= p_known)
         and (a.revoked_at is null or a.revoked_at > p_known)
       order by a.effective_from desc, a.seq desc limit 1) shared on shared.version is not null
    left join lateral (
      select * from app.activation a
       where a.tenant_id = (select app.tenant_id()) and a.family = p_family and a.list_key = k.list_key and a.layer = 'overlay'
         and a.effective_from <= p_valid and (p_known is null or a.recorded_at <= p_known)
         and (a.revoked_at is null or a.revoked_at > p_known)
       order by a.effective_from desc, a.seq desc limit 1) overlay
      on overlay.version is not null and (own.version is null or own.dataset_tenant_id <> own.tenant_id) $$;

-- What one decision consulted. Canonical JSON as text.
create table app.resolution_receipt (
  tenant_id     uuid not null,
  receipt_id    uuid not null,
  consumer      text not null,
  valid_at      timestamptz not null,
  known_at      timestamptz not null,
  manifest      text not null constraint resolution_receipt_manifest_ck check (manifest::json is not null),
  manifest_hash text not null constraint resolution_receipt_hash_ck check (manifest_hash ~ '^[0-9a-f]{64}$'),
  created_at    timestamptz not null default now(),
  created_by    text not null,
  constraint resolution_receipt_pkey primary key (tenant_id, receipt_id),
  constraint resolution_receipt_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id)
);
select app.wall('app.resolution_receipt', 'append');

create table app.dataset_import (
  tenant_id       uuid not null,
  import_id       uuid not null,
  dataset_id      uuid not null,
  list_key        text not null,
  job_id          uuid,
  upload_id       uuid,
  adapter_key     text not null,
  adapter_version bigint not null,
  options         jsonb not null,
  order_text      jsonb not null,
  source          jsonb not null,
  state           text not null default 'queued' constraint dataset_import_state_ck
                  check (state in ('queued', 'running', 'published', 'unchanged', 'rejected', 'blocked', 'failed', 'cancelled')),
  counts          jsonb not null default '{}',
  rejects         jsonb not null default '[]',
  gates           jsonb not null default '[]',
  warnings        jsonb not null default '[]',
  version         bigint,
  created_at      timestamptz not null default now(),
  created_by      text not null,
  finished_at     timestamptz,
  constraint dataset_import_pkey primary key (tenant_id, import_id),
  constraint dataset_import_dataset_fkey foreign key (tenant_id, dataset_id) references app.dataset (tenant_id, dataset_id)
);
select app.wall('app.dataset_import', 'shared');
create index dataset_import_created_idx on app.dataset_import (tenant_id, created_at, import_id);
create index dataset_import_list_idx on app.dataset_import (tenant_id, list_key, created_at, import_id);

create table app.dataset_import_reject (
  tenant_id uuid not null,
  import_id uuid not null,
  seq       bigint not null,
  code      text not null,
  pointer   text not null,
  location  jsonb not null,
  excerpt   text,
  message   text not null,
  constraint dataset_import_reject_pkey primary key (tenant_id, import_id, seq),
  constraint dataset_import_reject_import_fkey foreign key (tenant_id, import_id)
    references app.dataset_import (tenant_id, import_id) on delete cascade
);
select app.wall('app.dataset_import_reject', 'shared');

create table app.dataset_export (
  tenant_id  uuid not null,
  export_id  uuid not null,
  job_id     uuid not null,
  parameters jsonb not null,
  manifest   jsonb,
  upload_id  uuid,
  created_at timestamptz not null default now(),
  created_by text not null,
  constraint dataset_export_pkey primary key (tenant_id, export_id),
  constraint dataset_export_job_key unique (tenant_id, job_id),
  constraint dataset_export_upload_fkey foreign key (tenant_id, upload_id) references app.upload (tenant_id, upload_id)
    on delete set null (upload_id)
);
select app.wall('app.dataset_export', 'tenant');

-- What seeding did, once per content: a restart repeats nothing, and what an operator rolled back stays rolled back.
create table app.seed_ledger (
  tenant_id  uuid not null,
  subject    text not null,
  seed_hash  text not null,
  version    bigint,
  outcome    text not null constraint seed_ledger_outcome_ck check (outcome in ('applied', 'activated', 'pending')),
  applied_at timestamptz not null default now(),
  constraint seed_ledger_pkey primary key (tenant_id, subject, seed_hash),
  constraint seed_ledger_system_ck check (tenant_id = app.system_tenant())
);
select app.wall('app.seed_ledger', 'shared');
revoke insert, update, delete on app.seed_ledger from app;

-- Acts of the operator on what all tenants share, readable by every one of them. Few enough to be chained as they are made.
create table app.operator_event (
  tenant_id   uuid not null,
  seq         bigint not null,
  recorded_at timestamptz not null,
  actor       text not null,
  operation   text not null,
  subject     text not null,
  detail      text not null constraint operator_event_detail_ck check (detail::json is not null),
  prev_hash   text not null,
  hash        text not null,
  constraint operator_event_pkey primary key (tenant_id, seq),
  constraint operator_event_system_ck check (tenant_id = app.system_tenant())
);
select app.wall('app.operator_event', 'shared');
revoke insert, update, delete on app.operator_event from app;
revoke update, delete on app.operator_event from steward;

create function app.chain_operator_event() returns trigger
  language plpgsql as $$
declare
  last app.operator_event;
begin
  if app.restoring() then return new; end if;
  perform pg_advisory_xact_lock(hashtextextended('operator_event', 0));
  select * into last from app.operator_event order by seq desc limit 1;
  new.seq := coalesce(last.seq, 0) + 1;
  new.recorded_at := greatest(clock_timestamp(), last.recorded_at + interval '1 microsecond');
  new.prev_hash := coalesce(last.hash, repeat('0', 64));
  new.hash := encode(sha256(convert_to(jsonb_build_array(new.prev_hash, new.seq,
    to_char(new.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
    new.actor, new.operation, new.subject, new.detail)::text, 'UTF8')), 'hex');
  return new;
end $$;
create trigger operator_event_chain before insert on app.operator_event for each row execute function app.chain_operator_event();
create trigger operator_event_append before update or delete on app.operator_event
  for each statement execute function app.refuse_change();
