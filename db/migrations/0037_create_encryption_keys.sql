-- Keys between the master key and encrypted values. A tenant key is wrapped by a master key, a file or the operator's key command; an
-- owner key by the tenant key; values are encrypted with the key of their owner. Replacing a master or tenant key wraps the keys below
-- it again and touches no value; destroying an owner key makes the values of one owner unreadable, in backups too.

create table app.tenant_key (
  tenant_id    uuid not null constraint tenant_key_tenant_ck check (tenant_id <> app.system_tenant()),
  key_no       bigint not null constraint tenant_key_no_ck check (key_no >= 1),
  wrapped      text,
  -- Names the master key that wraps it, so that what still needs a master key is found without unwrapping anything.
  wrapped_by   text,
  -- The active one wraps new owner keys; a retiring one only unwraps, until every owner key is wrapped by the active one.
  state        text not null default 'active' constraint tenant_key_state_ck check (state in ('active', 'retiring', 'destroyed')),
  usable       boolean not null generated always as (state <> 'destroyed') stored,
  created_at   timestamptz not null default now(),
  destroyed_at timestamptz,
  constraint tenant_key_pkey primary key (tenant_id, key_no),
  constraint tenant_key_usable_uq unique (tenant_id, key_no, usable),
  constraint tenant_key_destroyed_ck check (
    (state = 'destroyed') = (wrapped is null) and (state = 'destroyed') = (wrapped_by is null)
    and (state = 'destroyed') = (destroyed_at is not null))
);
create unique index tenant_key_active_uq on app.tenant_key (tenant_id) where state = 'active';
select app.wall('app.tenant_key', 'shared');
-- A tenant gets its first key from the process that needs it; everything after that is the operator's. No key row is removed: a value
-- names the key it needs.
revoke update, delete on app.tenant_key from app;
revoke delete on app.tenant_key from steward;

create function app.keep_tenant_key() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.key_no, new.created_at) is distinct from (old.tenant_id, old.key_no, old.created_at)
     or old.state = 'destroyed'
     or (old.state = 'retiring' and new.state = 'active')
     or (old.state = 'active' and new.state = 'destroyed') then
    raise exception 'a tenant key is wrapped again, or goes from active to retiring to destroyed' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger tenant_key_keep before update on app.tenant_key
  for each row execute function app.keep_tenant_key();

create table app.owner_key (
  tenant_id         uuid not null,
  -- A subject, an object that concerns no subject, or the tenant itself, for keyed hashes.
  owner_kind        text not null constraint owner_key_kind_ck check (owner_kind in ('subject', 'object', 'tenant')),
  owner_id          uuid not null,
  -- Stored in every value that was encrypted with it.
  key_no            bigint not null constraint owner_key_no_ck check (key_no between 1 and 4294967295),
  -- Nonce, ciphertext and tag of 32 bytes.
  wrapped           bytea constraint owner_key_wrapped_ck check (octet_length(wrapped) = 60),
  tenant_key_no     bigint,
  -- Part of the foreign key: a tenant key cannot be destroyed while an owner key needs it, not even by a concurrent transaction.
  tenant_key_usable boolean not null generated always as (true) stored,
  -- `lost`: its tenant key cannot be unwrapped any more, and the owner got a new key. `destroyed`: on purpose; the owner gets no other.
  state             text not null default 'active' constraint owner_key_state_ck check (state in ('active', 'lost', 'destroyed')),
  created_at        timestamptz not null default now(),
  destroyed_at      timestamptz,
  constraint owner_key_pkey primary key (tenant_id, owner_kind, owner_id, key_no),
  constraint owner_key_tenant_key_fk foreign key (tenant_id, tenant_key_no, tenant_key_usable)
    references app.tenant_key (tenant_id, key_no, usable),
  constraint owner_key_destroyed_ck check (
    (state = 'destroyed') = (wrapped is null) and (state = 'destroyed') = (tenant_key_no is null)
    and (state = 'destroyed') = (destroyed_at is not null))
);
create unique index owner_key_active_uq on app.owner_key (tenant_id, owner_kind, owner_id) where state = 'active';
-- Rotation walks the owner keys of one tenant key; the foreign key is checked by it as well.
create index owner_key_tenant_key_ix on app.owner_key (tenant_id, tenant_key_no, owner_kind, owner_id, key_no);
select app.wall('app.owner_key', 'tenant');
revoke delete on app.owner_key from app;

create function app.keep_owner_key() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.owner_kind, new.owner_id, new.key_no, new.created_at)
       is distinct from (old.tenant_id, old.owner_kind, old.owner_id, old.key_no, old.created_at)
     or old.state = 'destroyed'
     or (old.state = 'lost' and new.state = 'active') then
    raise exception 'an owner key is wrapped again, lost or destroyed, and nothing else of it changes' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger owner_key_keep before update on app.owner_key
  for each row execute function app.keep_owner_key();

-- Wrapping keys again for many tenants at once. A policy shows steward the rows of one tenant at a time, so each is named in turn; in
-- the database, since two statements a tenant over the network take most of the time of ten thousand.
create function app.list_keys_to_rewrap(tenant_ids uuid[], key_id text)
  returns table (tenant_id uuid, kind text, purpose text, key_no bigint, wrapped text)
  language plpgsql as $$
declare
  id uuid;
begin
  foreach id in array tenant_ids loop
    perform set_config('app.tenant_id', id::text, true);
    return query
      select k.tenant_id, 'integrity_key', k.purpose, k.key_no, k.wrapped from app.integrity_key k
       where k.tenant_id = id and k.wrapped_by <> key_id
      union all
      select k.tenant_id, 'tenant_key', null, k.key_no, k.wrapped from app.tenant_key k
       where k.tenant_id = id and k.state <> 'destroyed' and k.wrapped_by <> key_id;
  end loop;
end $$;

-- Compare and set: returns the tenant of each key that was changed. A purpose that is null means the tenant key.
create function app.rewrap_keys(tenant_ids uuid[], purposes text[], key_nos bigint[], befores text[], afters text[], key_id text)
  returns setof uuid
  language plpgsql as $$
begin
  for n in 1 .. cardinality(tenant_ids) loop
    perform set_config('app.tenant_id', tenant_ids[n]::text, true);
    if purposes[n] is null then
      update app.tenant_key k set wrapped = afters[n], wrapped_by = key_id
       where k.tenant_id = tenant_ids[n] and k.key_no = key_nos[n] and k.wrapped = befores[n];
    else
      update app.integrity_key k set wrapped = afters[n], wrapped_by = key_id
       where k.tenant_id = tenant_ids[n] and k.purpose = purposes[n] and k.key_no = key_nos[n] and k.wrapped = befores[n];
    end if;
    if found then return next tenant_ids[n]; end if;
  end loop;
end $$;

create function app.count_wrapped_keys(tenant_ids uuid[])
  returns table (kind text, wrapped_by text, count bigint)
  language plpgsql as $$
declare
  id uuid;
begin
  foreach id in array tenant_ids loop
    perform set_config('app.tenant_id', id::text, true);
    return query
      select 'integrity_key', k.wrapped_by, count(*) from app.integrity_key k where k.tenant_id = id group by k.wrapped_by
      union all
      select 'tenant_key', k.wrapped_by, count(*) from app.tenant_key k
       where k.tenant_id = id and k.state <> 'destroyed' group by k.wrapped_by;
  end loop;
end $$;
