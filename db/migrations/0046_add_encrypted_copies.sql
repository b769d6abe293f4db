-- Immutable copies of personal content (decision documents, items of batches, earlier versions of subjects) are encrypted under the
-- key of their owner, so that destroying one key erases a person from every copy, in backups too. Plain rows of earlier releases
-- are encrypted by a job. Processes of the release before go on writing plain rows until they are replaced, so both forms are allowed.
-- Safe on large tables: columns without a default are added, and constraints of existing rows are not checked again.

-- Rows that are never changed or removed, except that plain content becomes encrypted content once.
alter table app.wall_register drop constraint wall_register_kind_ck;
alter table app.wall_register add constraint wall_register_kind_ck
  check (kind in ('tenant', 'append', 'copy', 'shared', 'queue', 'ledger', 'directory', 'system'));
update app.wall_register set kind = 'copy' where table_name in ('evaluation', 'subject_version');

-- Arguments: the column of the encrypted content, then the columns of the plain content. Everything else, the hash of the content
-- included, stays as it is.
create function app.encrypt_once() returns trigger
  language plpgsql as $$
declare
  was       constant jsonb := to_jsonb(old);
  becomes   constant jsonb := to_jsonb(new);
  encrypted constant text := tg_argv[0];
  plain     constant text[] := tg_argv[1:];
begin
  if was -> encrypted <> 'null' or becomes -> encrypted = 'null'
     or exists (select 1 from unnest(plain) as c (name) where becomes -> c.name <> 'null')
     or was - plain - encrypted is distinct from becomes - plain - encrypted then
    raise exception 'rows of % never change, except that their content is encrypted once', tg_table_name using errcode = 'PB002';
  end if;
  return new;
end $$;

-- Decisions. The hash is that of the plain document in both forms.
alter table app.evaluation alter column document drop not null;
alter table app.evaluation add column document_encrypted bytea;
alter table app.evaluation alter column document_encrypted set storage external;
alter table app.evaluation drop constraint evaluation_document_ck;
alter table app.evaluation add constraint evaluation_document_ck
  check (case when document is null then document_encrypted is not null else document_encrypted is null and document::json is not null end) not valid;
drop trigger evaluation_append on app.evaluation;
create trigger evaluation_append before delete on app.evaluation
  for each statement execute function app.refuse_change();
create trigger evaluation_encrypt before update on app.evaluation
  for each row execute function app.encrypt_once('document_encrypted', 'document');
grant update (document, document_encrypted) on app.evaluation to app;
-- What the job has left to do; empty, and without cost, once it is done.
create index evaluation_plain_idx on app.evaluation (tenant_id, evaluation_id) where document is not null;

-- Earlier versions of subjects. The trigger that writes them cannot encrypt: whoever changes a subject hands the encrypted version over
-- in `earlier_content`, which is never stored. Without it the version is plain, and the job encrypts it.
alter table app.subject add column earlier_content bytea
  constraint subject_earlier_content_ck check (earlier_content is null);
alter table app.subject_version alter column name drop not null;
alter table app.subject_version alter column attributes drop not null;
alter table app.subject_version add column content bytea;
alter table app.subject_version alter column content set storage external;
-- Names of the members that the next version changed. NULL: a version of an earlier release.
alter table app.subject_version add column changed_members text[];
alter table app.subject_version add constraint subject_version_content_ck
  check (case when content is null then name is not null and attributes is not null
              else num_nonnulls(external_id, name, segment, attributes, offboard_reason) = 0 end) not valid;
drop trigger subject_version_append on app.subject_version;
create trigger subject_version_append before delete on app.subject_version
  for each statement execute function app.refuse_change();
create trigger subject_version_encrypt before update on app.subject_version
  for each row execute function app.encrypt_once('content', 'external_id', 'name', 'segment', 'attributes', 'offboard_reason');
grant update (external_id, name, segment, attributes, offboard_reason, content) on app.subject_version to app;
create index subject_version_plain_idx on app.subject_version (tenant_id, subject_id, revision) where name is not null;

create or replace function app.keep_subject() returns trigger
  language plpgsql as $$
declare
  -- Of the version that ends.
  kept app.subject := old;
begin
  if app.restoring() then return new; end if;
  if tg_op = 'INSERT' then
    new.revision := 1;
    new.created_at := clock_timestamp();
    new.created_by := app.actor();
    new.updated_at := new.created_at;
    new.updated_by := new.created_by;
    new.earlier_content := null;
    return new;
  end if;
  if (new.tenant_id, new.subject_id, new.created_at, new.created_by)
     is distinct from (old.tenant_id, old.subject_id, old.created_at, old.created_by) then
    raise exception 'the identity of a subject never changes' using errcode = 'PB002';
  end if;
  if old.state = 'offboarded' then
    raise exception 'the record of an offboarded subject stays as it was' using errcode = 'PB002';
  end if;
  new.revision := old.revision + 1;
  new.updated_at := greatest(clock_timestamp(), old.updated_at + interval '1 microsecond');
  new.updated_by := app.actor();
  if new.earlier_content is not null then
    kept.external_id := null;
    kept.name := null;
    kept.segment := null;
    kept.attributes := null;
    kept.offboard_reason := null;
  end if;
  insert into app.subject_version (tenant_id, subject_id, revision, subject_type, external_id, name, segment, attributes, state,
    offboarded_at, offboard_reason, recorded_from, recorded_until, changed_by, content, changed_members)
  values (old.tenant_id, old.subject_id, old.revision, old.subject_type, kept.external_id, kept.name, kept.segment, kept.attributes,
    old.state, old.offboarded_at, kept.offboard_reason, old.updated_at, new.updated_at, old.updated_by, new.earlier_content,
    array_remove(array[
      case when new.subject_type is distinct from old.subject_type then 'subject_type' end,
      case when new.external_id is distinct from old.external_id then 'external_id' end,
      case when new.name is distinct from old.name then 'name' end,
      case when new.segment is distinct from old.segment then 'segment' end,
      case when new.attributes is distinct from old.attributes then 'attributes' end,
      case when new.state is distinct from old.state then 'state' end], null));
  new.earlier_content := null;
  return new;
end $$;

-- Items of batches. `content` holds external id, inputs, salt and findings. The keyed hash of the external id matches items of two
-- batches that concern no subject.
alter table app.batch_item add column content bytea;
alter table app.batch_item alter column content set storage external;
alter table app.batch_item add column external_id_hash text
  constraint batch_item_external_id_hash_ck check (external_id_hash ~ '^[0-9a-f]{64}$');
alter table app.batch_item drop constraint batch_item_outcome_ck;
alter table app.batch_item add constraint batch_item_outcome_ck check (case state
  when 'done' then num_nonnulls(inputs, content) = 1 and document_hash is not null and failure_code is null
    and (band is null) = (score_bps is null) and (band is null) <> (hit is null)
  else failure_code is not null and document_hash is null and band is null and score_bps is null and hit is null
    and change is null end) not valid;
alter table app.batch_item add constraint batch_item_content_ck
  check (content is null or (num_nonnulls(external_id, inputs, document_salt) = 0 and findings = '[]')) not valid;
-- An erasure looks for failed items of a subject too.
drop index app.batch_item_subject_idx;
create index batch_item_subject_idx on app.batch_item (tenant_id, subject_id, batch_id, seq) where subject_id is not null;
create index batch_item_plain_idx on app.batch_item (tenant_id, batch_id, seq)
  where content is null and failure_code is distinct from 'erased';

create or replace function app.keep_batch_item() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  -- The content is encrypted once; nothing else of a decided item changes.
  if old.content is null and new.content is not null
     and to_jsonb(new) - '{content,external_id,external_id_hash,inputs,document_salt,findings}'::text[]
       = to_jsonb(old) - '{content,external_id,external_id_hash,inputs,document_salt,findings}'::text[]
     and (new.external_id_hash is null or old.external_id is not null) then
    return new;
  end if;
  if old.state = 'done' or (new.tenant_id, new.batch_id, new.seq) is distinct from (old.tenant_id, old.batch_id, old.seq) then
    raise exception 'a decided item of a batch never changes' using errcode = 'PB002';
  end if;
  return new;
end $$;

-- Items of the request itself, each encrypted for the subject that it names, or for the batch. `source` then holds none.
alter table app.batch_evaluation add column items bytea[];
alter table app.batch_evaluation alter column items set storage external;
alter table app.batch_evaluation add column item_owners uuid[];
alter table app.batch_evaluation add constraint batch_evaluation_items_ck
  check ((items is null) = (item_owners is null) and (items is null or (source_kind = 'items' and source = '{"items": []}'
    and cardinality(items) = cardinality(item_owners)))) not valid;
create index batch_evaluation_plain_idx on app.batch_evaluation (tenant_id, batch_id) where source_kind = 'items' and items is null;

create or replace function app.keep_batch() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.batch_id, new.family, new.definition_key, new.definition_version, new.engine, new.receipt_id,
      new.receipt_hash, new.asked_at, new.valid_at, new.known_at, new.source_kind, new.created_at, new.created_by)
     is distinct from (old.tenant_id, old.batch_id, old.family, old.definition_key, old.definition_version, old.engine,
      old.receipt_id, old.receipt_hash, old.asked_at, old.valid_at, old.known_at, old.source_kind, old.created_at, old.created_by)
     -- Items of the request are encrypted once.
     or ((new.source, new.items, new.item_owners) is distinct from (old.source, old.items, old.item_owners)
       and (old.items is not null or new.items is null or cardinality(new.items) <> jsonb_array_length(old.source -> 'items'))) then
    raise exception 'the order of a batch never changes' using errcode = 'PB002';
  end if;
  if new.done < old.done or new.done + new.failed < old.done + old.failed then
    raise exception 'items of a batch are not taken back' using errcode = 'PB002';
  end if;
  return new;
end $$;
