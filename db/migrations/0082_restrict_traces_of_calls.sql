-- What a provider call leaves in other tables belongs to the restriction of the call, and is hidden with it.
-- See docs/adr/0065-restrict-rows-to-people.md.

-- Which credential a call opened, when, and for which job. Other uses of a credential belong to no call.
alter table app.credential_access add column restriction_id uuid;
alter table app.credential_access add constraint credential_access_restriction_fkey
  foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id);

alter table app.provider_call no force row level security;
alter table app.credential_access no force row level security;
alter table app.credential_access disable trigger user;
update app.credential_access a set restriction_id = c.restriction_id
  from app.provider_call c
 where c.restriction_id is not null and c.tenant_id = a.tenant_id and c.call_id = a.call_id;
alter table app.credential_access enable trigger user;
alter table app.credential_access force row level security;
alter table app.provider_call force row level security;

select app.restrict_rows('app.credential_access');
create trigger credential_access_restriction before insert on app.credential_access
  for each row when (new.call_id is not null) execute function app.inherit_restriction('provider_call', 'call_id');

-- How often payloads broke a contract in one way is counted for each restriction, so that readers add up what they may see. The first
-- payload of a count is one of its restriction.
alter table app.violation_group add column payload_id uuid;
alter table app.violation_group add column restriction_id uuid;
alter table app.violation_group add constraint violation_group_restriction_fkey
  foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id);
alter table app.violation_group drop constraint violation_group_pkey;

-- A count that includes payloads with a restriction is made again from their admissions, which say the same.
alter table app.payload_admission no force row level security;
alter table app.violation_group no force row level security;
alter table app.violation_group disable trigger user;
update app.violation_group set payload_id = samples[1];
create temporary table recounted on commit drop as
select b.tenant_id, b.contract_key, b.contract_version, b.pointer, b.keyword, b.restriction_id, count(*) as violations,
       min(b.broken_at) as first_seen, max(b.broken_at) as last_seen, (array_agg(b.payload_id order by b.broken_at, b.payload_id))[1:5] as samples
  from (select a.tenant_id, a.contract_key, a.contract_version, a.restriction_id, a.payload_id, p.pointer, p.keyword, min(a.created_at) as broken_at
          from app.payload_admission a
         cross join lateral jsonb_array_elements(a.violations) as v (violation)
         cross join lateral (select left(regexp_replace(v.violation ->> 'pointer', '(?<=/)(0|[1-9][0-9]*)(?=/|$)', '*', 'g'), 600) as pointer,
                                    left(v.violation ->> 'keyword', 100) as keyword) p
         group by 1, 2, 3, 4, 5, 6, 7) b
 group by 1, 2, 3, 4, 5, 6;
delete from recounted r
 where not exists (select 1 from app.violation_group g
                    where (g.tenant_id, g.contract_key, g.contract_version, g.pointer, g.keyword)
                        = (r.tenant_id, r.contract_key, r.contract_version, r.pointer, r.keyword))
    or not exists (select 1 from recounted o
                    where o.restriction_id is not null
                      and (o.tenant_id, o.contract_key, o.contract_version, o.pointer, o.keyword)
                        = (r.tenant_id, r.contract_key, r.contract_version, r.pointer, r.keyword));
delete from app.violation_group g using recounted r
 where (g.tenant_id, g.contract_key, g.contract_version, g.pointer, g.keyword)
     = (r.tenant_id, r.contract_key, r.contract_version, r.pointer, r.keyword);
insert into app.violation_group (tenant_id, contract_key, contract_version, pointer, keyword, payload_id, restriction_id, violations, first_seen,
  last_seen, samples)
select tenant_id, contract_key, contract_version, pointer, keyword, samples[1], restriction_id, violations, first_seen, last_seen, samples
  from recounted;
drop table recounted;
alter table app.violation_group enable trigger user;
alter table app.violation_group force row level security;
alter table app.payload_admission force row level security;

alter table app.violation_group alter column payload_id set not null;
alter table app.violation_group add constraint violation_group_pkey
  primary key (tenant_id, contract_key, contract_version, pointer, keyword, payload_id);
alter table app.violation_group add constraint violation_group_once_key
  unique nulls not distinct (tenant_id, contract_key, contract_version, pointer, keyword, restriction_id);
select app.restrict_rows('app.violation_group');
create trigger violation_group_restriction before insert on app.violation_group
  for each row execute function app.inherit_restriction('source_payload', 'payload_id');
