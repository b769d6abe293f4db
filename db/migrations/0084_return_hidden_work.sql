-- Open work that its assignee may no longer see goes back to its queue, as with a deactivation (app.return_work): otherwise nobody works on it.
-- See docs/adr/0065-restrict-rows-to-people.md.

create function app.return_hidden_work() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  person text;
  restriction uuid;
begin
  if app.restoring() then return null; end if;
  if tg_table_name = 'user_account' then
    person := 'user:' || new.user_id;
  elsif tg_op = 'DELETE' then
    restriction := old.restriction_id;
  else
    restriction := new.restriction_id;
  end if;
  -- Whoever ends the access may not see the work. The sight is widened for this one statement, which returns nothing.
  perform set_config('app.sight', 'all', true);
  update app.work_item w set assignee = null, assigned_at = null, assigned_by = null, revision = w.revision + 1
   where w.tenant_id = app.tenant_id() and w.state = 'open' and w.assignee is not null and w.restriction_id is not null
     and w.restriction_id = coalesce(restriction, w.restriction_id) and w.assignee = coalesce(person, w.assignee)
     and not app.may_see(w.assignee, w.restriction_id);
  perform set_config('app.sight', before, true);
  return null;
end $$;
-- Triggers run in the order of their names: after those that copy what decides about sight.
create trigger restriction_access_return_work after insert or update or delete on app.restriction_access
  for each row execute function app.return_hidden_work();
create trigger restriction_return_work after update on app.restriction
  for each row when (new.is_in_force and not old.is_in_force) execute function app.return_hidden_work();
create trigger user_account_return_hidden_work after update of is_mlro on app.user_account
  for each row when (old.is_mlro and not new.is_mlro) execute function app.return_hidden_work();

-- Work that was left with somebody before. What reads it asks for one tenant at a time.
alter table app.tenant no force row level security;
set constraints all immediate;
do $$
declare
  ids constant uuid[] := (select array_agg(t.tenant_id) from app.tenant t);
  id uuid;
begin
  perform set_config('app.sight', 'all', true);
  foreach id in array coalesce(ids, '{}') loop
    perform set_config('app.tenant_id', id::text, true);
    update app.work_item w set assignee = null, assigned_at = null, assigned_by = null, revision = w.revision + 1
     where w.tenant_id = id and w.state = 'open' and w.assignee is not null and w.restriction_id is not null
       and not app.may_see(w.assignee, w.restriction_id);
  end loop;
  perform set_config('app.tenant_id', '', true);
  perform set_config('app.sight', '', true);
end $$;
set constraints all deferred;
alter table app.tenant force row level security;
