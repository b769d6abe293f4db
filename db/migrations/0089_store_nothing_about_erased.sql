-- Nothing is stored about a subject after its erasure either: no hold, evidence, comment or suppression. A second erasure of it is refused, so such a
-- text could never be removed. See docs/adr/0067-hold-and-erase.md.

-- From the confirmation of the erasure on.
create function app.is_erased(tenant uuid, subject uuid) returns boolean
  language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select 1 from app.subject s where s.tenant_id = tenant and s.subject_id = subject and s.erased_at is not null)
      or exists (select 1 from app.erasure e where e.tenant_id = tenant and e.subject_id = subject and e.state = 'executing');
end $$;

-- Whoever places the hold sees the object.
create or replace function app.refuse_hold_of_erased() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (
       select 1 from (
            select new.object_id
            union all select d.subject_id from app.document d where d.tenant_id = new.tenant_id and d.document_id = new.object_id
            union all select i.subject_id from app.investigation i where i.tenant_id = new.tenant_id and i.investigation_id = new.object_id
            union all select r.subject_id from app.report r where r.tenant_id = new.tenant_id and r.report_id = new.object_id) o (subject_id)
        where o.subject_id is not null and app.is_erased(new.tenant_id, o.subject_id)) then
    raise exception 'the subject is erased' using errcode = 'PB009';
  end if;
  return new;
end $$;

create trigger alert_suppression_refuse before insert on app.alert_suppression
  for each row when (new.subject_id is not null) execute function app.refuse_erased_rating();

-- What is written about an alert belongs to its subject.
create function app.refuse_comment_on_erased() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (
       select 1 from app.alert a
        where a.tenant_id = new.tenant_id and a.alert_id = new.alert_id and a.subject_id is not null and app.is_erased(a.tenant_id, a.subject_id)) then
    raise exception 'the subject is erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
create trigger alert_comment_refuse before insert on app.alert_comment for each row execute function app.refuse_comment_on_erased();

create function app.refuse_evidence_of_erased() returns trigger
  language plpgsql as $$
declare
  subject uuid;
begin
  if app.restoring() then return new; end if;
  subject := case new.owner_kind
    when 'subject' then new.owner_id
    when 'alert' then (select a.subject_id from app.alert a where a.tenant_id = new.tenant_id and a.alert_id = new.owner_id)
    else (select i.subject_id from app.investigation i where i.tenant_id = new.tenant_id and i.investigation_id = new.owner_id) end;
  if subject is not null and app.is_erased(new.tenant_id, subject) then
    raise exception 'the subject is erased' using errcode = 'PB009';
  end if;
  return new;
end $$;
create trigger evidence_item_refuse before insert on app.evidence_item for each row execute function app.refuse_evidence_of_erased();

-- Whoever was seen has signed in.
alter table app.user_account no force row level security;
alter table app.user_account disable trigger user;
update app.user_account set state = 'active' where state = 'invited' and last_seen_at is not null;
alter table app.user_account enable trigger user;
alter table app.user_account force row level security;
