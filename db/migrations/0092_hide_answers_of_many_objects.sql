-- A stored answer is hidden with every object that its request names. See docs/adr/0091-hide-events-of-two-restrictions.md.

alter table app.idempotency add column object_named_restriction_ids uuid[] not null default '{}';

-- Answers that are kept already have the ids in clear.
alter table app.alert no force row level security;
alter table app.investigation no force row level security;
alter table app.work_item no force row level security;
alter table app.idempotency no force row level security;
with named as (
  select i.tenant_id, i.principal, i.operation, i.key, m.id[1]::uuid as id
    from app.idempotency i
   cross join lateral regexp_matches(i.body, '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', 'g') as m (id)
   where i.operation in ('updateAlerts', 'reassignWork', 'linkInvestigationAlerts', 'createAlert', 'claimAlert', 'assignAlert', 'releaseAlert',
     'snoozeAlert', 'wakeAlert', 'dismissAlert', 'confirmAlertDismissal', 'returnAlertDismissal', 'escalateAlert')
), carried as (
  select n.tenant_id, n.principal, n.operation, n.key, array_agg(distinct o.restriction_id) as restriction_ids
    from named n
    join (select a.tenant_id, a.alert_id as id, a.restriction_id from app.alert a
          union all
          select v.tenant_id, v.investigation_id, v.restriction_id from app.investigation v
          union all
          select w.tenant_id, w.object_id, w.restriction_id from app.work_item w) o on o.tenant_id = n.tenant_id and o.id = n.id
   where o.restriction_id is not null
   group by n.tenant_id, n.principal, n.operation, n.key
)
update app.idempotency i set object_named_restriction_ids = c.restriction_ids
  from carried c
 where (i.tenant_id, i.principal, i.operation, i.key) = (c.tenant_id, c.principal, c.operation, c.key);
alter table app.idempotency force row level security;
alter table app.work_item force row level security;
alter table app.investigation force row level security;
alter table app.alert force row level security;

-- One that has expired is replaced by that of another request.
drop trigger idempotency_restriction_kept on app.idempotency;
create trigger idempotency_restriction_kept
  before update of object_restriction_id, object_also_restriction_id, object_named_restriction_ids on app.idempotency
  for each row when (old.expires_at > now() and (
    old.object_restriction_id is not null and new.object_restriction_id is distinct from old.object_restriction_id
    or old.object_also_restriction_id is not null and new.object_also_restriction_id is distinct from old.object_also_restriction_id
    or not old.object_named_restriction_ids <@ new.object_named_restriction_ids))
  execute function app.keep_restriction();
