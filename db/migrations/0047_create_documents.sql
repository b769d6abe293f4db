-- Documents, which own their bytes, and evidence items. See docs/adr/0068-store-documents-and-evidence.md.

create table app.document (
  tenant_id        uuid not null,
  document_id      uuid not null,
  restriction_id   uuid,
  -- Its key encrypts the bytes; without a subject the document has a key of its own.
  subject_id       uuid,
  -- Both are overwritten when the bytes are deleted or erased.
  title            text constraint document_title_ck check (length(title) between 1 and 300),
  file_name        text constraint document_file_name_ck check (length(file_name) between 1 and 255),
  category         text constraint document_category_ck check (category ~ '^[a-z0-9][a-z0-9_-]{0,99}$'),
  media_type       text not null constraint document_media_type_ck check (length(media_type) between 3 and 200),
  size_bytes       bigint not null constraint document_size_ck check (size_bytes between 1 and 104857600),
  -- Of the plain bytes. Overwritten with the bytes: who has the hash of a short text can find the text.
  sha256           text constraint document_sha256_ck check (sha256 ~ '^[0-9a-f]{64}$'),
  -- Of the stored bytes, chunk after chunk. Stays: without the key it says nothing about the content.
  encrypted_sha256 text constraint document_encrypted_sha256_ck check (encrypted_sha256 ~ '^[0-9a-f]{64}$'),
  state            text not null constraint document_state_ck
                     check (state in ('storing', 'stored', 'damaged', 'failed', 'deleted', 'erased')),
  scan_state       text not null default 'not_scanned' constraint document_scan_state_ck
                     check (scan_state in ('not_scanned', 'clean', 'infected', 'failed')),
  scanned_at       timestamptz,
  -- What the scanner calls it, or why scanning failed.
  scan_result      text constraint document_scan_result_ck check (length(scan_result) between 1 and 200),
  -- The upload whose bytes a job takes over.
  upload_id        uuid,
  job_id           uuid,
  checked_at       timestamptz,
  stored_at        timestamptz,
  ended_at         timestamptz,
  ended_by         text,
  end_reason       text constraint document_end_reason_ck check (length(end_reason) between 1 and 2000),
  revision         bigint not null default 1 constraint document_revision_ck check (revision > 0),
  created_at       timestamptz not null default now(),
  created_by       text not null,
  updated_at       timestamptz not null default now(),
  updated_by       text not null,
  constraint document_pkey primary key (tenant_id, document_id),
  constraint document_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint document_subject_fkey foreign key (tenant_id, subject_id) references app.subject (tenant_id, subject_id),
  constraint document_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint document_ended_ck check ((state in ('deleted', 'erased')) = (ended_at is not null) and (ended_at is null) = (ended_by is null)
                                      and (ended_at is null) = (end_reason is null)),
  -- What is gone has no title, no name and no hash of its content.
  constraint document_content_ck check (case when state in ('deleted', 'erased') then title is null and file_name is null and sha256 is null
                                             else title is not null and file_name is not null end),
  constraint document_hashes_ck check (case when state in ('stored', 'damaged') then sha256 is not null and encrypted_sha256 is not null
                                                                                 and stored_at is not null and upload_id is null
                                            when state = 'storing' then sha256 is null and encrypted_sha256 is null and upload_id is not null
                                            else upload_id is null end),
  constraint document_scanned_ck check ((scan_state = 'not_scanned') = (scanned_at is null))
);
select app.wall('app.document', 'tenant');
select app.restrict_rows('app.document');
revoke delete on app.document from app;
create index document_listing_idx on app.document (tenant_id, created_at, document_id);
create index document_subject_idx on app.document (tenant_id, subject_id, created_at, document_id) where subject_id is not null;
create index document_state_idx on app.document (tenant_id, state, created_at, document_id);

create function app.keep_document() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.document_id, new.restriction_id, new.subject_id, new.media_type, new.size_bytes, new.created_at, new.created_by)
     is distinct from
     (old.tenant_id, old.document_id, old.restriction_id, old.subject_id, old.media_type, old.size_bytes, old.created_at, old.created_by) then
    raise exception 'whose a document is and what it holds never changes' using errcode = 'PB002';
  end if;
  if old.state in ('deleted', 'erased') then
    raise exception 'the record of a document that is gone stays as it was' using errcode = 'PB002';
  end if;
  if new.state <> old.state
     and (old.state, new.state) not in (('storing', 'stored'), ('storing', 'failed'), ('storing', 'erased'), ('stored', 'damaged'),
                                        ('damaged', 'stored'), ('stored', 'deleted'), ('damaged', 'deleted'), ('failed', 'deleted'),
                                        ('stored', 'erased'), ('damaged', 'erased'), ('failed', 'erased')) then
    raise exception 'a document does not go from % to %', old.state, new.state using errcode = 'PB002';
  end if;
  if old.encrypted_sha256 is not null and new.encrypted_sha256 is distinct from old.encrypted_sha256
     or old.sha256 is not null and new.sha256 is not null and new.sha256 <> old.sha256
     or old.stored_at is not null and new.stored_at is distinct from old.stored_at then
    raise exception 'the hashes of a document never change' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger document_keep before update on app.document for each row execute function app.keep_document();

-- Encrypted pieces of 1 MiB, in order.
create table app.document_chunk (
  tenant_id      uuid not null,
  document_id    uuid not null,
  seq            bigint not null constraint document_chunk_seq_ck check (seq between 0 and 99),
  restriction_id uuid,
  content        bytea not null,
  constraint document_chunk_pkey primary key (tenant_id, document_id, seq),
  constraint document_chunk_document_fkey foreign key (tenant_id, document_id) references app.document (tenant_id, document_id),
  constraint document_chunk_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id)
);
-- Encrypted bytes do not compress.
alter table app.document_chunk alter column content set storage external;
select app.wall('app.document_chunk', 'tenant');
select app.restrict_rows('app.document_chunk');
revoke update on app.document_chunk from app;
create trigger document_chunk_restriction before insert on app.document_chunk
  for each row execute function app.inherit_restriction('document', 'document_id');

-- Bytes are added while they are stored, and removed before that or with the end of the document.
create function app.keep_document_chunk() returns trigger
  language plpgsql as $$
declare
  holder app.document;
begin
  if app.restoring() then return coalesce(new, old); end if;
  if tg_op = 'UPDATE' then
    raise exception 'the bytes of a document never change' using errcode = 'PB002';
  end if;
  select d.* into holder from app.document d
   where d.tenant_id = coalesce(new.tenant_id, old.tenant_id) and d.document_id = coalesce(new.document_id, old.document_id);
  if tg_op = 'INSERT' and holder.state is distinct from 'storing'
     or tg_op = 'DELETE' and (holder.state is null or holder.state in ('stored', 'damaged')) then
    raise exception 'the bytes of a stored document never change' using errcode = 'PB002';
  end if;
  return coalesce(new, old);
end $$;
create trigger document_chunk_keep before insert or update or delete on app.document_chunk
  for each row execute function app.keep_document_chunk();

create trigger document_chunk_hold before delete on app.document_chunk
  for each row execute function app.refuse_held_delete('document_id', 'document.document_id.subject_id');
create trigger document_hold before update on app.document
  for each row when (new.state in ('deleted', 'erased') and old.state not in ('deleted', 'erased'))
  execute function app.refuse_held_delete('document_id', 'subject_id');

-- What a finding or a case rests on. Nothing of it changes; it is detached with a reason, and erased with its owner.
create table app.evidence_item (
  tenant_id      uuid not null,
  evidence_id    uuid not null,
  restriction_id uuid,
  -- What it is attached to. Which kinds exist is known to the modules.
  owner_kind     text not null constraint evidence_item_owner_ck check (owner_kind in ('subject', 'alert', 'investigation')),
  owner_id       uuid not null,
  kind           text not null constraint evidence_item_kind_ck
                   check (kind in ('document', 'provider_call', 'match', 'evaluation', 'subject_version', 'transaction', 'ownership_graph',
                                   'external_reference')),
  -- What it names; null for a reference to something outside.
  object_id      uuid,
  object_version bigint constraint evidence_item_version_ck check (object_version > 0),
  title          text constraint evidence_item_title_ck check (length(title) between 1 and 300),
  reference      text constraint evidence_item_reference_ck check (length(reference) between 1 and 2000),
  source         text constraint evidence_item_source_ck check (length(source) between 1 and 300),
  -- Of the object when it was attached, with a key or a salt: see docs/adr/0068.
  content_hash   text not null constraint evidence_item_hash_ck check (content_hash ~ '^[0-9a-f]{64}$'),
  obtained_at    timestamptz not null,
  added_at       timestamptz not null default now(),
  added_by       text not null,
  detached_at    timestamptz,
  detached_by    text,
  detach_reason  text constraint evidence_item_detach_reason_ck check (length(detach_reason) between 1 and 2000),
  erased_at      timestamptz,
  constraint evidence_item_pkey primary key (tenant_id, evidence_id),
  constraint evidence_item_tenant_fkey foreign key (tenant_id) references app.tenant (tenant_id),
  constraint evidence_item_restriction_fkey foreign key (tenant_id, restriction_id) references app.restriction (tenant_id, restriction_id),
  constraint evidence_item_object_ck check ((kind = 'external_reference') = (object_id is null)),
  constraint evidence_item_object_version_ck check ((kind = 'subject_version') = (object_version is not null)),
  constraint evidence_item_erased_ck check (case when erased_at is null
                                                 then title is not null and source is not null and (kind = 'external_reference') = (reference is not null)
                                                 else title is null and source is null and reference is null end),
  constraint evidence_item_detached_ck check ((detached_at is null) = (detached_by is null)
                                              and (detached_at is null or erased_at is not null or detach_reason is not null)
                                              and (detached_at is not null or detach_reason is null))
);
select app.wall('app.evidence_item', 'tenant');
select app.restrict_rows('app.evidence_item');
revoke delete on app.evidence_item from app;
-- The same object is attached to the same owner once at a time.
create unique index evidence_item_attached_key on app.evidence_item (tenant_id, owner_kind, owner_id, kind, object_id, object_version)
  nulls not distinct where detached_at is null and object_id is not null;
create index evidence_item_listing_idx on app.evidence_item (tenant_id, added_at, evidence_id);
create index evidence_item_owner_idx on app.evidence_item (tenant_id, owner_id, added_at, evidence_id);
create index evidence_item_object_idx on app.evidence_item (tenant_id, object_id, added_at, evidence_id) where object_id is not null;

create function app.keep_evidence_item() returns trigger
  language plpgsql as $$
begin
  if app.restoring() then return new; end if;
  if (new.tenant_id, new.evidence_id, new.restriction_id, new.owner_kind, new.owner_id, new.kind, new.object_id, new.object_version,
      new.content_hash, new.obtained_at, new.added_at, new.added_by)
     is distinct from
     (old.tenant_id, old.evidence_id, old.restriction_id, old.owner_kind, old.owner_id, old.kind, old.object_id, old.object_version,
      old.content_hash, old.obtained_at, old.added_at, old.added_by)
     or old.detached_at is not null and (new.detached_at, new.detached_by) is distinct from (old.detached_at, old.detached_by)
     or old.erased_at is not null
     or new.erased_at is null and (new.title, new.reference, new.source) is distinct from (old.title, old.reference, old.source)
     or new.erased_at is null and old.detached_at is not null and new.detach_reason is distinct from old.detach_reason then
    raise exception 'an evidence item is detached once or erased, never changed' using errcode = 'PB002';
  end if;
  return new;
end $$;
create trigger evidence_item_keep before update on app.evidence_item for each row execute function app.keep_evidence_item();
create trigger evidence_item_hold before update on app.evidence_item
  for each row when (new.erased_at is not null and old.erased_at is null) execute function app.refuse_held_delete('owner_id');

-- Documents are a class of record that the retention policy may name: until its period has passed they cannot be deleted.
alter table app.retention_policy drop constraint retention_policy_classes_ck;
alter table app.retention_policy add constraint retention_policy_classes_ck
  check (not jsonb_path_exists(classes,
    '$[*] ? (!(@.record_class == "jobs" || @.record_class == "import-rejects" || @.record_class == "provider-payloads"
               || @.record_class == "documents" || @.record_class == "audit")
             || (@.record_class == "audit" && @.keep_days != null))'));
