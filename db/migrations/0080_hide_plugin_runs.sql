-- What a plugin was run for by a provider call belongs to the restriction of the call, and is hidden with it.
-- See docs/adr/0065-restrict-rows-to-people.md.

alter table app.plugin_invocation
  add column restriction_id uuid,
  add constraint plugin_invocation_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id);

alter table app.plugin_invocation no force row level security;
alter table app.provider_call no force row level security;
alter table app.plugin_invocation disable trigger user;
update app.plugin_invocation i set restriction_id = c.restriction_id
  from app.provider_call c
 where i.cause_kind = 'provider_call' and c.tenant_id = i.tenant_id and c.call_id = i.cause_id and c.restriction_id is not null;
alter table app.plugin_invocation enable trigger user;
alter table app.provider_call force row level security;
alter table app.plugin_invocation force row level security;

-- As app.inherit_restriction, by the column that names the cause.
create function app.restrict_plugin_invocation() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  select c.restriction_id into new.restriction_id from app.provider_call c where c.tenant_id = new.tenant_id and c.call_id = new.cause_id;
  if not found then
    raise exception 'the provider call that the plugin was run for does not exist' using errcode = 'PB004';
  end if;
  return new;
end $$;
create trigger plugin_invocation_restriction before insert on app.plugin_invocation
  for each row when (new.cause_kind = 'provider_call') execute function app.restrict_plugin_invocation();

select app.restrict_rows('app.plugin_invocation');
