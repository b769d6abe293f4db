-- Tool calls and reports that name or show something hidden are hidden content about their subject too.
-- See docs/adr/0076-erase-only-what-somebody-sees.md.

-- Evidence belongs to the restriction of its object too.
create or replace function app.find_restricted(tenant uuid, ids uuid[]) returns table (id uuid, restriction uuid)
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
    union all select r.hold_id, r.restriction_id from app.hold r where r.tenant_id = tenant and r.hold_id = any (ids)
    union all select r.cr_id, r.restriction_id from app.change_request r where r.tenant_id = tenant and r.cr_id = any (ids)
    union all select r.evidence_id, s.of_item from app.evidence_item r cross join lateral unnest(array[r.restriction_id, r.also_restriction_id]) as s (of_item)
               where r.tenant_id = tenant and r.evidence_id = any (ids)
    union all select e.event_id, s.of_event from app.audit_event e cross join lateral unnest(array[e.restriction_id, e.also_restriction_id]) as s (of_event)
               where e.tenant_id = tenant and e.event_id = any (ids);
end $$;

alter table app.mcp_approval no force row level security;
alter table app.evidence_item no force row level security;
alter table app.mcp_approval disable trigger user;
update app.mcp_approval a set named_restriction_ids = array(select unnest(a.named_restriction_ids) union select unnest(n.ids))
  from (select b.tenant_id, b.approval_id, array_agg(distinct e.also_restriction_id) as ids
          from app.mcp_approval b
         cross join lateral jsonb_path_query(jsonb_build_array(b.arguments, b.outcome), 'lax $.** ? (@.type() == "string")') as v
          join app.evidence_item e on e.tenant_id = b.tenant_id and e.evidence_id::text = lower(v #>> '{}')
         where e.also_restriction_id is not null group by b.tenant_id, b.approval_id) n
 where n.tenant_id = a.tenant_id and n.approval_id = a.approval_id;
alter table app.mcp_approval enable trigger user;
alter table app.evidence_item force row level security;
alter table app.mcp_approval force row level security;

create or replace function app.refuse_hidden_erasure() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  one record;
  is_hidden boolean := false;
begin
  if app.restoring() then return new; end if;
  -- Whoever stores something about the subject has its row locked: it is seen here, or refused afterwards.
  perform 1 from app.subject s where s.tenant_id = new.tenant_id and s.subject_id = new.subject_id for update;
  perform set_config('app.sight', 'all', true);
  for one in
    select c.relname as table_name, o.attname as owner_column,
           (select string_agg('t.' || r.attname, ', ') from pg_attribute r
             where r.attrelid = c.oid and r.attname in ('restriction_id', 'also_restriction_id') and not r.attisdropped) as restrictions
      from pg_class c
      join pg_attribute r on r.attrelid = c.oid and r.attname = 'restriction_id' and not r.attisdropped
      join pg_attribute o on o.attrelid = c.oid and o.attname in ('subject_id', 'owner_id') and o.atttypid = 'uuid'::regtype and not o.attisdropped
     where c.relnamespace = 'app'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  loop
    execute format('select exists (select 1 from app.%I t where t.tenant_id = $1 and t.%I = $2 and t.restriction_id is not null
                      and not (app.may_see_all($3, array[%s]) or app.may_see_all($4, array[%3$s])))',
                   one.table_name, one.owner_column, one.restrictions)
       into is_hidden using new.tenant_id, new.subject_id, new.requested_by, new.confirmed_by;
    exit when is_hidden;
  end loop;
  -- Hidden by what they name: evidence on an alert or a case, reports by their sources, tool calls by their arguments and outcome.
  is_hidden := is_hidden or exists (
    select 1 from (
      select array[e.restriction_id, e.also_restriction_id] as ids
        from (select a.alert_id as id from app.alert a where a.tenant_id = new.tenant_id and a.subject_id = new.subject_id
              union all
              select i.investigation_id from app.investigation i where i.tenant_id = new.tenant_id and i.subject_id = new.subject_id) o
        join app.evidence_item e on e.tenant_id = new.tenant_id and e.owner_id = o.id
       where e.also_restriction_id is not null
      union all
      select r.restriction_id || array(select s.restriction_id from app.report_source s where s.tenant_id = r.tenant_id and s.report_id = r.report_id)
        from app.report r
       where r.tenant_id = new.tenant_id and r.subject_id = new.subject_id and r.source_count > 0
      union all
      select p.restriction_id || p.named_restriction_ids from app.mcp_approval p
       where p.tenant_id = new.tenant_id and (p.restriction_id is not null or p.named_restriction_ids <> '{}')
         and app.subject_named(p.arguments) = new.subject_id) h
     where not (app.may_see_all(new.requested_by, h.ids) or app.may_see_all(new.confirmed_by, h.ids)));
  perform set_config('app.sight', before, true);
  if is_hidden then
    raise exception 'a legal hold keeps the subject' using errcode = 'PB008';
  end if;
  return new;
end $$;
