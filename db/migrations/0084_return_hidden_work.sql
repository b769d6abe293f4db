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

-- Merged cases ----------------------------------------------------------------------------------------------------------

-- A merged case proves that the other one exists: it belongs to the restriction of the case that goes on with it too.
-- See docs/adr/0079-seal-what-the-archive-shows.md.
alter table app.investigation add column also_restriction_id uuid;
alter table app.investigation add constraint investigation_also_restriction_fkey foreign key (tenant_id, also_restriction_id)
  references app.restriction (tenant_id, restriction_id);
alter table app.investigation add constraint investigation_also_restriction_ck check (also_restriction_id is null or restriction_id is not null);
select app.restrict_rows('app.investigation');

-- Of a case that was merged into one that was merged, the last one counts. Read with full sight: an event of the merged case must not lose it.
create function app.inherit_merged_restriction() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
begin
  if app.restoring() then return new; end if;
  new.also_restriction_id := null;
  if new.merged_into is null then return new; end if;
  perform set_config('app.sight', 'all', true);
  with recursive chain as (
    select i.merged_into, i.restriction_id from app.investigation i
     where i.tenant_id = new.tenant_id and i.investigation_id = new.merged_into
    union
    select i.merged_into, i.restriction_id from app.investigation i join chain c on i.tenant_id = new.tenant_id and i.investigation_id = c.merged_into
  )
  select nullif(c.restriction_id, new.restriction_id) into new.also_restriction_id from chain c where c.merged_into is null;
  perform set_config('app.sight', before, true);
  return new;
end $$;
create trigger investigation_merged_restriction before insert or update on app.investigation
  for each row when (new.merged_into is not null or new.also_restriction_id is not null) execute function app.inherit_merged_restriction();

-- Cases that were merged into this one go on with it; what they belong to is found by the trigger above.
create function app.follow_merged_case() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
begin
  if app.restoring() then return null; end if;
  perform set_config('app.sight', 'all', true);
  with recursive chain as (
    select i.investigation_id from app.investigation i where i.tenant_id = new.tenant_id and i.merged_into = new.investigation_id
    union
    select i.investigation_id from app.investigation i join chain c on i.tenant_id = new.tenant_id and i.merged_into = c.investigation_id
  )
  update app.investigation i set also_restriction_id = new.also_restriction_id
   where i.tenant_id = new.tenant_id and i.investigation_id in (select c.investigation_id from chain c);
  perform set_config('app.sight', before, true);
  return null;
end $$;
create trigger investigation_merged_follow after update on app.investigation
  for each row when (new.merged_into is not null and old.merged_into is null) execute function app.follow_merged_case();

alter table app.investigation no force row level security;
alter table app.audit_event no force row level security;
alter table app.restriction_event no force row level security;
alter table app.investigation disable trigger user;
alter table app.audit_event disable trigger user;
alter table app.restriction_event disable trigger user;
with recursive chain as (
  select i.tenant_id, i.investigation_id, i.merged_into from app.investigation i where i.merged_into is not null
  union
  select c.tenant_id, c.investigation_id, i.merged_into
    from chain c join app.investigation i on i.tenant_id = c.tenant_id and i.investigation_id = c.merged_into where i.merged_into is not null
)
update app.investigation m set also_restriction_id = i.restriction_id
  from chain c join app.investigation i on i.tenant_id = c.tenant_id and i.investigation_id = c.merged_into and i.merged_into is null
 where m.tenant_id = c.tenant_id and m.investigation_id = c.investigation_id and i.restriction_id <> m.restriction_id;
with changed as (
  update app.audit_event e set also_restriction_id = i.restriction_id
    from app.investigation m join app.investigation i on i.tenant_id = m.tenant_id and i.investigation_id = m.merged_into
   where e.operation = 'mergeInvestigation' and e.tenant_id = m.tenant_id and e.object_id = m.investigation_id::text
     and e.restriction_id is not null and e.also_restriction_id is null and i.restriction_id <> e.restriction_id
  returning e.tenant_id, e.also_restriction_id, e.event_id
)
insert into app.restriction_event (tenant_id, restriction_id, event_id) select tenant_id, also_restriction_id, event_id from changed;
alter table app.restriction_event enable trigger user;
alter table app.audit_event enable trigger user;
alter table app.investigation enable trigger user;
alter table app.restriction_event force row level security;
alter table app.audit_event force row level security;
alter table app.investigation force row level security;
