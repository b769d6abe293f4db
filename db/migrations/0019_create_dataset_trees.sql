-- What is stored of a version's Merkle tree so that one key is proved without reading the list. Derived from the entries: a proof
-- is compared with the version's content hash, so that a wrong row here can only make it slower, never wrong.
create table app.dataset_tree (
  tenant_id    uuid not null,
  dataset_id   uuid not null,
  version      bigint not null,
  -- Blocks of this version and of all after it up to `version` make the pairs; the version's own number for a base.
  base_version bigint not null constraint dataset_tree_base_ck check (base_version between 1 and version),
  block_bits   bigint not null constraint dataset_tree_bits_ck check (block_bits between 0 and 24),
  -- Pairs in the blocks since the base, which says when the next base is due.
  delta_pairs  bigint not null constraint dataset_tree_delta_ck check (delta_pairs >= 0),
  nodes        bytea not null,
  constraint dataset_tree_pkey primary key (tenant_id, dataset_id, version),
  constraint dataset_tree_version_fkey foreign key (tenant_id, dataset_id, version)
    references app.dataset_version (tenant_id, dataset_id, version)
);
-- Hashes do not compress, and a proof reads 32 bytes here and there.
alter table app.dataset_tree alter column nodes set storage external;
select app.wall('app.dataset_tree', 'shared');
revoke update, delete on app.dataset_tree from app, steward;
create trigger dataset_tree_append before update or delete on app.dataset_tree
  for each statement execute function app.refuse_change();

create table app.dataset_tree_block (
  tenant_id  uuid not null,
  dataset_id uuid not null,
  version    bigint not null,
  block      bigint not null,
  pairs      bytea not null constraint dataset_tree_block_pairs_ck check (length(pairs) % 64 = 0),
  constraint dataset_tree_block_pkey primary key (tenant_id, dataset_id, version, block),
  constraint dataset_tree_block_tree_fkey foreign key (tenant_id, dataset_id, version)
    references app.dataset_tree (tenant_id, dataset_id, version)
);
alter table app.dataset_tree_block alter column pairs set storage external;
select app.wall('app.dataset_tree_block', 'shared');
revoke update, delete on app.dataset_tree_block from app, steward;
create trigger dataset_tree_block_append before update or delete on app.dataset_tree_block
  for each statement execute function app.refuse_change();
