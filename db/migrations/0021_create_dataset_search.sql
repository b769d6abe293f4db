-- The search index of long lists. Entry revisions never change, so what begins with a version is indexed once, in parts of a bounded
-- number of entries in key order; a search in a version asks the parts of all versions up to it and checks what it finds against the
-- entries. Derived data: it may be removed and built again at any time.
create table app.dataset_segment (
  tenant_id   uuid not null,
  dataset_id  uuid not null,
  version     bigint not null,
  part        bigint not null,
  entry_count bigint not null,
  last_key    text collate "C" not null,
  -- The last part of its version: only then is the version indexed.
  is_last     boolean not null,
  constraint dataset_segment_pkey primary key (tenant_id, dataset_id, version, part),
  constraint dataset_segment_version_fkey foreign key (tenant_id, dataset_id, version)
    references app.dataset_version (tenant_id, dataset_id, version)
);
select app.wall('app.dataset_segment', 'shared');
revoke update on app.dataset_segment from app, steward;

create table app.dataset_segment_key (
  tenant_id  uuid not null,
  dataset_id uuid not null,
  version    bigint not null,
  part       bigint not null,
  block      bigint not null,
  first_key  text collate "C" not null,
  keys       text not null constraint dataset_segment_key_keys_ck check (keys::json is not null),
  constraint dataset_segment_key_pkey primary key (tenant_id, dataset_id, version, part, block),
  constraint dataset_segment_key_segment_fkey foreign key (tenant_id, dataset_id, version, part)
    references app.dataset_segment (tenant_id, dataset_id, version, part) on delete cascade
);
select app.wall('app.dataset_segment_key', 'shared');
revoke update on app.dataset_segment_key from app, steward;

create table app.dataset_segment_word (
  tenant_id  uuid not null,
  dataset_id uuid not null,
  version    bigint not null,
  part       bigint not null,
  block      bigint not null,
  first_word text collate "C" not null,
  postings   bytea not null,
  constraint dataset_segment_word_pkey primary key (tenant_id, dataset_id, version, part, block),
  constraint dataset_segment_word_segment_fkey foreign key (tenant_id, dataset_id, version, part)
    references app.dataset_segment (tenant_id, dataset_id, version, part) on delete cascade
);
create index dataset_segment_word_idx on app.dataset_segment_word (tenant_id, dataset_id, version, part, first_word, block);
select app.wall('app.dataset_segment_word', 'shared');
revoke update on app.dataset_segment_word from app, steward;
