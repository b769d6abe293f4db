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
