-- What belongs to a merged case is hidden with every case that it was merged into, also through another one: evidence, notes, jobs and events carry
-- the restriction of their own case only. See docs/adr/0091-hide-events-of-two-restrictions.md.

-- Whoever sees what belongs to `from_id` must also see what belongs to `into_id`. Contains what follows from two rows. Like `restriction_force`, it
-- decides about sight and has no policy of sight.
create table app.restriction_merged (
  tenant_id uuid not null,
  from_id   uuid not null,
  into_id   uuid not null constraint restriction_merged_other_ck check (into_id <> from_id),
  constraint restriction_merged_pkey primary key (tenant_id, from_id, into_id),
  constraint restriction_merged_from_fkey foreign key (tenant_id, from_id) references app.restriction (tenant_id, restriction_id),
  constraint restriction_merged_into_fkey foreign key (tenant_id, into_id) references app.restriction (tenant_id, restriction_id)
);
select app.wall('app.restriction_merged', 'tenant');
create index restriction_merged_into_idx on app.restriction_merged (tenant_id, into_id);

-- Whoever writes, rows say which cases were merged. Read with full sight: a case in between may be hidden.
create function app.keep_restriction_merged() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  is_true boolean;
begin
  if tg_op = 'DELETE' then
    if app.is_deleting_tenant() then return old; end if;
  elsif app.is_restoring(new.tenant_id) then
    return new;
  elsif tg_op = 'INSERT' then
    perform set_config('app.sight', 'all', true);
    with recursive reached as (
      select new.from_id as id
      union
      select t.restriction_id
        from reached r
        join app.investigation i on i.tenant_id = new.tenant_id and i.restriction_id = r.id
        join app.investigation t on t.tenant_id = i.tenant_id and t.investigation_id = i.merged_into
    )
    select exists (select 1 from reached r where r.id = new.into_id) into is_true;
    perform set_config('app.sight', before, true);
    if is_true then return new; end if;
  end if;
  raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
end $$;
create trigger restriction_merged_keep before insert or update or delete on app.restriction_merged
  for each row execute function app.keep_restriction_merged();

create function app.follow_merged_restriction() returns trigger
  language plpgsql as $$
declare
  before constant text := coalesce(current_setting('app.sight', true), '');
  target uuid;
begin
  if app.restoring() then return null; end if;
  perform set_config('app.sight', 'all', true);
  select i.restriction_id into strict target from app.investigation i where i.tenant_id = new.tenant_id and i.investigation_id = new.merged_into;
  perform set_config('app.sight', before, true);
  insert into app.restriction_merged (tenant_id, from_id, into_id)
    select new.tenant_id, f.id, t.id
      from (select new.restriction_id as id union select m.from_id from app.restriction_merged m
             where m.tenant_id = new.tenant_id and m.into_id = new.restriction_id) f,
           (select target as id union select m.into_id from app.restriction_merged m where m.tenant_id = new.tenant_id and m.from_id = target) t
     where f.id <> t.id
    on conflict on constraint restriction_merged_pkey do nothing;
  return null;
end $$;
create trigger investigation_merged_sight after update on app.investigation
  for each row when (new.merged_into is not null and old.merged_into is null) execute function app.follow_merged_restriction();

-- Sight ---------------------------------------------------------------------------------------------------------------

-- The list has what is in force, and what was merged into something in force.
create or replace function app.keep_restriction_list() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'DELETE' then
    if app.is_deleting_tenant() then return old; end if;
    raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
  end if;
  if app.is_restoring(new.tenant_id) then return new; end if;
  if new.tenant_id is distinct from app.tenant_id() then
    raise exception 'rows of % are written by the database itself', tg_table_name using errcode = 'PB002';
  end if;
  new.ids := (select coalesce(jsonb_object_agg(l.id::text, null), '{}') from (
                select f.restriction_id as id from app.restriction_force f where f.tenant_id = new.tenant_id
                union
                select m.from_id from app.restriction_merged m
                  join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id where m.tenant_id = new.tenant_id) l);
  return new;
end $$;
create trigger restriction_merged_list after insert or update or delete on app.restriction_merged
  for each row execute function app.list_restriction();

create or replace function app.is_in_force(restriction uuid) returns boolean
  language plpgsql stable parallel safe as $$
begin
  return exists (select 1 from app.restriction_force f where f.tenant_id = app.tenant_id() and f.restriction_id = restriction)
      or exists (select 1 from app.restriction_merged m join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id
                  where m.tenant_id = app.tenant_id() and m.from_id = restriction);
end $$;

create or replace function app.hidden_restrictions(sight text) returns jsonb
  language plpgsql stable parallel safe as $$
declare
  excluded uuid[];
begin
  if sight = 'all' then return '{}'; end if;
  excluded := app.officer_exclusions(sight);
  if excluded is not null then
    return (select coalesce(jsonb_object_agg(e.id::text, null), '{}') from unnest(excluded) as e (id));
  end if;
  -- Without the list, the rows that it is made of.
  return coalesce((select l.ids from app.restriction_list l where l.tenant_id = app.tenant_id()),
                  (select jsonb_object_agg(l.id::text, null) from (
                     select f.restriction_id as id from app.restriction_force f where f.tenant_id = app.tenant_id()
                     union
                     select m.from_id from app.restriction_merged m
                       join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id
                      where m.tenant_id = app.tenant_id()) l), '{}');
end $$;

-- Null for everybody but the designated officer: what is in force and excludes them, and what was merged into it.
create or replace function app.officer_exclusions(sight text) returns uuid[]
  language plpgsql stable parallel safe as $$
begin
  if sight is null or sight not like 'principal:user:%' then return null; end if;
  if not exists (select 1 from app.user_account u where u.tenant_id = app.tenant_id() and u.user_id::text = substr(sight, 16)
                    and u.is_mlro and u.state <> 'inactive') then
    return null;
  end if;
  return (with excluding as (
            select p.restriction_id as id from app.restriction_person p
              join app.restriction_force f on f.tenant_id = p.tenant_id and f.restriction_id = p.restriction_id
             where p.tenant_id = app.tenant_id() and p.principal = substr(sight, 11) and p.effect = 'exclude')
          select coalesce(array_agg(l.id), '{}') from (
            select e.id from excluding e
            union
            select m.from_id from app.restriction_merged m join excluding e on e.id = m.into_id where m.tenant_id = app.tenant_id()) l);
end $$;

-- What was granted, without what was merged into something in force that was not; and what is hidden for nothing but things that were granted.
-- A job sees what it works on in any case.
create or replace function app.granted_restrictions(sight text) returns uuid[]
  language plpgsql stable parallel safe as $$
declare
  own    uuid[];
  is_job constant boolean := coalesce(sight like 'restriction:%', false);
begin
  if is_job then
    own := string_to_array(substr(sight, 13), ',')::uuid[];
  elsif sight like 'principal:%' then
    own := (select coalesce(array_agg(p.restriction_id), '{}') from app.restriction_person p
             where p.tenant_id = app.tenant_id() and p.principal = substr(sight, 11) and p.effect = 'grant'
               and (p.until is null or p.until > now()));
  else
    return '{}';
  end if;
  if cardinality(own) = 0 or not exists (select 1 from app.restriction_merged m where m.tenant_id = app.tenant_id()) then return own; end if;
  return array(
    select o.id from unnest(own) as o (id)
     where is_job or not exists (
             select 1 from app.restriction_merged m join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id
              where m.tenant_id = app.tenant_id() and m.from_id = o.id and m.into_id <> all (own))
    union
    select m.from_id from app.restriction_merged m
      left join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id
     where m.tenant_id = app.tenant_id()
       and not exists (select 1 from app.restriction_force o where o.tenant_id = m.tenant_id and o.restriction_id = m.from_id and m.from_id <> all (own))
     group by m.from_id having bool_and(f.restriction_id is null or m.into_id = any (own)));
end $$;

-- What was merged into a case is hidden with it, so its open work goes back to its queue with the work of the case.
create or replace function app.return_hidden_work() returns trigger
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
     and (restriction is null or w.restriction_id = restriction or exists (
       select 1 from app.restriction_merged m where m.tenant_id = w.tenant_id and m.from_id = w.restriction_id and m.into_id = restriction))
     and w.assignee = coalesce(person, w.assignee)
     and not app.may_see(w.assignee, w.restriction_id);
  perform set_config('app.sight', before, true);
  return null;
end $$;

-- Cases that were merged before -----------------------------------------------------------------------------------------

alter table app.investigation no force row level security;
alter table app.restriction_merged no force row level security;
alter table app.restriction_force no force row level security;
alter table app.restriction_list no force row level security;
alter table app.restriction_merged disable trigger user;
alter table app.restriction_list disable trigger user;
with recursive direct as (
  select distinct i.tenant_id, i.restriction_id as from_id, t.restriction_id as into_id
    from app.investigation i join app.investigation t on t.tenant_id = i.tenant_id and t.investigation_id = i.merged_into
), reached as (
  select d.tenant_id, d.from_id, d.into_id from direct d
  union
  select r.tenant_id, r.from_id, d.into_id from reached r join direct d on d.tenant_id = r.tenant_id and d.from_id = r.into_id
)
insert into app.restriction_merged (tenant_id, from_id, into_id) select r.tenant_id, r.from_id, r.into_id from reached r where r.from_id <> r.into_id;
update app.restriction_list l
   set ids = l.ids || (select jsonb_object_agg(m.from_id::text, null) from app.restriction_merged m
                         join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id where m.tenant_id = l.tenant_id)
 where exists (select 1 from app.restriction_merged m join app.restriction_force f on f.tenant_id = m.tenant_id and f.restriction_id = m.into_id
                where m.tenant_id = l.tenant_id);
-- Reads of a merged case were recorded with the restriction of the last one only: who may see that one, and not one in between, saw them.
alter table app.audit_event no force row level security;
alter table app.restriction_event no force row level security;
alter table app.audit_event disable trigger user;
alter table app.restriction_event disable trigger user;
with changed as (
  update app.audit_event e set also_restriction_id = i.restriction_id
    from app.investigation i
   where i.also_restriction_id is not null and e.tenant_id = i.tenant_id and e.object_type = 'investigations' and e.object_id = i.investigation_id::text
     and e.restriction_id = i.also_restriction_id and e.also_restriction_id is null
  returning e.tenant_id, e.also_restriction_id, e.event_id
)
insert into app.restriction_event (tenant_id, restriction_id, event_id) select tenant_id, also_restriction_id, event_id from changed
  on conflict do nothing;
alter table app.restriction_event enable trigger user;
alter table app.audit_event enable trigger user;
alter table app.restriction_event force row level security;
alter table app.audit_event force row level security;
alter table app.restriction_list enable trigger user;
alter table app.restriction_merged enable trigger user;
alter table app.restriction_list force row level security;
alter table app.restriction_force force row level security;
alter table app.restriction_merged force row level security;
alter table app.investigation force row level security;
