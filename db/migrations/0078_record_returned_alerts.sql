-- Who works on an alert is copied from its work item when the transaction ends, so that its history also says when work was reassigned, or
-- returned because a person was deactivated. Before, the next claim by the same person was recorded without a change.

create function app.copy_assignee() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
begin
  if app.restoring() then return null; end if;
  -- A restricted alert too, as in app.return_work: nothing is returned.
  perform set_config('app.sight', 'all', true);
  update app.alert a set worked_by = w.assignee, updated_at = now(), revision = a.revision + 1
    from app.work_item w
   where w.tenant_id = new.tenant_id and w.object_kind = 'alert' and w.object_id = new.object_id and w.state = 'open'
     and a.tenant_id = w.tenant_id and a.alert_id = w.object_id and a.state in ('new', 'snoozed')
     and a.worked_by is distinct from w.assignee;
  perform set_config('app.sight', before, true);
  return null;
end $$;
create constraint trigger work_item_assignee after update of assignee on app.work_item
  deferrable initially deferred
  for each row when (new.object_kind = 'alert' and new.assignee is distinct from old.assignee) execute function app.copy_assignee();
