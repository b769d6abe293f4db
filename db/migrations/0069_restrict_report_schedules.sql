-- Schedules of reports belong to the restriction of what they are about, and are hidden with it. See docs/adr/0075-make-reports-from-snapshots.md.

alter table app.report_schedule add column restriction_id uuid;
alter table app.report_schedule add constraint report_schedule_restriction_fkey
  foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id);
-- What wakes a worker for it, and the jobs that this starts.
alter table app.job_schedule add column restriction_id uuid;
alter table app.job_schedule add constraint job_schedule_restriction_fkey
  foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id);

-- Only templates of one case have a restriction of their own. The last result of a run may say something about the case.
alter table app.investigation no force row level security;
alter table app.report_schedule no force row level security;
alter table app.job_schedule no force row level security;
alter table app.job no force row level security;
alter table app.report_schedule disable trigger user;
alter table app.job_schedule disable trigger user;
alter table app.job disable trigger user;
update app.report_schedule s set restriction_id = i.restriction_id
  from app.investigation i
 where s.template_key = 'investigation-pack' and i.tenant_id = s.tenant_id
   and i.investigation_id::text = s.parameters ->> 'investigation_id';
update app.job_schedule j set restriction_id = s.restriction_id
  from app.report_schedule s
 where s.restriction_id is not null and j.tenant_id = s.tenant_id and j.schedule_id = s.schedule_id;
update app.job j set restriction_id = s.restriction_id
  from app.report_schedule s
 where s.restriction_id is not null and j.tenant_id = s.tenant_id and j.kind = 'scheduled-report'
   and j.payload ->> 'schedule_id' = s.schedule_id::text;
alter table app.job enable trigger user;
alter table app.job_schedule enable trigger user;
alter table app.report_schedule enable trigger user;
alter table app.job force row level security;
alter table app.job_schedule force row level security;
alter table app.report_schedule force row level security;
alter table app.investigation force row level security;

select app.restrict_rows('app.report_schedule');
select app.restrict_rows('app.job_schedule');

-- A name that is taken by a hidden schedule would show that there is one.
alter table app.report_schedule drop constraint report_schedule_name_key;
alter table app.report_schedule add constraint report_schedule_name_key unique nulls not distinct (tenant_id, restriction_id, name);

create function app.keep_report_schedule() returns trigger
  language plpgsql as $$
begin
  if not app.restoring()
     and (new.tenant_id, new.schedule_id, new.restriction_id, new.template_key, new.created_at, new.created_by)
         is distinct from
         (old.tenant_id, old.schedule_id, old.restriction_id, old.template_key, old.created_at, old.created_by) then
    raise exception 'what a schedule makes reports of never changes' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger report_schedule_keep before update on app.report_schedule
  for each row execute function app.keep_report_schedule();
