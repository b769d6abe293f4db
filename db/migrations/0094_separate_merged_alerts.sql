-- What is hidden with a case that others were merged into joins nothing that others report: a report of the same match would meet an alert that its
-- sender may not see. See docs/adr/0091-hide-events-of-two-restrictions.md. And no text about an erased subject is stored by way of work, of the end of
-- a suppression or of a tool call that waits. See docs/adr/0067-hold-and-erase.md.

-- Of the restriction, and of what was merged into it. Whoever imposes it may not see those; the sight is widened for one statement that returns nothing.
create function app.separate_merged(tenant uuid, restriction uuid) returns void
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  ids uuid[];
begin
  perform set_config('app.sight', 'all', true);
  ids := array(select restriction union select m.from_id from app.restriction_merged m where m.tenant_id = tenant and m.into_id = restriction);
  update app.alert set dedup_scope = restriction_id where tenant_id = tenant and restriction_id = any (ids) and dedup_scope <> restriction_id;
  update app.investigation set joins = false where tenant_id = tenant and restriction_id = any (ids) and joins
     and state <> 'merged';
  perform set_config('app.sight', before, true);
end $$;

create or replace function app.separate_alerts() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return null; end if;
  perform app.separate_merged(new.tenant_id, new.restriction_id);
  return null;
end $$;
drop trigger restriction_investigations on app.restriction;
drop function app.separate_investigations();

-- Erased subjects -------------------------------------------------------------------------------------------------------

create function app.is_alert_erased(tenant uuid, alert uuid) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select 1 from app.alert a
                  where a.tenant_id = tenant and a.alert_id = alert and a.subject_id is not null and app.is_erased(tenant, a.subject_id));
end $$;

-- The work is given away all the same.
create function app.drop_reason_of_erased() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and app.is_alert_erased(new.tenant_id, new.object_id) then new.assign_reason := null; end if;
  return new;
end $$;
create trigger work_item_erased before update of assign_reason on app.work_item
  for each row when (new.object_kind = 'alert' and new.assign_reason is distinct from old.assign_reason and new.assign_reason is not null)
  execute function app.drop_reason_of_erased();

-- The suppression ends all the same, with the word that the erasure leaves of a reason.
create function app.drop_end_reason_of_erased() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and app.is_erased(new.tenant_id, new.subject_id) then new.end_reason := 'erased'; end if;
  return new;
end $$;
create trigger alert_suppression_erased before update of end_reason on app.alert_suppression
  for each row when (new.subject_id is not null and new.end_reason is distinct from old.end_reason and new.end_reason is not null)
  execute function app.drop_end_reason_of_erased();

-- A call that waits stores its arguments. It would be refused when it runs.
create function app.refuse_call_about_erased() returns trigger
  language plpgsql as $$
declare
  named uuid[];
begin
  if app.restoring() then return new; end if;
  named := array(select (m.found)[1]::uuid
    from regexp_matches(new.arguments::text, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'g') as m (found));
  if cardinality(named) > 0 and exists (
       select 1 from (
            select n.id from unnest(named) as n (id)
            union all select a.subject_id from app.alert a where a.tenant_id = new.tenant_id and a.alert_id = any (named)
            union all select i.subject_id from app.investigation i where i.tenant_id = new.tenant_id and i.investigation_id = any (named)
            union all select d.subject_id from app.document d where d.tenant_id = new.tenant_id and d.document_id = any (named)) o (subject_id)
        where o.subject_id is not null and app.is_erased(new.tenant_id, o.subject_id)) then
    raise exception 'the subject is erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
create trigger mcp_approval_erased before insert on app.mcp_approval for each row execute function app.refuse_call_about_erased();

-- What was merged before ------------------------------------------------------------------------------------------------

alter table app.restriction_merged no force row level security;
alter table app.restriction_force no force row level security;
alter table app.alert no force row level security;
alter table app.investigation no force row level security;
alter table app.alert disable trigger user;
alter table app.investigation disable trigger user;
update app.alert a set dedup_scope = a.restriction_id
  from app.restriction_merged m join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id
 where a.tenant_id = m.tenant_id and a.restriction_id = m.from_id and a.dedup_scope <> a.restriction_id;
update app.investigation i set joins = false
  from app.restriction_merged m join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id
 where i.tenant_id = m.tenant_id and i.restriction_id = m.from_id and i.joins and i.state <> 'merged';
alter table app.investigation enable trigger user;
alter table app.alert enable trigger user;
alter table app.investigation force row level security;
alter table app.alert force row level security;
alter table app.restriction_force force row level security;
alter table app.restriction_merged force row level security;
