-- Evidence about a document or a provider call that is restricted is hidden with it, for as long as the row exists: it takes the restriction
-- of the object beside that of its owner. See docs/adr/0091-hide-events-of-two-restrictions.md.

alter table app.evidence_item
  add column also_restriction_id uuid,
  add constraint evidence_item_also_restriction_fkey foreign key (tenant_id, also_restriction_id)
    references app.restriction (tenant_id, restriction_id),
  add constraint evidence_item_also_restriction_ck check (also_restriction_id is null or restriction_id is not null);

-- Read with full sight: what is hidden from the writer is then refused by the policy.
create function app.restrict_evidence_item() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  object uuid;
begin
  if app.restoring() then return new; end if;
  perform set_config('app.sight', 'all', true);
  if new.kind = 'document' then
    select d.restriction_id into object from app.document d where d.tenant_id = new.tenant_id and d.document_id = new.object_id;
  elsif new.kind = 'provider_call' then
    select c.restriction_id into object from app.provider_call c where c.tenant_id = new.tenant_id and c.call_id = new.object_id;
  end if;
  perform set_config('app.sight', before, true);
  new.restriction_id := coalesce(new.restriction_id, object);
  new.also_restriction_id := nullif(object, new.restriction_id);
  return new;
end $$;
create trigger evidence_item_restriction before insert on app.evidence_item
  for each row execute function app.restrict_evidence_item();

create or replace function app.keep_evidence_item() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.evidence_id, new.restriction_id, new.also_restriction_id, new.owner_kind, new.owner_id, new.kind, new.object_id,
      new.object_version, new.content_hash, new.obtained_at, new.added_at, new.added_by)
     is distinct from
     (old.tenant_id, old.evidence_id, old.restriction_id, old.also_restriction_id, old.owner_kind, old.owner_id, old.kind, old.object_id,
      old.object_version, old.content_hash, old.obtained_at, old.added_at, old.added_by)
     or old.detached_at is not null and (new.detached_at, new.detached_by) is distinct from (old.detached_at, old.detached_by)
     or old.erased_at is not null
     or new.erased_at is null and (new.title, new.reference, new.source) is distinct from (old.title, old.reference, old.source)
     or new.erased_at is null and old.detached_at is not null and new.detach_reason is distinct from old.detach_reason then
    raise exception 'an evidence item is detached once or erased, never changed' using errcode = 'PB002';
  end if;
  return new;
end $$;

alter table app.evidence_item no force row level security;
alter table app.document no force row level security;
alter table app.provider_call no force row level security;
alter table app.evidence_item disable trigger user;
update app.evidence_item e
   set restriction_id = coalesce(e.restriction_id, o.restriction_id), also_restriction_id = nullif(o.restriction_id, coalesce(e.restriction_id, o.restriction_id))
  from (select d.tenant_id, 'document' as kind, d.document_id as object_id, d.restriction_id from app.document d
        union all select c.tenant_id, 'provider_call', c.call_id, c.restriction_id from app.provider_call c) o
 where o.tenant_id = e.tenant_id and o.kind = e.kind and o.object_id = e.object_id and o.restriction_id is distinct from e.restriction_id
   and o.restriction_id is not null;
alter table app.evidence_item enable trigger user;
alter table app.provider_call force row level security;
alter table app.document force row level security;
alter table app.evidence_item force row level security;

-- A row may name more restrictions than two. It is hidden with each of them.
create or replace function app.restrict_rows(target regclass) returns void
  language plpgsql as $$
declare
  seen text;
begin
  select string_agg(format(case a.attname when 'named_restriction_ids'
                           then '(%1$I = ''{}'' or not (select app.hidden_restrictions(app.sight())
                                                          - app.granted_restrictions(app.sight())::text[]) ?| %1$I::text[])'
                           else '(%1$I is null
                             or not app.is_in_force(%1$I, (select app.hidden_restrictions(app.sight()) || ''{}''))
                             or %1$I = any ((select app.granted_restrictions(app.sight()))::uuid[]))' end, a.attname),
                    ' and ' order by a.attnum)
    into strict seen from pg_attribute a
   where a.attrelid = target and not a.attisdropped and a.attname in ('restriction_id', 'also_restriction_id', 'named_restriction_ids');
  execute format('drop policy if exists sight on %s', target);
  execute format('create policy sight on %s as restrictive using (%s) with check (%s)', target, seen, seen);
end $$;

select app.restrict_rows('app.evidence_item');
select app.restrict_rows('app.mcp_approval');

-- Erasures --------------------------------------------------------------------------------------------------------------

create function app.may_see_all(person text, restrictions uuid[]) returns boolean
  language plpgsql stable parallel safe as $$
begin
  return not exists (select 1 from unnest(restrictions) as r (id) where not app.may_see(person, r.id));
end $$;

-- As of one restriction, for rows that belong to several: one person must see all of them.
create function app.is_closed_to_erasure(restrictions uuid[]) returns boolean
  language plpgsql stable as $$
declare
  erasure constant text := nullif(current_setting('app.erasing', true), '');
begin
  if erasure is null or array_remove(restrictions, null) = '{}' then return false; end if;
  return coalesce((select not (app.may_see_all(e.requested_by, restrictions) or app.may_see_all(e.confirmed_by, restrictions)) from app.erasure e
                    where e.tenant_id = app.tenant_id() and e.erasure_id = erasure::uuid and e.origin = 'request'), false);
end $$;

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
  -- Evidence on an alert or a case may be hidden where these are not: its object is.
  is_hidden := is_hidden or exists (
    select 1 from (select a.alert_id as id from app.alert a where a.tenant_id = new.tenant_id and a.subject_id = new.subject_id
                   union all select i.investigation_id from app.investigation i where i.tenant_id = new.tenant_id and i.subject_id = new.subject_id) o
      join app.evidence_item e on e.tenant_id = new.tenant_id and e.owner_id = o.id
     where e.also_restriction_id is not null
       and not (app.may_see_all(new.requested_by, array[e.restriction_id, e.also_restriction_id])
                or app.may_see_all(new.confirmed_by, array[e.restriction_id, e.also_restriction_id])));
  perform set_config('app.sight', before, true);
  if is_hidden then
    raise exception 'a legal hold keeps the subject' using errcode = 'PB008';
  end if;
  return new;
end $$;

-- What was erased of rows of several restrictions is counted where only those see it who see all of them: `restriction_id` is one, the others are named.
alter table app.erasure_annex
  add column named_restriction_ids uuid[] not null default '{}',
  drop constraint erasure_annex_pkey,
  add constraint erasure_annex_pkey primary key (tenant_id, erasure_id, restriction_id, named_restriction_ids);
select app.restrict_rows('app.erasure_annex');

create or replace function app.keep_erasure_annex() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if tg_op = 'UPDATE' and (old.content is not null or (new.tenant_id, new.erasure_id, new.restriction_id, new.named_restriction_ids)
                           is distinct from (old.tenant_id, old.erasure_id, old.restriction_id, old.named_restriction_ids)) then
    raise exception 'a signed annex never changes' using errcode = 'PB002';
  end if;
  if not exists (select 1 from app.erasure_step s where s.tenant_id = new.tenant_id and s.erasure_id = new.erasure_id
                    and s.txid = pg_current_xact_id()::text::bigint) then
    raise exception 'an annex is written by a step of its erasure' using errcode = 'PB002';
  end if;
  return new;
end $$;
