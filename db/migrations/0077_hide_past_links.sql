-- Events that linked alerts to a case before such an event belonged to the alert too. See docs/adr/0091-hide-events-of-two-restrictions.md.
-- An event names one alert beside the case: of several it is one whose restriction is in force, otherwise the first.

alter table app.audit_event no force row level security;
alter table app.restriction_event no force row level security;
alter table app.restriction_force no force row level security;
alter table app.alert no force row level security;
alter table app.audit_event disable trigger user;
alter table app.restriction_event disable trigger user;
with linked as (
  select distinct on (e.tenant_id, e.event_id) e.tenant_id, e.event_id, a.restriction_id
    from app.audit_event e
    cross join lateral jsonb_array_elements(e.detail::jsonb -> 'diff') as d (member)
    cross join lateral jsonb_array_elements_text(
      case when d.member ->> 'member' = 'linked' and jsonb_typeof(d.member -> 'after') = 'array' then d.member -> 'after' else '[]' end)
      with ordinality as l (alert_id, place)
    join app.alert a on a.tenant_id = e.tenant_id and a.alert_id = l.alert_id::uuid
    left join app.restriction_force f on f.tenant_id = a.tenant_id and f.restriction_id = a.restriction_id
   where e.operation = 'linkInvestigationAlerts' and e.also_restriction_id is null and a.restriction_id <> e.restriction_id
   order by e.tenant_id, e.event_id, f.restriction_id is null, l.place
), changed as (
  update app.audit_event e set also_restriction_id = l.restriction_id
    from linked l where e.tenant_id = l.tenant_id and e.event_id = l.event_id
  returning e.tenant_id, e.also_restriction_id, e.event_id
)
insert into app.restriction_event (tenant_id, restriction_id, event_id) select tenant_id, also_restriction_id, event_id from changed;
alter table app.restriction_event enable trigger user;
alter table app.audit_event enable trigger user;
alter table app.alert force row level security;
alter table app.restriction_force force row level security;
alter table app.restriction_event force row level security;
alter table app.audit_event force row level security;
