-- What people typed where nothing was to change any more, and an erasure has to. See docs/adr/0067-hold-and-erase.md.

create or replace function app.keep_batch() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.batch_id, new.family, new.definition_key, new.definition_version, new.engine, new.receipt_id,
      new.receipt_hash, new.asked_at, new.valid_at, new.known_at, new.source_kind, new.created_at, new.created_by)
     is distinct from (old.tenant_id, old.batch_id, old.family, old.definition_key, old.definition_version, old.engine,
      old.receipt_id, old.receipt_hash, old.asked_at, old.valid_at, old.known_at, old.source_kind, old.created_at, old.created_by)
     -- Items of the request are encrypted once; a filter and the name of a file are overwritten by an erasure.
     or ((new.source, new.items, new.item_owners) is distinct from (old.source, old.items, old.item_owners)
       and (old.items is not null or new.items is null or cardinality(new.items) <> jsonb_array_length(old.source -> 'items'))
       and (app.erasing() is null or old.source_kind = 'items' or num_nonnulls(new.items, new.item_owners) > 0)) then
    raise exception 'the order of a batch never changes' using errcode = 'PB002';
  end if;
  if new.done < old.done or new.done + new.failed < old.done + old.failed then
    raise exception 'items of a batch are not taken back' using errcode = 'PB002';
  end if;
  return new;
end $$;

drop trigger mlro_designation_decide on app.mlro_designation;
create trigger mlro_designation_propose before insert on app.mlro_designation
  for each row execute function app.keep_designation();
create trigger mlro_designation_decide before update on app.mlro_designation
  for each row when (app.erasing() is null) execute function app.keep_designation();
create trigger mlro_designation_erase before update on app.mlro_designation
  for each row when (app.erasing() is not null) execute function app.erase_only('reason');

drop trigger document_erase on app.document;
create trigger document_erase before update on app.document
  for each row when (app.erasing() is not null and old.state = 'deleted') execute function app.erase_only('end_reason', 'category');

-- What earlier erasures left.
alter table app.subject no force row level security;
alter table app.document no force row level security;
alter table app.document disable trigger user;
update app.document d set category = null
 where d.category is not null and (d.state = 'erased' or exists (
   select 1 from app.subject s where s.tenant_id = d.tenant_id and s.subject_id = d.subject_id and s.erased_at is not null));
alter table app.document enable trigger user;
alter table app.document force row level security;
alter table app.subject force row level security;
