-- What an erasure of a subject overwrites of alerts, and which holds it excludes. See docs/adr/0067-hold-and-erase.md.

-- A hold on a document of the subject would stop an erasure half way.
create or replace function app.refuse_hold_of_erased() returns trigger
  language plpgsql as $$
begin
  if not app.restoring() and exists (
       select 1 from app.erasure e
        where e.tenant_id = new.tenant_id and e.state = 'executing'
          and (e.subject_id = new.object_id
               or e.subject_id = (select d.subject_id from app.document d where d.tenant_id = new.tenant_id and d.document_id = new.object_id))) then
    raise exception 'the subject is being erased' using errcode = 'PB009';
  end if;
  return new;
end $$;

drop trigger alert_keep on app.alert;
create trigger alert_keep before insert on app.alert for each row execute function app.keep_alert();
create trigger alert_change before update on app.alert
  for each row when (app.erasing() is null) execute function app.keep_alert();
-- Without its salt the fingerprint that stays says nothing about the facts. A generated column has no value before the update.
create trigger alert_erase before update on app.alert
  for each row when (app.erasing() is not null)
  execute function app.erase_only('title', 'dedup_key', 'facts', 'facts_salt', 'changes', 'changes_since', 'explanation', 'priority_rank');

drop trigger alert_suppression_keep on app.alert_suppression;
create trigger alert_suppression_keep before update on app.alert_suppression
  for each row when (app.erasing() is null) execute function app.keep_alert_suppression();
create trigger alert_suppression_erase before update on app.alert_suppression
  for each row when (app.erasing() is not null) execute function app.erase_only('dedup_key', 'reason', 'end_reason');

-- References come from outside and may name the person.
update app.wall_register set kind = 'erasable' where table_name = 'alert_occurrence';
drop trigger alert_occurrence_append on app.alert_occurrence;
create trigger alert_occurrence_append before delete on app.alert_occurrence for each statement execute function app.refuse_change();
create trigger alert_occurrence_erase before update on app.alert_occurrence for each row execute function app.erase_only('reference');
grant update (reference) on app.alert_occurrence to app;
create trigger alert_comment_erase before update on app.alert_comment for each row execute function app.erase_only('text');

-- Nothing is stored about a subject while it is being erased, or afterwards.
create trigger alert_refuse before insert on app.alert for each row execute function app.refuse_erased_rating();
create trigger document_refuse before insert on app.document for each row execute function app.refuse_erased_rating();

-- Why a document was deleted may name the person.
drop trigger document_keep on app.document;
create trigger document_keep before update on app.document
  for each row when (app.erasing() is null or old.state <> 'deleted') execute function app.keep_document();
create trigger document_erase before update on app.document
  for each row when (app.erasing() is not null and old.state = 'deleted') execute function app.erase_only('end_reason');
