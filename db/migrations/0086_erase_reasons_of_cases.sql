-- Reasons of holds and of reassigned work belong to the subject of the case or report that they are attached to. See docs/adr/0067-hold-and-erase.md.

create or replace function app.erase_hold() returns trigger
  language plpgsql as $$
declare
  subject constant uuid := coalesce(
    (select s.subject_id from app.subject s where s.tenant_id = old.tenant_id and s.subject_id = old.object_id),
    (select d.subject_id from app.document d where d.tenant_id = old.tenant_id and d.document_id = old.object_id),
    (select i.subject_id from app.investigation i where i.tenant_id = old.tenant_id and i.investigation_id = old.object_id),
    (select p.subject_id from app.report p where p.tenant_id = old.tenant_id and p.report_id = old.object_id));
begin
  if app.restoring() then return new; end if;
  if old.state <> 'released' or subject <> app.erasing() then
    raise exception 'an erasure changes only released holds, and none on another subject' using errcode = 'PB002';
  end if;
  return new;
end $$;

create function app.erase_work_item() returns trigger
  language plpgsql as $$
declare
  subject constant uuid := case old.object_kind
    when 'alert' then (select a.subject_id from app.alert a where a.tenant_id = old.tenant_id and a.alert_id = old.object_id)
    when 'second_look' then (select a.subject_id from app.alert_second_look l
                               join app.alert a on a.tenant_id = l.tenant_id and a.alert_id = l.alert_id
                              where l.tenant_id = old.tenant_id and l.look_id = old.object_id)
    when 'investigation' then (select i.subject_id from app.investigation i
                                where i.tenant_id = old.tenant_id and i.investigation_id = old.object_id) end;
begin
  if app.restoring() then return new; end if;
  if subject <> app.erasing() then
    raise exception 'an erasure changes no work on another subject' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger work_item_erase_own before update on app.work_item
  for each row when (app.erasing() is not null) execute function app.erase_work_item();

-- What earlier erasures left.
alter table app.subject no force row level security;
alter table app.alert no force row level security;
alter table app.alert_second_look no force row level security;
alter table app.investigation no force row level security;
alter table app.report no force row level security;
alter table app.hold no force row level security;
alter table app.work_item no force row level security;
alter table app.hold disable trigger user;
alter table app.work_item disable trigger user;
with erased as (
  select i.tenant_id, i.investigation_id as object_id from app.investigation i
    join app.subject s on s.tenant_id = i.tenant_id and s.subject_id = i.subject_id and s.erased_at is not null
  union all
  select p.tenant_id, p.report_id from app.report p
    join app.subject s on s.tenant_id = p.tenant_id and s.subject_id = p.subject_id and s.erased_at is not null
)
update app.hold h set reason = 'erased', authority_reference = null, release_reason = 'erased'
  from erased e where h.tenant_id = e.tenant_id and h.object_id = e.object_id and h.state = 'released';
with erased as (
  select i.tenant_id, 'investigation' as object_kind, i.investigation_id as object_id from app.investigation i
    join app.subject s on s.tenant_id = i.tenant_id and s.subject_id = i.subject_id and s.erased_at is not null
  union all
  select l.tenant_id, 'second_look', l.look_id from app.alert_second_look l
    join app.alert a on a.tenant_id = l.tenant_id and a.alert_id = l.alert_id
    join app.subject s on s.tenant_id = a.tenant_id and s.subject_id = a.subject_id and s.erased_at is not null
)
update app.work_item w set assign_reason = null
  from erased e where w.tenant_id = e.tenant_id and w.object_kind = e.object_kind and w.object_id = e.object_id and w.assign_reason is not null;
alter table app.work_item enable trigger user;
alter table app.hold enable trigger user;
alter table app.work_item force row level security;
alter table app.hold force row level security;
alter table app.report force row level security;
alter table app.investigation force row level security;
alter table app.alert_second_look force row level security;
alter table app.alert force row level security;
alter table app.subject force row level security;
