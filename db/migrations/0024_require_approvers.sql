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

-- Processes intersect the roles of a token with the present ones, so they learn of new people and keys as well.
create function app.bump_access_epoch_of_added() returns trigger
  language plpgsql as $$
begin
  update app.tenant set access_epoch = access_epoch + 1 where tenant_id in (select tenant_id from added);
  return null;
end $$;
create trigger user_account_epoch_added after insert on app.user_account referencing new table as added
  for each statement execute function app.bump_access_epoch_of_added();
create trigger api_key_epoch_added after insert on app.api_key referencing new table as added
  for each statement execute function app.bump_access_epoch_of_added();

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
alter table app.tenant force row level security;
alter table app.approval_policy force row level security;
alter table app.user_account force row level security;
