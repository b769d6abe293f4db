-- A tool call that was approved may not have run, because a plugin or the server could not run it. It can then be denied and expires
-- like one that waits. While it runs it can be neither.

alter table app.mcp_approval
  -- A run that ends, in whatever way, clears it. A process that stops cannot.
  add column running_until timestamptz,
  -- The problem of the last run, where it was not the answer of the operation.
  add column run_problem text constraint mcp_approval_run_problem_ck check (length(run_problem) between 1 and 100),
  -- When the operation took effect; the outcome is stored after it.
  add column ran_at timestamptz,
  add constraint mcp_approval_running_ck check (running_until is null or state = 'approved'),
  add constraint mcp_approval_run_problem_state_ck check (run_problem is null or state in ('approved', 'denied')),
  add constraint mcp_approval_ran_ck check (ran_at is null or state in ('approved', 'succeeded', 'failed'));

alter table app.mcp_approval no force row level security;
alter table app.mcp_call no force row level security;
alter table app.mcp_approval disable trigger user;
update app.mcp_approval a set ran_at = c.called_at
  from app.mcp_call c
 where a.state = 'approved' and c.tenant_id = a.tenant_id and c.approval_id = a.approval_id and c.problem is null;
alter table app.mcp_approval enable trigger user;
alter table app.mcp_call force row level security;
alter table app.mcp_approval force row level security;

create or replace function app.keep_mcp_approval() returns trigger
  language plpgsql as $$
declare
  was_running constant boolean := coalesce(old.running_until > now(), false);
begin
  if app.restoring() then return new; end if;
  if (new.tool, new.operation, new.arguments, new.arguments_hash, new.requested_by, new.requested_roles, new.requested_at, new.expires_at)
     is distinct from
     (old.tool, old.operation, old.arguments, old.arguments_hash, old.requested_by, old.requested_roles, old.requested_at, old.expires_at) then
    raise exception 'what waits for a person never changes' using errcode = 'PB002';
  end if;
  if old.ran_at is not null and new.ran_at is distinct from old.ran_at then
    raise exception 'when a tool call took effect never changes' using errcode = 'PB002';
  end if;
  if not ((old.state = 'waiting' and new.state in ('approved', 'denied')) or (old.state = 'approved' and new.state in ('succeeded', 'failed'))
          or (old.state = 'approved' and new.state = 'denied' and old.ran_at is null and not was_running)
          or (old.state = new.state and old.collected_at is null)) then
    raise exception 'a tool call is decided once and runs once' using errcode = 'PB002';
  end if;
  if old.state = 'approved' and new.state = 'approved'
     and (new.decided_by, new.decided_at, new.note) is distinct from (old.decided_by, old.decided_at, old.note) then
    raise exception 'who approved a tool call never changes' using errcode = 'PB002';
  end if;
  if new.state = 'approved' and (old.state = 'waiting' or new.running_until > now()) and now() > new.expires_at
     and old.ran_at is null and not was_running then
    raise exception 'a tool call that has expired is neither approved nor run' using errcode = 'PB002';
  end if;
  return new;
end $$;

-- In the transaction of the effect: what was denied meanwhile has none.
create function app.note_approved_run() returns trigger
  language plpgsql as $$
declare
  found_state text;
begin
  if app.restoring() then return new; end if;
  update app.mcp_approval set ran_at = now()
   where tenant_id = new.tenant_id and approval_id = new.approval_id and state = 'approved' and ran_at is null;
  if found then return new; end if;
  select state into found_state from app.mcp_approval where tenant_id = new.tenant_id and approval_id = new.approval_id;
  if found_state in ('waiting', 'denied') then
    raise exception 'the call is %', found_state using errcode = 'PB010';
  end if;
  return new;
end $$;
create trigger mcp_call_approved_run before insert on app.mcp_call
  for each row when (new.approval_id is not null and new.problem is null) execute function app.note_approved_run();
