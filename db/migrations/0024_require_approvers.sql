-- Four eyes stay closed once they can be kept, and a change made past them waits for somebody else to look at it.

-- Until a tenant has people who could approve, whoever sets it up gives roles alone. From this instant on nobody does, whatever
-- becomes of those people. NULL while the tenant is being set up.
alter table app.approval_policy add column set_up_at timestamptz;

-- Whether somebody who may give roles has as many others beside them as must approve. Deactivated people count: an
-- administrator must not become alone by deactivating the others.
create function app.can_approve_roles(p_tenant_id uuid, p_rules jsonb) returns boolean
  language sql stable
  return exists (
    select 1
      from jsonb_to_recordset(p_rules) as rule (action text, approvers bigint, role text)
      join app.user_account maker on maker.tenant_id = p_tenant_id and 'tenant_admin' = any (maker.roles)
     where rule.action = 'roles' and rule.approvers > 0
       and rule.approvers <= (select count(*) from app.user_account u
                               where u.tenant_id = p_tenant_id and rule.role = any (u.roles) and u.user_id <> maker.user_id));

create function app.end_set_up() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() then
    update app.approval_policy p set set_up_at = now()
     where p.tenant_id = new.tenant_id and p.set_up_at is null and app.can_approve_roles(p.tenant_id, p.rules);
  end if;
  return null;
end $$;
create trigger user_account_set_up after update of roles on app.user_account for each row
  when (new.roles is distinct from old.roles) execute function app.end_set_up();

-- Once for each statement, so that many people at once cost no more than one.
create function app.end_set_up_of_added() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() then
    update app.approval_policy p set set_up_at = now()
     where p.tenant_id in (select tenant_id from added) and p.set_up_at is null and app.can_approve_roles(p.tenant_id, p.rules);
  end if;
  return null;
end $$;
create trigger user_account_set_up_added after insert on app.user_account referencing new table as added
  for each statement execute function app.end_set_up_of_added();

-- A token of the built-in issuer counts with the roles its person or key still has. It lives 24 hours at most, so a process
-- needs to know the present roles only of those whose roles changed since.
alter table app.user_account add column roles_changed_at timestamptz;
alter table app.api_key add column roles_changed_at timestamptz;
create index user_account_roles_changed_idx on app.user_account (tenant_id, roles_changed_at) where roles_changed_at is not null;
create index api_key_roles_changed_idx on app.api_key (tenant_id, roles_changed_at) where roles_changed_at is not null;

create function app.note_roles_changed() returns trigger
  language plpgsql as $$
begin
  new.roles_changed_at := now();
  return new;
end $$;
-- What an external issuer says about its people is shown, not decided, here.
create trigger user_account_roles_changed before update of roles on app.user_account for each row
  when (new.roles is distinct from old.roles and new.origin = 'built_in') execute function app.note_roles_changed();
create trigger api_key_roles_changed before update of roles on app.api_key for each row
  when (new.roles is distinct from old.roles) execute function app.note_roles_changed();

create function app.keep_set_up() returns trigger
  language plpgsql as $$
begin
  if old.set_up_at is not null and new.set_up_at is distinct from old.set_up_at then
    raise exception 'a tenant is set up once' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger approval_policy_set_up before update on app.approval_policy for each row execute function app.keep_set_up();

-- One row for each change that was made in an emergency, without the approval its policy asks for. It stands in the inbox of
-- everybody else who could have approved it until one of them acknowledges it.
create table app.break_glass_review (
  tenant_id       uuid not null,
  review_id       uuid not null,
  action          text not null,
  operation       text not null,
  params          jsonb not null,
  body            jsonb,
  reason          text not null,
  required_role   text not null,
  created_at      timestamptz not null default now(),
  created_by      text not null,
  state           text not null default 'open' constraint break_glass_review_state_ck check (state in ('open', 'acknowledged')),
  acknowledged_at timestamptz,
  acknowledged_by text,
  note            text,
  constraint break_glass_review_pkey primary key (tenant_id, review_id),
  constraint break_glass_review_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint break_glass_review_person_ck check (created_by like 'user:%'),
  constraint break_glass_review_acknowledged_ck check ((state = 'acknowledged') = (acknowledged_by is not null)
    and (acknowledged_by is null) = (acknowledged_at is null)),
  constraint break_glass_review_four_eyes_ck check (acknowledged_by <> created_by and acknowledged_by like 'user:%')
);
select app.wall('app.break_glass_review', 'tenant');
revoke delete on app.break_glass_review from app;
create index break_glass_review_created_idx on app.break_glass_review (tenant_id, created_at, review_id);

create function app.keep_break_glass_review() returns trigger
  language plpgsql as $$
begin
  if old.state <> 'open'
     or (to_jsonb(old) - array['state', 'acknowledged_at', 'acknowledged_by', 'note'])
        is distinct from (to_jsonb(new) - array['state', 'acknowledged_at', 'acknowledged_by', 'note']) then
    raise exception 'a break-glass review is acknowledged once and never changed' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger break_glass_review_keep before update on app.break_glass_review
  for each row execute function app.keep_break_glass_review();

-- Existing tenants: those that could approve, and those whose policy was changed since it was made while two people had the
-- role, or without asking for approvers of roles. The owner is behind the walls too, so they stand aside for these statements.
alter table app.tenant no force row level security;
alter table app.approval_policy no force row level security;
alter table app.user_account no force row level security;
update app.approval_policy p set set_up_at = now()
 where app.can_approve_roles(p.tenant_id, p.rules)
    or (p.revision > 1 and exists (
      select 1 from jsonb_to_recordset(p.rules) as rule (action text, approvers bigint, role text)
       where rule.action = 'roles' and rule.approvers > 0
         and (select count(*) from app.user_account u where u.tenant_id = p.tenant_id and rule.role = any (u.roles)) > 1))
    or (p.revision > 1 and jsonb_path_exists(p.rules, '$[*] ? (@.approvers > 0)')
        and not jsonb_path_exists(p.rules, '$[*] ? (@.action == "roles" && @.approvers > 0)'));
-- Whose roles changed last is not known: whoever was changed within the life of a token counts.
update app.user_account set roles_changed_at = updated_at where origin = 'built_in' and updated_at > now() - interval '25 hours';
alter table app.tenant force row level security;
alter table app.approval_policy force row level security;
alter table app.user_account force row level security;
