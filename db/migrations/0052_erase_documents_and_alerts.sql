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

-- An erasure that is replayed from the ledger happened before: a hold of the restored state came too late. Every other one is refused.
create function app.is_replaying_erasure() returns boolean
  language plpgsql stable as $$
begin
  return app.erasing() is not null and exists (
    select 1 from app.erasure e
     where e.tenant_id = app.tenant_id() and e.erasure_id = nullif(current_setting('app.erasing', true), '')::uuid and e.origin = 'ledger');
end $$;

create or replace function app.refuse_held_delete() returns trigger
  language plpgsql as $$
declare
  path   text;
  parts  text[];
  object uuid;
begin
  if not app.restoring() and not app.is_replaying_erasure() then
    perform pg_advisory_xact_lock_shared(hashtextextended('hold ' || old.tenant_id, 0));
    foreach path in array tg_argv loop
      parts := string_to_array(path, '.');
      if cardinality(parts) = 1 then
        execute format('select ($1).%I', path) into object using old;
      else
        execute format('select p.%I from app.%I p where p.tenant_id = ($1).tenant_id and p.%I = ($1).%I', parts[3], parts[1], parts[2], parts[2])
           into object using old;
      end if;
      if app.is_held(object) then
        raise exception 'a legal hold keeps a row of %', tg_table_name using errcode = 'PB008';
      end if;
    end loop;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;
