-- Events about something that belongs to two restrictions carry both: evidence of a case names a document or a call with a restriction of
-- its own. See docs/adr/0091-hide-events-of-two-restrictions.md.

-- The sight of the record of a change is that of its one or two restrictions: `restriction:<id>,<id>`.
create or replace function app.granted_restrictions(sight text) returns uuid[]
  language plpgsql stable parallel safe as $$
begin
  if sight like 'restriction:%' then return string_to_array(substr(sight, 13), ',')::uuid[]; end if;
  if sight is null or sight not like 'principal:%' then return '{}'; end if;
  return (select coalesce(array_agg(p.restriction_id), '{}') from app.restriction_person p
           where p.tenant_id = app.tenant_id() and p.principal = substr(sight, 11) and p.effect = 'grant'
             and (p.until is null or p.until > now()));
end $$;

-- The policy asks each column that a table has in the same form.
create or replace function app.restrict_rows(target regclass) returns void
  language plpgsql as $$
declare
  seen text;
begin
  select string_agg(format('(%1$I is null
                             or not app.is_in_force(%1$I, (select app.hidden_restrictions(app.sight()) || ''{}''))
                             or %1$I = any ((select app.granted_restrictions(app.sight()))::uuid[]))', a.attname),
                    ' and ' order by a.attnum)
    into strict seen from pg_attribute a
   where a.attrelid = target and not a.attisdropped and a.attname in ('restriction_id', 'also_restriction_id');
  execute format('drop policy if exists sight on %s', target);
  execute format('create policy sight on %s as restrictive using (%s) with check (%s)', target, seen, seen);
end $$;

-- Every stored row has null, so the constraints hold without reading them. A first restriction is required: by it the chain writer knows
-- of which events a link keeps the hash.
do $$
declare
  target text;
begin
  foreach target in array array['audit_event', 'event'] loop
    execute format('alter table app.%I add column also_restriction_id uuid', target);
    execute format('alter table app.%I add constraint %I foreign key (tenant_id, also_restriction_id)
                      references app.restriction (tenant_id, restriction_id) not valid', target, target || '_also_restriction_fkey');
    execute format('alter table app.%I add constraint %I check (also_restriction_id is null or restriction_id is not null) not valid',
                   target, target || '_also_restriction_ck');
    perform app.restrict_rows(format('app.%I', target)::regclass);
  end loop;
end $$;

alter table app.idempotency add column object_also_restriction_id uuid;
alter table app.idempotency add constraint idempotency_also_restriction_fkey foreign key (tenant_id, object_also_restriction_id)
  references app.restriction (tenant_id, restriction_id) not valid;

create or replace function app.keep_event() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if old.seq is not null
     or (new.tenant_id, new.event_id, new.txid, new.event_type, new.object_kind, new.object_id, new.data, new.occurred_at,
         new.restriction_id, new.also_restriction_id)
        is distinct from
        (old.tenant_id, old.event_id, old.txid, old.event_type, old.object_kind, old.object_id, old.data, old.occurred_at,
         old.restriction_id, old.also_restriction_id) then
    raise exception 'an event is numbered once, and never changed' using errcode = 'PB002';
  end if;
  return new;
end $$;

-- Events of evidence that were recorded before: the restriction of its object. Neither column is part of what is hashed.
alter table app.audit_event no force row level security;
alter table app.restriction_event no force row level security;
alter table app.evidence_item no force row level security;
alter table app.document no force row level security;
alter table app.provider_call no force row level security;
alter table app.investigation_request no force row level security;
alter table app.audit_event disable trigger user;
alter table app.restriction_event disable trigger user;
with named as (
  select i.tenant_id, i.evidence_id, coalesce(d.restriction_id, c.restriction_id) as restriction_id
    from app.evidence_item i
    left join app.document d on i.kind = 'document' and d.tenant_id = i.tenant_id and d.document_id = i.object_id
    left join app.provider_call c on i.kind = 'provider_call' and c.tenant_id = i.tenant_id and c.call_id = i.object_id
), about as (
  select n.tenant_id, n.restriction_id, 'evidence' as object_type, n.evidence_id::text as object_id, null::text as mentioned from named n
  union all
  select n.tenant_id, n.restriction_id, 'investigations', r.investigation_id::text, '%"' || n.evidence_id || '"%'
    from named n join app.investigation_request r on r.tenant_id = n.tenant_id and r.evidence_id = n.evidence_id
), changed as (
  update app.audit_event e set also_restriction_id = a.restriction_id
    from about a
   where e.tenant_id = a.tenant_id and e.object_type = a.object_type and e.object_id = a.object_id and e.restriction_id <> a.restriction_id
     and (a.mentioned is null or (e.operation = 'fulfilInformationRequest' and e.detail like a.mentioned))
  returning e.tenant_id, e.also_restriction_id, e.event_id
)
insert into app.restriction_event (tenant_id, restriction_id, event_id) select tenant_id, also_restriction_id, event_id from changed;
alter table app.restriction_event enable trigger user;
alter table app.audit_event enable trigger user;
alter table app.investigation_request force row level security;
alter table app.provider_call force row level security;
alter table app.document force row level security;
alter table app.evidence_item force row level security;
alter table app.restriction_event force row level security;
alter table app.audit_event force row level security;
