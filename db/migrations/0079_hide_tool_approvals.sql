-- A tool call that waits for a person has the restriction of what its arguments name, or of what its run worked on, and is hidden with it.
-- See docs/adr/0065-restrict-rows-to-people.md. What arguments and outcomes name beside it is hidden by the queries, like an export.

alter table app.mcp_approval
  add column restriction_id uuid,
  add column named_restriction_ids uuid[] not null default '{}',
  add constraint mcp_approval_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id);

-- Of the ids, those that name a row which may belong to a restriction, as the caller sees them.
create function app.find_restricted(tenant uuid, ids uuid[]) returns table (id uuid, restriction uuid)
  language plpgsql stable as $$
begin
  return query
    select r.restriction_id, r.restriction_id from app.restriction r where r.tenant_id = tenant and r.restriction_id = any (ids)
    union all select r.investigation_id, r.restriction_id from app.investigation r where r.tenant_id = tenant and r.investigation_id = any (ids)
    union all select r.alert_id, r.restriction_id from app.alert r where r.tenant_id = tenant and r.alert_id = any (ids)
    union all select r.job_id, r.restriction_id from app.job r where r.tenant_id = tenant and r.job_id = any (ids)
    union all select r.call_id, r.restriction_id from app.provider_call r where r.tenant_id = tenant and r.call_id = any (ids)
    union all select r.payload_id, r.restriction_id from app.source_payload r where r.tenant_id = tenant and r.payload_id = any (ids)
    union all select r.report_id, r.restriction_id from app.report r where r.tenant_id = tenant and r.report_id = any (ids)
    union all select r.schedule_id, r.restriction_id from app.report_schedule r where r.tenant_id = tenant and r.schedule_id = any (ids)
    union all select r.document_id, r.restriction_id from app.document r where r.tenant_id = tenant and r.document_id = any (ids)
    union all select r.evidence_id, r.restriction_id from app.evidence_item r where r.tenant_id = tenant and r.evidence_id = any (ids)
    union all select r.hold_id, r.restriction_id from app.hold r where r.tenant_id = tenant and r.hold_id = any (ids)
    union all select r.cr_id, r.restriction_id from app.change_request r where r.tenant_id = tenant and r.cr_id = any (ids)
    union all select e.event_id, s.of_event from app.audit_event e cross join lateral unnest(array[e.restriction_id, e.also_restriction_id]) as s (of_event)
               where e.tenant_id = tenant and e.event_id = any (ids);
end $$;

-- The restrictions of what the texts of a document name; one that is in force first.
create function app.list_named_restrictions(tenant uuid, content jsonb) returns uuid[]
  language plpgsql stable as $$
declare
  ids constant uuid[] := array(
    select distinct (v #>> '{}')::uuid from jsonb_path_query(content, 'lax $.** ? (@.type() == "string")') as v
     where v #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$');
begin
  if cardinality(ids) = 0 then return '{}'; end if;
  return array(
    select n.restriction from (select distinct f.restriction from app.find_restricted(tenant, ids) f where f.restriction is not null) n
      left join app.restriction_force i on i.tenant_id = tenant and i.restriction_id = n.restriction
     order by i.restriction_id is null, n.restriction);
end $$;

create function app.restrict_mcp_approval() returns trigger
  language plpgsql as $$
declare
  named uuid[];
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    new.named_restriction_ids := app.list_named_restrictions(new.tenant_id, new.arguments);
    new.restriction_id := coalesce(new.restriction_id, new.named_restriction_ids[1]);
    return new;
  end if;
  named := app.list_named_restrictions(new.tenant_id, new.outcome);
  new.named_restriction_ids := array(select unnest(old.named_restriction_ids) union select unnest(named));
  return new;
end $$;
create trigger mcp_approval_restriction before insert on app.mcp_approval
  for each row execute function app.restrict_mcp_approval();
create trigger mcp_approval_outcome_restrictions before update of outcome on app.mcp_approval
  for each row when (old.outcome is null and new.outcome is not null) execute function app.restrict_mcp_approval();
create trigger mcp_approval_restriction_kept before update of restriction_id, named_restriction_ids on app.mcp_approval
  for each row when (old.restriction_id is not null and new.restriction_id is distinct from old.restriction_id
                     or not (new.named_restriction_ids @> old.named_restriction_ids))
  execute function app.keep_restriction();

-- What the operation worked on is known when it has run. A call about an approval belongs to what the approval belongs to.
create function app.restrict_approved_call() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if new.restriction_id is null then
    new.restriction_id := (select a.restriction_id from app.mcp_approval a where a.tenant_id = new.tenant_id and a.approval_id = new.approval_id);
  else
    update app.mcp_approval set restriction_id = new.restriction_id
     where tenant_id = new.tenant_id and approval_id = new.approval_id and restriction_id is null and state = 'approved';
  end if;
  return new;
end $$;
create trigger mcp_call_approval_restriction before insert on app.mcp_call
  for each row when (new.approval_id is not null) execute function app.restrict_approved_call();

-- Past calls.
do $$
declare
  tables constant text[] := '{mcp_approval,mcp_call,restriction,restriction_force,investigation,alert,job,provider_call,source_payload,report,report_schedule,document,evidence_item,hold,change_request,audit_event}';
  one text;
begin
  foreach one in array tables loop
    execute format('alter table app.%I no force row level security', one);
  end loop;
  alter table app.mcp_approval disable trigger user;
  alter table app.mcp_call disable trigger user;
  update app.mcp_approval a set named_restriction_ids = n.ids
    from app.mcp_approval b cross join lateral (
      select app.list_named_restrictions(b.tenant_id, jsonb_build_array(b.arguments, b.outcome)) as ids) n
   where b.tenant_id = a.tenant_id and b.approval_id = a.approval_id and cardinality(n.ids) > 0;
  -- What the run worked on, else what the arguments name. An outcome may list much that the call is not about.
  update app.mcp_approval a set restriction_id = coalesce(
    (select c.restriction_id from app.mcp_call c
      where c.tenant_id = a.tenant_id and c.approval_id = a.approval_id and c.restriction_id is not null order by c.called_at limit 1),
    (app.list_named_restrictions(a.tenant_id, a.arguments))[1]);
  update app.mcp_call c set restriction_id = a.restriction_id
    from app.mcp_approval a
   where a.tenant_id = c.tenant_id and a.approval_id = c.approval_id and c.restriction_id is null and a.restriction_id is not null;
  alter table app.mcp_call enable trigger user;
  alter table app.mcp_approval enable trigger user;
  foreach one in array tables loop
    execute format('alter table app.%I force row level security', one);
  end loop;
end $$;

select app.restrict_rows('app.mcp_approval');
