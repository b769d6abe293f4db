/** SQL of delta imports: staged changes and removals are looked up in the head by key, so that the list is not scanned. */
import type { Tx } from '#kernel/database/tx.ts'
import { versionStore } from '#modules/definitions/index.ts'

/**
 * Stages keys from the request body. A key that a row also removes is staged once. Uses a set operation, because the planner
 * has no statistics of `op` and may choose nested loops.
 */
export const insertStatedRemovals = (tx: Tx, keys: readonly string[]) =>
  tx.run(
    `insert into pg_temp.stage (key, op, hash, row)
     select k.key, 'remove', decode(repeat('00', 32), 'hex'), 0
       from (select unnest($1::text[]) collate "C" as key except select key from pg_temp.stage where op = 'remove') k`,
    [keys],
  )

/** Rows that change an entry which the request removes. Row keys are unique here. Grouped for the same planner reason. */
const contradictions = `(
  select key, min(row) filter (where op = 'put') as row, min(line) filter (where op = 'put') as line from pg_temp.stage
   group by key having bool_or(op = 'put') and bool_or(op = 'remove' and row = 0)) c`

export const listContradictions = (tx: Tx, limit: number) =>
  tx.query<{ key: string; row: number; line: number | null }>(
    `select key, row, line from ${contradictions} order by row limit $1`,
    [limit],
  )
export const countContradictions = async (tx: Tx): Promise<number> =>
  (await tx.find<{ n: number }>(`select count(*) as n from ${contradictions}`))?.n ?? 0

/** The limit forces an index read per key, whatever the planner estimates for the stage. */
const headOfStaged = `lateral (select key, hash, data from app.dataset_entry
  where tenant_id = $1 and dataset_id = $2 and key = s.key and v_to = ${versionStore.OPEN_VERSION} limit 1) h on true`

/** Creates the delta of the staged rows against the head. Entries that are not staged remain. */
export const createDeltaFromStage = (tx: Tx, dataset_id: string) =>
  tx.run(
    `create temporary table delta on commit drop as
     select s.key, case when s.op = 'remove' then 'removed' when h.key is null then 'added' else 'changed' end as what
       from pg_temp.stage s left join ${headOfStaged}
      where case when s.op = 'remove' then h.key is not null else s.hash is distinct from h.hash end`,
    [tx.tenant_id, dataset_id],
  )

export interface UnmatchedRow {
  readonly key: string
  readonly row: number
  readonly line: number | null
}

const unmatched = `pg_temp.stage s where s.op = 'remove' and not exists (select from pg_temp.delta d where d.key = s.key)`

/** The first removal, in file order, of a key that the head does not have. */
export const findUnmatchedRemoval = (tx: Tx) =>
  tx.find<UnmatchedRow>(`select s.key, s.row, s.line from ${unmatched} order by s.row = 0, s.row, s.key limit 1`)
export const countUnmatchedRemovals = async (tx: Tx): Promise<number> =>
  (await tx.find<{ n: number }>(`select count(*) as n from ${unmatched}`))?.n ?? 0

/** Leaves only added and changed rows in the stage. Returns the number of rows that change nothing. */
export const removeUnapplied = async (tx: Tx): Promise<number> => {
  const row = await tx.find<{ n: number }>(
    `with gone as (delete from pg_temp.stage s
                    where s.op = 'remove' or not exists (select from pg_temp.delta d where d.key = s.key) returning s.op)
     select count(*) filter (where op <> 'remove') as n from gone`,
  )
  return row?.n ?? 0
}

/** A large delta is joined with the list in batches by key. */
export const indexDelta = async (tx: Tx): Promise<void> => {
  await tx.run('create index on pg_temp.stage (key)')
  await tx.run('create index on pg_temp.delta (key)')
  await tx.run('analyze pg_temp.stage (key)')
  await tx.run('analyze pg_temp.delta')
}

/** Growth of the list in bytes. */
export const sumDeltaBytes = async (tx: Tx, dataset_id: string): Promise<number> => {
  const row = await tx.find<{ n: number }>(
    `select (coalesce(sum(octet_length(a.data)), 0) - coalesce(sum(octet_length(h.data)), 0))::bigint as n
       from pg_temp.delta s left join pg_temp.stage a on a.key = s.key left join ${headOfStaged}`,
    [tx.tenant_id, dataset_id],
  )
  return row?.n ?? 0
}

/** Entries of the head in key order; `data` is null for one that the delta changes or removes. */
export const listUntouched = (tx: Tx, dataset_id: string, after: string, count: number) =>
  tx.query<{ key: string; data: string | null }>(
    `select e.key, case when d.key is null then e.data end as data
       from (select key, data from app.dataset_entry
              where tenant_id = $1 and dataset_id = $2 and v_to = ${versionStore.OPEN_VERSION} and key > $3 order by key limit $4) e
       left join pg_temp.delta d on d.key = e.key order by e.key`,
    [tx.tenant_id, dataset_id, after, count],
  )

/** In how many entries of the result each of these members has a value, in the given order. */
export const countFilled = (tx: Tx, dataset_id: string, paths: readonly (readonly string[])[]) =>
  tx.query<{ n: number }>(
    `with result as (
       select data::jsonb as data from pg_temp.stage
       union all
       select h.data::jsonb from app.dataset_entry h
        where h.tenant_id = $1 and h.dataset_id = $2 and h.v_to = ${versionStore.OPEN_VERSION}
          and not exists (select from pg_temp.delta d where d.key = h.key))
     select (select count(*) from result r
              where r.data #> p.path is not null and r.data #> p.path not in ('null'::jsonb, '""'::jsonb)) as n
       from (select n, array(select jsonb_array_elements_text(path)) as path
               from jsonb_array_elements($3::jsonb) with ordinality as e (path, n)) p order by p.n`,
    [tx.tenant_id, dataset_id, JSON.stringify(paths)],
  )

/** Values of array members in all entries of the head, beyond the required minimum. */
export const countHeadMembers = (
  tx: Tx,
  dataset_id: string,
  members: readonly { readonly pointer: string; readonly path: readonly string[]; readonly required: number }[],
) =>
  tx.query<{ pointer: string; values: number; entries: number }>(
    `with counted as (
       select m.pointer, case when jsonb_typeof(h.data #> m.path) = 'array'
                           then greatest(0, jsonb_array_length(h.data #> m.path) - m.required) else 0 end as n
         from (select data::jsonb as data from app.dataset_entry
                where tenant_id = $1 and dataset_id = $2 and v_to = ${versionStore.OPEN_VERSION} offset 0) h,
              jsonb_to_recordset($3::jsonb) as m (pointer text, path text[], required int))
     select pointer, sum(n)::bigint as values, count(*) filter (where n > 0) as entries from counted group by pointer`,
    [tx.tenant_id, dataset_id, JSON.stringify(members)],
  )

/** The hashes of these keys in a version; missing keys are absent. */
export const listHashesByKey = (
  tx: Tx,
  of: { readonly tenant_id: string; readonly dataset_id: string; readonly version: number },
  keys: readonly string[],
) =>
  tx.query<{ key: string; hash: Buffer }>(
    `select k.key, h.hash from unnest($4::text[]) as k (key),
            lateral (select hash from app.dataset_entry
                      where tenant_id = $1 and dataset_id = $2 and key = k.key and v_from <= $3 and v_to > $3 limit 1) h`,
    [of.tenant_id, of.dataset_id, of.version, keys],
  )
