-- Gathering: what people decide about a step is never decided by a job, and workers find steps that nobody works on any more.
-- See docs/adr/0074-gather-in-one-job.md.

-- A step that failed, that may have been charged or that was left out is begun again by whoever asked for it, not by the service.
create function app.require_person_for_step() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and app.actor() !~ '^(user|key|operator):' then
    raise exception 'a step that is % is settled by a person', old.state using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger investigation_step_person before update on app.investigation_step
  for each row when (new.state <> old.state and old.state in ('failed', 'indeterminate', 'skipped') and app.erasing() is null)
  execute function app.require_person_for_step();

create index investigation_gathering_idx on app.investigation (tenant_id, gathering) where gathering in ('running', 'blocked');
create index investigation_step_unended_idx on app.investigation_step (tenant_id, state) where state in ('running', 'waiting', 'indeterminate');
