/** SQL of the search index of long lists, and of scans without it. */
import type { Tx } from '#kernel/database/tx.ts'
import type { versionStore } from '#modules/definitions/index.ts'
import type { WordBlock } from '#registry/search/segment.ts'

interface DatasetId {
  readonly tenant_id: string
  readonly dataset_id: string
}
interface VersionId extends DatasetId {
  readonly version: number
}

/** The greatest version up to which all entries are indexed; 0 when there is none. */
export const findIndexedVersion = async (tx: Tx, { tenant_id, dataset_id }: DatasetId): Promise<number> => {
  const row = await tx.find<{ version: number | null }>(
    `select max(version) as version from app.dataset_segment where tenant_id = $1 and dataset_id = $2 and is_last`,
    [tenant_id, dataset_id],
  )
  return row?.version ?? 0
}

export interface SegmentRow {
  readonly version: number
  readonly part: number
  readonly entry_count: number
  readonly last_key: string
  readonly is_last: boolean
}

/** Of all versions up to this one; within a version in key order. */
export const listSegments = (tx: Tx, { tenant_id, dataset_id, version }: VersionId) =>
  tx.query<SegmentRow>(
    `select version, part, entry_count, last_key, is_last from app.dataset_segment
      where tenant_id = $1 and dataset_id = $2 and version <= $3 order by version, part`,
    [tenant_id, dataset_id, version],
  )

export interface WordBlockRow {
  readonly version: number
  readonly part: number
  readonly postings: Buffer
}

/** From the last block that starts before the word to the last block that can contain a word with this prefix. */
export const listWordBlocks = (
  tx: Tx,
  { tenant_id, dataset_id, version }: VersionId,
  word: string,
  max_per_segment: number,
) =>
  tx.query<WordBlockRow>(
    `select s.version, s.part, b.postings
       from app.dataset_segment s,
            lateral (select coalesce((select block from app.dataset_segment_word
                       where tenant_id = s.tenant_id and dataset_id = s.dataset_id and version = s.version and part = s.part
                         and first_word < $4 order by first_word desc, block desc limit 1), 0) as first) f,
            lateral (select postings from app.dataset_segment_word
                      where tenant_id = s.tenant_id and dataset_id = s.dataset_id and version = s.version and part = s.part
                        and block >= f.first and first_word < $4 || U&'\\+10FFFF' order by block limit $5) b
      where s.tenant_id = $1 and s.dataset_id = $2 and s.version <= $3`,
    [tenant_id, dataset_id, version, word, max_per_segment],
  )

/** Per segment, the block of keys that has the first key after `after`; absent where that is the first block. */
export const listKeyPositions = (tx: Tx, { tenant_id, dataset_id, version }: VersionId, after: string) =>
  tx.query<{ version: number; part: number; block: number }>(
    `select s.version, s.part, b.block
       from app.dataset_segment s,
            lateral (select block from app.dataset_segment_key
                      where tenant_id = s.tenant_id and dataset_id = s.dataset_id and version = s.version and part = s.part
                        and first_key <= $4 order by block desc limit 1) b
      where s.tenant_id = $1 and s.dataset_id = $2 and s.version <= $3 and s.last_key >= $4`,
    [tenant_id, dataset_id, version, after],
  )

export interface KeyBlockId {
  readonly version: number
  readonly part: number
  readonly block: number
}

export const listKeyBlocks = (tx: Tx, { tenant_id, dataset_id }: DatasetId, blocks: readonly KeyBlockId[]) =>
  tx.query<KeyBlockId & { keys: string }>(
    `select k.version, k.part, k.block, k.keys
       from unnest($3::bigint[], $4::bigint[], $5::bigint[]) as w (version, part, block)
       join app.dataset_segment_key k on k.tenant_id = $1 and k.dataset_id = $2
        and k.version = w.version and k.part = w.part and k.block = w.block`,
    [
      tenant_id,
      dataset_id,
      blocks.map(({ version }) => version),
      blocks.map(({ part }) => part),
      blocks.map(({ block }) => block),
    ],
  )

/** Entries whose text contains all words, in key order. Scans entries until enough are found. */
export const listEntriesWithText = (
  tx: Tx,
  { tenant_id, dataset_id, version }: VersionId,
  { words, after }: { readonly words: readonly string[]; readonly after: string },
  count: number,
) =>
  tx.query<versionStore.EntryRow>(
    `select key, op, hash, base_hash, data from app.dataset_entry
      where tenant_id = $1 and dataset_id = $2 and v_from <= $3 and v_to > $3 and key > $4
        and (select bool_and(strpos(lower(data), w) > 0) from unnest($5::text[]) as u (w))
      order by key limit $6`,
    [tenant_id, dataset_id, version, after, words, count],
  )

/** Entries that are new in a version, in key order. */
export const listEntriesStartingAt = (
  tx: Tx,
  { tenant_id, dataset_id, version }: VersionId,
  after: string,
  count: number,
) =>
  tx.query<{ key: string; data: string | null }>(
    version === 1
      ? `select key, data from app.dataset_entry
          where tenant_id = $1 and dataset_id = $2 and v_from = $3 and key > $4 order by key limit $5`
      : `select key, data from app.dataset_entry
          where tenant_id = $1 and dataset_id = $2 and v_from = $3 and v_from > 1 and key > $4 order by key limit $5`,
    [tenant_id, dataset_id, version, after, count],
  )

/** False: another process has written this part already. */
export const insertSegment = async (tx: Tx, dataset_id: string, segment: SegmentRow): Promise<boolean> => {
  const { version, part, entry_count, last_key, is_last } = segment
  const rows = await tx.run(
    `insert into app.dataset_segment (tenant_id, dataset_id, version, part, entry_count, last_key, is_last)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [tx.tenant_id, dataset_id, version, part, entry_count, last_key, is_last],
  )
  return rows === 1
}

type SegmentId = Pick<SegmentRow, 'version' | 'part'> & { readonly dataset_id: string }

export const insertKeyBlocks = (
  tx: Tx,
  { dataset_id, version, part }: SegmentId,
  first_block: number,
  blocks: readonly (readonly string[])[],
) =>
  tx.run(
    `insert into app.dataset_segment_key (tenant_id, dataset_id, version, part, block, first_key, keys)
     select $1, $2, $3, $4, $5 + n - 1, first_key, keys
       from unnest($6::text[], $7::text[]) with ordinality as u (first_key, keys, n)`,
    [
      tx.tenant_id,
      dataset_id,
      version,
      part,
      first_block,
      blocks.map((keys) => keys[0]),
      blocks.map((keys) => JSON.stringify(keys)),
    ],
  )

export const insertWordBlocks = (
  tx: Tx,
  { dataset_id, version, part }: SegmentId,
  first_block: number,
  blocks: readonly WordBlock[],
) =>
  tx.run(
    `insert into app.dataset_segment_word (tenant_id, dataset_id, version, part, block, first_word, postings)
     select $1, $2, $3, $4, $5 + n - 1, first_word, decode(postings, 'base64')
       from unnest($6::text[], $7::text[]) with ordinality as u (first_word, postings, n)`,
    [
      tx.tenant_id,
      dataset_id,
      version,
      part,
      first_block,
      blocks.map(({ first_word }) => first_word),
      blocks.map(({ bytes }) => bytes.toString('base64')),
    ],
  )
