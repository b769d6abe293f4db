-- Restrictions: rows that only named people of a tenant may see. See docs/adr/0065-restrict-rows-to-people.md.

-- The designated officer sees every restriction that does not exclude them.
alter table app.user_account add column is_mlro boolean not null default false;
create index user_account_mlro_idx on app.user_account (tenant_id) where is_mlro;

-- Set by the kernel for each transaction. A missing or unknown sight hides every restriction in force.
create function app.sight() returns text
  language sql stable parallel safe
  return nullif(current_setting('app.sight', true), '');

create function app.has_full_sight() returns boolean
  language sql stable parallel safe
  return coalesce(current_setting('app.sight', true) = 'all', false);

create table app.restriction (
  tenant_id      uuid not null,
  restriction_id uuid not null,
  purpose        text not null constraint restriction_purpose_ck check (length(purpose) between 1 and 500),
  -- False: rows that belong to it are visible to everybody whose role allows it.
  is_in_force    boolean not null,
  imposed_at     timestamptz,
  imposed_by     text,
  lifted_at      timestamptz,
  lifted_by      text,
  lift_reason    text,
  revision       bigint not null default 1 constraint restriction_revision_ck check (revision > 0),
  created_at     timestamptz not null default now(),
  created_by     text not null,
  updated_at     timestamptz not null default now(),
  constraint restriction_pkey primary key (tenant_id, restriction_id),
  constraint restriction_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint restriction_imposed_ck check ((imposed_at is null) = (imposed_by is null) and (not is_in_force or imposed_at is not null)),
  constraint restriction_lifted_ck check ((lifted_at is null) = (lifted_by is null) and (lifted_at is null) = (lift_reason is null)
                                          and not (is_in_force and lifted_at is not null))
);
select app.wall('app.restriction', 'tenant');
revoke delete on app.restriction from app;
create index restriction_listing_idx on app.restriction (tenant_id, created_at, restriction_id);

-- One row per person: a grant, which may end, or an exclusion, which also holds for the designated officer.
create table app.restriction_access (
  tenant_id      uuid not null,
  restriction_id uuid not null,
  principal      text not null constraint restriction_access_person_ck check (principal like 'user:_%'),
  effect         text not null constraint restriction_access_effect_ck check (effect in ('grant', 'exclude')),
  break_glass    boolean not null default false,
  until          timestamptz,
  reason         text constraint restriction_access_reason_ck check (length(reason) between 1 and 2000),
  granted_at     timestamptz not null default now(),
  granted_by     text not null,
  constraint restriction_access_pkey primary key (tenant_id, restriction_id, principal),
  constraint restriction_access_restriction_fkey foreign key (tenant_id, restriction_id)
    references app.restriction (tenant_id, restriction_id),
  constraint restriction_access_until_ck check (until is null or (effect = 'grant' and until > granted_at)),
  -- Access in an emergency ends by itself, has a reason, and is given by somebody else.
  constraint restriction_access_break_glass_ck check (not break_glass or (effect = 'grant' and reason is not null
    and until is not null and until <= granted_at + interval '8 hours' and granted_by <> principal))
);
select app.wall('app.restriction_access', 'tenant');

-- A second person confirms who is designated, and who no longer is.
create table app.mlro_designation (
  tenant_id      uuid not null,
  designation_id uuid not null,
  user_id        uuid not null,
  effect         text not null constraint mlro_designation_effect_ck check (effect in ('designate', 'end')),
  reason         text not null constraint mlro_designation_reason_ck check (length(reason) between 1 and 2000),
  state          text not null default 'waiting' constraint mlro_designation_state_ck check (state in ('waiting', 'confirmed', 'withdrawn')),
  proposed_at    timestamptz not null default now(),
  proposed_by    text not null constraint mlro_designation_proposer_ck check (proposed_by like 'user:_%'),
  decided_at     timestamptz,
  decided_by     text,
  constraint mlro_designation_pkey primary key (tenant_id, designation_id),
  constraint mlro_designation_user_fkey foreign key (tenant_id, user_id) references app.user_account (tenant_id, user_id),
  constraint mlro_designation_decided_ck check ((state = 'waiting') = (decided_at is null) and (decided_at is null) = (decided_by is null)),
  constraint mlro_designation_four_eyes_ck check (state <> 'confirmed' or (decided_by <> proposed_by and decided_by like 'user:_%'))
);
select app.wall('app.mlro_designation', 'tenant');
revoke delete on app.mlro_designation from app;
create unique index mlro_designation_waiting_key on app.mlro_designation (tenant_id, user_id) where state = 'waiting';
create index mlro_designation_listing_idx on app.mlro_designation (tenant_id, proposed_at, designation_id);

-- What decides about sight: copies of a few columns of the two tables above, kept by triggers. They have no policy of sight, because the policy
-- asks them. Nothing but the functions below reads them.
create table app.restriction_force (
  tenant_id      uuid not null,
  restriction_id uuid not null,
  constraint restriction_force_pkey primary key (tenant_id, restriction_id),
  constraint restriction_force_restriction_fkey foreign key (tenant_id, restriction_id)
    references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.restriction_force', 'tenant');

create table app.restriction_person (
  tenant_id      uuid not null,
  restriction_id uuid not null,
  principal      text not null,
  effect         text not null,
  until          timestamptz,
  constraint restriction_person_pkey primary key (tenant_id, restriction_id, principal),
  constraint restriction_person_access_fkey foreign key (tenant_id, restriction_id, principal)
    references app.restriction_access (tenant_id, restriction_id, principal) on delete cascade
);
select app.wall('app.restriction_person', 'tenant');
create index restriction_person_principal_idx on app.restriction_person (tenant_id, principal) include (restriction_id, effect, until);

create function app.copy_restriction() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  if new.is_in_force then
    insert into app.restriction_force (tenant_id, restriction_id) values (new.tenant_id, new.restriction_id)
      on conflict on constraint restriction_force_pkey do nothing;
  else
    delete from app.restriction_force where tenant_id = new.tenant_id and restriction_id = new.restriction_id;
  end if;
  return null;
end $$;
create trigger restriction_copy after insert or update on app.restriction for each row execute function app.copy_restriction();

create function app.copy_restriction_access() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  insert into app.restriction_person (tenant_id, restriction_id, principal, effect, until)
    values (new.tenant_id, new.restriction_id, new.principal, new.effect, new.until)
    on conflict on constraint restriction_person_pkey do update set effect = excluded.effect, until = excluded.until;
  return null;
end $$;
create trigger restriction_access_copy after insert or update on app.restriction_access
  for each row execute function app.copy_restriction_access();

-- What a person was granted, or the one restriction of a job; few, so a scan of the array is fast.
create function app.granted_restrictions(sight text) returns uuid[]
  language sql stable parallel safe as $$
    select case when sight like 'restriction:%' then array[substr(sight, 13)::uuid]
                when sight like 'principal:%' then (
                  select coalesce(array_agg(p.restriction_id), '{}') from app.restriction_person p
                   where p.tenant_id = app.tenant_id() and p.principal = substr(sight, 11) and p.effect = 'grant'
                     and (p.until is null or p.until > now()))
                else '{}' end
  $$;

-- Null for everybody but the designated officer, who sees all restrictions except these.
create function app.officer_exclusions(sight text) returns uuid[]
  language sql stable parallel safe as $$
    select case when exists (select 1 from app.user_account u where u.tenant_id = app.tenant_id() and u.is_mlro and u.state <> 'inactive'
                                and 'principal:user:' || u.user_id = sight)
                then (select coalesce(array_agg(p.restriction_id), '{}') from app.restriction_person p
                       where p.tenant_id = app.tenant_id() and p.principal = substr(sight, 11) and p.effect = 'exclude') end
  $$;

-- PL/pgSQL keeps the plan: this is called for each restricted row that the caller was not granted.
create function app.is_in_force(restriction uuid) returns boolean
  language plpgsql stable parallel safe as $$
begin
  return exists (select 1 from app.restriction_force f where f.tenant_id = app.tenant_id() and f.restriction_id = restriction);
end $$;

-- Adds the policy that every table with a restriction_id must have; the start-up guard compares it word for word.
create function app.restrict_rows(target regclass) returns void
  language plpgsql as $$
declare
  seen constant text := 'restriction_id is null or (select app.has_full_sight())
                         or restriction_id = any ((select app.granted_restrictions(app.sight()))::uuid[])
                         or restriction_id <> all ((select app.officer_exclusions(app.sight()))::uuid[])
                         or not app.is_in_force(restriction_id)';
begin
  execute format('create policy sight on %s as restrictive using (%s) with check (%s)', target, seen, seen);
end $$;
revoke all on function app.restrict_rows(regclass) from public;

-- A row that belongs to another one takes its restriction. Arguments: the table and the column of the other one's id.
create function app.inherit_restriction() returns trigger
  language plpgsql as $$
declare
  parent uuid;
  found_rows bigint;
begin
  if app.restoring() then return new; end if;
  execute format('select p.restriction_id from app.%I p where p.tenant_id = ($1).tenant_id and p.%I = ($1).%I', tg_argv[0], tg_argv[1], tg_argv[1])
     into parent using new;
  get diagnostics found_rows = row_count;
  -- A foreign key finds hidden rows too; without this the row would have no restriction.
  if found_rows = 0 then
    raise exception 'the row that a row of % belongs to does not exist', tg_table_name using errcode = 'PB004';
  end if;
  new.restriction_id := parent;
  return new;
end $$;

select app.restrict_rows('app.restriction');
select app.restrict_rows('app.restriction_access');

-- Tables that existed. Every stored row has no restriction, so the foreign keys hold without reading them.
do $$
declare
  one record;
begin
  for one in select * from (values
      ('job', null, null),
      ('audit_event', null, null),
      ('mcp_call', null, null),
      ('change_request', null, null),
      ('change_approval', 'change_request', 'cr_id'),
      ('provider_call', null, null),
      ('provider_attempt', 'provider_call', 'call_id'),
      ('provider_page', 'provider_call', 'call_id'),
      ('provider_answer', 'provider_call', 'call_id'),
      ('source_payload', null, null),
      ('source_payload_content', 'source_payload', 'payload_id'),
      ('payload_admission', 'source_payload', 'payload_id'),
      ('quarantine_item', 'source_payload', 'payload_id'),
      ('admission_evidence', 'payload_admission', 'admission_id')
    ) as t (name, parent, parent_key)
  loop
    execute format('alter table app.%I add column if not exists restriction_id uuid', one.name);
    execute format('alter table app.%I add constraint %I foreign key (tenant_id, restriction_id)
                      references app.restriction (tenant_id, restriction_id) not valid', one.name, one.name || '_restriction_fkey');
    perform app.restrict_rows(format('app.%I', one.name)::regclass);
    if one.parent is not null then
      execute format('create trigger %I before insert on app.%I for each row execute function app.inherit_restriction(%L, %L)',
                     one.name || '_restriction', one.name, one.parent, one.parent_key);
    end if;
  end loop;
end $$;

-- The object of a stored response. No policy: only its own principal looks for it, and must learn that it is hidden instead of repeating the effect.
alter table app.idempotency add column object_restriction_id uuid;
alter table app.idempotency add constraint idempotency_restriction_fkey foreign key (tenant_id, object_restriction_id)
  references app.restriction (tenant_id, restriction_id) not valid;

-- Counts of these stay index-only scans.
drop index app.job_due_idx;
create index job_due_idx on app.job (tenant_id, run_at, job_id) include (restriction_id) where state = 'queued';
drop index app.job_running_idx;
create index job_running_idx on app.job (tenant_id) include (restriction_id) where state = 'running';
drop index app.change_request_open_idx;
create index change_request_open_idx on app.change_request (tenant_id, created_at, cr_id) include (restriction_id) where state = 'open';

-- Who read and changed what belongs to a restriction: the events of the audit record, found without an index over all of them.
create table app.restriction_event (
  tenant_id      uuid not null,
  restriction_id uuid not null,
  event_id       uuid not null,
  constraint restriction_event_pkey primary key (tenant_id, restriction_id, event_id),
  constraint restriction_event_restriction_fkey foreign key (tenant_id, restriction_id)
    references app.restriction (tenant_id, restriction_id),
  constraint restriction_event_event_fkey foreign key (tenant_id, event_id) references app.audit_event (tenant_id, event_id)
);
select app.wall('app.restriction_event', 'append');
select app.restrict_rows('app.restriction_event');

-- The hash of an event that belongs to a restriction: an export proves the link to people who may not see the event.
alter table app.audit_link add column event_hash text constraint audit_link_event_hash_ck check (event_hash ~ '^[0-9a-f]{64}$');

-- The restrictions whose events an export contains: whoever may not see one of them may not read the file.
alter table app.audit_run add column restriction_ids uuid[] not null default '{}';
