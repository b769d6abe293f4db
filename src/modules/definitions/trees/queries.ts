/** SQL of the stored Merkle trees of versions. */
import type { Tx } from '#kernel/database/tx.ts'
import type { GroupPosition } from '#registry/content/stored-tree.ts'
import { OPEN_VERSION } from '../versions/queries.ts'

interface VersionId {
  readonly tenant_id: string
  readonly dataset_id: string
  readonly version: number
}

const selectFirstBits = (key_hash: string, bits: string): string =>
  `((get_byte(${key_hash}, 0) << 16) | (get_byte(${key_hash}, 1) << 8) | get_byte(${key_hash}, 2)) >> (24 - ${bits}::int)`

const deltaPairs = `(select sha256(convert_to('probity.key.1' || chr(10) || d.key, 'UTF8')) as key_hash,
                    coalesce(s.hash, decode(repeat('00', 32), 'hex')) as entry_hash
               from pg_temp.delta d left join pg_temp.stage s on s.key = d.key)`

export interface TreeRow {
  readonly base_version: number
  readonly delta_pairs: number
}

export const findTree = (tx: Tx, { tenant_id, dataset_id, version }: VersionId) =>
  tx.find<TreeRow>(
    `select base_version, delta_pairs from app.dataset_tree where tenant_id = $1 and dataset_id = $2 and version = $3`,
    [tenant_id, dataset_id, version],
  )

/** The sibling hashes of a path, concatenated; only those bytes of the nodes are read. */
export const findSiblings = (tx: Tx, { tenant_id, dataset_id, version }: VersionId, offsets: readonly number[]) =>
  tx.find<{ base_version: number; siblings: Buffer }>(
    `select base_version, (select string_agg(substring(nodes from o + 1 for 32), ''::bytea order by n)
                             from unnest($4::int[]) with ordinality as u (o, n)) as siblings
       from app.dataset_tree where tenant_id = $1 and dataset_id = $2 and version = $3`,
    [tenant_id, dataset_id, version, offsets],
  )

/** Blocks with pairs of a group, from the base and all later versions, oldest first. */
export const listGroupBlocks = (
  tx: Tx,
  { tenant_id, dataset_id, version }: VersionId,
  base_version: number,
  { group, group_bits }: Pick<GroupPosition, 'group' | 'group_bits'>,
) =>
  tx.query<{ version: number; pairs: Buffer }>(
    `select b.version, b.pairs
       from app.dataset_tree t,
            lateral (select case when t.block_bits >= $6::bigint then ($5::bigint << (t.block_bits - $6::bigint)::int)
                                 else $5::bigint >> ($6::bigint - t.block_bits)::int end as first,
                            case when t.block_bits >= $6::bigint then ((($5::bigint + 1) << (t.block_bits - $6::bigint)::int) - 1)
                                 else $5::bigint >> ($6::bigint - t.block_bits)::int end as last) r,
            lateral (select version, block, pairs from app.dataset_tree_block
                      where tenant_id = t.tenant_id and dataset_id = t.dataset_id and version = t.version
                        and block between r.first and r.last) b
      where t.tenant_id = $1 and t.dataset_id = $2 and t.version between $3 and $4
      order by b.version, b.block`,
    [tenant_id, dataset_id, base_version, version, group, group_bits],
  )

export const findNodes = (tx: Tx, { tenant_id, dataset_id, version }: VersionId) =>
  tx.find<{ base_version: number; nodes: Buffer }>(
    `select base_version, nodes from app.dataset_tree where tenant_id = $1 and dataset_id = $2 and version = $3`,
    [tenant_id, dataset_id, version],
  )

/** Blocks with pairs of any of these groups, from the base and all later versions, oldest first, each once. */
export const listBlocksInGroups = (
  tx: Tx,
  { tenant_id, dataset_id, version }: VersionId,
  base_version: number,
  { groups, group_bits }: { readonly groups: readonly number[]; readonly group_bits: number },
) =>
  tx.query<{ pairs: Buffer }>(
    `select b.pairs
       from app.dataset_tree t,
            lateral (select distinct n as block from unnest($5::bigint[]) as g (at),
                       lateral generate_series(
                         case when t.block_bits >= $6::bigint then (g.at << (t.block_bits - $6::bigint)::int)
                              else g.at >> ($6::bigint - t.block_bits)::int end,
                         case when t.block_bits >= $6::bigint then (((g.at + 1) << (t.block_bits - $6::bigint)::int) - 1)
                              else g.at >> ($6::bigint - t.block_bits)::int end) as n) r,
            lateral (select pairs from app.dataset_tree_block
                      where tenant_id = t.tenant_id and dataset_id = t.dataset_id and version = t.version
                        and block = r.block limit 1) b
      where t.tenant_id = $1 and t.dataset_id = $2 and t.version between $3 and $4
      order by t.version`,
    [tenant_id, dataset_id, base_version, version, groups, group_bits],
  )

/**
 * Key hash and staged entry hash (zeros: removed) of every key of the delta, by group. The key hash equals the one of
 * hashes.ts.
 */
export const listDeltaGroups = (tx: Tx, group_bits: number) =>
  tx.query<{ group: number; pairs: Buffer }>(
    `select ${selectFirstBits('h.key_hash', '$1')} as group, string_agg(h.key_hash || h.entry_hash, ''::bytea) as pairs
       from ${deltaPairs} h group by 1 order by 1`,
    [group_bits],
  )

/** Hashes of the unchanged entries of a list once the delta is applied, in key order. */
export const listUntouchedHashes = (tx: Tx, dataset_id: string, after: string, count: number) =>
  tx.query<{ key: string; hash: Buffer | null }>(
    `select e.key, case when d.key is null then e.hash end as hash
       from (select key, hash from app.dataset_entry
              where tenant_id = $1 and dataset_id = $2 and v_to = ${OPEN_VERSION} and key > $3 order by key limit $4) e
       left join pg_temp.delta d on d.key = e.key order by e.key`,
    [tx.tenant_id, dataset_id, after, count],
  )

export interface NewTree {
  readonly dataset_id: string
  readonly version: number
  readonly base_version: number
  readonly block_bits: number
  readonly delta_pairs: number
  readonly nodes: Uint8Array
}

export const insertTree = (tx: Tx, tree: NewTree) =>
  tx.run(
    `insert into app.dataset_tree (tenant_id, dataset_id, version, base_version, block_bits, delta_pairs, nodes)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      tx.tenant_id,
      tree.dataset_id,
      tree.version,
      tree.base_version,
      tree.block_bits,
      tree.delta_pairs,
      Buffer.from(tree.nodes.buffer, tree.nodes.byteOffset, tree.nodes.byteLength),
    ],
  )

export const insertBlock = (
  tx: Tx,
  { dataset_id, version, block, pairs }: { dataset_id: string; version: number; block: number; pairs: Buffer },
) =>
  tx.run(
    `insert into app.dataset_tree_block (tenant_id, dataset_id, version, block, pairs) values ($1, $2, $3, $4, $5)`,
    [tx.tenant_id, dataset_id, version, block, pairs],
  )

/** COPY cannot write to a table with row-level security, so the blocks of a base go through a temporary table. */
export const createTreeStage = async (tx: Tx): Promise<void> => {
  await tx.run('drop table if exists pg_temp.tree_stage')
  await tx.run('create temporary table tree_stage (block bigint not null, pairs bytea not null) on commit drop')
  await tx.run('alter table pg_temp.tree_stage alter column pairs set storage external')
}

export const copyTreeStage = (tx: Tx, source: AsyncIterable<Uint8Array>) =>
  tx.copy('copy pg_temp.tree_stage (block, pairs) from stdin (format binary)', source)

export const insertBaseBlocks = (tx: Tx, dataset_id: string, version: number) =>
  tx.run(
    `insert into app.dataset_tree_block (tenant_id, dataset_id, version, block, pairs)
     select $1, $2, $3, block, pairs from pg_temp.tree_stage`,
    [tx.tenant_id, dataset_id, version],
  )

/** The pairs that the delta changed. The key hash equals the one of registry/content/hashes.ts. */
export const insertDeltaBlocks = (tx: Tx, dataset_id: string, version: number, block_bits: number) =>
  tx.run(
    `insert into app.dataset_tree_block (tenant_id, dataset_id, version, block, pairs)
     select $1, $2, $3, ${selectFirstBits('h.key_hash', '$4')},
            string_agg(h.key_hash || h.entry_hash, ''::bytea order by h.key_hash)
       from ${deltaPairs} h
      group by 4`,
    [tx.tenant_id, dataset_id, version, block_bits],
  )

/** The blocks of a base, computed from the stored entries of the newest version. */
export const insertBaseBlocksFromEntries = (tx: Tx, dataset_id: string, version: number, block_bits: number) =>
  tx.run(
    `insert into app.dataset_tree_block (tenant_id, dataset_id, version, block, pairs)
     select $1, $2, $3, ${selectFirstBits('h.key_hash', '$4')}, string_agg(h.key_hash || h.hash, ''::bytea order by h.key_hash)
       from (select sha256(convert_to('probity.key.1' || chr(10) || key, 'UTF8')) as key_hash, hash
               from app.dataset_entry where tenant_id = $1 and dataset_id = $2 and v_to = ${OPEN_VERSION}) h
      group by 4`,
    [tx.tenant_id, dataset_id, version, block_bits],
  )
